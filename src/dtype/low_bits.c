/* One and two bits per weight under one scale, packed from the least significant bit up.
 *
 *   Q1_0  | d: f16 | 128 bits |        w = d for 1, -d for 0
 *   Q2_0  | d: f16 | 64 x 2 bits |     w = (q - 1) * d
 */
#include "dtype/codecs.h"

#include "dtype/block.h"

struct q1_0_block {
    uint8_t d[2], bits[16];
};

struct q2_0_block {
    uint8_t d[2], pairs[16];
};

TENON_ASSERT_BLOCK(Q1_0, struct q1_0_block);
TENON_ASSERT_BLOCK(Q2_0, struct q2_0_block);

void tenon_decode_Q1_0(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += TENON_BLOCK_Q1_0) {
        const struct q1_0_block *b = (const struct q1_0_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        uint32_t negative = tenon_f32_bits(tenon_f32_from_scale(scale)) ^ 0x80000000u;

        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 8; k++)
                out[8 * j + k] = tenon_f32_from_bits(negative ^ (uint32_t)(b->bits[j] >> k) << 31);
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, TENON_BLOCK_Q1_0);
    }
}

void tenon_decode_Q2_0(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += TENON_BLOCK_Q2_0) {
        const struct q2_0_block *b = (const struct q2_0_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 4; k++)
                out[4 * j + k] = (float)((b->pairs[j] >> (2 * k) & 3) - 1) * d;
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, TENON_BLOCK_Q2_0);
    }
}
