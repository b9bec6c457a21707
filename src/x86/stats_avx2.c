/* The lanes of stats_lanes.h in AVX2 registers; the same operations in the same order. */
#include "x86/stats_avx2.h"

#include <immintrin.h>

void tenon_lanes_run_avx2(struct tenon_lanes *lanes, const float *values, size_t n, double pivot)
{
    __m256d p = _mm256_set1_pd(pivot);
    __m256d sum_lo = _mm256_loadu_pd(lanes->sum), sum_hi = _mm256_loadu_pd(lanes->sum + 4);
    __m256d square_lo = _mm256_loadu_pd(lanes->square);
    __m256d square_hi = _mm256_loadu_pd(lanes->square + 4);
    __m256 min = _mm256_loadu_ps(lanes->min), max = _mm256_loadu_ps(lanes->max);
    __m256i top = _mm256_loadu_si256((const __m256i *)(const void *)lanes->top);
    __m256i zero = _mm256_loadu_si256((const __m256i *)(const void *)lanes->zero);
    const __m256i abs_bits = _mm256_set1_epi32((int)TENON_ABS_BITS);

    for (size_t i = 0; i + TENON_LANES <= n; i += TENON_LANES) {
        __m256 x = _mm256_loadu_ps(values + i);
        __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(x), abs_bits);
        __m256d lo = _mm256_sub_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x)), p);
        __m256d hi = _mm256_sub_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)), p);

        top = _mm256_max_epi32(top, magnitude);
        zero = _mm256_sub_epi32(zero, _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256()));
        min = _mm256_min_ps(x, min);
        max = _mm256_max_ps(x, max);
        sum_lo = _mm256_add_pd(sum_lo, lo);
        sum_hi = _mm256_add_pd(sum_hi, hi);
        square_lo = _mm256_add_pd(square_lo, _mm256_mul_pd(lo, lo));
        square_hi = _mm256_add_pd(square_hi, _mm256_mul_pd(hi, hi));
    }
    _mm256_storeu_pd(lanes->sum, sum_lo);
    _mm256_storeu_pd(lanes->sum + 4, sum_hi);
    _mm256_storeu_pd(lanes->square, square_lo);
    _mm256_storeu_pd(lanes->square + 4, square_hi);
    _mm256_storeu_ps(lanes->min, min);
    _mm256_storeu_ps(lanes->max, max);
    _mm256_storeu_si256((__m256i *)(void *)lanes->top, top);
    _mm256_storeu_si256((__m256i *)(void *)lanes->zero, zero);
}
