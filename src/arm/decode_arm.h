/* Decoders for ARM processors beyond plain C. */
#ifndef TENON_ARM_DECODE_ARM_H
#define TENON_ARM_DECODE_ARM_H

#include "quant.h"

#define DECODE(id) void tenon_decode_##id##_neon(float *out, const uint8_t *in, size_t n);
#include "arm/decode_neon.def"
#undef DECODE

/* Overwrites those entries of `ops` that `cpu_flags` allow a faster form of, same bytes. */
void tenon_decode_init_arm(struct tenon_quant_ops *ops, unsigned cpu_flags);

#endif
