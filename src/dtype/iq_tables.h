/* The lattices of the IQ types: rows of 8 (IQ1, IQ2) or 4 (IQ3) letters, packed with 2 or 3 bits
 * each, the first letter lowest. A letter is a position in the alphabet of its family. */
#ifndef TENON_IQ_TABLES_H
#define TENON_IQ_TABLES_H

#include "dtype/block.h"

extern const uint16_t tenon_iq2_xxs_rows[256]; /* letters of tenon_iq2_alphabet */
extern const uint16_t tenon_iq2_xs_rows[512];
extern const uint16_t tenon_iq2_s_rows[1024];
extern const uint16_t tenon_iq3_xxs_rows[256]; /* of tenon_iq3_xxs_alphabet */
extern const uint16_t tenon_iq3_s_rows[512];   /* letter k stands for 2 k + 1 */
extern const uint16_t tenon_iq1_rows[2048];    /* letter k stands for k - 1 */

extern const int8_t tenon_iq2_alphabet[4]; /* three letters and a zero */
extern const int8_t tenon_iq3_xxs_alphabet[8];
extern const int8_t tenon_iq3_s_alphabet[8];

/* The eight signs that a seven-bit number stands for: it, and above it its parity. */
static inline uint32_t tenon_iq_signs(uint32_t seven_bits)
{
    uint32_t s = seven_bits & 127;
    uint32_t fold = s ^ s >> 4;

    return s | (0x6996u >> (fold & 15) & 1) << 7;
}

/* The half that the upper nibbles of four words make up. */
static inline uint16_t tenon_iq1_m_scale(const uint8_t words[8])
{
    return (uint16_t)(words[1] >> 4 | (words[3] & 0xf0) | (words[5] & 0xf0) << 4 |
                      (words[7] & 0xf0) << 8);
}

#endif
