/* Four-bit indices into 16 uneven steps.
 *
 *   IQ4_NL  | d: f16 | nibbles: 16 bytes |   32 weights, byte j: weights j and j + 16
 *           w = d * step[q]
 *   IQ4_XS  | d: f16 | high: u16 | low: 4 bytes | nibbles: 8 x 16 bytes |   8 groups of 32
 *           scale of group g: low nibble g, over it bits 2g and 2g + 1 of `high`, less 32
 *           w = (d * scale) * step[q]
 */
#include "dtype/codecs.h"

#include "dtype/block.h"
#include "dtype/iq4.h"

struct iq4_nl_block {
    uint8_t d[2], nibbles[16];
};

struct iq4_xs_block {
    uint8_t d[2], high[2], low[4], nibbles[8][16];
};

TENON_ASSERT_BLOCK(IQ4_NL, struct iq4_nl_block);
TENON_ASSERT_BLOCK(IQ4_XS, struct iq4_xs_block);

const int8_t tenon_iq4_step[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                   1,    13,   25,  38,  53,  69,  89,  113};

/* 32 weights; multiplying the steps first leaves one look-up for each. */
static inline void decode_group(float *restrict out, const uint8_t *restrict nibbles, float d)
{
    float scaled[16];

    for (int k = 0; k < 16; k++)
        scaled[k] = d * (float)tenon_iq4_step[k];
    for (int j = 0; j < 16; j++) {
        out[j] = scaled[nibbles[j] & 15];
        out[j + 16] = scaled[nibbles[j] >> 4];
    }
}

void tenon_decode_IQ4_NL(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += TENON_BLOCK_IQ4_NL) {
        const struct iq4_nl_block *b = (const struct iq4_nl_block *)in + i;
        uint16_t scale = tenon_le16(b->d);

        decode_group(out, b->nibbles, tenon_f32_from_scale(scale));
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, TENON_BLOCK_IQ4_NL);
    }
}

void tenon_decode_IQ4_XS(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += TENON_BLOCK_IQ4_XS) {
        const struct iq4_xs_block *b = (const struct iq4_xs_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int g = 0; g < 8; g++)
            decode_group(out + 32 * g, b->nibbles[g],
                         d * (float)tenon_iq4_xs_scale(b->low, tenon_le16(b->high), g));
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, TENON_BLOCK_IQ4_XS);
    }
}
