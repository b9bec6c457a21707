/* Floats and small blocks under one scale, NEON. Layouts: dtype/float.c, dtype/q4_q5_q8.c,
 * dtype/iq4.c, dtype/fp4.c. What does not fill a vector at the end is left to plain C. */
#include "arm/decode_neon.h"

#include "dtype/codecs.h"
#include "dtype/fp4.h"
#include "dtype/iq4.h"

enum { BLOCK = 32 };

static inline void put_halves(float *out, uint8x16_t halves)
{
    float16x8_t h = vreinterpretq_f16_u8(halves);

    vst1q_f32(out, vcvt_f32_f16(vget_low_f16(h)));
    vst1q_f32(out + 4, vcvt_high_f32_f16(h));
}

void tenon_decode_F16_neon(float *out, const uint8_t *in, size_t n)
{
    size_t i = 0;

    for (; n - i >= 16; i += 16) {
        put_halves(out + i, vld1q_u8(in + 2 * i));
        put_halves(out + i + 8, vld1q_u8(in + 2 * i + 16));
    }
    tenon_decode_F16(out + i, in + 2 * i, n - i);
}

/* The upper half of an IEEE half. */
void tenon_decode_F8_E5M2_neon(float *out, const uint8_t *in, size_t n)
{
    const uint8x16_t zero = vdupq_n_u8(0);
    size_t i = 0;

    for (; n - i >= 16; i += 16) {
        uint8x16_t codes = vld1q_u8(in + i);

        put_halves(out + i, vzip1q_u8(zero, codes));
        put_halves(out + i + 8, vzip2q_u8(zero, codes));
    }
    tenon_decode_F8_E5M2(out + i, in + i, n - i);
}

void tenon_decode_Q4_0_neon(float *out, const uint8_t *in, size_t n)
{
    const int8x16_t eight = vdupq_n_s8(8);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q4_0) {
        uint16_t scale = tenon_le16(in);
        float d = float_from_f16(scale);
        uint8x16_t nibbles = vld1q_u8(in + 2);

        put_scaled(out, vsubq_s8(low_nibbles(nibbles), eight), d);
        put_scaled(out + 16, vsubq_s8(high_nibbles(nibbles), eight), d);
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q4_1_neon(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q4_1) {
        uint16_t scale = tenon_le16(in), offset = tenon_le16(in + 2);
        float d = float_from_f16(scale), m = float_from_f16(offset);
        uint8x16_t nibbles = vld1q_u8(in + 4);

        put_shifted(out, low_nibbles(nibbles), d, m);
        put_shifted(out + 16, high_nibbles(nibbles), d, m);
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

/* 16 where a bit is set, 0 elsewhere; the lowest bit for the first byte. */
static inline int8x16_t spread_fifth_bits(const uint8_t bits[2])
{
    static const uint8_t one_each[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bytes = vcombine_u8(vdup_n_u8(bits[0]), vdup_n_u8(bits[1]));

    return vreinterpretq_s8_u8(vandq_u8(vtstq_u8(bytes, vld1q_u8(one_each)), vdupq_n_u8(16)));
}

void tenon_decode_Q5_0_neon(float *out, const uint8_t *in, size_t n)
{
    const int8x16_t sixteen = vdupq_n_s8(16);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q5_0) {
        uint16_t scale = tenon_le16(in);
        float d = float_from_f16(scale);
        uint8x16_t nibbles = vld1q_u8(in + 6);
        int8x16_t low = vorrq_s8(low_nibbles(nibbles), spread_fifth_bits(in + 2));
        int8x16_t high = vorrq_s8(high_nibbles(nibbles), spread_fifth_bits(in + 4));

        put_scaled(out, vsubq_s8(low, sixteen), d);
        put_scaled(out + 16, vsubq_s8(high, sixteen), d);
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q5_1_neon(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q5_1) {
        uint16_t scale = tenon_le16(in), offset = tenon_le16(in + 2);
        float d = float_from_f16(scale), m = float_from_f16(offset);
        uint8x16_t nibbles = vld1q_u8(in + 8);

        put_shifted(out, vorrq_s8(low_nibbles(nibbles), spread_fifth_bits(in + 4)), d, m);
        put_shifted(out + 16, vorrq_s8(high_nibbles(nibbles), spread_fifth_bits(in + 6)), d, m);
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q8_0_neon(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q8_0) {
        uint16_t scale = tenon_le16(in);
        float d = float_from_f16(scale);

        put_scaled(out, vreinterpretq_s8_u8(vld1q_u8(in + 2)), d);
        put_scaled(out + 16, vreinterpretq_s8_u8(vld1q_u8(in + 18)), d);
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

static inline int8x16_t look_up(int8x16_t table, int8x16_t codes)
{
    return vqtbl1q_s8(table, vreinterpretq_u8_s8(codes));
}

/* 32 weights that are steps of a table of 16. */
static inline void put_steps(float *out, int8x16_t table, uint8x16_t nibbles, float d)
{
    put_scaled(out, look_up(table, low_nibbles(nibbles)), d);
    put_scaled(out + 16, look_up(table, high_nibbles(nibbles)), d);
}

void tenon_decode_IQ4_NL_neon(float *out, const uint8_t *in, size_t n)
{
    int8x16_t table = vld1q_s8(tenon_iq4_step);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_IQ4_NL) {
        uint16_t scale = tenon_le16(in);

        put_steps(out, table, vld1q_u8(in + 2), float_from_f16(scale));
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ4_XS_neon(float *out, const uint8_t *in, size_t n)
{
    int8x16_t table = vld1q_s8(tenon_iq4_step);

    for (size_t i = 0; i < n; i++, in += TENON_BLOCK_BYTES_IQ4_XS) {
        uint16_t scale = tenon_le16(in);
        unsigned high = tenon_le16(in + 2);
        float d = float_from_f16(scale);
        float *block = out;

        for (int g = 0; g < 8; g++, out += BLOCK)
            put_steps(out, table, vld1q_u8(in + 8 + 16 * g),
                      d * (float)tenon_iq4_xs_scale(in + 4, high, g));
        if (tenon_f16_special(scale))
            tenon_settle_nans(block, TENON_BLOCK_IQ4_XS);
    }
}

void tenon_decode_MXFP4_neon(float *out, const uint8_t *in, size_t n)
{
    int8x16_t table = vld1q_s8(tenon_doubled_e2m1);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_MXFP4)
        put_steps(out, table, vld1q_u8(in + 1), tenon_mxfp4_half_scale(in[0]));
}

void tenon_decode_NVFP4_neon(float *out, const uint8_t *in, size_t n)
{
    int8x16_t table = vld1q_s8(tenon_doubled_e2m1);

    for (size_t i = 0; i < n; i++, in += TENON_BLOCK_BYTES_NVFP4)
        for (int g = 0; g < 4; g++, out += 16) {
            uint8x8_t nibbles = vld1_u8(in + 4 + 8 * g);
            uint8x16_t codes = vcombine_u8(vand_u8(nibbles, vdup_n_u8(15)), vshr_n_u8(nibbles, 4));

            put_scaled(out, vqtbl1q_s8(table, codes), tenon_nvfp4_half_scale(in[g]));
        }
}
