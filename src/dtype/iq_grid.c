/* Super-blocks of 256 weights whose magnitudes are rows of a fixed lattice; 8 groups of 32.
 *
 *   IQ2_XXS | d: f16 | 8 x (4 x index: u8, word: u32) |
 *           word: scale in bits 28-31, four sign numbers of seven bits from bit 0 up
 *   IQ2_XS  | d: f16 | 32 x (sign number: 7 | index: 9) u16 | 8 x (scale: 4, scale: 4) |
 *           a scale for 16 weights, low half first
 *   IQ2_S   | d: f16 | 32 x index: u8 | 32 x signs: u8 | 8 x high: u8 | 8 x (4, 4) scales |
 *           two bits of `high` above each index, lowest first
 *           w = d * (0.5 + scale) * 0.25 * lattice * sign, eight weights for one index
 *   IQ3_XXS | d: f16 | 64 x index: u8 | 8 x word: u32 |       word as in IQ2_XXS
 *           w = d * (0.5 + scale) * 0.5 * lattice * sign, four weights for one index
 *   IQ3_S   | d: f16 | 64 x index: u8 | 8 x high: u8 | 32 x signs: u8 | 4 x (4, 4) scales |
 *           one bit of `high` above each index
 *           w = d * (1 + 2 scale) * lattice * sign
 *   IQ1_S   | d: f16 | 32 x index: u8 | 8 x word: u16 |
 *           word: four times three bits above the indices, scale in bits 12-14, shift in bit 15
 *   IQ1_M   | 32 x index: u8 | 16 x (4, 4) | 4 x word: u16 |
 *           each nibble: three bits above an index, and the shift; word: four scales of three bits
 *           for 16 weights each; bits 12-15 of the four words together are d: f16, lowest first
 *           w = d * (1 + 2 scale) * (lattice + shift), shift = -1/8 for a set bit, else +1/8
 */
#include "dtype/codecs.h"

#include "dtype/block.h"
#include "dtype/iq_tables.h"

struct iq2_xxs_block {
    uint8_t d[2];
    struct {
        uint8_t index[4], word[4];
    } group[8];
};

struct iq2_xs_block {
    uint8_t d[2], codes[8][4][2], scales[8];
};

struct iq2_s_block {
    uint8_t d[2], index[8][4], signs[8][4], high[8], scales[8];
};

struct iq3_xxs_block {
    uint8_t d[2], index[8][8], words[8][4];
};

struct iq3_s_block {
    uint8_t d[2], index[8][8], high[8], signs[8][4], scales[4];
};

struct iq1_s_block {
    uint8_t d[2], index[8][4], words[8][2];
};

struct iq1_m_block {
    uint8_t index[8][4], high[8][2], words[8];
};

TENON_ASSERT_BLOCK(IQ2_XXS, struct iq2_xxs_block);
TENON_ASSERT_BLOCK(IQ2_XS, struct iq2_xs_block);
TENON_ASSERT_BLOCK(IQ2_S, struct iq2_s_block);
TENON_ASSERT_BLOCK(IQ3_XXS, struct iq3_xxs_block);
TENON_ASSERT_BLOCK(IQ3_S, struct iq3_s_block);
TENON_ASSERT_BLOCK(IQ1_S, struct iq1_s_block);
TENON_ASSERT_BLOCK(IQ1_M, struct iq1_m_block);

const int8_t tenon_iq2_alphabet[4] = {8, 25, 43, 0};
const int8_t tenon_iq3_xxs_alphabet[8] = {4, 12, 20, 28, 36, 44, 52, 62};
const int8_t tenon_iq3_s_alphabet[8] = {1, 3, 5, 7, 9, 11, 13, 15};

enum { BLOCK = 256, GROUPS = 8 };

/* The bits of every letter times `f`, so that a weight costs one look-up and its sign. */
static inline void scale_alphabet(uint32_t *restrict scaled, const int8_t *letters, int n, float f)
{
    for (int k = 0; k < n; k++)
        scaled[k] = tenon_f32_bits(f * (float)letters[k]);
}

/* Eight weights from letters of two bits. */
static inline void put_eight(float *restrict out, const uint32_t scaled[4], uint32_t row,
                             uint32_t signs)
{
    for (int k = 0; k < 8; k++)
        out[k] = tenon_f32_from_bits(scaled[row >> (2 * k) & 3] ^ (signs >> k & 1) << 31);
}

/* Eight weights from two rows of letters of three bits. */
static inline void put_two_fours(float *restrict out, const uint32_t scaled[8], uint32_t row0,
                                 uint32_t row1, uint32_t signs)
{
    uint32_t row = row0 | row1 << 12;

    for (int k = 0; k < 8; k++)
        out[k] = tenon_f32_from_bits(scaled[row >> (3 * k) & 7] ^ (signs >> k & 1) << 31);
}

