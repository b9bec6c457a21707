/* Frequency tables, exact and by the float32 steps of PyTorch models: each step in float64, rounded
 * where the profile says so. */
#include <math.h>

#include "rope_private.h"

double tenon_rope_factor(const struct tenon_rope *rope)
{
    return isnan(rope->factor) ? rope->max_positions / rope->original : rope->factor;
}

bool tenon_rope_is_long(const struct tenon_rope *rope, double length)
{
    return rope->scaling == TENON_ROPE_LONGROPE && length > rope->original;
}

/* Where a sequence is longer than the model's, PyTorch models compute the base from a tensor, that
 * is in float32; otherwise it is the plain base. */
static double dynamic_base(const struct tenon_rope *rope, bool single, double length)
{
    double max = isnan(rope->max_positions) ? rope->original : rope->max_positions;
    double ratio, power = (double)rope->rotary_dim / (rope->rotary_dim - 2.0);

    if (length <= max)
        return rope->theta;
    ratio = tenon_step(single, rope->factor);
    ratio = tenon_step(single, tenon_step(single, ratio * length) / max);
    ratio = tenon_step(single, ratio - tenon_step(single, rope->factor - 1));
    /* PyTorch raises a single number to a power that stays a double. */
    return tenon_step(single,
                      tenon_step(single, rope->theta) * tenon_step(single, pow(ratio, power)));
}

double tenon_rope_base(const struct tenon_rope *rope, bool single, double length)
{
    if (rope->scaling == TENON_ROPE_DYNAMIC)
        return dynamic_base(rope, single, length);
    if (rope->scaling == TENON_ROPE_NTK)
        return rope->theta * pow(rope->alpha, rope->rotary_dim / (rope->rotary_dim - 2.0));
    return rope->theta;
}

