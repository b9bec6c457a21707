/* Q2_K, Q4_K and Q5_K: 256 values in groups that each have a small integer scale and minimum, in
 * units of two halves for the block.   x = d * scale * q - dmin * minimum
 *
 *   Q2_K  16 groups of 16  | scales[16]: low half scale, high half minimum
 *                          | q[64] | d: f16 | dmin: f16 |
 *   Q4_K   8 groups of 32  | d: f16 | dmin: f16 | scales[12]: 6-bit pairs | q[128] |
 *   Q5_K   8 groups of 32  | d: f16 | dmin: f16 | scales[12] | high[32] | q[128] |
 *
 * Each group is fitted by encode_fit.h; the scales and minima found are rounded to integers, and
 * the codes taken again for the rounded ones. A group whose scale became 0 keeps the codes of its
 * fit. */
#include "dtype/lanes.h"

#include "dtype/encode_fit.h"

enum { BLOCK = 256, MAX_GROUPS = 16 };

/* What was found for each group, and its rounded form. */
struct groups {
    float scale[MAX_GROUPS], minimum[MAX_GROUPS];
    float density[MAX_GROUPS], low[MAX_GROUPS];
    uint8_t scale_code[MAX_GROUPS], minimum_code[MAX_GROUPS];
    uint16_t d, dmin; /* halves */
};

/* The weight of a value in the sum of errors: its magnitude, for the larger groups over the root
 * mean square of the group. */
static inline void weigh(struct fit_values *v, int n, bool over_mean)
{
    lanes_f32 base = lanes_all(0);

    if (over_mean) {
        for (int i = 0; i < n; i++)
            base += v->x[i] * v->x[i];
        base = lanes_sqrt(base / (float)n);
    }
    for (int i = 0; i < n; i++)
        v->weights[i] = over_mean ? base + lanes_abs(v->x[i]) : lanes_abs(v->x[i]);
}

static inline __attribute__((always_inline)) void fit_block(struct groups *groups, const float *in,
                                                            const struct fit_rule *rule)
{
    for (int g = 0; g < BLOCK / rule->n_values; g += TENON_LANES) {
        struct fit_values values;
        struct fit fit;

        lanes_gather(values.x, in + g * rule->n_values, (size_t)rule->n_values);
        weigh(&values, rule->n_values, rule->squared);
        fit_groups(rule, &values, &fit);
        memcpy(groups->scale + g, &fit.scale, sizeof(fit.scale));
        memcpy(groups->minimum + g, &fit.minimum, sizeof(fit.minimum));
        memcpy(groups->density + g, &fit.density, sizeof(fit.density));
        memcpy(groups->low + g, &fit.low, sizeof(fit.low));
    }
}

/* Rounds `n` numbers to integers 0 ... `limit` in units of their largest; returns the unit. A
 * negative number wraps around before the limit is applied, as in the reference. */
static float round_to_codes(uint8_t *codes, const float *values, int n, int limit)
{
    float largest = 0, inverse;

    for (int g = 0; g < n; g++)
        largest = values[g] > largest ? values[g] : largest;
    inverse = largest > 0 ? (float)limit / largest : 0.0f;
    for (int g = 0; g < n; g++)
        codes[g] = (uint8_t)tenon_round(inverse * values[g]);
    return largest / (float)limit;
}

static void cap_codes(uint8_t *codes, int n, uint8_t limit)
{
    for (int g = 0; g < n; g++)
        codes[g] = codes[g] > limit ? limit : codes[g];
}

static void round_scales(struct groups *groups, int n, uint8_t limit)
{
    groups->d = tenon_f16_from_f32(round_to_codes(groups->scale_code, groups->scale, n, limit));
    groups->dmin =
        tenon_f16_from_f32(round_to_codes(groups->minimum_code, groups->minimum, n, limit));
}

/* The codes of all values for the scales and minima that will be read back. */
static inline __attribute__((always_inline)) void take_codes(int32_t *codes, const float *in,
                                                             const struct groups *groups,
                                                             const struct fit_rule *rule, int mask)
{
    for (int i = 0; i < BLOCK; i += TENON_LANES) {
        int g = i / rule->n_values;
        float d = tenon_f32_from_f16(groups->d) * (float)(groups->scale_code[g] & mask);
        float m = tenon_f32_from_f16(groups->dmin) * (float)groups->minimum_code[g];
        lanes_f32 x = lanes_load(in + i);
        lanes_i32 l;

        if (d != 0)
            l = lanes_clamp(lanes_round((x + m) / d), 0, rule->levels - 1);
        else
            l = fit_code(x, lanes_all(groups->density[g]), lanes_all(groups->low[g]), rule->levels);
        lanes_store_i32(codes + i, l);
    }
}