void tenon_decode_IQ2_XXS(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct iq2_xxs_block *b = (const struct iq2_xxs_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int g = 0; g < GROUPS; g++) {
            uint32_t word = tenon_le32(b->group[g].word);
            uint32_t scaled[4];

            scale_alphabet(scaled, tenon_iq2_alphabet, 4, d * (0.5f + (float)(word >> 28)) * 0.25f);
            for (int l = 0; l < 4; l++)
                put_eight(out + 32 * g + 8 * l, scaled, tenon_iq2_xxs_rows[b->group[g].index[l]],
                          tenon_iq_signs(word >> (7 * l)));
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ2_XS(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct iq2_xs_block *b = (const struct iq2_xs_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int h = 0; h < 2 * GROUPS; h++) {
            int four_bits = b->scales[h / 2] >> (4 * (h % 2)) & 15;
            uint32_t scaled[4];

            scale_alphabet(scaled, tenon_iq2_alphabet, 4, d * (0.5f + (float)four_bits) * 0.25f);
            for (int l = 0; l < 2; l++) {
                uint32_t code = tenon_le16(b->codes[h / 2][2 * (h % 2) + l]);

                put_eight(out + 16 * h + 8 * l, scaled, tenon_iq2_xs_rows[code & 511],
                          tenon_iq_signs(code >> 9));
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ2_S(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct iq2_s_block *b = (const struct iq2_s_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int h = 0; h < 2 * GROUPS; h++) {
            int four_bits = b->scales[h / 2] >> (4 * (h % 2)) & 15;
            uint32_t scaled[4];

            scale_alphabet(scaled, tenon_iq2_alphabet, 4, d * (0.5f + (float)four_bits) * 0.25f);
            for (int l = 0; l < 2; l++) {
                int at = 2 * (h % 2) + l;
                int index = b->index[h / 2][at] | (b->high[h / 2] >> (2 * at) & 3) << 8;

                put_eight(out + 16 * h + 8 * l, scaled, tenon_iq2_s_rows[index],
                          b->signs[h / 2][at]);
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ3_XXS(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct iq3_xxs_block *b = (const struct iq3_xxs_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int g = 0; g < GROUPS; g++) {
            uint32_t word = tenon_le32(b->words[g]);
            uint32_t scaled[8];

            scale_alphabet(scaled, tenon_iq3_xxs_alphabet, 8,
                           d * (0.5f + (float)(word >> 28)) * 0.5f);
            for (int l = 0; l < 4; l++)
                put_two_fours(out + 32 * g + 8 * l, scaled, tenon_iq3_xxs_rows[b->index[g][2 * l]],
                              tenon_iq3_xxs_rows[b->index[g][2 * l + 1]],
                              tenon_iq_signs(word >> (7 * l)));
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ3_S(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct iq3_s_block *b = (const struct iq3_s_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int g = 0; g < GROUPS; g++) {
            int four_bits = b->scales[g / 2] >> (4 * (g % 2)) & 15;
            int high = b->high[g];
            uint32_t scaled[8];

            scale_alphabet(scaled, tenon_iq3_s_alphabet, 8, d * (float)(1 + 2 * four_bits));
            for (int l = 0; l < 4; l++)
                put_two_fours(
                    out + 32 * g + 8 * l, scaled,
                    tenon_iq3_s_rows[b->index[g][2 * l] | (high >> (2 * l) & 1) << 8],
                    tenon_iq3_s_rows[b->index[g][2 * l + 1] | (high >> (2 * l + 1) & 1) << 8],
                    b->signs[g][l]);
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

/* Every letter of IQ1 with both shifts: [0] +1/8, [1] -1/8. */
static inline void scale_shifted(uint32_t scaled[2][4], float f)
{
    for (int k = 0; k < 3; k++) {
        scaled[0][k] = tenon_f32_bits(f * ((float)(k - 1) + 0.125f));
        scaled[1][k] = tenon_f32_bits(f * ((float)(k - 1) - 0.125f));
    }
    scaled[0][3] = scaled[1][3] = 0; /* no row has a fourth letter */
}

void tenon_decode_IQ1_S(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct iq1_s_block *b = (const struct iq1_s_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);

        for (int g = 0; g < GROUPS; g++) {
            int word = tenon_le16(b->words[g]);
            uint32_t scaled[2][4];

            scale_shifted(scaled, d * (float)(1 + 2 * (word >> 12 & 7)));
            for (int l = 0; l < 4; l++) {
                int index = b->index[g][l] | (word >> (3 * l) & 7) << 8;

                put_eight(out + 32 * g + 8 * l, scaled[word >> 15], tenon_iq1_rows[index], 0);
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ1_M(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct iq1_m_block *b = (const struct iq1_m_block *)in + i;
        uint16_t scale = tenon_iq1_m_scale(b->words);
        float d = tenon_f32_from_scale(scale);

        for (int h = 0; h < 2 * GROUPS; h++) {
            int three_bits = tenon_le16(b->words + 2 * (h / 4)) >> (3 * (h % 4)) & 7;
            int high = b->high[h / 2][h % 2];
            uint32_t scaled[2][4];

            scale_shifted(scaled, d * (float)(1 + 2 * three_bits));
            for (int l = 0; l < 2; l++) {
                int nibble = high >> (4 * l) & 15;
                int index = b->index[h / 2][2 * (h % 2) + l] | (nibble & 7) << 8;

                put_eight(out + 16 * h + 8 * l, scaled[nibble >> 3], tenon_iq1_rows[index], 0);
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}
