/* The plain C codecs: tenon_decode_<ID>, tenon_decode_f64_<ID> and tenon_encode_<ID> for every
 * row of codecs.def, in the manner that codec.h states. */
#ifndef TENON_CODECS_H
#define TENON_CODECS_H

#include "dtype/codec.h"

#define DECODE(id)     void tenon_decode_##id(float *out, const uint8_t *in, size_t n);
#define DECODE_F64(id) void tenon_decode_f64_##id(double *out, const uint8_t *in, size_t n);
#define ENCODE(id)     size_t tenon_encode_##id(uint8_t *out, const float *in, size_t n);
#include "dtype/codecs.def"
#undef DECODE
#undef DECODE_F64
#undef ENCODE

#endif
