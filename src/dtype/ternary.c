/* Weights of -1, 0 and 1 under one scale, 256 in a block.
 *
 *   TQ1_0  | 48 bytes of five digits | 4 bytes of four digits | d: f16 |
 *          A byte holds a fraction in base 3: its n-th digit is ((byte * 3^n mod 256) * 3) >> 8.
 *          Order: of the first 32 bytes all first digits, all second ..., then so for the next 16
 *          and the last 4.
 *   TQ2_0  | 64 bytes | d: f16 |   two bits each, in the order of Q2_K
 *
 *   w = (digit - 1) * d
 */
#include "dtype/codecs.h"

#include "dtype/block.h"

struct tq1_0_block {
    uint8_t fives[48], fours[4], d[2];
};

struct tq2_0_block {
    uint8_t pairs[64], d[2];
};

TENON_ASSERT_BLOCK(TQ1_0, struct tq1_0_block);
TENON_ASSERT_BLOCK(TQ2_0, struct tq2_0_block);

enum { BLOCK = 256 };

/* All n-th digits of `count` bytes. */
static inline void decode_digits(float *restrict out, const uint8_t *restrict bytes, int count,
                                 unsigned power, float d)
{
    for (int j = 0; j < count; j++) {
        uint8_t fraction = (uint8_t)(bytes[j] * power);

        out[j] = (float)((fraction * 3 >> 8) - 1) * d;
    }
}

void tenon_decode_TQ1_0(float *restrict out, const uint8_t *restrict in, size_t n)
{
    static const uint8_t power[5] = {1, 3, 9, 27, 81};

    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct tq1_0_block *b = (const struct tq1_0_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int k = 0; k < 5; k++)
            decode_digits(out + 32 * k, b->fives, 32, power[k], d);
        for (int k = 0; k < 5; k++)
            decode_digits(out + 160 + 16 * k, b->fives + 32, 16, power[k], d);
        for (int k = 0; k < 4; k++)
            decode_digits(out + 240 + 4 * k, b->fours, 4, power[k], d);
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_TQ2_0(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct tq2_0_block *b = (const struct tq2_0_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int g = 0; g < 8; g++) {
            const uint8_t *pairs = b->pairs + 32 * (g / 4);

            for (int l = 0; l < 32; l++)
                out[32 * g + l] = (float)((pairs[l] >> (2 * (g % 4)) & 3) - 1) * d;
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}
