#include "value_sets.h"

#include <string.h>

/* In [0, 1). */
static float unit(struct blocks_rng *rng)
{
    return (float)(blocks_random(rng) >> 8) * 0x1p-24f;
}

static float from_bits(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* The sum of twelve uniform numbers: mean 0, variance 1, no library function. */
static float normal(struct blocks_rng *rng)
{
    float sum = -6;

    for (int k = 0; k < 12; k++)
        sum += unit(rng);
    return sum;
}

static void fill_normal(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = normal(rng) * 0.02f;
}

static void fill_uniform(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = 2 * unit(rng) - 1;
}

static void fill_heavy_tail(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = normal(rng) / (unit(rng) + 1e-4f);
}

/* Subnormals, and normal numbers down to their edge. */
static void fill_tiny(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t r = blocks_random(rng);
        uint32_t exponent = i / 1024 % 32;

        values[i] = from_bits((r & 0x807fffffu) | exponent << 23);
        if (i / 32 % 2 == 1)
            values[i] = from_bits(r & 0x8000ffffu);
    }
}

/* Up to the largest number: sums overflow, squares everywhere. */
static void fill_huge(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t exponent = 254 - (uint32_t)(i / 256 % 80);

        values[i] = from_bits((blocks_random(rng) & 0x807fffffu) | exponent << 23);
    }
}

/* One value for each 1024. */
static void fill_constant(struct blocks_rng *rng, float *values, size_t n)
{
    float value = 0;

    for (size_t i = 0; i < n; i++) {
        if (i % 1024 == 0)
            value = normal(rng);
        values[i] = value;
    }
}

/* Of both signs, some blocks of one. */
static void fill_zeros(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = i / 256 % 2 == 0 ? 0.0f : from_bits(blocks_random(rng) & 0x80000000u);
}

static void fill_sparse(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = blocks_random(rng) % 100 == 0 ? normal(rng) * 100 : 0;
}

/* Small multiples of a power of two: ties and equal magnitudes of both signs. */
static void fill_lattice(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (float)((int)(blocks_random(rng) % 33) - 16) * 0.125f;
}

/* Blocks of positive and of negative values only. */
static void fill_one_sided(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (i / 512 % 2 == 0 ? 1.0f : -1.0f) * (unit(rng) + (float)(i / 1024 % 4));
}

/* Each group of 16 at its own magnitude, so that some scales of a block round to 0. */
static void fill_mixed_magnitudes(struct blocks_rng *rng, float *values, size_t n)
{
    float magnitude = 1;

    for (size_t i = 0; i < n; i++) {
        if (i % 16 == 0)
            magnitude = from_bits((107 + blocks_random(rng) % 30) << 23);
        values[i] = normal(rng) * magnitude;
    }
}

/* Every finite bit pattern is equally likely. */
static void fill_patterns(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t r = blocks_random(rng);

        values[i] = from_bits((r & 0x7f800000u) == 0x7f800000u ? r & 0x807fffffu : r);
    }
}

static const struct value_set sets[] = {
    {"normal", fill_normal},
    {"uniform", fill_uniform},
    {"heavy tail", fill_heavy_tail},
    {"tiny", fill_tiny},
    {"constant", fill_constant},
    {"zeros", fill_zeros},
    {"sparse", fill_sparse},
    {"lattice", fill_lattice},
    {"one-sided", fill_one_sided},
    {"mixed magnitudes", fill_mixed_magnitudes},
    {"huge", fill_huge},
    {"bit patterns", fill_patterns},
};

enum { N_SETS = sizeof(sets) / sizeof(sets[0]) };

const struct value_set *value_set_at(size_t i)
{
    return i < N_SETS ? &sets[i] : NULL;
}

bool value_set_fill_golden(size_t i, float *values)
{
    struct blocks_rng rng = {i + 1};

    if (i >= N_SETS)
        return false;
    sets[i].fill(&rng, values, VALUE_SET_GOLDEN);
    return true;
}
