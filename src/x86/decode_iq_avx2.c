/* Lattice types, AVX2 and F16C. Layouts: dtype/iq_grid.c. A row of letters is spread over the
 * lanes by shifts and looked up in the alphabet, which has been multiplied by the scale. */
#include "x86/decode_avx2.h"

#include "dtype/iq_tables.h"

enum { BLOCK = 256, GROUPS = 8 };

/* The IQ2 alphabet, twice over, times a scale. */
static inline __m256 scale_iq2(float f)
{
    const __m256 letters = _mm256_setr_ps(8, 25, 43, 0, 8, 25, 43, 0);

    return _mm256_mul_ps(letters, _mm256_set1_ps(f));
}

static inline void put_eight(float *out, __m256 scaled, uint16_t row, uint32_t signs)
{
    __m256 values = look_up_pairs(scaled, _mm256_set1_epi32(row));

    store_eight(out, _mm256_xor_ps(values, spread_signs(signs)));
}

void tenon_decode_IQ2_XXS_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_IQ2_XXS) {
        uint16_t scale = tenon_le16(in);
        float d = _cvtsh_ss(scale);

        for (int g = 0; g < GROUPS; g++) {
            const uint8_t *index = in + 2 + 8 * g;
            uint32_t word = tenon_le32(index + 4);
            __m256 scaled = scale_iq2(d * (0.5f + (float)(int)(word >> 28)) * 0.25f);

            for (int l = 0; l < 4; l++)
                put_eight(out + 32 * g + 8 * l, scaled, tenon_iq2_xxs_rows[index[l]],
                          tenon_iq_signs(word >> (7 * l)));
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

/* The scale of half group h, a nibble of the bytes at `scales`. */
static inline __m256 scale_iq2_half(float d, const uint8_t *scales, int h)
{
    return scale_iq2(d * (0.5f + (float)(scales[h / 2] >> (4 * (h % 2)) & 15)) * 0.25f);
}

void tenon_decode_IQ2_XS_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_IQ2_XS) {
        uint16_t scale = tenon_le16(in);
        float d = _cvtsh_ss(scale);

        for (int h = 0; h < 2 * GROUPS; h++) {
            __m256 scaled = scale_iq2_half(d, in + 66, h);

            for (int l = 2 * h; l < 2 * h + 2; l++) {
                uint32_t code = tenon_le16(in + 2 + 2 * l);

                put_eight(out + 8 * l, scaled, tenon_iq2_xs_rows[code & 511],
                          tenon_iq_signs(code >> 9));
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ2_S_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_IQ2_S) {
        uint16_t scale = tenon_le16(in);
        float d = _cvtsh_ss(scale);

        for (int h = 0; h < 2 * GROUPS; h++) {
            __m256 scaled = scale_iq2_half(d, in + 74, h);

            for (int l = 2 * h; l < 2 * h + 2; l++) {
                int index = in[2 + l] | (in[66 + l / 4] >> (2 * (l % 4)) & 3) << 8;

                put_eight(out + 8 * l, scaled, tenon_iq2_s_rows[index], in[34 + l]);
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

static inline void put_two_fours(float *out, __m256 scaled, uint32_t row0, uint32_t row1,
                                 uint32_t signs)
{
    __m256 values = look_up_triples(scaled, row0 | row1 << 12);

    store_eight(out, _mm256_xor_ps(values, spread_signs(signs)));
}

void tenon_decode_IQ3_XXS_avx2(float *out, const uint8_t *in, size_t n)
{
    const __m256 letters = _mm256_setr_ps(4, 12, 20, 28, 36, 44, 52, 62);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_IQ3_XXS) {
        uint16_t scale = tenon_le16(in);
        float d = _cvtsh_ss(scale);

        for (int g = 0; g < GROUPS; g++) {
            const uint8_t *index = in + 2 + 8 * g;
            uint32_t word = tenon_le32(in + 66 + 4 * g);
            float f = d * (0.5f + (float)(int)(word >> 28)) * 0.5f;
            __m256 scaled = _mm256_mul_ps(letters, _mm256_set1_ps(f));

            for (int l = 0; l < 4; l++)
                put_two_fours(out + 32 * g + 8 * l, scaled, tenon_iq3_xxs_rows[index[2 * l]],
                              tenon_iq3_xxs_rows[index[2 * l + 1]],
                              tenon_iq_signs(word >> (7 * l)));
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ3_S_avx2(float *out, const uint8_t *in, size_t n)
{
    const __m256 letters = _mm256_setr_ps(1, 3, 5, 7, 9, 11, 13, 15);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_IQ3_S) {
        uint16_t scale = tenon_le16(in);
        float d = _cvtsh_ss(scale);

        for (int g = 0; g < GROUPS; g++) {
            const uint8_t *index = in + 2 + 8 * g, *signs = in + 74 + 4 * g;
            int high = in[66 + g], four_bits = in[106 + g / 2] >> (4 * (g % 2)) & 15;
            __m256 f = _mm256_set1_ps(d * (float)(1 + 2 * four_bits));
            __m256 scaled = _mm256_mul_ps(letters, f);

            for (int l = 0; l < 4; l++)
                put_two_fours(out + 32 * g + 8 * l, scaled,
                              tenon_iq3_s_rows[index[2 * l] | (high >> (2 * l) & 1) << 8],
                              tenon_iq3_s_rows[index[2 * l + 1] | (high >> (2 * l + 1) & 1) << 8],
                              signs[l]);
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

/* The letters of IQ1 shifted up (lanes 0 to 2) and down (4 to 6), times a scale. */
static inline __m256 scale_iq1(int multiple, float d)
{
    const __m256 letters = _mm256_setr_ps(-0.875f, 0.125f, 1.125f, 0, -1.125f, -0.125f, 0.875f, 0);

    return _mm256_mul_ps(letters, _mm256_set1_ps(d * (float)multiple));
}

/* `down` is 0 or 1 and becomes the third bit of every look-up. */
static inline void put_iq1(float *out, __m256 scaled, uint16_t row, int down)
{
    const __m256i shifts = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    __m256i letters = _mm256_srlv_epi32(_mm256_set1_epi32(row), shifts);

    letters = _mm256_and_si256(letters, _mm256_set1_epi32(3));
    letters = _mm256_or_si256(letters, _mm256_set1_epi32(4 * down));
    store_eight(out, _mm256_permutevar8x32_ps(scaled, letters));
}

void tenon_decode_IQ1_S_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_IQ1_S) {
        uint16_t scale = tenon_le16(in);
        float d = _cvtsh_ss(scale);

        for (int g = 0; g < GROUPS; g++) {
            int word = tenon_le16(in + 34 + 2 * g);
            __m256 scaled = scale_iq1(1 + 2 * (word >> 12 & 7), d);

            for (int l = 0; l < 4; l++) {
                int index = in[2 + 4 * g + l] | (word >> (3 * l) & 7) << 8;

                put_iq1(out + 32 * g + 8 * l, scaled, tenon_iq1_rows[index], word >> 15);
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ1_M_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_IQ1_M) {
        uint16_t scale = tenon_iq1_m_scale(in + 48);
        float d = _cvtsh_ss(scale);

        for (int h = 0; h < 2 * GROUPS; h++) {
            int word = tenon_le16(in + 48 + 2 * (h / 4)), high = in[32 + h];
            __m256 scaled = scale_iq1(1 + 2 * (word >> (3 * (h % 4)) & 7), d);

            for (int l = 0; l < 2; l++) {
                int nibble = high >> (4 * l) & 15;
                int index = in[2 * h + l] | (nibble & 7) << 8;

                put_iq1(out + 16 * h + 8 * l, scaled, tenon_iq1_rows[index], nibble >> 3);
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}
