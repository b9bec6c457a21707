/* What the encoders share. They read float32 in the machine's order and write little-endian
 * bytes; all of them give the bytes of the reference (ggml without an importance matrix), bit for
 * bit, which is why sums and quotients are written in the order in which they stand. */
#ifndef TENON_ENCODE_H
#define TENON_ENCODE_H

#include "dtype/block.h"

/* The function of encoder `id` in this compilation: tenon_encode_Q4_K, tenon_encode_Q4_K_avx2. The
 * files of src/meson.build's encoder_sources are compiled once for every processor and once more
 * for each wider instruction set: one text, and the same operations in the same order. */
#ifdef TENON_VARIANT
#define TENON_ENCODER_JOIN(id, variant) tenon_encode_##id##_##variant
#define TENON_ENCODER_NAME(id, variant) TENON_ENCODER_JOIN(id, variant)
#define TENON_ENCODER(id)               TENON_ENCODER_NAME(id, TENON_VARIANT)
#else
#define TENON_ENCODER(id) tenon_encode_##id
#endif

#define ENCODE(id) size_t TENON_ENCODER(id)(uint8_t * out, const float *in, size_t n);
#include "dtype/encoders.def"
#undef ENCODE

#define TENON_INFINITY_BITS 0x7f800000

/* Groups of the K-quants and of IQ4 whose values are all below this are taken for zero. */
#define TENON_GROUP_EPSILON 1e-15f

static inline void tenon_put_le16(uint8_t *p, uint16_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap16(v);
#endif
    memcpy(p, &v, sizeof(v));
}

static inline void tenon_put_le32(uint8_t *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    memcpy(p, &v, sizeof(v));
}

static inline void tenon_put_le64(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, sizeof(v));
}

/* The half nearest to a positive number that is given by its bits, ties to even; for results
 * from the smallest normal half up to infinity. */
static inline uint32_t tenon_f16_round_normal(uint32_t magnitude)
{
    const uint32_t rebias = (127 - 15) << 23;

    return (magnitude - rebias + 0x0fff + (magnitude >> 13 & 1)) >> 13;
}

/* To nearest even; too large becomes infinite; a NaN keeps only its sign. Without branches, so
 * that loops over it become vector code. */
static inline uint16_t tenon_f16_from_f32(float f)
{
    uint32_t bits = tenon_f32_bits(f);
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t normal = tenon_f16_round_normal(magnitude);
    /* A unit in the last place of 0.5 is the smallest half: the addition rounds. */
    uint32_t subnormal =
        tenon_f32_bits(tenon_f32_from_bits(magnitude) + 0.5f) - tenon_f32_bits(0.5f);
    uint32_t half = tenon_pick(magnitude < 0x38800000u, subnormal, normal); /* 2^-14 */

    half = tenon_pick(magnitude >= 0x47800000u, 0x7c00, half); /* 2^16 */
    half = tenon_pick(magnitude > TENON_INFINITY_BITS, 0x7e00, half);
    return (uint16_t)(half | (bits >> 16 & 0x8000u));
}

/* The same for one number, which mostly is of a size that needs no choices. */
static inline void tenon_put_f16(uint8_t *p, float f)
{
    uint32_t bits = tenon_f32_bits(f);
    uint32_t magnitude = bits & 0x7fffffffu;

    if (magnitude >= 0x38800000u && magnitude < 0x47800000u) /* 2^-14 to 2^16 */
        tenon_put_le16(p, (uint16_t)(tenon_f16_round_normal(magnitude) | (bits >> 16 & 0x8000u)));
    else
        tenon_put_le16(p, tenon_f16_from_f32(f));
}

/* To the nearest integer, ties to even: lanes_round of lanes.h for one value. */
static inline int32_t tenon_round(float f)
{
    return (int32_t)(tenon_f32_bits(f + 12582912.0f) & 0x007fffff) - 0x00400000;
}

/* To the nearest integer, ties away from zero, for |f| below 2^22: adding the largest number below
 * one half, with the sign of f, leaves truncation to do the rest. */
static inline int32_t tenon_round_away(float f)
{
    return (int32_t)(f + __builtin_copysignf(0x1.fffffep-2f, f));
}

/* 1 / d, and 0 for 0. */
static inline float tenon_invert(float d)
{
    return d != 0 ? 1.0f / d : 0.0f;
}

/* The same where products with it become integers: 0 also when it is too large for a float32. */
static inline float tenon_invert_finite(float d)
{
    float inverse = tenon_invert(d);

    return __builtin_fabsf(inverse) <= 0x1.fffffep+127f ? inverse : 0.0f;
}

/* The first value of the largest magnitude, with its sign; NaNs are passed over. */
static inline float tenon_extreme(const float *values, int n)
{
    float extreme = 0;

    for (int i = 0; i < n; i++)
        if (__builtin_fabsf(values[i]) > __builtin_fabsf(extreme))
            extreme = values[i];
    return extreme;
}

/* The low two bits of 256 codes, those 32 apart in one byte. */
static inline void tenon_put_two_bits(uint8_t *out, const int32_t *codes)
{
    for (int i = 0; i < 64; i++) {
        const int32_t *q = codes + i / 32 * 128 + i % 32;

        out[i] = (uint8_t)((q[0] & 3) | (q[32] & 3) << 2 | (q[64] & 3) << 4 | (q[96] & 3) << 6);
    }
}

/* The bits of the largest magnitude of `n` values: as integers they are in the order of the
 * numbers, with infinity and the NaNs last. */
static inline int32_t tenon_largest_magnitude(const float *in, size_t n)
{
    int32_t largest = 0;

    for (size_t i = 0; i < n; i++) {
        int32_t bits = (int32_t)(tenon_f32_bits(in[i]) & 0x7fffffffu);

        largest = bits > largest ? bits : largest;
    }
    return largest;
}

/* The index of the first of `n` values that is infinite or a NaN; n when there is none. */
static inline size_t tenon_find_not_finite(const float *in, size_t n)
{
    const uint32_t exponent = TENON_INFINITY_BITS;
    uint32_t found = 0;

    for (size_t i = 0; i < n; i++)
        found |= (tenon_f32_bits(in[i]) & exponent) == exponent;
    if (found == 0)
        return n;
    for (size_t i = 0; i < n; i++)
        if ((tenon_f32_bits(in[i]) & exponent) == exponent)
            return i;
    return n;
}

#endif
