/* Small blocks under one scale, AVX2 and F16C. Layouts: dtype/q4_q5_q8.c, dtype/iq4.c,
 * dtype/fp4.c, dtype/low_bits.c, dtype/ternary.c. */
#include "x86/decode_avx2.h"

#include "dtype/fp4.h"
#include "dtype/iq4.h"

enum { BLOCK = 32 };

void tenon_decode_Q4_0_avx2(float *out, const uint8_t *in, size_t n)
{
    const __m128i eight = _mm_set1_epi8(8);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q4_0) {
        uint16_t scale = tenon_le16(in);
        __m256 d = spread_f16(scale);
        __m128i nibbles = load_16_bytes(in + 2);

        put_scaled(out, _mm_sub_epi8(low_nibbles(nibbles), eight), d);
        put_scaled(out + 16, _mm_sub_epi8(high_nibbles(nibbles), eight), d);
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q4_1_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q4_1) {
        uint16_t scale = tenon_le16(in), offset = tenon_le16(in + 2);
        __m256 d = spread_f16(scale), m = spread_f16(offset);
        __m128i nibbles = load_16_bytes(in + 4);

        put_shifted(out, low_nibbles(nibbles), d, m);
        put_shifted(out + 16, high_nibbles(nibbles), d, m);
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

/* 16 where a bit of `bits` is set, 0 elsewhere; the lowest bit for the first byte. */
static inline __m128i spread_fifth_bits(uint32_t bits)
{
    const __m128i pick = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const __m128i one_each = _mm_set1_epi64x((int64_t)0x8040201008040201);
    __m128i bytes = _mm_shuffle_epi8(_mm_cvtsi32_si128((int32_t)bits), pick);
    __m128i set = _mm_cmpeq_epi8(_mm_and_si128(bytes, one_each), one_each);

    return _mm_and_si128(set, _mm_set1_epi8(16));
}

void tenon_decode_Q5_0_avx2(float *out, const uint8_t *in, size_t n)
{
    const __m128i sixteen = _mm_set1_epi8(16);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q5_0) {
        uint16_t scale = tenon_le16(in);
        uint32_t fifth = tenon_le32(in + 2);
        __m256 d = spread_f16(scale);
        __m128i nibbles = load_16_bytes(in + 6);
        __m128i low = _mm_or_si128(low_nibbles(nibbles), spread_fifth_bits(fifth));
        __m128i high = _mm_or_si128(high_nibbles(nibbles), spread_fifth_bits(fifth >> 16));

        put_scaled(out, _mm_sub_epi8(low, sixteen), d);
        put_scaled(out + 16, _mm_sub_epi8(high, sixteen), d);
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q5_1_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q5_1) {
        uint16_t scale = tenon_le16(in), offset = tenon_le16(in + 2);
        uint32_t fifth = tenon_le32(in + 4);
        __m256 d = spread_f16(scale), m = spread_f16(offset);
        __m128i nibbles = load_16_bytes(in + 8);

        put_shifted(out, _mm_or_si128(low_nibbles(nibbles), spread_fifth_bits(fifth)), d, m);
        put_shifted(out + 16, _mm_or_si128(high_nibbles(nibbles), spread_fifth_bits(fifth >> 16)),
                    d, m);
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

/* 32 signed bytes. */
static inline void decode_bytes(float *out, const uint8_t *q, uint16_t scale)
{
    __m256 d = spread_f16(scale);

    put_scaled_bytes(out, q, d);
    put_scaled_bytes(out + 16, q + 16, d);
    if (tenon_f16_special(scale))
        tenon_settle_nans(out, BLOCK);
}

void tenon_decode_Q8_0_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q8_0)
        decode_bytes(out, in + 2, tenon_le16(in));
}

void tenon_decode_Q8_1_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_Q8_1)
        decode_bytes(out, in + 4, tenon_le16(in));
}

/* 32 weights that are steps of a table of 16. */
static inline void put_steps(float *out, __m128i table, __m128i nibbles, __m256 d)
{
    put_scaled(out, _mm_shuffle_epi8(table, low_nibbles(nibbles)), d);
    put_scaled(out + 16, _mm_shuffle_epi8(table, high_nibbles(nibbles)), d);
}

