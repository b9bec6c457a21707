/* Q6_K: 16 groups of 16 values, each with a signed 8-bit scale in units of a half for the block.
 *   | low[128] | high[64] | scales[16]: i8 | d: f16 |   x = d * scale * (q - 32)
 *
 * The value of largest magnitude gets the code -32, in 19 slightly different units; the least
 * squares scale of the best of them, weighted by x^2, stays. Then the scales are rounded, in units
 * of the largest, and the codes taken again for the rounded ones. A group whose scale became 0
 * keeps the codes of its fit. */
#include "dtype/lanes.h"

enum { BLOCK = TENON_BLOCK_Q6_K, GROUP = 16, GROUPS = BLOCK / GROUP };

/* For each group: its scale, and codes per unit of x, 0 where all codes of the group are 0. */
struct groups {
    float scale[GROUPS];
    float density[GROUPS];
    int8_t scale_code[GROUPS];
    uint16_t d;
};

static inline lanes_i32 take_code(lanes_f32 scaled)
{
    return lanes_clamp(lanes_round(scaled), -32, 31);
}

/* Sums of w x l and w l l for the codes l that `density` gives; w = x^2. */
static inline void sum_products(const lanes_f32 *x, lanes_f32 density, lanes_f32 *out_wxl,
                                lanes_f32 *out_wll)
{
    lanes_f32 wxl = lanes_all(0), wll = lanes_all(0);

    for (int i = 0; i < GROUP; i++) {
        lanes_f32 l = lanes_to_f32(take_code(density * x[i]));
        lanes_f32 w = x[i] * x[i];

        wxl += w * x[i] * l;
        wll += w * l * l;
    }
    *out_wxl = wxl;
    *out_wll = wll;
}

/* Fits TENON_LANES groups, one in each lane. */
static void fit_groups(struct groups *groups, int first, const float *in)
{
    lanes_f32 x[GROUP], extreme, density, scale, best, wxl, wll;
    lanes_i32 nothing;

    lanes_gather(x, in, GROUP);
    extreme = lanes_extreme(x, GROUP);
    nothing = lanes_abs(extreme) < TENON_GROUP_EPSILON;
    density = -32.0f / extreme;
    sum_products(x, density, &wxl, &wll);
    scale = lanes_pick(wll != 0.0f, wxl / wll, lanes_all(0));
    best = scale * wxl;
    for (int t = -9; t <= 9; t++) {
        lanes_f32 trial = -(32.0f + 0.1f * (float)t) / extreme;
        lanes_i32 better;

        if (t == 0)
            continue;
        sum_products(x, trial, &wxl, &wll);
        better = (wll > 0.0f) & (wxl * wxl > best * wll);
        density = lanes_pick(better, trial, density);
        scale = lanes_pick(better, wxl / wll, scale);
        best = lanes_pick(better, scale * wxl, best);
    }
    scale = lanes_pick(nothing, lanes_all(0), scale);
    density = lanes_pick(nothing, lanes_all(0), density);
    memcpy(groups->scale + first, &scale, sizeof(scale));
    memcpy(groups->density + first, &density, sizeof(density));
}

/* False when the whole block counts as zero. */
static bool round_scales(struct groups *groups)
{
    float extreme = tenon_extreme(groups->scale, GROUPS), inverse;

    if (__builtin_fabsf(extreme) < TENON_GROUP_EPSILON)
        return false;
    inverse = -128.0f / extreme;
    groups->d = tenon_f16_from_f32(1.0f / inverse);
    for (int g = 0; g < GROUPS; g++) {
        int32_t code = tenon_round(inverse * groups->scale[g]);

        groups->scale_code[g] = (int8_t)(code < 127 ? code : 127);
    }
    return true;
}

static void take_codes(int32_t *codes, const float *in, const struct groups *groups)
{
    for (int i = 0; i < BLOCK; i += TENON_LANES) {
        int g = i / GROUP;
        float d = tenon_f32_from_f16(groups->d) * groups->scale_code[g];
        lanes_f32 x = lanes_load(in + i);
        lanes_i32 l = take_code(d != 0 ? x / d : x * groups->density[g]) + 32;

        if (d == 0 && groups->density[g] == 0)
            l = lanes_all_i32(0);
        lanes_store_i32(codes + i, l);
    }
}

/* Within 128 values, those 32 apart share bytes: two of them the low four bits, all four the high
 * two. */
static void put_codes(uint8_t *low, uint8_t *high, const int32_t *codes)
{
    for (int half = 0; half < 2; half++, codes += 128, low += 64, high += 32)
        for (int i = 0; i < 32; i++) {
            int32_t a = codes[i], b = codes[i + 32], c = codes[i + 64], d = codes[i + 96];

            low[i] = (uint8_t)((a & 15) | c << 4);
            low[i + 32] = (uint8_t)((b & 15) | d << 4);
            high[i] = (uint8_t)(a >> 4 | b >> 4 << 2 | c >> 4 << 4 | d >> 4 << 6);
        }
}

size_t TENON_ENCODER(Q6_K)(uint8_t *out, const float *in, size_t n)
{
    for (size_t b = 0; b < n; b++, in += BLOCK, out += TENON_BLOCK_BYTES_Q6_K) {
        size_t bad = tenon_find_not_finite(in, BLOCK);
        struct groups groups;
        int32_t codes[BLOCK];

        if (bad < BLOCK)
            return b * BLOCK + bad;
        for (int g = 0; g < GROUPS; g += TENON_LANES)
            fit_groups(&groups, g, in + g * GROUP);
        if (!round_scales(&groups)) {
            memset(out, 0, TENON_BLOCK_BYTES_Q6_K);
            continue;
        }
        take_codes(codes, in, &groups);
        put_codes(out, out + 128, codes);
        memcpy(out + 192, groups.scale_code, GROUPS);
        tenon_put_le16(out + 208, groups.d);
    }
    return SIZE_MAX;
}
