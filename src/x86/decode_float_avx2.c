/* Floats without a scale, AVX2 and F16C. Layouts: dtype/float.c, dtype/float8.c, dtype/packed.c.
 * What does not fill a vector at the end is left to the plain C decoder. */
#include "x86/decode_avx2.h"

#include "dtype/codecs.h"

void tenon_decode_F16_avx2(float *out, const uint8_t *in, size_t n)
{
    size_t i = 0;

    for (; n - i >= 16; i += 16) {
        prefetch_output(out + i);
        store_eight(out + i, _mm256_cvtph_ps(load_16_bytes(in + 2 * i)));
        store_eight(out + i + 8, _mm256_cvtph_ps(load_16_bytes(in + 2 * i + 16)));
    }
    tenon_decode_F16(out + i, in + 2 * i, n - i);
}

static inline void put_bf16(float *out, __m128i halves)
{
    __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16);

    store_eight(out, _mm256_castsi256_ps(bits));
}

void tenon_decode_BF16_avx2(float *out, const uint8_t *in, size_t n)
{
    size_t i = 0;

    for (; n - i >= 16; i += 16) {
        prefetch_output(out + i);
        put_bf16(out + i, load_16_bytes(in + 2 * i));
        put_bf16(out + i + 8, load_16_bytes(in + 2 * i + 16));
    }
    tenon_decode_BF16(out + i, in + 2 * i, n - i);
}

/* The upper half of an IEEE half. */
void tenon_decode_F8_E5M2_avx2(float *out, const uint8_t *in, size_t n)
{
    const __m128i zero = _mm_setzero_si128();
    size_t i = 0;

    for (; n - i >= 16; i += 16) {
        prefetch_output(out + i);
        __m128i codes = load_16_bytes(in + i);

        store_eight(out + i, _mm256_cvtph_ps(_mm_unpacklo_epi8(zero, codes)));
        store_eight(out + i + 8, _mm256_cvtph_ps(_mm_unpackhi_epi8(zero, codes)));
    }
    tenon_decode_F8_E5M2(out + i, in + i, n - i);
}

/* tenon_f32_bits_from_small for eight. */
static inline __m256i bits_from_small(__m256i magnitude, int mantissa, int bias)
{
    const __m256i rebias = _mm256_set1_epi32((127 - bias) << 23);
    const __m256 ulp = _mm256_castsi256_ps(_mm256_set1_epi32((128 - bias - mantissa) << 23));
    __m256i normal = _mm256_add_epi32(_mm256_slli_epi32(magnitude, 23 - mantissa), rebias);
    __m256 subnormal = _mm256_mul_ps(_mm256_cvtepi32_ps(magnitude), ulp);
    __m256i is_subnormal = _mm256_cmpgt_epi32(_mm256_set1_epi32(1 << mantissa), magnitude);

    return _mm256_blendv_epi8(normal, _mm256_castps_si256(subnormal), is_subnormal);
}

static inline __m256i load_8_codes(const uint8_t *in)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)in));
}

/* 16 codes of E4M3 moved into halves: with four of the five exponent bits in use the values are
 * those of a type with another bias, too small by a power of two. Where a code is `nan`, compared
 * without its sign when `mask` is 0x7f, the bits `flip` are turned over. */
static inline __m256i halves_from_e4m3(const uint8_t *in, int mask, int nan, int flip)
{
    __m256i codes = _mm256_cvtepu8_epi16(load_16_bytes(in));
    __m256i compared = _mm256_and_si256(codes, _mm256_set1_epi16((int16_t)mask));
    __m256i is_nan = _mm256_cmpeq_epi16(compared, _mm256_set1_epi16((int16_t)nan));
    __m256i spread = _mm256_srai_epi16(_mm256_slli_epi16(codes, 8), 1);
    __m256i halves = _mm256_and_si256(spread, _mm256_set1_epi16((int16_t)0xbfff));

    return _mm256_xor_si256(halves, _mm256_and_si256(is_nan, _mm256_set1_epi16((int16_t)flip)));
}

