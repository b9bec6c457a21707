/* Super-blocks of 256 weights: one scale for all, small integer scales for groups of 16 or 32.
 * h = i / 128 and r = i % 128 of weight i.
 *
 *   Q2_K  | 16 x (min: 4 | scale: 4) | 64 bytes | d: f16 | dmin: f16 |
 *         group of 16; q: two bits, byte 32 h + r % 32, bits 2 (r / 32) up
 *         w = (d * scale) * q - dmin * min
 *   Q3_K  | 32 bytes of high bits | 64 bytes | 12 bytes of scales | d: f16 |
 *         group of 16; q: two bits as in Q2_K, less 4 unless bit i / 32 of high byte i % 32 is set
 *         w = (d * (scale - 32)) * q
 *   Q4_K  | d: f16 | dmin: f16 | 12 bytes of scales and mins | 128 bytes of nibbles |
 *         group of 32; groups 2k and 2k + 1 are the low and the high nibbles of bytes 32 k up
 *         w = (d * scale) * q - dmin * min
 *   Q5_K  | d: f16 | dmin: f16 | 12 bytes | 32 bytes of fifth bits | 128 bytes of nibbles |
 *         as Q4_K; the fifth bit of weight i is bit i / 32 of fifth byte i % 32
 *   Q6_K  | 128 bytes of nibbles | 64 bytes of high bits | 16 x scale: i8 | d: f16 |
 *         group of 16; k = r / 32, l = r % 32: nibble in byte 64 h + 32 (k % 2) + l, its high half
 *         for k >= 2; two bits above it in byte 32 h + l, bits 2 k up
 *         w = (d * scale) * (q - 32)
 *   Q8_K  | d: f32 | 256 x i8 | 16 sums: i16 |   w = q * d
 */
#include "dtype/codecs.h"

#include "dtype/block.h"
#include "dtype/k_scales.h"

struct q2_k_block {
    uint8_t scales[16], low[64], d[2], dmin[2];
};

struct q3_k_block {
    uint8_t high[32], low[64], scales[12], d[2];
};

struct q4_k_block {
    uint8_t d[2], dmin[2], scales[12], nibbles[128];
};

struct q5_k_block {
    uint8_t d[2], dmin[2], scales[12], fifth[32], nibbles[128];
};

struct q6_k_block {
    uint8_t nibbles[128], high[64];
    int8_t scales[16];
    uint8_t d[2];
};

struct q8_k_block {
    uint8_t d[4];
    int8_t q[256];
    uint8_t sums[32];
};

TENON_ASSERT_BLOCK(Q2_K, struct q2_k_block);
TENON_ASSERT_BLOCK(Q3_K, struct q3_k_block);
TENON_ASSERT_BLOCK(Q4_K, struct q4_k_block);
TENON_ASSERT_BLOCK(Q5_K, struct q5_k_block);
TENON_ASSERT_BLOCK(Q6_K, struct q6_k_block);
TENON_ASSERT_BLOCK(Q8_K, struct q8_k_block);

enum { BLOCK = 256 };

