/* The pieces of words that fastText adds up: hashes and rows. */
#ifndef TENON_SUBWORD_H
#define TENON_SUBWORD_H

#include "tenon/api.h"
#include "tenon/error.h"

TENON_BEGIN_DECLS

/* FNV-1a of 32 bits, with each byte extended by its sign before it goes in. */
TENON_API uint32_t tenon_subword_hash(const void *bytes, size_t len);

struct tenon_subwords {
    uint32_t min_n, max_n; /* code points of a piece */
    uint32_t buckets;
};

/* One piece of "<word>" and its row behind the rows of whole words. `text` is not terminated and
 * lives until the visit returns. */
typedef void (*tenon_subword_fn)(void *user, struct tenon_str text, uint32_t bucket);

/* Visits the pieces of `word` (any bytes; continuation bytes do not begin a piece) in fastText's
 * order: by first code point, then by length; single "<" and ">" are left out. Fails with
 * NO_MEMORY, or MISUSE when there are no buckets. */
TENON_API TENON_MUST_USE enum tenon_status tenon_subword_visit(const struct tenon_subwords *how,
                                                               struct tenon_str word,
                                                               tenon_subword_fn visit, void *user,
                                                               struct tenon_error *err);

TENON_END_DECLS

#endif
