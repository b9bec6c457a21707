/* Encoders for x86 processors beyond the common base: those of dtype/encode.h compiled again. */
#ifndef TENON_X86_ENCODE_X86_H
#define TENON_X86_ENCODE_X86_H

#include "quant.h"

#define ENCODE(id) size_t tenon_encode_##id##_avx2(uint8_t *out, const float *in, size_t n);
#include "dtype/encoders.def"
#undef ENCODE

/* Overwrites those entries of `ops` that `cpu_flags` allow a faster form of, same bytes. */
void tenon_encode_init_x86(struct tenon_quant_ops *ops, unsigned cpu_flags);

#endif
