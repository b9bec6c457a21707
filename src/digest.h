/* XXH3-128 over a stream of bytes, with the widest registers the processor has. */
#ifndef TENON_DIGEST_H
#define TENON_DIGEST_H

#include "tenon/hash.h"

/* A digest in progress: xxHash's own state, which wants this alignment. Caller's storage, nothing
 * to release. */
struct tenon_digest {
    _Alignas(64) unsigned char state[640];
};

void tenon_digest_start(struct tenon_digest *digest);
struct tenon_hash tenon_digest_finish(const struct tenon_digest *digest);

/* Takes in `n` bytes. Every form gives the same hash. */
typedef void (*tenon_digest_update_fn)(struct tenon_digest *digest, const void *bytes, size_t n);
void tenon_digest_update(struct tenon_digest *digest, const void *bytes, size_t n);

/* The fastest form for a processor with `cpu_flags`. */
tenon_digest_update_fn tenon_digest_choose(unsigned cpu_flags);

#endif
