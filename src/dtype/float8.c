/* Floats of 8 bits, one byte each.
 *
 *   F8_E4M3      s eeee mmm    bias 7, no infinity, s 1111 111 is no number   (OCP OFP8)
 *   F8_E5M2      s eeeee mm    the upper half of an F16                       (OCP OFP8)
 *   F8_E4M3FNUZ  s eeee mmm    bias 8,  no infinity, no -0; 0x80 is no number
 *   F8_E5M2FNUZ  s eeeee mm    bias 16, no infinity, no -0; 0x80 is no number
 *   F8_E8M0      eeeeeeee      2^(e - 127), 0xff is no number                 (OCP MX)
 */
#include "dtype/codecs.h"

#include "dtype/block.h"

TENON_ASSERT_BLOCK(F8_E4M3, uint8_t);
TENON_ASSERT_BLOCK(F8_E5M2, uint8_t);
TENON_ASSERT_BLOCK(F8_E8M0, uint8_t);
TENON_ASSERT_BLOCK(F8_E4M3FNUZ, uint8_t);
TENON_ASSERT_BLOCK(F8_E5M2FNUZ, uint8_t);

void tenon_decode_F8_E4M3(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude = in[i] & 0x7fu;
        uint32_t bits = tenon_f32_bits_from_small(magnitude, 3, 7);

        bits = tenon_pick(magnitude == 0x7f, TENON_NAN_BITS, bits);
        out[i] = tenon_f32_from_bits(bits | (in[i] & 0x80u) << 24);
    }
}

void tenon_decode_F8_E5M2(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tenon_f32_from_f16((uint16_t)(in[i] << 8));
}

static inline float decode_fnuz(uint8_t code, int mantissa, int bias)
{
    uint32_t bits = tenon_f32_bits_from_small(code & 0x7fu, mantissa, bias);

    bits |= (code & 0x80u) << 24;
    return tenon_f32_from_bits(tenon_pick(code == 0x80, TENON_NAN_BITS, bits));
}

void tenon_decode_F8_E4M3FNUZ(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = decode_fnuz(in[i], 3, 8);
}

void tenon_decode_F8_E5M2FNUZ(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = decode_fnuz(in[i], 2, 16);
}

void tenon_decode_F8_E8M0(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)in[i] << 23;

        bits = in[i] == 0 ? 0x00400000u : bits; /* 2^-127 is subnormal */
        out[i] = tenon_f32_from_bits(in[i] == 0xff ? TENON_NAN_BITS : bits);
    }
}
