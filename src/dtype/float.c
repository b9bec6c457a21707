/* Floats of 16 bits and more, one element each, little-endian.
 *
 *   F64   s eeeeeeeeeee m*52
 *   F32   s eeeeeeee    m*23
 *   BF16  s eeeeeeee    m*7     the upper half of an F32
 *   F16   s eeeee       m*10
 *   C64   real F32, imaginary F32
 */
#include "dtype/codecs.h"

#include "dtype/block.h"

TENON_ASSERT_BLOCK(F64, double);
TENON_ASSERT_BLOCK(F32, float);
TENON_ASSERT_BLOCK(F16, uint16_t);
TENON_ASSERT_BLOCK(BF16, uint16_t);
TENON_ASSERT_BLOCK(C64, float[2]);

/* Rounded to nearest even; too large becomes infinite. */
void tenon_decode_F64(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)tenon_f64_from_bits(tenon_le64(in + 8 * i));
}

void tenon_decode_f64_F64(double *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tenon_f64_from_bits(tenon_le64(in + 8 * i));
}

void tenon_decode_F32(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tenon_f32_from_bits(tenon_le32(in + 4 * i));
}

void tenon_decode_F16(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tenon_f32_from_f16(tenon_le16(in + 2 * i));
}

void tenon_decode_BF16(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tenon_f32_from_bits((uint32_t)tenon_le16(in + 2 * i) << 16);
}

void tenon_decode_C64(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < 2 * n; i++)
        out[i] = tenon_f32_from_bits(tenon_le32(in + 4 * i));
}
