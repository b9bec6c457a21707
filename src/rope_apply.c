/* Cosines and sines at a position, and the rotation itself. */
#include <math.h>
#include <string.h>

#include "rope_private.h"

static void angles_exact(const struct tenon_rope_table *table, const double *positions,
                         double *out_cos, double *out_sin)
{
    for (uint32_t i = 0; i < table->n_pairs; i++) {
        double angle = positions[table->axis[i]] * table->inv_freq[i];

        out_cos[i] = table->attention_factor * cos(angle);
        out_sin[i] = table->attention_factor * sin(angle);
    }
}

static void angles_hf(const struct tenon_rope_table *table, const double *positions,
                      double *out_cos, double *out_sin)
{
    float m = (float)table->attention_factor;

    for (uint32_t i = 0; i < table->n_pairs; i++) {
        float angle = (float)positions[table->axis[i]] * (float)table->inv_freq[i];

        out_cos[i] = (double)(cosf(angle) * m);
        out_sin[i] = (double)(sinf(angle) * m);
    }
}

void tenon_rope_angles(const struct tenon_rope_table *table, const double *positions,
                       double *out_cos, double *out_sin)
{
    if (table->precision == TENON_PRECISION_GGML)
        tenon_rope_ggml_angles(table, positions, out_cos, out_sin);
    else if (table->precision == TENON_PRECISION_HF)
        angles_hf(table, positions, out_cos, out_sin);
    else
        angles_exact(table, positions, out_cos, out_sin);
}

/* Channels of a pair, and the angle of each (the same but for tiled ones). */
struct pair {
    size_t in[2], out[2];
    uint32_t angle[2];
};

/* The section of pair `i` and its place there, for pairings inside sections. */
static uint32_t start_of_section(const struct tenon_rope *rope, uint32_t i, uint32_t *out_n)
{
    uint32_t s = 0, start = 0;

    while (s + 1 < rope->n_sections && i - start >= rope->sections[s])
        start += rope->sections[s++];
    *out_n = rope->sections[s];
    return start;
}

static struct pair find_pair(const struct tenon_rope *rope, uint32_t n_pairs, uint32_t i)
{
    struct pair half = {.in = {i, (size_t)i + n_pairs}, .angle = {i, i}};
    struct pair pair = {.in = {2 * (size_t)i, 2 * (size_t)i + 1}, .angle = {i, i}};
    uint32_t n, start;

    switch (rope->pairing) {
    case TENON_PAIR_HALF:
    case TENON_PAIR_REVERSED:
        pair = half;
        break;
    case TENON_PAIR_BLOCK_HALF:
        start = start_of_section(rope, i, &n);
        pair.in[0] = (size_t)start + i; /* 2 * start + (i - start) */
        pair.in[1] = pair.in[0] + n;
        break;
    case TENON_PAIR_TILED:
        start = start_of_section(rope, i, &n);
        pair.angle[0] = start + (uint32_t)((pair.in[0] - 2 * (size_t)start) % n);
        pair.angle[1] = start + (uint32_t)((pair.in[1] - 2 * (size_t)start) % n);
        break;
    case TENON_PAIR_INTERLEAVED:
    case TENON_PAIR_INTERLEAVED_TO_HALF:
        break;
    }
    memcpy(pair.out, rope->pairing == TENON_PAIR_INTERLEAVED_TO_HALF ? half.in : pair.in,
           sizeof(pair.out));
    return pair;
}

/* The channel where rotation begins. */
static size_t first_channel(const struct tenon_rope *rope, uint32_t n_pairs)
{
    return rope->trailing ? rope->head_dim - 2 * (size_t)n_pairs : 0;
}

static double sign_of(const struct tenon_rope *rope)
{
    return rope->pairing == TENON_PAIR_REVERSED ? -1 : 1;
}

void tenon_rope_apply(const struct tenon_rope_table *table, const double *cosines,
                      const double *sines, const double *x, double *out)
{
    const struct tenon_rope *rope = &table->rope;
    size_t first = first_channel(rope, table->n_pairs);
    double sign = sign_of(rope);

    memcpy(out, x, rope->head_dim * sizeof(*out));
    for (uint32_t i = 0; i < table->n_pairs; i++) {
        struct pair p = find_pair(rope, table->n_pairs, i);
        double a = x[first + p.in[0]], b = x[first + p.in[1]];

        out[first + p.out[0]] = a * cosines[p.angle[0]] - b * (sign * sines[p.angle[0]]);
        out[first + p.out[1]] = b * cosines[p.angle[1]] + a * (sign * sines[p.angle[1]]);
    }
}

void tenon_rope_apply_f32(const struct tenon_rope_table *table, const double *cosines,
                          const double *sines, const float *x, float *out)
{
    const struct tenon_rope *rope = &table->rope;
    size_t first = first_channel(rope, table->n_pairs);
    float sign = (float)sign_of(rope);

    memcpy(out, x, rope->head_dim * sizeof(*out));
    for (uint32_t i = 0; i < table->n_pairs; i++) {
        struct pair p = find_pair(rope, table->n_pairs, i);
        float a = x[first + p.in[0]], b = x[first + p.in[1]];

        out[first + p.out[0]] =
            a * (float)cosines[p.angle[0]] - b * (sign * (float)sines[p.angle[0]]);
        out[first + p.out[1]] =
            b * (float)cosines[p.angle[1]] + a * (sign * (float)sines[p.angle[1]]);
    }
}