static double yarn_scale(double factor, double mscale)
{
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

static double yarn_magnitude(const struct tenon_rope *rope)
{
    double factor = tenon_rope_factor(rope);
    bool has_both = !isnan(rope->mscale) && rope->mscale != 0 && !isnan(rope->mscale_all_dim) &&
                    rope->mscale_all_dim != 0;

    if (!isnan(rope->attention_factor))
        return rope->attention_factor;
    if (has_both)
        return yarn_scale(factor, rope->mscale) / yarn_scale(factor, rope->mscale_all_dim);
    return yarn_scale(factor, 1);
}

double tenon_rope_softmax_scale(const struct tenon_rope *rope)
{
    double g =
        isnan(rope->mscale_all_dim) ? 1 : yarn_scale(tenon_rope_factor(rope), rope->mscale_all_dim);

    return g * g;
}

static double longrope_magnitude(const struct tenon_rope *rope)
{
    double factor = tenon_rope_factor(rope);

    if (!isnan(rope->attention_factor))
        return rope->attention_factor;
    return factor <= 1 ? 1 : sqrt(1 + log(factor) / log(rope->original));
}

double tenon_rope_magnitude(const struct tenon_rope *rope)
{
    double m = 1;

    if (rope->scaling == TENON_ROPE_YARN)
        m = yarn_magnitude(rope);
    else if (rope->scaling == TENON_ROPE_LONGROPE)
        m = longrope_magnitude(rope);
    return isnan(rope->attn_factor) ? m : m * rope->attn_factor;
}

/* The pair that completes `turns` within the original context. */
static double ramp_limit(const struct tenon_rope *rope, double turns)
{
    return rope->rotary_dim * log(rope->original / (turns * 2 * TENON_PI)) / (2 * log(rope->theta));
}

static double or_default(double value, double otherwise)
{
    return isnan(value) || value == 0 ? otherwise : value;
}

void tenon_rope_ramp(const struct tenon_rope *rope, bool always_whole, double *out_low,
                     double *out_high)
{
    double low = ramp_limit(rope, or_default(rope->beta_fast, 32));
    double high = ramp_limit(rope, or_default(rope->beta_slow, 1));

    if (always_whole || !rope->no_truncate) {
        low = floor(low);
        high = ceil(high);
    }
    *out_low = fmax(low, 0);
    *out_high = fmin(high, rope->rotary_dim - 1.0); /* of the width, not of the pairs */
}

/* `wave` is b^(2i / R). */
static double yarn_frequency(const struct tenon_rope_table *table, const struct tenon_rope *rope,
                             bool single, uint32_t i, double wave)
{
    double low = table->ramp_low, high = table->ramp_high;
    double ramp, keep, scaled, plain;

    if (low == high)
        high += 0.001;
    ramp = tenon_step(single, i - tenon_step(single, low));
    ramp = tenon_step(single, ramp / tenon_step(single, high - low));
    keep = tenon_step(single, 1 - fmin(fmax(ramp, 0), 1));
    if (!isnan(rope->extrapolation_factor))
        keep = tenon_step(single, keep * tenon_step(single, rope->extrapolation_factor));
    scaled = tenon_step(single, tenon_rope_factor(rope));
    scaled = tenon_step(single, 1 / tenon_step(single, scaled * wave));
    plain = tenon_step(single, 1 / wave);
    return tenon_step(single, tenon_step(single, scaled * tenon_step(single, 1 - keep)) +
                                  tenon_step(single, plain * keep));
}

static double llama3_frequency(const struct tenon_rope *rope, bool single, double freq)
{
    double low = rope->low_freq_factor, high = rope->high_freq_factor;
    double factor = tenon_step(single, rope->factor);
    double wavelength = tenon_step(single, tenon_step(single, 2 * TENON_PI) / freq);
    double t, rest;

    if (wavelength < tenon_step(single, rope->original / high))
        return freq;
    if (wavelength > tenon_step(single, rope->original / low))
        return tenon_step(single, freq / factor);
    t = tenon_step(single, tenon_step(single, rope->original) / wavelength);
    t = tenon_step(single, tenon_step(single, t - tenon_step(single, low)) /
                               tenon_step(single, high - low));
    rest = tenon_step(single, tenon_step(single, 1 - t) * freq);
    return tenon_step(single, tenon_step(single, rest / factor) + tenon_step(single, t * freq));
}

static double scaled_frequency(const struct tenon_rope_table *table, const struct tenon_rope *rope,
                               uint32_t i, double wave)
{
    bool single = table->precision != TENON_PRECISION_EXACT;
    double freq = tenon_step(single, 1 / wave);
    const double *list;

    switch (rope->scaling) {
    case TENON_ROPE_LINEAR:
        return tenon_step(single, freq / tenon_step(single, rope->factor));
    case TENON_ROPE_YARN:
        return yarn_frequency(table, rope, single, i, wave);
    case TENON_ROPE_LONGROPE:
        list = table->long_factors ? rope->long_factors : rope->short_factors;
        if (list == NULL) /* divisors of a file come later, for every scaling */
            return freq;
        return tenon_step(single, 1 / tenon_step(single, tenon_step(single, list[i]) * wave));
    case TENON_ROPE_LLAMA3:
        return llama3_frequency(rope, single, freq);
    case TENON_ROPE_PROPORTIONAL:
        if (i >= (uint32_t)(rope->proportion * rope->head_dim / 2))
            return 0;
        return isnan(rope->factor) ? freq
                                   : tenon_step(single, freq / tenon_step(single, rope->factor));
    case TENON_ROPE_DEFAULT:
    case TENON_ROPE_DYNAMIC:
    case TENON_ROPE_NTK:
        break;
    }
    return freq;
}

void tenon_rope_frequencies(struct tenon_rope_table *table, const struct tenon_rope *rope)
{
    bool single = table->precision != TENON_PRECISION_EXACT;

    table->base = tenon_rope_base(rope, single, table->length);
    table->attention_factor = tenon_step(single, tenon_rope_magnitude(rope));
    table->long_factors = tenon_rope_is_long(rope, table->length);
    if (rope->scaling == TENON_ROPE_YARN)
        tenon_rope_ramp(rope, false, &table->ramp_low, &table->ramp_high);
    for (uint32_t i = 0; i < table->n_pairs; i++) {
        struct tenon_rope_place place = tenon_rope_place(rope, table->n_pairs, i, false);
        double exponent = tenon_step(single, 2.0 * place.k / place.width);
        double wave = tenon_step_pow(single, table->base, exponent);
        double freq = scaled_frequency(table, rope, i, wave);

        if (rope->freq_factors != NULL)
            freq = tenon_step(single, freq / (double)rope->freq_factors[i]);
        table->inv_freq[i] = freq;
        table->axis[i] = (uint8_t)place.axis;
    }
}
