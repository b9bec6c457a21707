/* Writing the vectors of token ids in several forms. */
#ifndef TENON_TOOLS_EMBED_OUT_H
#define TENON_TOOLS_EMBED_OUT_H

#include "array_out.h"
#include "ids.h"
#include "term.h"

enum { TENON_MOST_VECTORS = 2 }; /* queries and keys */

/* What is written: for each id, in order, a vector (or one for each head) of every kind. */
struct tenon_vectors {
    const char *stage;
    const struct tenon_ids *ids;
    const uint64_t *positions; /* of each id */
    const char *source;        /* where they come from, for people */
    struct tenon_array arrays[TENON_MOST_VECTORS];
    const char *short_names[TENON_MOST_VECTORS]; /* "q": for rows; NULL where there is one kind */
    uint64_t heads[TENON_MOST_VECTORS];          /* rows that each id has */
    size_t n_arrays;
    enum tenon_dtype dtype; /* of binary forms */
};

/* Adds a kind: `heads` vectors of `cols` values for each id; without `headed` the heads get no
 * dimension of their own. The shape is [sequences, ids, ...] where all sequences are of one length
 * and there are several, else [ids, ...]. */
struct tenon_vectors_kind {
    const char *name, *short_name;
    uint64_t heads, cols;
    bool headed;
    tenon_rows_fn rows;
    void *user;
};
void tenon_vectors_add(struct tenon_vectors *vectors, const struct tenon_vectors_kind *kind);

/* By the extension of `path`: fails with MISUSE where there is no such form, CANNOT_REPRESENT where
 * it does not hold the dtype. */
TENON_MUST_USE enum tenon_status tenon_vectors_check(const char *path, enum tenon_dtype dtype,
                                                     struct tenon_error *err);
TENON_MUST_USE enum tenon_status tenon_vectors_write(const char *path,
                                                     const struct tenon_vectors *vectors,
                                                     struct tenon_out *out,
                                                     struct tenon_error *err);

/* The JSON document; `output` (may be NULL) is a file that holds the values instead. */
TENON_MUST_USE enum tenon_status tenon_vectors_json(struct tenon_out *out,
                                                    const struct tenon_vectors *vectors,
                                                    const char *output, struct tenon_error *err);

/* The table for people. */
TENON_MUST_USE enum tenon_status tenon_vectors_text(struct tenon_out *out,
                                                    const struct tenon_term *term,
                                                    const struct tenon_vectors *vectors,
                                                    struct tenon_error *err);

#endif
