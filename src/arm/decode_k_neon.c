/* K-quants, NEON. Layouts: dtype/k_quants.c. */
#include "arm/decode_neon.h"

#include "dtype/k_scales.h"

enum { BLOCK = 256 };

void tenon_decode_Q4_K_neon(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q4_K) {
        uint16_t scale = tenon_le16(in), offset = tenon_le16(in + 2);
        float d = float_from_f16(scale), minus_dmin = -float_from_f16(offset);
        uint8_t scales[8], mins[8];

        tenon_k_unpack_q4(scales, mins, in + 4);
        for (int g = 0; g < 8; g += 2)
            for (int half = 0; half < 2; half++) {
                uint8x16_t nibbles = vld1q_u8(in + 16 + 16 * (g + half));
                float *at = out + 32 * g + 16 * half;

                put_shifted(at, low_nibbles(nibbles), d * (float)scales[g],
                            minus_dmin * (float)mins[g]);
                put_shifted(at + 32, high_nibbles(nibbles), d * (float)scales[g + 1],
                            minus_dmin * (float)mins[g + 1]);
            }
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

/* 16 over the nibbles where bit `at` of the byte of fifth bits is set. */
static inline int8x16_t join_five(int8x16_t nibbles, uint8x16_t fifth, int at)
{
    uint8x16_t set = vtstq_u8(fifth, vdupq_n_u8((uint8_t)(1 << at)));

    return vorrq_s8(nibbles, vreinterpretq_s8_u8(vandq_u8(set, vdupq_n_u8(16))));
}

void tenon_decode_Q5_K_neon(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q5_K) {
        uint16_t scale = tenon_le16(in), offset = tenon_le16(in + 2);
        float d = float_from_f16(scale), minus_dmin = -float_from_f16(offset);
        uint8_t scales[8], mins[8];

        tenon_k_unpack_q4(scales, mins, in + 4);
        for (int g = 0; g < 8; g += 2)
            for (int half = 0; half < 2; half++) {
                uint8x16_t fifth = vld1q_u8(in + 16 + 16 * half);
                uint8x16_t nibbles = vld1q_u8(in + 48 + 16 * (g + half));
                float *at = out + 32 * g + 16 * half;

                put_shifted(at, join_five(low_nibbles(nibbles), fifth, g), d * (float)scales[g],
                            minus_dmin * (float)mins[g]);
                put_shifted(at + 32, join_five(high_nibbles(nibbles), fifth, g + 1),
                            d * (float)scales[g + 1], minus_dmin * (float)mins[g + 1]);
            }
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

/* Four low bits, over them the two lowest of `high`, less 32. */
static inline int8x16_t join_six(int8x16_t nibbles, uint8x16_t high)
{
    uint8x16_t pairs = vandq_u8(high, vdupq_n_u8(3));

    return vsubq_s8(vorrq_s8(nibbles, vreinterpretq_s8_u8(vshlq_n_u8(pairs, 4))), vdupq_n_s8(32));
}

void tenon_decode_Q6_K_neon(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q6_K) {
        const int8_t *scales = (const int8_t *)in + 192;
        uint16_t scale = tenon_le16(in + 208);
        float d = float_from_f16(scale);

        for (int part = 0; part < 4; part++) {
            const uint8_t *low = in + 64 * (part / 2) + 16 * (part % 2);
            uint8x16_t even = vld1q_u8(low), odd = vld1q_u8(low + 32);
            uint8x16_t high = vld1q_u8(in + 128 + 16 * part);
            int g = 8 * (part / 2) + part % 2;
            float *at = out + 16 * g;

            put_scaled(at, join_six(low_nibbles(even), high), d * (float)scales[g]);
            put_scaled(at + 32, join_six(low_nibbles(odd), vshrq_n_u8(high, 2)),
                       d * (float)scales[g + 2]);
            put_scaled(at + 64, join_six(high_nibbles(even), vshrq_n_u8(high, 4)),
                       d * (float)scales[g + 4]);
            put_scaled(at + 96, join_six(high_nibbles(odd), vshrq_n_u8(high, 6)),
                       d * (float)scales[g + 6]);
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}
