/* TQ1_0 and TQ2_0: 256 values from {-d, 0, d}; d is the largest magnitude, a code is x / d rounded
 * to nearest with ties away from zero, plus one.
 *
 *   TQ1_0  | five[48] | four[4] | d: f16 |   base 3: byte j of the first 32 holds elements j,
 *          j + 32, ... j + 128, the most significant digit first; the next 16 bytes hold 80
 *          elements 16 apart, the last 4 bytes 16 elements 4 apart. A byte is the number as a
 *          fraction of 243 in units of 1/256, rounded up.
 *   TQ2_0  | q[64] | d: f16 |   two bits each, elements 32 apart share a byte
 */
#include "dtype/encode.h"

enum { BLOCK = 256 };

/* Scale and codes of a block; false when a value is not finite. Where 1 / d is too large for a
 * float32 all values become 0. */
static bool take_codes(int32_t *codes, float *out_d, const float *in)
{
    int32_t largest = tenon_largest_magnitude(in, BLOCK);
    float d = tenon_f32_from_bits((uint32_t)largest);
    float inverse = tenon_invert_finite(d);

    if (largest >= TENON_INFINITY_BITS)
        return false;
    for (int i = 0; i < BLOCK; i++)
        codes[i] = tenon_round_away(in[i] * inverse) + 1;
    *out_d = d;
    return true;
}

/* `n` bytes of `digits` base 3 digits; the digits of byte j are codes[j], codes[j + n] ... A
 * fifth digit that a byte has no element for is 0. */
static inline void put_base3(uint8_t *out, const int32_t *codes, int n, int digits)
{
    for (int j = 0; j < n; j++) {
        int32_t number = 0;

        for (int k = 0; k < digits; k++)
            number = 3 * number + codes[j + k * n];
        if (digits == 4)
            number *= 3;
        out[j] = (uint8_t)((256 * number + 242) / 243);
    }
}

size_t TENON_ENCODER(TQ1_0)(uint8_t *out, const float *in, size_t n)
{
    for (size_t b = 0; b < n; b++, in += BLOCK, out += TENON_BLOCK_BYTES_TQ1_0) {
        int32_t codes[BLOCK];
        float d;

        if (!take_codes(codes, &d, in))
            return b * BLOCK + tenon_find_not_finite(in, BLOCK);
        put_base3(out, codes, 32, 5);
        put_base3(out + 32, codes + 160, 16, 5);
        put_base3(out + 48, codes + 240, 4, 4);
        tenon_put_f16(out + 52, d);
    }
    return SIZE_MAX;
}

size_t TENON_ENCODER(TQ2_0)(uint8_t *out, const float *in, size_t n)
{
    for (size_t b = 0; b < n; b++, in += BLOCK, out += TENON_BLOCK_BYTES_TQ2_0) {
        int32_t codes[BLOCK];
        float d;

        if (!take_codes(codes, &d, in))
            return b * BLOCK + tenon_find_not_finite(in, BLOCK);
        tenon_put_two_bits(out, codes);
        tenon_put_f16(out + 64, d);
    }
    return SIZE_MAX;
}
