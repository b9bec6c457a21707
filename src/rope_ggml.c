/* The rotation as ggml computes it: one float32 angle, multiplied from pair to pair, then divided,
 * scaled and mixed. The comments name the arguments of ggml_rope_ext. */
#include <math.h>

#include "rope_private.h"

/* Divisor of a pair that does not turn. */
#define GGML_NEVER 1e30f

bool tenon_rope_ggml_divides(const struct tenon_rope *rope)
{
    return rope->freq_factors != NULL || rope->scaling == TENON_ROPE_LONGROPE ||
           rope->scaling == TENON_ROPE_LLAMA3 || rope->scaling == TENON_ROPE_PROPORTIONAL;
}

/* What converters store as rope_freqs for llama3, computed with float32 tensors there. */
static float llama3_divisor(const struct tenon_rope *rope, uint32_t i)
{
    float exponent = (float)(2 * i) / (float)rope->rotary_dim;
    float freq = 1.0f / powf((float)rope->theta, exponent);
    float wavelength = (float)(2 * TENON_PI) / freq;
    float low = (float)rope->low_freq_factor, high = (float)rope->high_freq_factor;
    float t;

    if (wavelength < (float)(rope->original / rope->high_freq_factor))
        return 1.0f;
    if (wavelength > (float)(rope->original / rope->low_freq_factor))
        return (float)rope->factor;
    t = ((float)rope->original / wavelength - low) / (high - low);
    return 1.0f / ((1.0f - t) / (float)rope->factor + t);
}

static float divisor(const struct tenon_rope_table *table, const struct tenon_rope *rope,
                     uint32_t i)
{
    if (rope->freq_factors != NULL)
        return rope->freq_factors[i];
    if (rope->scaling == TENON_ROPE_LONGROPE)
        return (float)(table->long_factors ? rope->long_factors : rope->short_factors)[i];
    if (rope->scaling == TENON_ROPE_LLAMA3)
        return llama3_divisor(rope, i);
    return i < (uint32_t)(rope->proportion * rope->head_dim / 2) ? 1.0f : GGML_NEVER;
}

/* The kernel multiplies by 1 + 0.1 ln(1 / freq_scale) whenever it mixes, so llama.cpp divides the
 * wanted magnitude by that beforehand. */
static float kernel_magnitude(const struct tenon_rope_ggml *ggml)
{
    return ggml->attn_factor * (1.0f + 0.1f * logf(1.0f / ggml->freq_scale));
}

static void set_arguments(struct tenon_rope_table *table, const struct tenon_rope *rope)
{
    struct tenon_rope_ggml *ggml = &table->ggml;
    bool yarn = rope->scaling == TENON_ROPE_YARN;
    double factor = 1;

    if (yarn || rope->scaling == TENON_ROPE_LINEAR || rope->scaling == TENON_ROPE_PROPORTIONAL)
        factor = tenon_rope_factor(rope);
    ggml->freq_base = (float)table->base;
    ggml->freq_scale = isnan(factor) ? 1.0f : 1.0f / (float)factor;
    ggml->attn_factor = (float)tenon_rope_magnitude(rope);
    if (!yarn)
        return;
    ggml->ext_factor = isnan(rope->extrapolation_factor) ? 1.0f : (float)rope->extrapolation_factor;
    if (ggml->ext_factor != 0)
        ggml->attn_factor *= 1.0f / (1.0f + 0.1f * logf((float)factor));
    tenon_rope_ramp(rope, true, &table->ramp_low, &table->ramp_high);
    ggml->ramp_low = (float)table->ramp_low;
    ggml->ramp_high = (float)table->ramp_high;
}

/* From the angle of the running product to the one that turns. */
static float mix(const struct tenon_rope_ggml *ggml, uint32_t i, float scale, float angle)
{
    float scaled = scale * angle;
    float ramp, keep;

    if (ggml->ext_factor == 0)
        return scaled;
    ramp = ((float)i - ggml->ramp_low) / fmaxf(0.001f, ggml->ramp_high - ggml->ramp_low);
    keep = (1.0f - fminf(1.0f, fmaxf(0.0f, ramp))) * ggml->ext_factor;
    return scaled * (1.0f - keep) + angle * keep;
}

/* Walks over the pairs; `angles` gets what each turns by. */
static void walk(const struct tenon_rope_table *table, const double *positions, double *angles)
{
    const struct tenon_rope *rope = &table->rope;
    const struct tenon_rope_ggml *ggml = &table->ggml;
    bool own_runs = rope->axes >= TENON_AXES_BLOCKS;
    float running[TENON_ROPE_MAX_SECTIONS] = {0};
    uint32_t streams = rope->axes == TENON_AXES_ONE ? 1 : TENON_ROPE_MAX_SECTIONS;
    uint32_t last_width = 0;
    float step = 1;

    for (uint32_t a = 0; a < streams; a++)
        running[a] = (float)positions[a];
    for (uint32_t i = 0; i < table->n_pairs; i++) {
        struct tenon_rope_place place = tenon_rope_place(rope, table->n_pairs, i, true);
        bool split = rope->axes == TENON_AXES_SPLIT;
        uint32_t width = split ? place.width / 2 : place.width;
        float scale = ggml->freq_scale;
        float ff = table->divisors == NULL ? 1.0f : table->divisors[i];

        if (width != last_width) /* a theta_scale for each width, as a rule one */
            step = powf(ggml->freq_base, -2.0f / (float)width);
        last_width = width;
        if (split && place.axis == 1)
            scale *= powf(ggml->freq_base, -2.0f / (float)place.width);
        angles[i] = (double)mix(ggml, i, scale, running[place.axis] / ff);
        for (uint32_t a = 0; a < streams; a++)
            if (!own_runs || a == place.axis)
                running[a] *= step;
    }
}

void tenon_rope_ggml_init(struct tenon_rope_table *table, const struct tenon_rope *rope)
{
    const double ones[TENON_ROPE_MAX_SECTIONS] = {1, 1, 1, 1};

    table->base = tenon_rope_base(rope, false, table->length);
    table->long_factors = tenon_rope_is_long(rope, table->length);
    set_arguments(table, rope);
    table->attention_factor =
        (double)(table->ggml.ext_factor == 0 ? table->ggml.attn_factor
                                             : kernel_magnitude(&table->ggml));
    for (uint32_t i = 0; i < table->n_pairs; i++) {
        table->axis[i] = (uint8_t)tenon_rope_place(rope, table->n_pairs, i, true).axis;
        if (table->divisors != NULL)
            table->divisors[i] = divisor(table, rope, i);
    }
    walk(table, ones, table->inv_freq);
}

void tenon_rope_ggml_angles(const struct tenon_rope_table *table, const double *positions,
                            double *out_cos, double *out_sin)
{
    float m = (float)table->attention_factor;

    walk(table, positions, out_cos);
    for (uint32_t i = 0; i < table->n_pairs; i++) {
        float angle = (float)out_cos[i];

        out_cos[i] = (double)(cosf(angle) * m);
        out_sin[i] = (double)(sinf(angle) * m);
    }
}
