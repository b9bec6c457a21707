/* Floats of 4 and 6 bits without a scale, packed from the least significant bit up; no
 * infinities, nothing that is not a number (OCP MX).
 *
 *   F4       s ee m     bias 1    byte = element 1 : element 0
 *   F6_E2M3  s ee mmm   bias 1    24 bits = element 3 : 2 : 1 : 0, three bytes, lowest first
 *   F6_E3M2  s eee mm   bias 3    the same
 */
#include "dtype/codecs.h"

#include "dtype/block.h"

struct f6_block {
    uint8_t bytes[3];
};

TENON_ASSERT_BLOCK(F4, uint8_t);
TENON_ASSERT_BLOCK(F6_E2M3, struct f6_block);
TENON_ASSERT_BLOCK(F6_E3M2, struct f6_block);

static float decode_f4(uint32_t code)
{
    return tenon_f32_from_bits(tenon_f32_bits_from_small(code & 7, 1, 1) | (code & 8) << 28);
}

void tenon_decode_F4(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = decode_f4(in[i] & 15u);
        out[2 * i + 1] = decode_f4(in[i] >> 4);
    }
}

static inline void decode_f6(float *restrict out, const uint8_t *restrict in, int mantissa,
                             int bias)
{
    uint32_t packed = in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16;

    for (int k = 0; k < 4; k++) {
        uint32_t code = packed >> (6 * k);
        uint32_t bits = tenon_f32_bits_from_small(code & 31, mantissa, bias);

        out[k] = tenon_f32_from_bits(bits | (code & 32) << 26);
    }
}

void tenon_decode_F6_E2M3(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        decode_f6(out + 4 * i, in + 3 * i, 3, 1);
}

void tenon_decode_F6_E3M2(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        decode_f6(out + 4 * i, in + 3 * i, 2, 3);
}