static inline void put_scaled_halves(float *out, __m256i halves, float scale)
{
    __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
    __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));

    prefetch_output(out);
    store_eight(out, _mm256_mul_ps(low, _mm256_set1_ps(scale)));
    store_eight(out + 8, _mm256_mul_ps(high, _mm256_set1_ps(scale)));
}

/* 0x7f lands on the half 0x3f80, which is turned into the quiet NaN 0x7e00. */
void tenon_decode_F8_E4M3_avx2(float *out, const uint8_t *in, size_t n)
{
    size_t i = 0;

    for (; n - i >= 16; i += 16)
        put_scaled_halves(out + i, halves_from_e4m3(in + i, 0x7f, 0x7f, 0x3f80 ^ 0x7e00), 0x1p8f);
    tenon_decode_F8_E4M3(out + i, in + i, n - i);
}

/* 0x80 lands on the half 0x8000. */
void tenon_decode_F8_E4M3FNUZ_avx2(float *out, const uint8_t *in, size_t n)
{
    size_t i = 0;

    for (; n - i >= 16; i += 16)
        put_scaled_halves(out + i, halves_from_e4m3(in + i, 0xff, 0x80, 0x8000 ^ 0x7e00), 0x1p7f);
    tenon_decode_F8_E4M3FNUZ(out + i, in + i, n - i);
}

/* Eight codes; halves do not have room for the largest exponent. */
static inline __m256 decode_e5m2fnuz(__m256i codes)
{
    const __m256i nan_code = _mm256_set1_epi32(0x80);
    __m256i magnitude = _mm256_and_si256(codes, _mm256_set1_epi32(0x7f));
    __m256i sign = _mm256_slli_epi32(_mm256_andnot_si256(_mm256_set1_epi32(0x7f), codes), 24);
    __m256i bits = _mm256_or_si256(bits_from_small(magnitude, 2, 16), sign);

    bits = _mm256_blendv_epi8(bits, _mm256_set1_epi32((int)TENON_NAN_BITS),
                              _mm256_cmpeq_epi32(codes, nan_code));
    return _mm256_castsi256_ps(bits);
}

void tenon_decode_F8_E5M2FNUZ_avx2(float *out, const uint8_t *in, size_t n)
{
    size_t i = 0;

    for (; n - i >= 8; i += 8)
        store_eight(out + i, decode_e5m2fnuz(load_8_codes(in + i)));
    tenon_decode_F8_E5M2FNUZ(out + i, in + i, n - i);
}

void tenon_decode_F8_E8M0_avx2(float *out, const uint8_t *in, size_t n)
{
    const __m256i smallest = _mm256_set1_epi32(0x00400000), all = _mm256_set1_epi32(0xff);
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        __m256i codes = load_8_codes(in + i);
        __m256i bits = _mm256_slli_epi32(codes, 23);

        /* The only code below 2^22 and the only one that is no number. */
        bits = _mm256_max_epi32(bits, smallest);
        bits = _mm256_blendv_epi8(bits, _mm256_set1_epi32((int)TENON_NAN_BITS),
                                  _mm256_cmpeq_epi32(codes, all));
        store_eight(out + i, _mm256_castsi256_ps(bits));
    }
    tenon_decode_F8_E8M0(out + i, in + i, n - i);
}

void tenon_decode_F4_avx2(float *out, const uint8_t *in, size_t n)
{
    const __m256 values = _mm256_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6);
    const __m256i shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    const __m256 sign_bit = _mm256_set1_ps(-0.0f);
    size_t i = 0;

    for (; n - i >= 4; i += 4) {
        __m256i word = _mm256_set1_epi32((int32_t)tenon_le32(in + i));
        __m256i codes = _mm256_srlv_epi32(word, shifts);
        __m256 sign = _mm256_and_ps(_mm256_castsi256_ps(_mm256_slli_epi32(codes, 28)), sign_bit);

        store_eight(out + 2 * i, _mm256_or_ps(_mm256_permutevar8x32_ps(values, codes), sign));
    }
    tenon_decode_F4(out + 2 * i, in + i, n - i);
}
