/* Codes and the scales beside them. */
#ifndef TENON_SCALES_H
#define TENON_SCALES_H

#include "tenon/logical.h"

/* Side of the square of float8 codes that share one scale. */
#define TENON_SCALE_BLOCK UINT64_C(128)

/* A group of MXFP4 codes that share one exponent: its bytes, and the values they hold. */
#define TENON_MXFP4_BYTES  16
#define TENON_MXFP4_VALUES UINT64_C(32)

/* Links every tensor of codes to the tensor of its scales. NO_MEMORY only. */
enum tenon_status tenon_model_link_scales(struct tenon_model *model);

/* As tenon_tensor_decode, but also for codes whose scales lie beside them: the bare codes. */
enum tenon_status tenon_tensor_decode_codes(const struct tenon_model *model,
                                            const struct tenon_tensor *tensor, uint64_t first,
                                            size_t n, float *out, struct tenon_error *err);

/* The scales of the elements from number `first` on, one each, into `out`. `logical` must have
 * codes of eight-bit floats with scales that fit. Fails as decoding does. */
enum tenon_status tenon_logical_scales(const struct tenon_logical *logical, uint64_t first,
                                       size_t n, float *out, struct tenon_error *err);

#endif
