/* What the processor can do. */
#ifndef TENON_CPU_H
#define TENON_CPU_H

#include "tenon/api.h"

enum tenon_cpu_flags {
    TENON_CPU_SSE41 = 1u << 0,
    TENON_CPU_AVX2 = 1u << 1, /* with BMI2 */
    TENON_CPU_F16C = 1u << 2,
    TENON_CPU_NEON = 1u << 3,
    TENON_CPU_AVX512 = 1u << 4 /* F, BW, VL and DQ */
};

/* Flags of this machine, which is asked once. */
unsigned tenon_cpu_detect(void);

#endif
