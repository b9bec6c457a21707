/* Arithmetic between the embedding table and the first block: norms, scales, bags of rows, biased
 * projections, the length of rows. */
#ifndef TENON_LAYER_H
#define TENON_LAYER_H

#include "tenon/dtype.h"
#include "tenon/error.h"

TENON_BEGIN_DECLS

struct tenon_norm {
    uint32_t width;
    double eps;
    bool plus_one;        /* RMS: weights are stored less one (Gemma in Hugging Face files) */
    const double *weight; /* NULL: ones */
    const double *bias;   /* NULL: zeros; RMS has none */
};

/* Layer norm, (x - mean) / sqrt(variance + eps) * weight + bias with the variance of all values,
 * and RMS norm, x / sqrt(mean of squares + eps) * weight; in two passes. The float32 forms round
 * mean, scale and each product to float32, with sums in float64. `x` may be `out`. */
TENON_API void tenon_layer_norm(const struct tenon_norm *norm, const double *x, double *out);
TENON_API void tenon_layer_norm_f32(const struct tenon_norm *norm, const float *x, float *out);
TENON_API void tenon_rms_norm(const struct tenon_norm *norm, const double *x, double *out);
TENON_API void tenon_rms_norm_f32(const struct tenon_norm *norm, const float *x, float *out);

/* y = W x + b, W stored as `rows` x `cols`; `bias` may be NULL. */
struct tenon_linear {
    uint32_t rows, cols;
    const double *weight;
    const double *bias;
};

TENON_API void tenon_linear_apply(const struct tenon_linear *linear, const double *x, double *out);

/* `value` as a number of a float type: F64 as it is, F32, F16 and BF16 through float32, to nearest
 * even, infinite beyond the range. For any other type `value` itself. */
TENON_API double tenon_value_round(enum tenon_dtype dtype, double value);

/* Rows with a p-norm above the limit are multiplied by limit / (norm + 1e-7), as an embedding with
 * max_norm does to the table at lookup. True when the row changed. */
TENON_API bool tenon_row_limit_norm(double *row, size_t width, double max_norm, double norm_type);

enum tenon_bag_mode { TENON_BAG_SUM = 0, TENON_BAG_MEAN = 1, TENON_BAG_MAX = 2 };

struct tenon_bag {
    enum tenon_bag_mode mode;
    const double *table; /* rows x width */
    uint64_t rows;
    uint32_t width;
    int64_t padding; /* id that is left out and not counted; negative: none */
};

/* One bag: `ids` and (sum only, may be NULL) their weights. An empty one is zeros. Fails with
 * MISMATCH for an id beyond the table, MISUSE for weights where nothing is summed. */
TENON_API TENON_MUST_USE enum tenon_status tenon_bag_reduce(const struct tenon_bag *bag,
                                                            const uint32_t *ids, size_t n,
                                                            const double *weights, double *out,
                                                            struct tenon_error *err);

TENON_END_DECLS

#endif
