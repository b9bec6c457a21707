/* Numbers to stored elements. */
#ifndef TENON_ENCODE_H
#define TENON_ENCODE_H

#include "tenon/dtype.h"
#include "tenon/error.h"

TENON_BEGIN_DECLS

/* Encodes `n` float32 values as elements of `dtype`, little-endian, rounding to nearest even where
 * the type is a float. `n` must be whole blocks; `out` holds what tenon_dtype_bytes says. Fails
 * with UNSUPPORTED_FEATURE for a type without an encoder, MISUSE for part of a block, or
 * CANNOT_REPRESENT naming the first value that the type cannot take; `out` is then undefined. */
TENON_API TENON_MUST_USE enum tenon_status tenon_values_encode(enum tenon_dtype dtype,
                                                               const float *values, size_t n,
                                                               void *out, struct tenon_error *err);

TENON_END_DECLS

#endif
