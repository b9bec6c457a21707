/* Q3_K: 16 groups of 16 values, each with a 6-bit scale in units of a half for the block.
 *   | high[32] | low[64] | scales[12] | d: f16 |   x = d * (scale - 32) * (q - 4)
 *
 * The value of largest magnitude gets the code -4; then each value in turn is moved to the code
 * that suits the scale which all others would choose (least squares, weighted by x^2), as long as
 * that lowers the error, up to five times over the group. Then the scales are rounded, in units of
 * the largest, and the codes taken again for the rounded ones. A group whose scale became 0 keeps
 * the codes of its fit. */
#include "dtype/lanes.h"

enum { BLOCK = TENON_BLOCK_Q3_K, GROUP = 16, GROUPS = BLOCK / GROUP, MAX_ROUNDS = 5 };

struct groups {
    float scale[GROUPS];
    int8_t scale_code[GROUPS]; /* -32 ... 31 */
    int32_t codes[BLOCK];      /* of the fit, 0 ... 7 */
    uint16_t d;
};

/* Sums of w x l and w l l over a group; w = x^2. */
struct sums {
    lanes_f32 wxl, wll;
};

static inline lanes_i32 take_code(lanes_f32 scaled)
{
    return lanes_clamp(lanes_round(scaled), -4, 3);
}

/* Moves the code `*l` of `x` where that is better; returns the lanes in which it did. */
static inline lanes_i32 improve_code(lanes_f32 *l, lanes_f32 x, struct sums *sums)
{
    lanes_f32 w = x * x, moved;
    lanes_i32 better;
    struct sums rest = {sums->wxl - w * x * *l, sums->wll - w * *l * *l};
    lanes_i32 usable = rest.wxl > 0.0f;

    moved = lanes_to_f32(take_code(x * rest.wll / rest.wxl));
    usable &= moved != *l;
    rest.wxl += w * x * moved;
    rest.wll += w * moved * moved;
    better = usable & (rest.wll > 0.0f) &
             (rest.wxl * rest.wxl * sums->wll > sums->wxl * sums->wxl * rest.wll);
    *l = lanes_pick(better, moved, *l);
    sums->wxl = lanes_pick(better, rest.wxl, sums->wxl);
    sums->wll = lanes_pick(better, rest.wll, sums->wll);
    return better;
}

/* TENON_LANES groups, one in each lane. */
struct fit {
    lanes_f32 x[GROUP], codes[GROUP];
    struct sums sums;
};

static void begin_fit(struct fit *fit, const float *in)
{
    lanes_f32 density;

    lanes_gather(fit->x, in, GROUP);
    density = -4.0f / lanes_extreme(fit->x, GROUP);
    fit->sums = (struct sums){lanes_all(0), lanes_all(0)};
    for (int i = 0; i < GROUP; i++) {
        lanes_f32 x = fit->x[i], w = x * x;

        fit->codes[i] = lanes_to_f32(take_code(density * x));
        fit->sums.wxl += w * x * fit->codes[i];
        fit->sums.wll += w * fit->codes[i] * fit->codes[i];
    }
}

/* Improves two fits in turn, since each step waits for the one before it in the same fit. A lane in
 * which a round moved nothing would move nothing in the next, so rounds that only others need do
 * no harm. */
static void improve_fits(struct fit *a, struct fit *b)
{
    struct sums a_sums = a->sums, b_sums = b->sums;
    lanes_i32 moved = lanes_all_i32(-1);

    for (int round = 0; round < MAX_ROUNDS && lanes_any(moved); round++) {
        moved = lanes_all_i32(0);
        for (int i = 0; i < GROUP; i++) {
            moved |= improve_code(&a->codes[i], a->x[i], &a_sums);
            moved |= improve_code(&b->codes[i], b->x[i], &b_sums);
        }
    }
    a->sums = a_sums;
    b->sums = b_sums;
}

