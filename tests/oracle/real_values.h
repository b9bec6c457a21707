/* Weights of real checkpoints, for comparisons of encoders. */
#ifndef TENON_TEST_REAL_VALUES_H
#define TENON_TEST_REAL_VALUES_H

#include <stddef.h>

/* Fills up to `n` values from the payloads of TENON_REAL_DIR/safetensors, repeating none;
 * returns how many, 0 where the variable is unset. What is not finite becomes 0. The payloads are
 * read as F32 whatever their type: a lone F16 file gives odd, but still real, numbers. */
size_t real_values_read(float *values, size_t n);

#endif
