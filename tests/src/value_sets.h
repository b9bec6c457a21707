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

/* For encoded.def: VALUE_SET_GOLDEN values of set i from a fixed seed; false after the last. */
enum { VALUE_SET_GOLDEN = 1 << 14 };
bool value_set_fill_golden(size_t i, float *values);

#endif
