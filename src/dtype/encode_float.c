/* Floats of 16 bits and more; float.c has the pictures. F64 and F32 are exact. F16 and BF16 are
 * rounded to nearest even, and what is too large for F16 becomes infinite. A NaN stays one: F32
 * keeps its bits, BF16 the upper half made quiet, F16 only the sign. */
#include "dtype/encode.h"

#ifdef __F16C__
#include "x86/f16c.h"
#endif

static uint16_t round_to_bf16(float f)
{
    uint32_t bits = tenon_f32_bits(f);
    uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    uint32_t quiet = bits | 0x00400000u;
    bool is_nan = (bits & 0x7fffffffu) > TENON_INFINITY_BITS;

    return (uint16_t)(tenon_pick(is_nan, quiet, rounded) >> 16);
}

size_t TENON_ENCODER(F64)(uint8_t *out, const float *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double wide = in[i];
        uint64_t bits;

        memcpy(&bits, &wide, sizeof(bits));
        tenon_put_le64(out + 8 * i, bits);
    }
    return SIZE_MAX;
}

size_t TENON_ENCODER(F32)(uint8_t *out, const float *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tenon_put_le32(out + 4 * i, tenon_f32_bits(in[i]));
    return SIZE_MAX;
}

size_t TENON_ENCODER(F16)(uint8_t *out, const float *in, size_t n)
{
    size_t i = 0;

#ifdef __F16C__
    for (; i + 32 <= n; i += 32)
        tenon_f16c_encode_32(out + 2 * i, in + i);
    for (; i + 8 <= n; i += 8)
        tenon_f16c_encode(out + 2 * i, in + i);
#endif
    for (; i < n; i++)
        tenon_put_le16(out + 2 * i, tenon_f16_from_f32(in[i]));
    return SIZE_MAX;
}

size_t TENON_ENCODER(BF16)(uint8_t *out, const float *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tenon_put_le16(out + 2 * i, round_to_bf16(in[i]));
    return SIZE_MAX;
}
