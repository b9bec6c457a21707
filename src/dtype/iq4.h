/* The steps of IQ4_NL and IQ4_XS, and the scales of IQ4_XS. */
#ifndef TENON_IQ4_H
#define TENON_IQ4_H

#include <stdint.h>

extern const int8_t tenon_iq4_step[16];

/* The scale of group g, -32 to 31. */
static inline int tenon_iq4_xs_scale(const uint8_t low[4], unsigned high, int g)
{
    int bits = low[g / 2] >> (4 * (g % 2)) & 15;

    return (bits | (int)(high >> (2 * g) & 3) << 4) - 32;
}

#endif
