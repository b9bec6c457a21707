/* Decoders for x86 processors beyond the common base. */
#ifndef TENON_X86_DECODE_X86_H
#define TENON_X86_DECODE_X86_H

#include "quant.h"

#define DECODE(id) void tenon_decode_##id##_avx2(float *out, const uint8_t *in, size_t n);
#include "x86/decode_avx2.def"
#undef DECODE

/* Overwrites those entries of `ops` that `cpu_flags` allow a faster form of, same bytes. */
void tenon_decode_init_x86(struct tenon_quant_ops *ops, unsigned cpu_flags);

#endif
