/* Half the scale of MXFP4 and NVFP4 blocks, for codes that stand for twice their value. */
#ifndef TENON_FP4_H
#define TENON_FP4_H

#include "dtype/block.h"

/* Twice the value of each E2M1 code. */
extern const int8_t tenon_doubled_e2m1[16];

/* 2^(e - 128); for e of 0 and 1 subnormal. */
static inline float tenon_mxfp4_half_scale(uint8_t e)
{
    return tenon_f32_from_bits(e < 2 ? 0x00200000u << e : (uint32_t)(e - 1) << 23);
}

/* Half an unsigned E4M3: bit 7 has no meaning, and 0x7f, which is no number there, counts as 0. */
static inline float tenon_nvfp4_half_scale(uint8_t code)
{
    uint32_t bits = tenon_f32_bits_from_small(code & 0x7fu, 3, 8);

    return code == 0x7f ? 0.0f : tenon_f32_from_bits(bits);
}

#endif
