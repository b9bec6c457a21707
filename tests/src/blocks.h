/* Random blocks of any element type, for tests that compare two decoders. Plain C, no library. */
#ifndef TENON_TEST_BLOCKS_H
#define TENON_TEST_BLOCKS_H

#include "tenon/dtype.h"

/* A fixed sequence for a seed (xorshift64*); any seed but 0. */
struct blocks_rng {
    uint64_t state;
};

uint32_t blocks_random(struct blocks_rng *rng);

/* Fills `n` blocks with random bytes. In every second block the float scales are taken from a
 * list of edges instead: zeros, subnormals, smallest and largest numbers, infinities, quiet and
 * signalling NaNs, of both signs. */
void blocks_fill(struct blocks_rng *rng, enum tenon_dtype dtype, uint8_t *blocks, size_t n);

/* The first value whose bits differ, or SIZE_MAX. With `any_nan` two NaNs are the same. */
size_t blocks_first_difference(const float *a, const float *b, size_t n, bool any_nan);

#endif
