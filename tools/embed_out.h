/* Writing looked-up vectors in several forms. */
#ifndef TENON_TOOLS_EMBED_OUT_H
#define TENON_TOOLS_EMBED_OUT_H

#include "ids.h"
#include "out.h"
#include "tenon/embed.h"

/* What is written: the vectors of `ids`, in order. */
struct tenon_vectors {
    const struct tenon_embed *embed;
    const struct tenon_ids *ids;
    const char *stage;
    enum tenon_dtype dtype; /* of binary forms */
    uint64_t shape[3];      /* [n, d]; [s, n, d] for s sequences of n ids each */
    size_t n_dims;
};

/* One form: `extension` with its dot. */
struct tenon_vectors_form {
    const char *extension;
    bool binary; /* takes a dtype */
    bool bf16;   /* can hold BF16 */
    enum tenon_status (*write)(struct tenon_out *out, const struct tenon_vectors *vectors,
                               struct tenon_error *err);
};

/* By the extension of `path`; NULL with `err` filled when there is none for it. */
const struct tenon_vectors_form *tenon_vectors_form(const char *path, struct tenon_error *err);

/* The JSON document; `output` (may be NULL) is a file that holds the values instead. */
TENON_MUST_USE enum tenon_status tenon_vectors_json(struct tenon_out *out,
                                                    const struct tenon_vectors *vectors,
                                                    const char *output, struct tenon_error *err);

/* Works out the shape. */
void tenon_vectors_init(struct tenon_vectors *vectors, const struct tenon_embed *embed,
                        const struct tenon_ids *ids);

/* Calls `row` for each vector, in order, a few at a time in memory. */
typedef enum tenon_status (*tenon_vectors_fn)(void *user, size_t i, const float *values,
                                              struct tenon_error *err);
TENON_MUST_USE enum tenon_status tenon_vectors_each(const struct tenon_vectors *vectors,
                                                    tenon_vectors_fn row, void *user,
                                                    struct tenon_error *err);

#endif
