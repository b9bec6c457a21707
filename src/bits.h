/* Sets of numbers, a bit for each. */
#ifndef TENON_BITS_H
#define TENON_BITS_H

#include "mem.h"

/* An empty set of numbers below `n` (tenon_mem_free); NULL when memory is gone. */
static inline unsigned char *tenon_bits_new(size_t n)
{
    return tenon_mem_alloc(n / 8 + 1, 1);
}

static inline bool tenon_bits_has(const unsigned char *bits, size_t i)
{
    return (bits[i / 8] >> i % 8 & 1) != 0;
}

static inline void tenon_bits_add(unsigned char *bits, size_t i)
{
    bits[i / 8] = (unsigned char)(bits[i / 8] | 1u << i % 8);
}

#endif
