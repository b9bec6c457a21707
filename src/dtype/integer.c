/* Integers of 1 to 8 bytes, two's complement, little-endian, and BOOL (one byte, 0 is false).
 * What float32 cannot hold exactly is rounded to nearest even; decode_f64 has it exactly up to
 * 2^53. */
#include "dtype/codecs.h"

#include "dtype/block.h"

TENON_ASSERT_BLOCK(I64, int64_t);
TENON_ASSERT_BLOCK(I32, int32_t);
TENON_ASSERT_BLOCK(I16, int16_t);
TENON_ASSERT_BLOCK(I8, int8_t);
TENON_ASSERT_BLOCK(U64, uint64_t);
TENON_ASSERT_BLOCK(U32, uint32_t);
TENON_ASSERT_BLOCK(U16, uint16_t);
TENON_ASSERT_BLOCK(U8, uint8_t);
TENON_ASSERT_BLOCK(BOOL, uint8_t);

void tenon_decode_I64(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(int64_t)tenon_le64(in + 8 * i);
}

void tenon_decode_f64_I64(double *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (double)(int64_t)tenon_le64(in + 8 * i);
}

void tenon_decode_I32(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(int32_t)tenon_le32(in + 4 * i);
}

void tenon_decode_f64_I32(double *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)tenon_le32(in + 4 * i);
}

void tenon_decode_I16(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int16_t)tenon_le16(in + 2 * i);
}

void tenon_decode_I8(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int8_t)in[i];
}

/* The processor converts signed numbers only. Above 2^63 half of it is converted, its last bit
 * kept as a sticky one for the rounding, and doubled; without the branch, which half of all random
 * numbers would take. */
static float float_from_u64(uint64_t v)
{
    uint64_t top = v >> 63;
    float f = (float)(int64_t)(v >> top | (v & top));

    return f * (float)(int)(1 + top);
}

void tenon_decode_U64(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = float_from_u64(tenon_le64(in + 8 * i));
}

void tenon_decode_f64_U64(double *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (double)tenon_le64(in + 8 * i);
}

void tenon_decode_U32(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)tenon_le32(in + 4 * i);
}

void tenon_decode_f64_U32(double *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tenon_le32(in + 4 * i);
}

void tenon_decode_U16(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tenon_le16(in + 2 * i);
}

void tenon_decode_U8(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i];
}

void tenon_decode_BOOL(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i] != 0 ? 1.0f : 0.0f;
}