/* Eight pairs of 6 bits in 12 bytes: the low six bits of groups 0 to 3, whose upper two bits hold
 * the upper two of groups 4 to 7; the low halves of those in the last four bytes. */
static void put_six_bit_pairs(uint8_t *out, const struct groups *groups)
{
    for (int g = 0; g < 4; g++) {
        uint8_t scale = groups->scale_code[g + 4], minimum = groups->minimum_code[g + 4];

        out[g] = (uint8_t)(groups->scale_code[g] | scale >> 4 << 6);
        out[g + 4] = (uint8_t)(groups->minimum_code[g] | minimum >> 4 << 6);
        out[g + 8] = (uint8_t)((scale & 15) | (minimum & 15) << 4);
    }
}

/* Groups 2k and 2k + 1 share bytes: low half, high half. */
static void put_nibbles(uint8_t *out, const int32_t *codes)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 32; i++)
            out[32 * k + i] = (uint8_t)((codes[64 * k + i] & 15) | codes[64 * k + 32 + i] << 4);
}

static void put_high_bits(uint8_t *out, const int32_t *codes)
{
    for (int i = 0; i < 32; i++) {
        int32_t bits = 0;

        for (int g = 0; g < 8; g++)
            bits |= codes[32 * g + i] >> 4 << g;
        out[i] = (uint8_t)bits;
    }
}

size_t TENON_ENCODER(Q2_K)(uint8_t *out, const float *in, size_t n)
{
    static const struct fit_rule rule = {16, 4, -0.5f, 0.1f, 15, false};

    for (size_t b = 0; b < n; b++, in += BLOCK, out += TENON_BLOCK_BYTES_Q2_K) {
        size_t bad = tenon_find_not_finite(in, BLOCK);
        struct groups groups;
        int32_t codes[BLOCK];

        if (bad < BLOCK)
            return b * BLOCK + bad;
        fit_block(&groups, in, &rule);
        round_scales(&groups, 16, 15);
        take_codes(codes, in, &groups, &rule, 15);
        for (int g = 0; g < 16; g++)
            out[g] = (uint8_t)(groups.scale_code[g] | groups.minimum_code[g] << 4);
        tenon_put_two_bits(out + 16, codes);
        tenon_put_le16(out + 80, groups.d);
        tenon_put_le16(out + 82, groups.dmin);
    }
    return SIZE_MAX;
}

/* Fits a block of eight groups, writes d, dmin and the scales, and takes the codes. */
static inline __attribute__((always_inline)) void
encode_groups(uint8_t *out, int32_t *codes, const float *in, const struct fit_rule *rule)
{
    struct groups groups;

    fit_block(&groups, in, rule);
    round_scales(&groups, 8, 63);
    cap_codes(groups.scale_code, 8, 63);
    cap_codes(groups.minimum_code, 8, 63);
    take_codes(codes, in, &groups, rule, 63);
    tenon_put_le16(out, groups.d);
    tenon_put_le16(out + 2, groups.dmin);
    put_six_bit_pairs(out + 4, &groups);
}

size_t TENON_ENCODER(Q4_K)(uint8_t *out, const float *in, size_t n)
{
    static const struct fit_rule rule = {32, 16, -1.0f, 0.1f, 20, true};

    for (size_t b = 0; b < n; b++, in += BLOCK, out += TENON_BLOCK_BYTES_Q4_K) {
        size_t bad = tenon_find_not_finite(in, BLOCK);
        int32_t codes[BLOCK];

        if (bad < BLOCK)
            return b * BLOCK + bad;
        encode_groups(out, codes, in, &rule);
        put_nibbles(out + 16, codes);
    }
    return SIZE_MAX;
}

size_t TENON_ENCODER(Q5_K)(uint8_t *out, const float *in, size_t n)
{
    static const struct fit_rule rule = {32, 32, -0.5f, 0.1f, 15, true};

    for (size_t b = 0; b < n; b++, in += BLOCK, out += TENON_BLOCK_BYTES_Q5_K) {
        size_t bad = tenon_find_not_finite(in, BLOCK);
        int32_t codes[BLOCK];

        if (bad < BLOCK)
            return b * BLOCK + bad;
        encode_groups(out, codes, in, &rule);
        put_high_bits(out + 16, codes);
        put_nibbles(out + 48, codes);
    }
    return SIZE_MAX;
}
