/* Between the files of the rotation: steps in one precision or the other. */
#ifndef TENON_ROPE_PRIVATE_H
#define TENON_ROPE_PRIVATE_H

#include <math.h>

#include "tenon/rope.h"

#define TENON_PI 3.14159265358979323846264338327950288

/* The result of one arithmetic step, rounded where the profile works in float32. A sum, product or
 * quotient of two float32 values computed in float64 and then rounded is the float32 result. */
static inline double tenon_step(bool single, double x)
{
    return single ? (double)(float)x : x;
}

/* base^exponent by the C library's function for the precision. */
static inline double tenon_step_pow(bool single, double base, double exponent)
{
    return single ? (double)powf((float)base, (float)exponent) : pow(base, exponent);
}

/* Where a pair finds its frequency: base^(-2k / width), turned by positions of stream `axis`. */
struct tenon_rope_place {
    uint32_t axis;
    uint32_t k;
    uint32_t width;
};

/* The place of pair `i` of `n_pairs`. `ggml`: ggml's way of interleaving streams. */
struct tenon_rope_place tenon_rope_place(const struct tenon_rope *rope, uint32_t n_pairs,
                                         uint32_t i, bool ggml);

/* Fills inv_freq, axis, base, magnitude, ramp and length of a table whose arrays are there. The
 * parameters were checked. */
void tenon_rope_frequencies(struct tenon_rope_table *table, const struct tenon_rope *rope);

/* Whether longrope takes the long list; the length that decides where `length` is 0. */
bool tenon_rope_is_long(const struct tenon_rope *rope, double length);

/* s: the factor, or max_positions / original; NaN where neither is given. */
double tenon_rope_factor(const struct tenon_rope *rope);

/* The base as dynamic and NTK scaling change it. */
double tenon_rope_base(const struct tenon_rope *rope, bool single, double length);

/* m, before rounding. */
double tenon_rope_magnitude(const struct tenon_rope *rope);

/* yarn: the pairs between which frequencies change; `always_whole`: floored and ceiled whatever
 * the parameters say. */
void tenon_rope_ramp(const struct tenon_rope *rope, bool always_whole, double *out_low,
                     double *out_high);

/* The same table by ggml's steps: arguments of its kernel, divisors, then everything above. */
void tenon_rope_ggml_init(struct tenon_rope_table *table, const struct tenon_rope *rope);

/* ggml's cosines and sines at one position. */
void tenon_rope_ggml_angles(const struct tenon_rope_table *table, const double *positions,
                            double *out_cos, double *out_sin);

/* Whether ggml needs divisors for this rotation. */
bool tenon_rope_ggml_divides(const struct tenon_rope *rope);

#endif
