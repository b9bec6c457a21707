/* IQ4_NL and IQ4_XS: codes of four bits for 16 values that lie denser near zero.
 *
 *   IQ4_NL  32 values                | d: f16 | codes[16] |              x = d * value(q)
 *   IQ4_XS  256 in 8 groups of 32    | d: f16 | scales high: u16 | scales low[4] | codes[128] |
 *                                    x = d * (scale - 32) * value(q)
 *
 * Code bytes hold element j in the low half, element j + 16 of the same group in the high half.
 * The scale of a group is the best of 16 candidates, which take the value of largest magnitude
 * for one near the most negative table value (and once for its negative); best by least squares
 * weighted by x^2. */
#include "dtype/lanes.h"

enum { GROUP = 32, GROUPS = TENON_BLOCK_IQ4_XS / GROUP, TRIES = 7, N_VALUES = 16 };

static const int8_t values[N_VALUES] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                        1,    13,   25,  38,  53,  69,  89,  113};

/* Whether v is nearer to values[k] than to values[k + 1], or to one below; false for a NaN. The
 * middle between two of them is a float, and no rounding of differences moves the border. */
static inline lanes_i32 is_below(lanes_f32 v, int k)
{
    return v < (float)(values[k] + values[k + 1]) * 0.5f;
}

static inline lanes_i32 nearest_code(lanes_f32 v)
{
    lanes_i32 code = lanes_all_i32(N_VALUES - 1);

    for (int k = 0; k < N_VALUES - 1; k++)
        code += is_below(v, k);
    return code;
}

static inline lanes_f32 nearest_value(lanes_f32 v)
{
    lanes_i32 value = lanes_all_i32(values[N_VALUES - 1]);

    for (int k = 0; k < N_VALUES - 1; k++)
        value -= is_below(v, k) & (values[k + 1] - values[k]);
    return lanes_to_f32(value);
}

/* Sums of w x q and w q q for the table values q nearest to x * inverse; w = x^2. */
static inline void sum_products(const lanes_f32 *x, lanes_f32 inverse, lanes_f32 *out_wqx,
                                lanes_f32 *out_wqq)
{
    lanes_f32 wqx = lanes_all(0), wqq = lanes_all(0);

    for (int i = 0; i < GROUP; i++) {
        lanes_f32 q = nearest_value(inverse * x[i]);
        lanes_f32 w = x[i] * x[i];

        wqx += w * q * x[i];
        wqq += w * q * q;
    }
    *out_wqx = wqx;
    *out_wqq = wqq;
}

/* The scales of TENON_LANES groups, one in each lane. */
static void fit_groups(float *scales, const float *in)
{
    lanes_f32 x[GROUP], extreme, scale, best, wqx, wqq;
    lanes_i32 nothing;

    lanes_gather(x, in, GROUP);
    extreme = lanes_extreme(x, GROUP);
    nothing = lanes_abs(extreme) < TENON_GROUP_EPSILON;
    sum_products(x, 1.0f / (-extreme / (float)values[0]), &wqx, &wqq);
    scale = wqx / wqq;
    best = scale * wqx;
    for (int t = -TRIES; t <= TRIES; t++) {
        lanes_i32 better;

        sum_products(x, (float)(t + values[0]) / extreme, &wqx, &wqq);
        better = (wqq > 0.0f) & (wqx * wqx > best * wqq);
        scale = lanes_pick(better, wqx / wqq, scale);
        best = lanes_pick(better, scale * wqx, best);
    }
    scale = lanes_pick(nothing, lanes_all(0), scale);
    memcpy(scales, &scale, sizeof(scale));
}

/* The 16 code bytes of a group. */
static void put_codes(uint8_t *out, const float *in, float inverse)
{
    int32_t codes[GROUP];

    for (int i = 0; i < GROUP; i += TENON_LANES)
        lanes_store_i32(codes + i, nearest_code(inverse * lanes_load(in + i)));
    for (int i = 0; i < GROUP / 2; i++)
        out[i] = (uint8_t)(codes[i] | codes[i + GROUP / 2] << 4);
}

/* Beyond about 10^18 squares are infinite and a scale may be infinite through infinite. That is a
 * NaN whose sign differs between processors; the reference has that of x86. */
static float settle_nan(float scale)
{
    return scale == scale ? scale : tenon_f32_from_bits(0xffc00000);
}

size_t TENON_ENCODER(IQ4_NL)(uint8_t *out, const float *in, size_t n)
{
    for (size_t b = 0; b < n; b += TENON_LANES) {
        size_t some = n - b < TENON_LANES ? n - b : TENON_LANES;
        size_t bad = tenon_find_not_finite(in, some * GROUP);
        float copy[TENON_LANES * GROUP] = {0};
        float scales[TENON_LANES];

        if (some < TENON_LANES)
            memcpy(copy, in, some * GROUP * sizeof(*in));
        fit_groups(scales, some < TENON_LANES ? copy : in);
        for (size_t j = 0; j < some; j++, in += GROUP, out += TENON_BLOCK_BYTES_IQ4_NL) {
            if (bad < (j + 1) * GROUP)
                return b * GROUP + bad;
            tenon_put_f16(out, settle_nan(scales[j]));
            put_codes(out + 2, in, tenon_invert(scales[j]));
        }
    }
    return SIZE_MAX;
}

static int round_scale(float scaled)
{
    int32_t code = tenon_round(scaled);

    if (code < -32)
        return -32;
    return code > 31 ? 31 : code;
}

size_t TENON_ENCODER(IQ4_XS)(uint8_t *out, const float *in, size_t n)
{
    const size_t block = TENON_BLOCK_IQ4_XS;

    for (size_t b = 0; b < n; b++, in += block, out += TENON_BLOCK_BYTES_IQ4_XS) {
        size_t bad = tenon_find_not_finite(in, block);
        float scales[GROUPS], d;
        unsigned high = 0;

        if (bad < block)
            return b * block + bad;
        for (int g = 0; g < GROUPS; g += TENON_LANES)
            fit_groups(scales + g, in + g * GROUP);
        /* The group with the scale of largest magnitude gets the integer scale -32. */
        d = -tenon_extreme(scales, GROUPS) / 32.0f;
        memset(out + 4, 0, 4);
        for (int g = 0; g < GROUPS; g++) {
            int code = round_scale(tenon_invert(d) * scales[g]);

            put_codes(out + 8 + 16 * g, in + GROUP * g, tenon_invert(d * (float)code));
            out[4 + g / 2] |= (uint8_t)(((code + 32) & 15) << 4 * (g % 2));
            high |= (unsigned)(code + 32) >> 4 << 2 * g;
        }
        tenon_put_f16(out, d);
        tenon_put_le16(out + 2, (uint16_t)high);
    }
    return SIZE_MAX;
}
