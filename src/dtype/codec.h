/* The interface of the codecs: one file per family in this folder. */
#ifndef TENON_CODEC_H
#define TENON_CODEC_H

#include "tenon/dtype.h"

/* Decodes `n` consecutive blocks (block_bytes each, as in a little-endian file, any alignment)
 * into n * block_elements * values float32 values. Any bytes are acceptable input; the two areas
 * must not overlap. Fastest when `out` is aligned to 32 bytes. */
typedef void (*tenon_decode_fn)(float *out, const uint8_t *in, size_t n);

/* The same into float64, only for types that float32 cannot hold: F64 and 32- or 64-bit
 * integers. */
typedef void (*tenon_decode_f64_fn)(double *out, const uint8_t *in, size_t n);

/* Encodes n * block_elements float32 values into `n` blocks. Returns the index of the first
 * value that the type cannot take (NaN or infinity for quantized types, a fraction or an
 * out-of-range number for integers), or SIZE_MAX when all went well. */
typedef size_t (*tenon_encode_fn)(uint8_t *out, const float *in, size_t n);

#endif
