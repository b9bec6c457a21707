/* The six-bit scales that K-quants pack into 12 bytes S. */
#ifndef TENON_K_SCALES_H
#define TENON_K_SCALES_H

#include <stdint.h>

/* Q4_K, Q5_K: eight scales and eight mins.
 *   g < 4    scale: S[g] bits 0-5         min: S[g + 4] bits 0-5
 *   g >= 4   scale: S[g + 4] bits 0-3,    min: S[g + 4] bits 4-7,
 *            over them S[g - 4] bits 6-7  over them S[g] bits 6-7 */
static inline void tenon_k_unpack_q4(uint8_t scales[8], uint8_t mins[8], const uint8_t packed[12])
{
    for (int g = 0; g < 4; g++) {
        scales[g] = packed[g] & 63;
        mins[g] = packed[g + 4] & 63;
        scales[g + 4] = (uint8_t)((packed[g + 8] & 15) | (packed[g] >> 6) << 4);
        mins[g + 4] = (uint8_t)(packed[g + 8] >> 4 | (packed[g + 4] >> 6) << 4);
    }
}

/* Q3_K: 16 scales, less 32. Low four bits of scale g: S[g % 8], its high half for g >= 8; two bits
 * above them: S[8 + g % 4], bits 2 (g / 4) up. */
static inline void tenon_k_unpack_q3(int8_t scales[16], const uint8_t packed[12])
{
    for (int g = 0; g < 16; g++) {
        int low = packed[g % 8] >> (4 * (g / 8)) & 15;
        int high = packed[8 + g % 4] >> (2 * (g / 4)) & 3;

        scales[g] = (int8_t)((low | high << 4) - 32);
    }
}

#endif
