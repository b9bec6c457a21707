/* MXFP4: 32 values of four bits, s ee m, with one power of two.
 *   | e: exponent | codes[16]: element j low half, element j + 16 high half |
 *   x = 2^(e - 128) * {0 1 2 3 4 6 8 12} and the negatives (codes 8 ... 15)
 *
 * e comes from the largest magnitude so that it gets 8 or 12; a code is the nearest value, of two
 * equally near ones the smaller magnitude. Zero has no sign. */
#include "dtype/encode.h"

enum { BLOCK = TENON_BLOCK_MXFP4, HALF = BLOCK / 2, N_BORDERS = 7 };

/* floor(log2(x)) as the reference has it, with the logarithm rounded to float32 before floor: so
 * the last numbers below a power of two 2^k count as k where the float next to k is too far. x is
 * the bits of a positive number. */
static int floor_log2(uint32_t x)
{
    int exponent = (int)(x >> 23) - 127 + 1;
    uint32_t mantissa = (x & 0x007fffffu) | 0x00800000u;
    float next, below;

    if (x < 0x00800000u) {
        int shift = __builtin_clz(x) - 8;

        mantissa = x << shift;
        exponent = -126 + 1 - shift;
    }
    /* x is 2^exponent (1 - part); its logarithm is about exponent - part / ln 2. */
    next = (float)exponent;
    below = (float)(0x01000000u - mantissa) * 0x1p-24f * 1.44269504f;
    return next - below == next ? exponent : exponent - 1;
}

/* 2^(e - 128), subnormal for e = 0 and 1. */
static float unit_of_exponent(uint8_t e)
{
    return tenon_f32_from_bits(e < 2 ? 0x00200000u << e : (uint32_t)(e - 1) << 23);
}

/* The nearest of eight magnitudes, with the sign of x unless it is 0. */
static inline int32_t nearest_code(float x, const float *borders)
{
    float magnitude = __builtin_fabsf(x);
    int32_t code = 0;

    for (int k = 0; k < N_BORDERS; k++)
        code += magnitude > borders[k];
    return code | ((code > 0) & (x < 0)) << 3;
}

/* The middles between neighbouring values; of two equally near ones the smaller is taken. */
static void find_borders(float *borders, uint8_t e)
{
    static const float middles[N_BORDERS] = {0.5f, 1.5f, 2.5f, 3.5f, 5, 7, 10};

    for (int k = 0; k < N_BORDERS; k++)
        borders[k] = middles[k] * unit_of_exponent(e);
    /* There 8 and 12 units would be infinite, and are never the nearest. */
    if (e >= 253)
        borders[5] = borders[6] = 0x1.fffffep+127f;
}

static void take_codes(int32_t *codes, const float *in, const float *borders)
{
    for (int i = 0; i < BLOCK; i++)
        codes[i] = nearest_code(in[i], borders);
}

size_t TENON_ENCODER(MXFP4)(uint8_t *out, const float *in, size_t n)
{
    for (size_t b = 0; b < n; b++, in += BLOCK, out += TENON_BLOCK_BYTES_MXFP4) {
        int32_t largest = tenon_largest_magnitude(in, BLOCK);
        int32_t codes[BLOCK];
        float borders[N_BORDERS];

        if (largest >= TENON_INFINITY_BITS)
            return b * BLOCK + tenon_find_not_finite(in, BLOCK);
        /* Below 2^-125 the byte wraps around, as in the reference; all codes are then 0. */
        out[0] = largest > 0 ? (uint8_t)(floor_log2((uint32_t)largest) - 2 + 127) : 0;
        find_borders(borders, out[0]);
        take_codes(codes, in, borders);
        for (int i = 0; i < HALF; i++)
            out[1 + i] = (uint8_t)(codes[i] | codes[i + HALF] << 4);
    }
    return SIZE_MAX;
}
