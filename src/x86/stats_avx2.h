/* Statistics with AVX2. */
#ifndef TENON_X86_STATS_AVX2_H
#define TENON_X86_STATS_AVX2_H

#include "stats_lanes.h"

/* As tenon_lanes_run. */
void tenon_lanes_run_avx2(struct tenon_lanes *lanes, const float *values, size_t n, double pivot);

#endif
