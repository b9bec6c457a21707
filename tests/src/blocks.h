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

/* The same, but every float scale is an ordinary number, as in a model. */
void blocks_fill_ordinary(struct blocks_rng *rng, enum tenon_dtype dtype, uint8_t *blocks,
                          size_t n);

/* The first value whose bits differ, or SIZE_MAX. With `any_nan` two NaNs are the same. */
size_t blocks_first_difference(const float *a, const float *b, size_t n, bool any_nan);

/* CRC-32 (ISO 3309, as in zlib and PNG) of `n` bytes, going on from `crc`, which begins as 0. */
uint32_t blocks_crc32(uint32_t crc, const void *bytes, size_t n);

/* The CRC-32 of the little-endian float32 values that BLOCKS_GOLDEN blocks of a fixed seed decode
 * to; NaNs must have the bits 0x7fc00000. decoded.def holds what it must be. */
enum { BLOCKS_GOLDEN = 1000 };
void blocks_fill_golden(enum tenon_dtype dtype, uint8_t *blocks);
uint32_t blocks_values_crc32(const float *values, size_t n);

#endif