void tenon_decode_IQ4_NL_avx2(float *out, const uint8_t *in, size_t n)
{
    __m128i table = load_16_bytes(tenon_iq4_step);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_IQ4_NL) {
        uint16_t scale = tenon_le16(in);

        put_steps(out, table, load_16_bytes(in + 2), spread_f16(scale));
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_IQ4_XS_avx2(float *out, const uint8_t *in, size_t n)
{
    __m128i table = load_16_bytes(tenon_iq4_step);

    for (size_t i = 0; i < n; i++, in += TENON_BLOCK_BYTES_IQ4_XS) {
        uint16_t scale = tenon_le16(in);
        unsigned high = tenon_le16(in + 2);
        float d = _cvtsh_ss(scale);
        float *block = out;

        for (int g = 0; g < 8; g++, out += BLOCK) {
            float s = d * (float)tenon_iq4_xs_scale(in + 4, high, g);

            put_steps(out, table, load_16_bytes(in + 8 + 16 * g), _mm256_set1_ps(s));
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(block, TENON_BLOCK_IQ4_XS);
    }
}

void tenon_decode_MXFP4_avx2(float *out, const uint8_t *in, size_t n)
{
    __m128i table = load_16_bytes(tenon_doubled_e2m1);

    for (size_t i = 0; i < n; i++, out += BLOCK, in += TENON_BLOCK_BYTES_MXFP4)
        put_steps(out, table, load_16_bytes(in + 1), _mm256_set1_ps(tenon_mxfp4_half_scale(in[0])));
}

void tenon_decode_NVFP4_avx2(float *out, const uint8_t *in, size_t n)
{
    __m128i table = load_16_bytes(tenon_doubled_e2m1);

    for (size_t i = 0; i < n; i++, in += TENON_BLOCK_BYTES_NVFP4)
        for (int g = 0; g < 4; g++, out += 16) {
            __m128i nibbles = _mm_loadl_epi64((const void *)(in + 4 + 8 * g));
            __m128i codes = _mm_unpacklo_epi64(low_nibbles(nibbles), high_nibbles(nibbles));

            put_scaled(out, _mm_shuffle_epi8(table, codes),
                       _mm256_set1_ps(tenon_nvfp4_half_scale(in[g])));
        }
}

void tenon_decode_Q1_0_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += TENON_BLOCK_Q1_0, in += TENON_BLOCK_BYTES_Q1_0) {
        uint16_t scale = tenon_le16(in);
        __m256 negative = _mm256_xor_ps(spread_f16(scale), _mm256_set1_ps(-0.0f));

        for (int j = 0; j < 16; j++)
            store_eight(out + 8 * j, _mm256_xor_ps(negative, spread_signs(in[2 + j])));
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, TENON_BLOCK_Q1_0);
    }
}

void tenon_decode_Q2_0_avx2(float *out, const uint8_t *in, size_t n)
{
    const __m256 steps = _mm256_setr_ps(-1, 0, 1, 2, -1, 0, 1, 2);

    for (size_t i = 0; i < n; i++, out += TENON_BLOCK_Q2_0, in += TENON_BLOCK_BYTES_Q2_0) {
        uint16_t scale = tenon_le16(in);
        __m256 scaled = _mm256_mul_ps(steps, spread_f16(scale));

        for (int j = 0; j < 8; j++) {
            __m256i word = _mm256_set1_epi32(tenon_le16(in + 2 + 2 * j));

            store_eight(out + 8 * j, look_up_pairs(scaled, word));
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, TENON_BLOCK_Q2_0);
    }
}

/* The first base-3 digit of 16 fractions, less 1: 86/256 and 171/256 are the first above 1/3
 * and 2/3. */
static inline __m128i first_digits(__m128i fractions)
{
    __m128i above_first = _mm_cmpeq_epi8(_mm_max_epu8(fractions, _mm_set1_epi8(86)), fractions);
    __m128i above_second =
        _mm_cmpeq_epi8(_mm_max_epu8(fractions, _mm_set1_epi8((char)171)), fractions);

    return _mm_sub_epi8(_mm_sub_epi8(_mm_set1_epi8(-1), above_first), above_second);
}

static inline __m128i times_three(__m128i bytes)
{
    return _mm_add_epi8(_mm_add_epi8(bytes, bytes), bytes);
}

/* `n_digits` digits of 16 bytes; all first digits at `out`, the second `stride` on ... */
static inline void put_digits(float *out, __m128i bytes, int n_digits, int stride, __m256 d)
{
    for (int k = 0; k < n_digits; k++) {
        put_scaled(out + stride * k, first_digits(bytes), d);
        bytes = times_three(bytes);
    }
}

/* The four digits of four bytes are 16 weights in a row. */
static inline void put_last_digits(float *out, const uint8_t *fours, __m256 d)
{
    __m128i first = _mm_cvtsi32_si128((int32_t)tenon_le32(fours));
    __m128i second = times_three(first);
    __m128i third = times_three(second);
    __m128i rows = _mm_unpacklo_epi64(_mm_unpacklo_epi32(first, second),
                                      _mm_unpacklo_epi32(third, times_three(third)));

    put_scaled(out, first_digits(rows), d);
}

void tenon_decode_TQ1_0_avx2(float *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += TENON_BLOCK_TQ1_0, in += TENON_BLOCK_BYTES_TQ1_0) {
        uint16_t scale = tenon_le16(in + 52);
        __m256 d = spread_f16(scale);

        put_digits(out, load_16_bytes(in), 5, 32, d);
        put_digits(out + 16, load_16_bytes(in + 16), 5, 32, d);
        put_digits(out + 160, load_16_bytes(in + 32), 5, 16, d);
        put_last_digits(out + 240, in + 48, d);
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, TENON_BLOCK_TQ1_0);
    }
}

void tenon_decode_TQ2_0_avx2(float *out, const uint8_t *in, size_t n)
{
    const __m128i three = _mm_set1_epi8(3), one = _mm_set1_epi8(1);

    for (size_t i = 0; i < n; i++, out += TENON_BLOCK_TQ2_0, in += TENON_BLOCK_BYTES_TQ2_0) {
        uint16_t scale = tenon_le16(in + 64);
        __m256 d = spread_f16(scale);

        for (int part = 0; part < 4; part++) {
            __m128i pairs = load_16_bytes(in + 16 * part);
            float *first = out + 128 * (part / 2) + 16 * (part % 2);

            for (int k = 0; k < 4; k++, pairs = _mm_srli_epi16(pairs, 2))
                put_scaled(first + 32 * k, _mm_sub_epi8(_mm_and_si128(pairs, three), one), d);
        }
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, TENON_BLOCK_TQ2_0);
    }
}
