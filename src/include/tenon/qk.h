/* Queries and keys of the first layer: norm, projection, norms of heads, rotation. */
#ifndef TENON_QK_H
#define TENON_QK_H

#include "tenon/input.h"

TENON_BEGIN_DECLS

struct tenon_qk;

/* What comes out, for each token: `heads` queries and `kv_heads` keys of `head_dim` values. */
struct tenon_qk_shape {
    uint32_t heads, kv_heads, head_dim;
};

/* Prepares, with the input before it; options and lifetimes as of tenon_input_new, where positions
 * of TENON_INPUT_NONE also leave the rotation out. Further fails
 * with UNSUPPORTED_FEATURE for families whose first layer makes no queries and keys, or in a way
 * that is not known. */
TENON_API TENON_MUST_USE enum tenon_status tenon_qk_new(const struct tenon_model *model,
                                                        const struct tenon_input_options *options,
                                                        struct tenon_qk **out,
                                                        struct tenon_error *err);
TENON_API void tenon_qk_free(struct tenon_qk *qk);

TENON_API struct tenon_qk_shape tenon_qk_shape(const struct tenon_qk *qk);
TENON_API const struct tenon_input *tenon_qk_input(const struct tenon_qk *qk);

/* Fills n * heads * head_dim queries and n * kv_heads * head_dim keys, as they enter the inner
 * product, but for its scale. Dot products are summed in float64 and rounded once. `out_rope` (may
 * be NULL) gets the table that turned them, to be released by the caller, with n_pairs 0 where
 * nothing was turned. Thread-safe. Fails as tenon_input_rows and tenon_rope_table_init. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_qk_rows(const struct tenon_qk *qk, const struct tenon_tokens *tokens, double *out_q,
              double *out_k, struct tenon_rope_table *out_rope, struct tenon_error *err);

TENON_END_DECLS

#endif
