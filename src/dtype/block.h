/* What every codec file needs: sizes of the rows of dtypes.def, little-endian loads from bytes of
 * any alignment, and the conversions of small floats. All of it is inlined.
 *
 * Not-a-numbers. F32 and BF16 keep their bits. F16 and F64 keep sign and the leading bits of the
 * payload and become quiet, as every processor's own conversion does. Quantized blocks give
 * TENON_NAN_BITS for every value that is none: products of an infinite or undefined scale have
 * other bits on x86 than on ARM, and the order of two operands is the compiler's choice. */
#ifndef TENON_BLOCK_H
#define TENON_BLOCK_H

#include <assert.h>
#include <string.h>

#include "dtype/codec.h"

/* TENON_BLOCK_Q4_0 elements in TENON_BLOCK_BYTES_Q4_0 bytes ... */
enum tenon_block_sizes {
#define X(id, number, name, block, bytes, values, gguf, st, family)                                \
    TENON_BLOCK_##id = (block), TENON_BLOCK_BYTES_##id = (bytes),
#include "tenon/dtypes.def"
#undef X
};

/* The struct that pictures a block must have the size of its row. */
#define TENON_ASSERT_BLOCK(id, type)                                                               \
    static_assert(sizeof(type) == TENON_BLOCK_BYTES_##id, #id " differs from its row in "          \
                                                              "dtypes.def")

#define TENON_NAN_BITS 0x7fc00000u

static inline uint16_t tenon_le16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap16(v);
#endif
    return v;
}

static inline uint32_t tenon_le32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

static inline uint64_t tenon_le64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline float tenon_f32_from_bits(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

static inline uint32_t tenon_f32_bits(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

static inline double tenon_f64_from_bits(uint64_t bits)
{
    double f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* `a` where `condition` holds, else `b`. A choice between values would let the compiler compute
 * only one of them behind a branch, and then no loop around it becomes vector code. */
static inline uint32_t tenon_pick(bool condition, uint32_t a, uint32_t b)
{
    uint32_t mask = 0u - (uint32_t)condition;

    return (a & mask) | (b & ~mask);
}

/* An IEEE half. */
static inline float tenon_f32_from_f16(uint16_t h)
{
    const uint32_t rebias = (127 - 15) << 23;
    uint32_t magnitude = h & 0x7fffu;
    uint32_t normal = (magnitude << 13) + rebias;
    uint32_t subnormal = tenon_f32_bits((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t bits = tenon_pick(magnitude < 0x0400, subnormal, normal);

    bits += magnitude >= 0x7c00 ? rebias : 0;     /* infinity and beyond: exponent 255 */
    bits |= magnitude > 0x7c00 ? 0x00400000u : 0; /* quiet */
    return tenon_f32_from_bits(bits | (h & 0x8000u) << 16);
}

/* The same for the scale of a block, nearly always an ordinary number: a branch that is foretold
 * costs less than the steps it saves. */
static inline float tenon_f32_from_scale(uint16_t h)
{
    uint32_t exponent = h & 0x7c00u;

    if (exponent == 0 || exponent == 0x7c00u)
        return tenon_f32_from_f16(h);
    return tenon_f32_from_bits((h & 0x8000u) << 16 | (((h & 0x7fffu) << 13) + ((127 - 15) << 23)));
}

/* True when `h` is infinite or not a number: then a block may hold values that are no numbers. */
static inline bool tenon_f16_special(uint16_t h)
{
    return (h & 0x7c00u) == 0x7c00u;
}

/* A sign-less small float: exponent over `mantissa` bits, no infinity. A bias of one less than
 * the type's own doubles every value. */
static inline uint32_t tenon_f32_bits_from_small(uint32_t magnitude, int mantissa, int bias)
{
    float ulp = tenon_f32_from_bits((uint32_t)(127 + 1 - bias - mantissa) << 23);
    uint32_t normal = (magnitude << (23 - mantissa)) + ((uint32_t)(127 - bias) << 23);
    uint32_t subnormal = tenon_f32_bits((float)(int32_t)magnitude * ulp);

    return tenon_pick(magnitude >> mantissa == 0, subnormal, normal);
}

/* Gives every value that is not a number the bits TENON_NAN_BITS. For the rare block whose scale
 * is tenon_f16_special. */
void tenon_settle_nans(float *values, size_t n);

#endif
