/* The two floats of 8 bits that checkpoints use, rounded to nearest even.
 *
 *   F8_E4M3  s eeee  mmm   bias 7, no infinity, one NaN a sign: above 464 becomes that NaN
 *   F8_E5M2  s eeeee mm    bias 15, IEEE: from 61440 on becomes infinite
 *
 * That is what the casts of torch (float8_e4m3fn, float8_e5m2) and of ml_dtypes do: neither
 * saturates. tests/oracle/compare_small_encodings.py compares with ml_dtypes. */
#include "dtype/encode.h"

/* A small float: `mantissa` bits of fraction, exponent bias, the code of everything that is too
 * large, and the code of a NaN. */
struct format {
    uint32_t mantissa, bias;
    uint32_t overflow, nan;
};

static inline uint8_t round_to_format(float f, const struct format *format)
{
    uint32_t bits = tenon_f32_bits(f);
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t shift = 23 - format->mantissa;
    uint32_t rebias = (127 - format->bias) << 23;
    /* The power of two whose unit in the last place is the smallest subnormal of the format: the
     * addition rounds. */
    float step = tenon_f32_from_bits((127 - format->bias + 1 + shift) << 23);
    uint32_t subnormal =
        tenon_f32_bits(tenon_f32_from_bits(magnitude) + step) - tenon_f32_bits(step);
    uint32_t half = (1u << (shift - 1)) - 1 + (magnitude >> shift & 1);
    uint32_t normal = (magnitude - rebias + half) >> shift;
    uint32_t code = tenon_pick(magnitude < rebias + (1u << 23), subnormal, normal);

    code = tenon_pick(code > format->overflow, format->overflow, code);
    code = tenon_pick(magnitude > TENON_INFINITY_BITS, format->nan, code);
    return (uint8_t)(code | (bits >> 24 & 0x80));
}

size_t TENON_ENCODER(F8_E4M3)(uint8_t *out, const float *in, size_t n)
{
    static const struct format e4m3 = {3, 7, 0x7f, 0x7f};

    for (size_t i = 0; i < n; i++)
        out[i] = round_to_format(in[i], &e4m3);
    return SIZE_MAX;
}

size_t TENON_ENCODER(F8_E5M2)(uint8_t *out, const float *in, size_t n)
{
    static const struct format e5m2 = {2, 15, 0x7c, 0x7e};

    for (size_t i = 0; i < n; i++)
        out[i] = round_to_format(in[i], &e5m2);
    return SIZE_MAX;
}
