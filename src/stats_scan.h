/* Moments and counts of a run of values: the inner loop of the statistics. */
#ifndef TENON_STATS_SCAN_H
#define TENON_STATS_SCAN_H

#include "tenon/api.h"

/* What a run of values amounts to. Moments are over finite values only. */
struct tenon_scan {
    double min, max; /* +inf and -inf when nothing is finite */
    double mean, m2; /* m2: the sum of squared distances from the mean */
    uint64_t finite, nan, inf, zero;
};

/* An empty run. */
void tenon_scan_init(struct tenon_scan *scan);

/* Adds the run `b`, which follows `a`, to `a`. (Chan, Golub, LeVeque 1983: combining the means
 * and sums of squares of two samples.) */
void tenon_scan_merge(struct tenon_scan *a, const struct tenon_scan *b);

/* The run of `n` values. The same bits whatever the instruction set. */
typedef void (*tenon_scan_f32_fn)(struct tenon_scan *out, const float *values, size_t n);
void tenon_scan_f32(struct tenon_scan *out, const float *values, size_t n);
void tenon_scan_f64(struct tenon_scan *out, const double *values, size_t n);

/* The fastest form for a processor with `cpu_flags`. */
tenon_scan_f32_fn tenon_scan_choose(unsigned cpu_flags);

#endif