void tenon_decode_Q2_K(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q2_k_block *b = (const struct q2_k_block *)in + i;
        uint16_t scale = tenon_le16(b->d), offset = tenon_le16(b->dmin);
        float d = tenon_f32_from_scale(scale), dmin = tenon_f32_from_scale(offset);

        for (int g = 0; g < 16; g++) {
            const uint8_t *low = b->low + 32 * (g / 8) + 16 * (g % 2);
            int shift = 2 * (g % 8 / 2);
            float s = d * (float)(b->scales[g] & 15), m = dmin * (float)(b->scales[g] >> 4);

            for (int l = 0; l < 16; l++)
                out[16 * g + l] = s * (float)(low[l] >> shift & 3) - m;
        }
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q3_K(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q3_k_block *b = (const struct q3_k_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);
        int8_t scales[16];

        tenon_k_unpack_q3(scales, b->scales);
        for (int g = 0; g < 16; g++) {
            const uint8_t *low = b->low + 32 * (g / 8) + 16 * (g % 2);
            const uint8_t *high = b->high + 16 * (g % 2);
            int shift = 2 * (g % 8 / 2);
            float s = d * (float)scales[g];

            for (int l = 0; l < 16; l++) {
                int q = (low[l] >> shift & 3) + (high[l] >> (g / 2) & 1) * 4 - 4;

                out[16 * g + l] = s * (float)q;
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q4_K(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q4_k_block *b = (const struct q4_k_block *)in + i;
        uint16_t scale = tenon_le16(b->d), offset = tenon_le16(b->dmin);
        float d = tenon_f32_from_scale(scale), dmin = tenon_f32_from_scale(offset);
        uint8_t scales[8], mins[8];

        tenon_k_unpack_q4(scales, mins, b->scales);
        for (int k = 0; k < 4; k++) {
            const uint8_t *nibbles = b->nibbles + 32 * k;
            float *pair = out + 64 * k;
            float s0 = d * (float)scales[2 * k], m0 = dmin * (float)mins[2 * k];
            float s1 = d * (float)scales[2 * k + 1], m1 = dmin * (float)mins[2 * k + 1];

            for (int l = 0; l < 32; l++)
                pair[l] = s0 * (float)(nibbles[l] & 15) - m0;
            for (int l = 0; l < 32; l++)
                pair[32 + l] = s1 * (float)(nibbles[l] >> 4) - m1;
        }
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

/* The five-bit numbers of group g. In bytes, so that a vector holds as many as can be. */
static inline void unpack_five(uint8_t *restrict q, const uint8_t *restrict nibbles,
                               const uint8_t *restrict fifth, int g)
{
    uint8_t bit = (uint8_t)(1 << g);

    if (g % 2 == 0)
        for (int l = 0; l < 32; l++)
            q[l] = nibbles[l] & 15;
    else
        for (int l = 0; l < 32; l++)
            q[l] = nibbles[l] >> 4;
    for (int l = 0; l < 32; l++)
        q[l] |= (fifth[l] & bit) != 0 ? 16 : 0;
}

void tenon_decode_Q5_K(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q5_k_block *b = (const struct q5_k_block *)in + i;
        uint16_t scale = tenon_le16(b->d), offset = tenon_le16(b->dmin);
        float d = tenon_f32_from_scale(scale), dmin = tenon_f32_from_scale(offset);
        uint8_t scales[8], mins[8];

        tenon_k_unpack_q4(scales, mins, b->scales);
        for (int g = 0; g < 8; g++) {
            float s = d * (float)scales[g], m = dmin * (float)mins[g];
            uint8_t q[32];

            unpack_five(q, b->nibbles + 32 * (g / 2), b->fifth, g);
            for (int l = 0; l < 32; l++)
                out[32 * g + l] = s * (float)q[l] - m;
        }
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q6_K(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q6_k_block *b = (const struct q6_k_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int g = 0; g < 16; g++) {
            int k = g % 8 / 2;
            const uint8_t *low = b->nibbles + 64 * (g / 8) + 32 * (k % 2) + 16 * (g % 2);
            const uint8_t *high = b->high + 32 * (g / 8) + 16 * (g % 2);
            int low_shift = 4 * (k / 2), high_shift = 2 * k;
            float s = d * (float)b->scales[g];

            for (int l = 0; l < 16; l++) {
                int q = (low[l] >> low_shift & 15) + (high[l] >> high_shift & 3) * 16 - 32;

                out[16 * g + l] = s * (float)q;
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q8_K(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q8_k_block *b = (const struct q8_k_block *)in + i;
        uint32_t scale = tenon_le32(b->d);
        float d = tenon_f32_from_bits(scale);

        for (int j = 0; j < BLOCK; j++)
            out[j] = (float)b->q[j] * d;
        if ((scale & 0x7f800000u) == 0x7f800000u)
            tenon_settle_nans(out, BLOCK);
    }
}
