/* The fit that Q2_K, Q4_K and Q5_K share: for a group of values x, find `scale` and `minimum` so
 * that scale * code - minimum with codes 0 ... levels - 1 comes close to x, in the weighted sum of
 * errors. One group a lane, so that each sum over a group is taken in the order of its values.
 *
 * First guess: codes span the smallest to the largest value. Then `steps` + 1 candidates, each
 * with a slightly different number of levels over that span; for the codes a candidate gives,
 * scale and minimum follow from linear least squares, and the best candidate stays. An accepted
 * candidate moves the lower end of the span for those after it. */
#ifndef TENON_ENCODE_FIT_H
#define TENON_ENCODE_FIT_H

#include "dtype/lanes.h"

enum { FIT_MAX_VALUES = 32 };

struct fit_rule {
    int n_values; /* of a group, at most FIT_MAX_VALUES */
    int levels;
    float first, step; /* levels added to `levels - 1` by candidate t: first + step * t */
    int steps;
    bool squared; /* the error of a value is squared, else absolute */
};

/* One group in each lane: element i holds value i of all. */
struct fit_values {
    lanes_f32 x[FIT_MAX_VALUES], weights[FIT_MAX_VALUES];
    lanes_f32 codes[FIT_MAX_VALUES]; /* of the candidate at hand */
};

struct fit {
    lanes_f32 scale, minimum;
    lanes_f32 density, low; /* what gave the codes of this fit: see fit_codes */
};

static inline lanes_i32 fit_code(lanes_f32 x, lanes_f32 density, lanes_f32 low, int levels)
{
    return lanes_clamp(lanes_round(density * (x - low)), 0, levels - 1);
}

/* Sums over a group; the order of their factors is that of the reference. */
struct fit_sums {
    lanes_f32 w, wx;        /* of weights, of weighted values */
    lanes_f32 wl, wll, wlx; /* with the codes l of a candidate */
};

static inline __attribute__((always_inline)) lanes_f32
fit_error(const struct fit_rule *rule, const struct fit_values *v, lanes_f32 scale, lanes_f32 low)
{
    lanes_f32 error = lanes_all(0);

    for (int i = 0; i < rule->n_values; i++) {
        lanes_f32 difference = scale * v->codes[i] + low - v->x[i];

        difference = rule->squared ? difference * difference : lanes_abs(difference);
        error += v->weights[i] * difference;
    }
    return error;
}

/* Codes and their sums for the candidate `at`. */
static inline __attribute__((always_inline)) void fit_candidate(const struct fit_rule *rule,
                                                                struct fit_values *v,
                                                                const struct fit *at,
                                                                struct fit_sums *sums)
{
    lanes_f32 wl = lanes_all(0), wll = lanes_all(0), wlx = lanes_all(0);

    for (int i = 0; i < rule->n_values; i++) {
        lanes_f32 l = lanes_to_f32(fit_code(v->x[i], at->density, at->low, rule->levels));
        lanes_f32 weighted = v->weights[i] * l;

        v->codes[i] = l;
        wl += weighted;
        wll += weighted * l;
        wlx += weighted * v->x[i];
    }
    sums->wl = wl;
    sums->wll = wll;
    sums->wlx = wlx;
}

/* Least squares; a minimum above zero cannot be stored, so then the line goes through zero. */
static inline void fit_solve(const struct fit_sums *s, lanes_f32 determinant, lanes_f32 *out_scale,
                             lanes_f32 *out_low)
{
    lanes_f32 scale = (s->w * s->wlx - s->wx * s->wl) / determinant;
    lanes_f32 low = (s->wll * s->wx - s->wl * s->wlx) / determinant;
    lanes_i32 above = low > 0.0f;

    *out_scale = lanes_pick(above, s->wlx / s->wll, scale);
    *out_low = lanes_pick(above, lanes_all(0), low);
}

/* The best fit for each lane of x and weights. */
static inline __attribute__((always_inline)) void fit_groups(const struct fit_rule *rule,
                                                             struct fit_values *v, struct fit *out)
{
    lanes_f32 low = v->x[0], high = v->x[0], error;
    lanes_i32 flat;
    struct fit_sums sums = {.w = v->weights[0], .wx = v->weights[0] * v->x[0]};
    struct fit best, trial;

    for (int i = 1; i < rule->n_values; i++) {
        low = lanes_pick(v->x[i] < low, v->x[i], low);
        high = lanes_pick(v->x[i] > high, v->x[i], high);
        sums.w += v->weights[i];
        sums.wx += v->weights[i] * v->x[i];
    }
    low = lanes_pick(low > 0.0f, lanes_all(0), low);
    flat = high == low;
    best.density = (float)(rule->levels - 1) / (high - low);
    best.scale = 1.0f / best.density;
    best.low = best.minimum = low;
    fit_candidate(rule, v, &best, &sums);
    error = fit_error(rule, v, best.scale, low);

    for (int t = 0; t <= rule->steps; t++) {
        lanes_f32 determinant, trial_error;
        lanes_i32 better;

        trial.low = best.minimum;
        trial.density =
            (rule->first + rule->step * (float)t + (float)(rule->levels - 1)) / (high - trial.low);
        fit_candidate(rule, v, &trial, &sums);
        determinant = sums.w * sums.wll - sums.wl * sums.wl;
        fit_solve(&sums, determinant, &trial.scale, &trial.minimum);
        trial_error = fit_error(rule, v, trial.scale, trial.minimum);
        better = (determinant > 0.0f) & (trial_error < error);
        error = lanes_pick(better, trial_error, error);
        best.scale = lanes_pick(better, trial.scale, best.scale);
        best.minimum = lanes_pick(better, trial.minimum, best.minimum);
        best.density = lanes_pick(better, trial.density, best.density);
        best.low = lanes_pick(better, trial.low, best.low);
    }
    out->scale = lanes_pick(flat, lanes_all(0), best.scale);
    out->minimum = -lanes_pick(flat, low, best.minimum);
    out->density = lanes_pick(flat, lanes_all(0), best.density);
    out->low = lanes_pick(flat, low, best.low);
}

#endif
