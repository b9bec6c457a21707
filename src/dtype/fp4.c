/* Four-bit floats (s ee m, bias 1) under a small power or float per block. The codes stand for
 * twice their value and the scale for half of it; code 8, minus zero, gives plus zero.
 *
 *   MXFP4  | e: u8 | nibbles: 16 bytes |             32 weights   scale 2^(e - 127)  (OCP MX)
 *          byte j: weight j and, in its high half, weight j + 16
 *   NVFP4  | 4 x scale: u8 | 4 x (nibbles: 8 bytes) | 4 x 16 weights
 *          scale: unsigned E4M3, 0x7f counts as 0; byte j of a group: weights j
 *          and j + 8. The tensor's own F32 factor lies in another tensor and is not applied.
 */
#include "dtype/codecs.h"

#include "dtype/block.h"
#include "dtype/fp4.h"

struct mxfp4_block {
    uint8_t e, nibbles[16];
};

struct nvfp4_block {
    uint8_t scales[4], nibbles[4][8];
};

TENON_ASSERT_BLOCK(MXFP4, struct mxfp4_block);
TENON_ASSERT_BLOCK(NVFP4, struct nvfp4_block);

const int8_t tenon_doubled_e2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* The same without a table, which the compiler turns into vector code. */
static inline float decode_doubled(uint32_t code)
{
    uint32_t bits = tenon_f32_bits_from_small(code & 7, 1, 0);

    return tenon_f32_from_bits(bits | tenon_pick(code > 8, 0x80000000u, 0));
}

void tenon_decode_MXFP4(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += TENON_BLOCK_MXFP4) {
        const struct mxfp4_block *b = (const struct mxfp4_block *)in + i;
        float d = tenon_mxfp4_half_scale(b->e);

        for (int j = 0; j < 16; j++) {
            out[j] = decode_doubled(b->nibbles[j] & 15u) * d;
            out[j + 16] = decode_doubled(b->nibbles[j] >> 4) * d;
        }
    }
}

void tenon_decode_NVFP4(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct nvfp4_block *b = (const struct nvfp4_block *)in + i;

        for (int g = 0; g < 4; g++, out += 16) {
            float d = tenon_nvfp4_half_scale(b->scales[g]);
            uint8_t codes[16];

            for (int j = 0; j < 8; j++) {
                codes[j] = b->nibbles[g][j] & 15;
                codes[j + 8] = b->nibbles[g][j] >> 4;
            }
            for (int j = 0; j < 16; j++)
                out[j] = decode_doubled(codes[j]) * d;
        }
    }
}
