/* Arithmetic on TENON_LANES values at once, in the vector types of the compiler: every operation
 * is the IEEE one of its scalar form, lane by lane, so that the width never changes a bit of a
 * result. Sums that must be taken in a fixed order are taken inside a lane.
 *
 * Files that include this are compiled once with four lanes, which every 64-bit processor has,
 * and once more for each wider instruction set (src/meson.build): no intrinsics, one text. */
#ifndef TENON_LANES_H
#define TENON_LANES_H

#include <string.h>

#include "dtype/encode.h"

#ifndef TENON_LANES
#define TENON_LANES 4
#endif

typedef float lanes_f32 __attribute__((vector_size(4 * TENON_LANES)));
typedef int32_t lanes_i32 __attribute__((vector_size(4 * TENON_LANES)));

static inline lanes_f32 lanes_load(const float *p)
{
    lanes_f32 v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void lanes_store_i32(int32_t *p, lanes_i32 v)
{
    memcpy(p, &v, sizeof(v));
}

static inline lanes_f32 lanes_all(float f)
{
    lanes_f32 v;

    for (int j = 0; j < TENON_LANES; j++)
        v[j] = f;
    return v;
}

static inline lanes_i32 lanes_all_i32(int32_t i)
{
    lanes_i32 v;

    for (int j = 0; j < TENON_LANES; j++)
        v[j] = i;
    return v;
}

/* Comparisons give -1 (all bits) for true, 0 for false: a where `mask` is set, b elsewhere. */
static inline lanes_i32 lanes_pick_i32(lanes_i32 mask, lanes_i32 a, lanes_i32 b)
{
    return (mask & a) | (~mask & b);
}

static inline lanes_f32 lanes_pick(lanes_i32 mask, lanes_f32 a, lanes_f32 b)
{
    return (lanes_f32)lanes_pick_i32(mask, (lanes_i32)a, (lanes_i32)b);
}

static inline bool lanes_any(lanes_i32 mask)
{
    uint64_t words[TENON_LANES / 2], any = 0;

    memcpy(words, &mask, sizeof(words));
    for (int j = 0; j < TENON_LANES / 2; j++)
        any |= words[j];
    return any != 0;
}

/* Compilers know the instructions for minimum and maximum in this form only. */
static inline lanes_i32 lanes_min_i32(lanes_i32 a, lanes_i32 b)
{
    for (int j = 0; j < TENON_LANES; j++)
        a[j] = a[j] < b[j] ? a[j] : b[j];
    return a;
}

static inline lanes_i32 lanes_max_i32(lanes_i32 a, lanes_i32 b)
{
    for (int j = 0; j < TENON_LANES; j++)
        a[j] = a[j] > b[j] ? a[j] : b[j];
    return a;
}

static inline lanes_i32 lanes_clamp(lanes_i32 v, int32_t low, int32_t high)
{
    return lanes_max_i32(lanes_min_i32(v, lanes_all_i32(high)), lanes_all_i32(low));
}

static inline lanes_f32 lanes_abs(lanes_f32 v)
{
    return (lanes_f32)((lanes_i32)v & 0x7fffffff);
}

static inline lanes_f32 lanes_to_f32(lanes_i32 v)
{
    return __builtin_convertvector(v, lanes_f32);
}

static inline lanes_f32 lanes_sqrt(lanes_f32 v)
{
    for (int j = 0; j < TENON_LANES; j++)
        v[j] = __builtin_sqrtf(v[j]);
    return v;
}

/* To the nearest integer, ties to even, in the manner of the reference: adding 1.5 * 2^23 leaves
 * the integer in the low bits. Right up to 2^22; beyond, and for a NaN, defined but meaningless
 * (the callers clamp), and equal to the reference there too. */
static inline lanes_i32 lanes_round(lanes_f32 v)
{
    return ((lanes_i32)(v + 12582912.0f) & 0x007fffff) - 0x00400000;
}

/* In each lane the first of `n` values of the largest magnitude, with its sign. */
static inline lanes_f32 lanes_extreme(const lanes_f32 *x, int n)
{
    lanes_f32 extreme = lanes_all(0), largest = lanes_all(0);

    for (int i = 0; i < n; i++) {
        lanes_f32 magnitude = lanes_abs(x[i]);
        lanes_i32 larger = magnitude > largest;

        extreme = lanes_pick(larger, x[i], extreme);
        largest = lanes_pick(larger, magnitude, largest);
    }
    return extreme;
}

/* Lane j of out[i] is in[j * n + i]: runs of n values next to each other become lanes. */
static inline void lanes_gather(lanes_f32 *out, const float *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < TENON_LANES; j++)
            out[i][j] = in[j * n + i];
}

#endif
