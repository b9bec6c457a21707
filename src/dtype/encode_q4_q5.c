/* Blocks of 32 codes of four or five bits: element j in the low half of code byte j, element
 * j + 16 in the high half, the fifth bit of element i in bit i of a 32-bit word.
 *
 *   Q4_0  | d: f16 |                 codes[16] |   x = d * (q - 8)
 *   Q4_1  | d: f16 | m: f16 |        codes[16] |   x = d * q + m
 *   Q5_0  | d: f16 | high[4]         codes[16] |   x = d * (q - 16)
 *   Q5_1  | d: f16 | m: f16 | high[4] codes[16] |  x = d * q + m
 *
 * The _0 forms take the scale from the value of largest magnitude (the first, if there are
 * several), so that it gets the code 0 exactly; the _1 forms span minimum to maximum. The codes
 * use the scale before it is rounded to a half. */
#include "dtype/encode.h"

enum { BLOCK = 32, HALF = BLOCK / 2 };

/* Smallest and largest value of a block, as bits; not finite when one value is not. */
struct bounds {
    uint32_t low, high;
    bool finite;
};

/* As integers, floats are in the order of the numbers, but negative ones backwards: with all other
 * bits flipped those are in order too. The same again gives the float back. */
static inline int32_t flip_negative(int32_t bits)
{
    return bits ^ (bits >> 31 & INT32_MAX);
}

static inline struct bounds find_bounds(const float *in)
{
    int32_t low = INT32_MAX, high = INT32_MIN;

    for (int i = 0; i < BLOCK; i++) {
        int32_t key = flip_negative((int32_t)tenon_f32_bits(in[i]));

        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    return (struct bounds){
        (uint32_t)flip_negative(low),
        (uint32_t)flip_negative(high),
        low > flip_negative((int32_t)0xff800000) && high < TENON_INFINITY_BITS,
    };
}

/* The first of the values equal to a or b, one of which is there. */
static float find_first(const float *in, float a, float b)
{
    while (*in != a && *in != b)
        in++;
    return *in;
}

/* The first value of the largest magnitude, with its sign; +0 when all are zero. Which of the two
 * bounds it is cannot be predicted, so no branch asks. */
static inline float find_extreme(const float *in, const struct bounds *bounds)
{
    uint32_t high = bounds->high & 0x7fffffffu, low = bounds->low & 0x7fffffffu;
    uint32_t mask = 0u - (uint32_t)(high > low);

    if (high == low)
        return high == 0 ? 0 : find_first(in, tenon_f32_from_bits(high), -tenon_f32_from_bits(low));
    return tenon_f32_from_bits((bounds->high & mask) | (bounds->low & ~mask));
}

/* The first of the values equal to the minimum: zeros differ in their sign. */
static inline float find_first_minimum(const float *in, const struct bounds *bounds)
{
    float low = tenon_f32_from_bits(bounds->low);

    return low != 0 ? low : find_first(in, low, low);
}

/* How values become codes: (x - base) * inverse + bias, cut to an integer. */
struct scaling {
    float d, base, inverse, bias;
};

/* Where d or 1 / d is too large for a float32 all codes are 0. */
static inline void invert(struct scaling *s, float bias)
{
    const float largest = 0x1.fffffep+127f;
    bool usable;

    s->inverse = tenon_invert(s->d);
    s->bias = bias;
    usable = __builtin_fabsf(s->inverse) <= largest && __builtin_fabsf(s->d) <= largest;
    if (!usable)
        s->inverse = s->base = s->bias = 0;
}

static inline void take_codes(uint8_t *codes, const float *in, const struct scaling *s,
                              int32_t limit)
{
    for (int i = 0; i < BLOCK; i++) {
        int32_t code = (int32_t)((in[i] - s->base) * s->inverse + s->bias);

        codes[i] = (uint8_t)(code > limit ? limit : code);
    }
}

/* Bit i is bit 4 of code i, which is then cleared. Eight codes are handled at once, as bytes of a
 * word; the product brings bit 8k of it to bit 56 + k. */
static inline void take_high_bits(uint8_t *out, uint8_t *codes)
{
    const uint64_t ones = 0x0101010101010101;

    for (int k = 0; k < BLOCK / 8; k++)
        out[k] = (uint8_t)((tenon_le64(codes + 8 * k) >> 4 & ones) * 0x0102040810204080 >> 56);
    for (int i = 0; i < BLOCK; i++)
        codes[i] &= 15;
}

/* Codes below 16, eight at once. */
static inline void put_nibbles(uint8_t *out, const uint8_t *codes)
{
    for (int k = 0; k < HALF; k += 8) {
        uint64_t low, high;

        memcpy(&low, codes + k, sizeof(low));
        memcpy(&high, codes + k + HALF, sizeof(high));
        low |= high << 4;
        memcpy(out + k, &low, sizeof(low));
    }
}

/* The four types by two facts: the number of codes, and whether they span minimum to maximum. */
static inline __attribute__((always_inline)) size_t
encode_blocks(uint8_t *out, const float *in, size_t n, int levels, bool has_minimum)
{
    for (size_t b = 0; b < n; b++, in += BLOCK, out += HALF) {
        struct bounds bounds = find_bounds(in);
        struct scaling s = {0};
        uint8_t codes[BLOCK];
        float minimum = 0;

        if (!bounds.finite)
            return b * BLOCK + tenon_find_not_finite(in, BLOCK);
        if (has_minimum) {
            s.base = minimum = find_first_minimum(in, &bounds);
            s.d = (tenon_f32_from_bits(bounds.high) - s.base) / (float)(levels - 1);
            invert(&s, 0.5f);
        } else {
            s.d = find_extreme(in, &bounds) / (-0.5f * (float)levels);
            invert(&s, 0.5f * (float)levels + 0.5f);
        }
        take_codes(codes, in, &s, levels - 1);
        tenon_put_f16(out, s.d);
        out += 2;
        if (has_minimum) {
            tenon_put_f16(out, minimum);
            out += 2;
        }
        if (levels == 32) {
            take_high_bits(out, codes);
            out += 4;
        }
        put_nibbles(out, codes);
    }
    return SIZE_MAX;
}

size_t TENON_ENCODER(Q4_0)(uint8_t *out, const float *in, size_t n)
{
    return encode_blocks(out, in, n, 16, false);
}

size_t TENON_ENCODER(Q4_1)(uint8_t *out, const float *in, size_t n)
{
    return encode_blocks(out, in, n, 16, true);
}

size_t TENON_ENCODER(Q5_0)(uint8_t *out, const float *in, size_t n)
{
    return encode_blocks(out, in, n, 32, false);
}

size_t TENON_ENCODER(Q5_1)(uint8_t *out, const float *in, size_t n)
{
    return encode_blocks(out, in, n, 32, true);
}
