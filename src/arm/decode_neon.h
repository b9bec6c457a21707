/* Steps that the NEON decoders share. Each does in the same order what the plain C decoder does,
 * so that the bytes are the same. */
#ifndef TENON_ARM_DECODE_NEON_H
#define TENON_ARM_DECODE_NEON_H

#include <arm_neon.h>

#include "arm/decode_arm.h"
#include "dtype/block.h"

/* A half as a float, by the processor's own conversion. */
static inline float float_from_f16(uint16_t h)
{
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(h))), 0);
}

static inline int8x16_t low_nibbles(uint8x16_t bytes)
{
    return vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15)));
}

static inline int8x16_t high_nibbles(uint8x16_t bytes)
{
    return vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4));
}

/* out[i] = q[i] * d for 16 signed bytes. */
static inline void put_scaled(float *out, int8x16_t q, float d)
{
    int16x8_t low = vmovl_s8(vget_low_s8(q)), high = vmovl_s8(vget_high_s8(q));

    vst1q_f32(out, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), d));
    vst1q_f32(out + 4, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_high_s16(low))), d));
    vst1q_f32(out + 8, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), d));
    vst1q_f32(out + 12, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_high_s16(high))), d));
}

static inline void put_four_shifted(float *out, int16x4_t q, float d, float32x4_t m)
{
    vst1q_f32(out, vaddq_f32(vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(q)), d), m));
}

/* out[i] = q[i] * d + m for 16 signed bytes, in two steps: no fused multiply-add. */
static inline void put_shifted(float *out, int8x16_t q, float d, float m)
{
    int16x8_t low = vmovl_s8(vget_low_s8(q)), high = vmovl_s8(vget_high_s8(q));
    float32x4_t offset = vdupq_n_f32(m);

    put_four_shifted(out, vget_low_s16(low), d, offset);
    put_four_shifted(out + 4, vget_high_s16(low), d, offset);
    put_four_shifted(out + 8, vget_low_s16(high), d, offset);
    put_four_shifted(out + 12, vget_high_s16(high), d, offset);
}

#endif
