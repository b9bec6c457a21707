/* K-quants, AVX2 and F16C. Layouts: dtype/k_quants.c. */
#include "x86/decode_avx2.h"

#include "dtype/k_scales.h"

enum { BLOCK = 256 };

/* Bits 2 k and 2 k + 1 of 16 bytes. */
static inline __m128i pairs_at(__m128i bytes, int k)
{
    return _mm_and_si128(_mm_srli_epi16(bytes, 2 * k), _mm_set1_epi8(3));
}

void tenon_decode_Q2_K_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q2_K) {
        uint16_t scale = tenon_le16(in + 80), offset = tenon_le16(in + 82);
        float d = _cvtsh_ss(scale), minus_dmin = -_cvtsh_ss(offset);

        for (int part = 0; part < 4; part++) {
            __m128i low = load_16_bytes(in + 16 + 16 * part);
            int first = 8 * (part / 2) + part % 2;

            for (int k = 0; k < 4; k++) {
                int g = first + 2 * k;
                float s = d * (float)(in[g] & 15), m = minus_dmin * (float)(in[g] >> 4);

                put_shifted(out + 16 * g, pairs_at(low, k), _mm256_set1_ps(s), _mm256_set1_ps(m));
            }
        }
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

/* Two low bits, and 4 less where bit `at` of the high byte is clear. */
static inline __m128i join_three(__m128i low_pairs, __m128i high, int at)
{
    __m128i bit = _mm_set1_epi8((char)(1 << at));
    __m128i clear = _mm_cmpeq_epi8(_mm_and_si128(high, bit), _mm_setzero_si128());

    return _mm_sub_epi8(low_pairs, _mm_and_si128(clear, _mm_set1_epi8(4)));
}

void tenon_decode_Q3_K_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q3_K) {
        uint16_t scale = tenon_le16(in + 108);
        float d = _cvtsh_ss(scale);
        int8_t scales[16];

        tenon_k_unpack_q3(scales, in + 96);
        for (int part = 0; part < 4; part++) {
            __m128i low = load_16_bytes(in + 32 + 16 * part);
            __m128i high = load_16_bytes(in + 16 * (part % 2));
            int first = 8 * (part / 2) + part % 2;

            for (int k = 0; k < 4; k++) {
                int g = first + 2 * k;

                put_scaled(out + 16 * g, join_three(pairs_at(low, k), high, 4 * (part / 2) + k),
                           _mm256_set1_ps(d * (float)scales[g]));
            }
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q4_K_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q4_K) {
        uint16_t scale = tenon_le16(in), offset = tenon_le16(in + 2);
        float d = _cvtsh_ss(scale), minus_dmin = -_cvtsh_ss(offset);
        uint8_t scales[8], mins[8];

        tenon_k_unpack_q4(scales, mins, in + 4);
        for (int g = 0; g < 8; g += 2) {
            __m128i first = load_16_bytes(in + 16 + 16 * g);
            __m128i second = load_16_bytes(in + 32 + 16 * g);
            __m256 s0 = _mm256_set1_ps(d * (float)scales[g]);
            __m256 s1 = _mm256_set1_ps(d * (float)scales[g + 1]);
            __m256 m0 = _mm256_set1_ps(minus_dmin * (float)mins[g]);
            __m256 m1 = _mm256_set1_ps(minus_dmin * (float)mins[g + 1]);

            put_shifted(out + 32 * g, low_nibbles(first), s0, m0);
            put_shifted(out + 32 * g + 16, low_nibbles(second), s0, m0);
            put_shifted(out + 32 * g + 32, high_nibbles(first), s1, m1);
            put_shifted(out + 32 * g + 48, high_nibbles(second), s1, m1);
        }
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

/* 16 over the nibbles where bit `at` of the byte of fifth bits is set. */
static inline __m128i join_five(__m128i nibbles, __m128i fifth, int at)
{
    __m128i bit = _mm_set1_epi8((char)(1 << at));
    __m128i set = _mm_cmpeq_epi8(_mm_and_si128(fifth, bit), bit);

    return _mm_or_si128(nibbles, _mm_and_si128(set, _mm_set1_epi8(16)));
}

void tenon_decode_Q5_K_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q5_K) {
        uint16_t scale = tenon_le16(in), offset = tenon_le16(in + 2);
        float d = _cvtsh_ss(scale), minus_dmin = -_cvtsh_ss(offset);
        __m128i fifth[2] = {load_16_bytes(in + 16), load_16_bytes(in + 32)};
        uint8_t scales[8], mins[8];

        tenon_k_unpack_q4(scales, mins, in + 4);
        for (int g = 0; g < 8; g += 2) {
            __m256 s0 = _mm256_set1_ps(d * (float)scales[g]);
            __m256 s1 = _mm256_set1_ps(d * (float)scales[g + 1]);
            __m256 m0 = _mm256_set1_ps(minus_dmin * (float)mins[g]);
            __m256 m1 = _mm256_set1_ps(minus_dmin * (float)mins[g + 1]);

            for (int half = 0; half < 2; half++) {
                __m128i nibbles = load_16_bytes(in + 48 + 16 * (g + half));
                float *at = out + 32 * g + 16 * half;

                put_shifted(at, join_five(low_nibbles(nibbles), fifth[half], g), s0, m0);
                put_shifted(at + 32, join_five(high_nibbles(nibbles), fifth[half], g + 1), s1, m1);
            }
        }
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

/* Four low bits and two high ones, less 32. */
static inline __m128i join_six(__m128i nibbles, __m128i pairs)
{
    return _mm_sub_epi8(_mm_or_si128(nibbles, _mm_slli_epi16(pairs, 4)), _mm_set1_epi8(32));
}

void tenon_decode_Q6_K_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q6_K) {
        const int8_t *scales = (const int8_t *)in + 192;
        uint16_t scale = tenon_le16(in + 208);
        float d = _cvtsh_ss(scale);

        for (int part = 0; part < 4; part++) {
            const uint8_t *low = in + 64 * (part / 2) + 16 * (part % 2);
            __m128i even = load_16_bytes(low), odd = load_16_bytes(low + 32);
            __m128i high = load_16_bytes(in + 128 + 16 * part);
            int g = 8 * (part / 2) + part % 2;
            float *at = out + 16 * g;

            put_scaled(at, join_six(low_nibbles(even), pairs_at(high, 0)),
                       _mm256_set1_ps(d * (float)scales[g]));
            put_scaled(at + 32, join_six(low_nibbles(odd), pairs_at(high, 1)),
                       _mm256_set1_ps(d * (float)scales[g + 2]));
            put_scaled(at + 64, join_six(high_nibbles(even), pairs_at(high, 2)),
                       _mm256_set1_ps(d * (float)scales[g + 4]));
            put_scaled(at + 96, join_six(high_nibbles(odd), pairs_at(high, 3)),
                       _mm256_set1_ps(d * (float)scales[g + 6]));
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q8_K_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q8_K) {
        uint32_t scale = tenon_le32(in);
        __m256 d = _mm256_set1_ps(tenon_f32_from_bits(scale));

        for (int k = 0; k < BLOCK; k += 16)
            put_scaled_bytes(out + k, in + 4 + k, d);
        if ((scale & 0x7f800000u) == 0x7f800000u)
            tenon_settle_nans(out, BLOCK);
    }
}