static void end_fit(struct groups *groups, int first, const struct fit *fit)
{
    lanes_i32 nothing = lanes_abs(lanes_extreme(fit->x, GROUP)) < TENON_GROUP_EPSILON;
    lanes_f32 scale = fit->sums.wxl / fit->sums.wll;

    scale = lanes_pick((fit->sums.wll > 0.0f) & ~nothing, scale, lanes_all(0));
    memcpy(groups->scale + first, &scale, sizeof(scale));
    for (int i = 0; i < GROUP; i++)
        for (int j = 0; j < TENON_LANES; j++)
            groups->codes[(first + j) * GROUP + i] =
                nothing[j] != 0 ? 0 : (int32_t)fit->codes[i][j] + 4;
}

static void fit_groups(struct groups *groups, const float *in)
{
    for (int g = 0; g < GROUPS; g += 2 * TENON_LANES) {
        struct fit a, b;

        begin_fit(&a, in + g * GROUP);
        begin_fit(&b, in + (g + TENON_LANES) * GROUP);
        improve_fits(&a, &b);
        end_fit(groups, g, &a);
        end_fit(groups, g + TENON_LANES, &b);
    }
}

static void round_scales(struct groups *groups)
{
    float extreme = tenon_extreme(groups->scale, GROUPS), inverse;

    inverse = -32.0f / extreme;
    groups->d = extreme != 0 ? tenon_f16_from_f32(1.0f / inverse) : 0;
    for (int g = 0; g < GROUPS; g++) {
        int32_t code = tenon_round(inverse * groups->scale[g]);

        code = code > 31 ? 31 : code;
        groups->scale_code[g] = (int8_t)(extreme == 0 || code < -32 ? -32 : code);
    }
}

/* Replaces the codes of groups whose scale is not 0. */
static void take_codes(struct groups *groups, const float *in)
{
    for (int i = 0; i < BLOCK; i += TENON_LANES) {
        int g = i / GROUP;
        float d = tenon_f32_from_f16(groups->d) * groups->scale_code[g];

        if (d != 0)
            lanes_store_i32(groups->codes + i, take_code(lanes_load(in + i) / d) + 4);
    }
}

/* Low halves of the scales two a byte, upper two bits of groups g, g + 4, g + 8, g + 12 in one. */
static void put_scales(uint8_t *out, const int8_t *codes)
{
    for (int g = 0; g < 8; g++)
        out[g] = (uint8_t)(((codes[g] + 32) & 15) | ((codes[g + 8] + 32) & 15) << 4);
    for (int g = 0; g < 4; g++)
        out[8 + g] = (uint8_t)((codes[g] + 32) >> 4 | (codes[g + 4] + 32) >> 4 << 2 |
                               (codes[g + 8] + 32) >> 4 << 4 | (codes[g + 12] + 32) >> 4 << 6);
}

static void put_codes(uint8_t *high, uint8_t *low, const int32_t *codes)
{
    for (int i = 0; i < 32; i++) {
        int32_t bits = 0;

        for (int k = 0; k < 8; k++)
            bits |= codes[32 * k + i] >> 2 << k;
        high[i] = (uint8_t)bits;
    }
    tenon_put_two_bits(low, codes);
}

size_t TENON_ENCODER(Q3_K)(uint8_t *out, const float *in, size_t n)
{
    for (size_t b = 0; b < n; b++, in += BLOCK, out += TENON_BLOCK_BYTES_Q3_K) {
        size_t bad = tenon_find_not_finite(in, BLOCK);
        struct groups groups;

        if (bad < BLOCK)
            return b * BLOCK + bad;
        fit_groups(&groups, in);
        round_scales(&groups);
        take_codes(&groups, in);
        put_codes(out, out + 32, groups.codes);
        put_scales(out + 96, groups.scale_code);
        tenon_put_le16(out + 108, groups.d);
    }
    return SIZE_MAX;
}
