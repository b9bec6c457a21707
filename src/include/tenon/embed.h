/* Token ids to vectors. */
#ifndef TENON_EMBED_H
#define TENON_EMBED_H

#include "tenon/logical.h"
#include "tenon/model.h"

TENON_BEGIN_DECLS

/* Where rows come from: the model's input matrix, seen as `rows` vectors of `cols` values. */
struct tenon_embed {
    const struct tenon_model *model;
    const struct tenon_tensor *matrix;
    struct tenon_logical logical; /* the same with the scales beside it */
    uint64_t rows, cols;
};

/* Finds the input matrix (or the output matrix, where a file has only that and its family ties
 * them). Fails with NOT_FOUND, or UNSUPPORTED_FEATURE for a matrix whose rows cannot be decoded
 * one by one. */
TENON_API TENON_MUST_USE enum tenon_status tenon_embed_init(struct tenon_embed *embed,
                                                            const struct tenon_model *model,
                                                            struct tenon_error *err);

/* The same for a matrix of the caller's choice: a table of positions, of token types. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_embed_init_tensor(struct tenon_embed *embed, const struct tenon_model *model,
                        const struct tenon_tensor *matrix, struct tenon_error *err);

/* Looks up `n` ids: row `ids[i]` becomes out[i * cols ... (i + 1) * cols - 1]. Cost follows n,
 * not the vocabulary: of 16,384 ids each row is read once, with what lies between two of them where
 * that is 2 KiB or less, and half a MiB of memory is enough. Thread-safe. Fails with MISUSE naming
 * the first id outside, IO, TRUNCATED or NO_MEMORY; `out` is then undefined. */
TENON_API TENON_MUST_USE enum tenon_status tenon_embed_rows(const struct tenon_embed *embed,
                                                            const uint64_t *ids, size_t n,
                                                            float *out, struct tenon_error *err);

TENON_END_DECLS

#endif
