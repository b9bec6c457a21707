/* What a tensor means: stored codes and the scales beside them seen as one matrix of numbers.
 *
 * Most tensors mean what they hold. In safetensors files two schemes keep codes and scales apart:
 *
 *   X.weight F8_* [r, c] with X.weight_scale or X.weight_scale_inv, float: a scalar, one a row
 *       ([r] or [r, 1]), or one for each 128 x 128 block ([ceil(r / 128), ceil(c / 128)]);
 *       value = code * scale, in float32
 *   X_blocks U8 [..., g, 16] with X_scales U8 [..., g]: MXFP4; element 2i of a group is the low
 *       and 2i + 1 the high half of byte i; value = E2M1(code) * 2^(scale - 127); the logical
 *       shape is [..., 32 g] */
#ifndef TENON_LOGICAL_H
#define TENON_LOGICAL_H

#include "tenon/model.h"

TENON_BEGIN_DECLS

#define TENON_LOGICAL_DIMS 8

/* Caller's storage, nothing to release; borrowed from the model. */
struct tenon_logical {
    const struct tenon_model *model;
    const struct tenon_tensor *codes;
    const struct tenon_tensor *scales; /* NULL when there are none */
    uint64_t dims[TENON_LOGICAL_DIMS];
    uint32_t n_dims;
    uint64_t n_elements;
    uint32_t values; /* float32 values per element: 1, or 2 for complex */
};

/* Describes `tensor` with its scales. False when its values cannot be known: an unknown or removed
 * dtype, scales that do not fit, more dimensions than TENON_LOGICAL_DIMS. */
TENON_API bool tenon_logical_init(struct tenon_logical *logical, const struct tenon_model *model,
                                  const struct tenon_tensor *tensor);

/* As tenon_tensor_decode, over the logical elements. */
TENON_API TENON_MUST_USE enum tenon_status tenon_logical_decode(const struct tenon_logical *logical,
                                                                uint64_t first, size_t n,
                                                                float *out,
                                                                struct tenon_error *err);

TENON_END_DECLS

#endif
