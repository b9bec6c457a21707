/* Steps that the AVX2 decoders share. Each does in the same order what the plain C decoder does,
 * so that the bytes are the same. */
#ifndef TENON_X86_DECODE_AVX2_H
#define TENON_X86_DECODE_AVX2_H

#include <immintrin.h>

#include "dtype/block.h"
#include "x86/decode_x86.h"

/* Stores in halves: memory from malloc is aligned to 16 bytes and no more, and a store that
 * crosses a cache line costs more than a second store. */
static inline void store_eight(float *out, __m256 values)
{
    _mm_storeu_ps(out, _mm256_castps256_ps128(values));
    _mm_storeu_ps(out + 4, _mm256_extractf128_ps(values, 1));
}

/* Fetches the cache line 2 KiB after `out`, which is about to be written: four bytes go out for
 * every one or two that come in, so the loops wait for their own output. Past its end the
 * address means nothing, but no prefetch fails. */
static inline void prefetch_output(const float *out)
{
    _mm_prefetch((const void *)((uintptr_t)out + 2048), _MM_HINT_T0);
}

static inline __m128i load_16_bytes(const void *p)
{
    return _mm_loadu_si128(p);
}

/* A half in all eight lanes. */
static inline __m256 spread_f16(uint16_t h)
{
    return _mm256_set1_ps(_cvtsh_ss(h));
}

static inline __m128i low_nibbles(__m128i bytes)
{
    return _mm_and_si128(bytes, _mm_set1_epi8(15));
}

static inline __m128i high_nibbles(__m128i bytes)
{
    return low_nibbles(_mm_srli_epi16(bytes, 4));
}

/* Eight signed bytes, the lower ones, as floats. */
static inline __m256 floats_from_bytes(__m128i bytes)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

/* out[i] = q[i] * d for 16 signed bytes. */
static inline void put_scaled(float *out, __m128i q, __m256 d)
{
    prefetch_output(out);
    store_eight(out, _mm256_mul_ps(floats_from_bytes(q), d));
    store_eight(out + 8, _mm256_mul_ps(floats_from_bytes(_mm_srli_si128(q, 8)), d));
}

/* The same from memory, which saves a shuffle. */
static inline void put_scaled_bytes(float *out, const uint8_t *q, __m256 d)
{
    __m256 low = floats_from_bytes(_mm_loadl_epi64((const void *)q));
    __m256 high = floats_from_bytes(_mm_loadl_epi64((const void *)(q + 8)));

    prefetch_output(out);
    store_eight(out, _mm256_mul_ps(low, d));
    store_eight(out + 8, _mm256_mul_ps(high, d));
}

/* out[i] = q[i] * d + m for 16 signed bytes. */
static inline void put_shifted(float *out, __m128i q, __m256 d, __m256 m)
{
    __m256 low = _mm256_mul_ps(floats_from_bytes(q), d);
    __m256 high = _mm256_mul_ps(floats_from_bytes(_mm_srli_si128(q, 8)), d);

    prefetch_output(out);
    store_eight(out, _mm256_add_ps(low, m));
    store_eight(out + 8, _mm256_add_ps(high, m));
}

/* Eight sign bits, the lowest for the first lane, as the sign bits of floats. */
static inline __m256 spread_signs(uint32_t signs)
{
    const __m256i to_top = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    __m256i shifted = _mm256_sllv_epi32(_mm256_set1_epi32((int32_t)signs), to_top);

    return _mm256_and_ps(_mm256_castsi256_ps(shifted), _mm256_set1_ps(-0.0f));
}

/* Looks up the eight two-bit numbers of `word` from bit 0 up. `table` holds its four entries
 * twice, since the instruction looks at three bits. */
static inline __m256 look_up_pairs(__m256 table, __m256i word)
{
    const __m256i shifts = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);

    return _mm256_permutevar8x32_ps(table, _mm256_srlv_epi32(word, shifts));
}

/* Looks up eight three-bit numbers. */
static inline __m256 look_up_triples(__m256 table, uint32_t word)
{
    const __m256i shifts = _mm256_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21);

    return _mm256_permutevar8x32_ps(table,
                                    _mm256_srlv_epi32(_mm256_set1_epi32((int32_t)word), shifts));
}

#endif
