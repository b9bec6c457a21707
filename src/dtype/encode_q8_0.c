/* Q8_0: 32 values in 34 bytes.   | d: f16 | q[0] ... q[31]: i8 |   x[i] = d * q[i]
 *
 * d = max|x| / 127, q = x / d rounded to nearest, ties away from zero. The codes use d before it
 * is rounded to a half. */
#include "dtype/encode.h"

enum { BLOCK = TENON_BLOCK_Q8_0 };

size_t TENON_ENCODER(Q8_0)(uint8_t *out, const float *in, size_t n)
{
    for (size_t b = 0; b < n; b++, in += BLOCK, out += TENON_BLOCK_BYTES_Q8_0) {
        int32_t largest = tenon_largest_magnitude(in, BLOCK);
        float d, inverse;

        if (largest >= TENON_INFINITY_BITS)
            return b * BLOCK + tenon_find_not_finite(in, BLOCK);
        d = tenon_f32_from_bits((uint32_t)largest) / 127.0f;
        inverse = tenon_invert_finite(d);
        tenon_put_f16(out, d);
        for (int i = 0; i < BLOCK; i++)
            out[2 + i] = (uint8_t)tenon_round_away(in[i] * inverse);
    }
    return SIZE_MAX;
}
