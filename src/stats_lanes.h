/* The loop over finite float32 values, in eight lanes whose order of summation is fixed, so that
 * every instruction set gives the same bits. Included by one file per instruction set, which
 * names the function. */
#ifndef TENON_STATS_LANES_H
#define TENON_STATS_LANES_H

#include <string.h>

#include "stats_scan.h"

enum { TENON_LANES = 8 };

/* Bits of a float32 without its sign; infinity and everything above it is not finite. */
#define TENON_ABS_BITS UINT32_C(0x7fffffff)
#define TENON_INF_BITS INT32_C(0x7f800000)

struct tenon_lanes {
    double sum[TENON_LANES], square[TENON_LANES]; /* of x - pivot */
    float min[TENON_LANES], max[TENON_LANES];
    int32_t top[TENON_LANES]; /* greatest absolute value, as bits */
    int32_t zero[TENON_LANES];
};

/* Adds the first n / 8 * 8 values to the lanes. */
typedef void (*tenon_scan_lanes_fn)(struct tenon_lanes *lanes, const float *values, size_t n,
                                    double pivot);

/* Scans a run with the lanes of some instruction set. */
void tenon_scan_lanes(struct tenon_scan *out, const float *values, size_t n,
                      tenon_scan_lanes_fn run);

/* Runs over n / 8 * 8 values; n is below 2^34. */
static inline void tenon_lanes_run(struct tenon_lanes *lanes, const float *values, size_t n,
                                   double pivot)
{
    struct tenon_lanes l = *lanes;

    for (size_t i = 0; i + TENON_LANES <= n; i += TENON_LANES) {
        int32_t bits[TENON_LANES];

        memcpy(bits, values + i, sizeof(bits));
        for (int k = 0; k < TENON_LANES; k++) {
            int32_t magnitude = bits[k] & (int32_t)TENON_ABS_BITS;

            l.top[k] = magnitude > l.top[k] ? magnitude : l.top[k];
            l.zero[k] += magnitude == 0;
        }
        for (int k = 0; k < TENON_LANES; k++) {
            float x = values[i + (size_t)k];
            double d = (double)x - pivot;

            l.min[k] = x < l.min[k] ? x : l.min[k];
            l.max[k] = x > l.max[k] ? x : l.max[k];
            l.sum[k] += d;
            l.square[k] += d * d;
        }
    }
    *lanes = l;
}

#endif
