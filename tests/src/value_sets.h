/* Sets of float32 values for tests and benchmarks of encoders. Plain C, no library. */
#ifndef TENON_TEST_VALUE_SETS_H
#define TENON_TEST_VALUE_SETS_H

#include "blocks.h"

/* Fills `n` values; all are finite. */
typedef void (*value_set_fn)(struct blocks_rng *rng, float *values, size_t n);

struct value_set {
    const char *name;
    value_set_fn fill;
};

/* Set i = 0, 1, 2 ...; NULL after the last. The first is the normal distribution. */
const struct value_set *value_set_at(size_t i);

#endif
