/* Rounding to half floats by the processor. For files that are compiled with F16C. */
#ifndef TENON_X86_F16C_H
#define TENON_X86_F16C_H

#include <immintrin.h>
#include <stdint.h>

/* Eight at a time, to nearest even. A NaN keeps only its sign, as everywhere else here; the
 * instruction would keep the upper bits of its payload. */
static inline void tenon_f16c_encode(uint8_t *out, const float *in)
{
    const __m128i infinity = _mm_set1_epi16(0x7c00), sign = _mm_set1_epi16((short)0x8000);
    __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT);
    __m128i magnitude = _mm_andnot_si128(sign, half);
    __m128i is_nan = _mm_cmpgt_epi16(magnitude, infinity);
    __m128i nan = _mm_or_si128(_mm_and_si128(half, sign), _mm_set1_epi16(0x7e00));

    half = _mm_blendv_epi8(half, nan, is_nan);
    _mm_storeu_si128((__m128i *)(void *)out, half);
}

/* 32 at a time: one look for all whether there is a NaN. */
static inline void tenon_f16c_encode_32(uint8_t *out, const float *in)
{
    __m256 x[4];
    __m256 nan;

    for (int i = 0; i < 4; i++)
        x[i] = _mm256_loadu_ps(in + 8 * i);
    nan = _mm256_or_ps(_mm256_cmp_ps(x[0], x[1], _CMP_UNORD_Q),
                       _mm256_cmp_ps(x[2], x[3], _CMP_UNORD_Q));
    if (_mm256_movemask_ps(nan) == 0)
        for (int i = 0; i < 4; i++)
            _mm_storeu_si128((__m128i *)(void *)(out + 16 * i),
                             _mm256_cvtps_ph(x[i], _MM_FROUND_TO_NEAREST_INT));
    else
        for (int i = 0; i < 4; i++)
            tenon_f16c_encode(out + 16 * i, in + 8 * i);
}

#endif
