/* What makes queries and keys; for qk*.c only. */
#ifndef TENON_QK_PRIVATE_H
#define TENON_QK_PRIVATE_H

#include "input_private.h"
#include "tenon/qk.h"

/* CodeGen's projection is cut for as many processors. */
#define TENON_CODEGEN_SLICES 4

struct tenon_qk {
    const struct tenon_model *model;
    struct tenon_input *input;
    struct tenon_qk_shape shape;
    struct tenon_norming norm; /* before attention */
    bool fused;                /* `q` makes keys, too */
    enum tenon_qkv_layout layout;
    uint32_t q_stride; /* heads' worth of rows from one query head to the next */
    struct tenon_project q, k;
    struct tenon_norming q_norm, k_norm;
    double clip;             /* NaN: no limit */
    double x_scale, k_scale; /* NaN: 1 */
    /* Latents: a head is [as projected | turned]; q_norm and k_norm are norms of the latents. */
    bool latent;
    uint32_t rope_dim, value_dim;
    struct tenon_project q_a, kv_a;        /* q_a.out 0: queries have no latent */
    double temperature, temperature_floor; /* queries grow with positions; 0: they do not */
    const struct tenon_rope *rope;         /* NULL: nothing turns */
};

/* What is made of a sequence, of the hidden vectors `x`. */
struct tenon_qk_job {
    const struct tenon_tokens *tokens;
    const double *x;
    const struct tenon_rope_table *table;
    double *q, *k;
};

/* As tenon_qk_rows, for latents. */
enum tenon_status tenon_qk_latent_rows(const struct tenon_qk *qk, const struct tenon_qk_job *job,
                                       struct tenon_error *err);

/* Where the rows of query head `i` or key head `i` begin. */
uint64_t tenon_qk_row(const struct tenon_qk *qk, bool key, uint32_t i);

#endif
