/* 32 weights under one scale, and in the _1 forms one offset. Nibbles: byte j holds weight j in
 * its low half and weight j + 16 in its high half.
 *
 *   Q4_0  | d: f16 |                   nibbles: 16 bytes |   w = (q - 8) * d
 *   Q4_1  | d: f16 | m: f16 |          nibbles: 16 bytes |   w = q * d + m
 *   Q5_0  | d: f16 | fifth bits: u32 | nibbles: 16 bytes |   w = (q - 16) * d
 *   Q5_1  | d: f16 | m: f16 | fifth bits: u32 | 16 bytes |   w = q * d + m
 *   Q8_0  | d: f16 |                   q: 32 x i8        |   w = q * d
 *   Q8_1  | d: f16 | s: f16 |          q: 32 x i8        |   w = q * d    s = d * sum of q
 *
 * Bit i of the fifth bits belongs to weight i. */
#include "dtype/codecs.h"

#include "dtype/block.h"

struct q4_0_block {
    uint8_t d[2], nibbles[16];
};

struct q4_1_block {
    uint8_t d[2], m[2], nibbles[16];
};

struct q5_0_block {
    uint8_t d[2], fifth[4], nibbles[16];
};

struct q5_1_block {
    uint8_t d[2], m[2], fifth[4], nibbles[16];
};

struct q8_0_block {
    uint8_t d[2];
    int8_t q[32];
};

struct q8_1_block {
    uint8_t d[2], s[2];
    int8_t q[32];
};

TENON_ASSERT_BLOCK(Q4_0, struct q4_0_block);
TENON_ASSERT_BLOCK(Q4_1, struct q4_1_block);
TENON_ASSERT_BLOCK(Q5_0, struct q5_0_block);
TENON_ASSERT_BLOCK(Q5_1, struct q5_1_block);
TENON_ASSERT_BLOCK(Q8_0, struct q8_0_block);
TENON_ASSERT_BLOCK(Q8_1, struct q8_1_block);

enum { HALF = 16, BLOCK = 32 };

/* The nibbles of a block in the order of the weights. */
static inline void unpack_nibbles(uint8_t *restrict q, const uint8_t *restrict nibbles)
{
    for (int j = 0; j < HALF; j++)
        q[j] = nibbles[j] & 15;
    for (int j = 0; j < HALF; j++)
        q[j + HALF] = nibbles[j] >> 4;
}

/* 16 in byte k of the result where bit k is set, in byte operations on one word: bit k is left
 * alone in byte k, carried to the top of it, and moved to its place. */
static inline uint64_t spread_fifth_bits(uint8_t bits)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t alone = bits * ones & 0x8040201008040201u;

    return ((alone + 0x7f * ones) & 0x80 * ones) >> 3;
}

/* The same with the fifth bits. */
static inline void unpack_five(uint8_t *restrict q, const uint8_t *restrict fifth,
                               const uint8_t *restrict nibbles)
{
    unpack_nibbles(q, nibbles);
    for (int j = 0; j < BLOCK; j += 8) {
        uint64_t eight = tenon_le64(q + j) | spread_fifth_bits(fifth[j / 8]);

        for (int k = 0; k < 8; k++)
            q[j + k] = (uint8_t)(eight >> (8 * k));
    }
}

void tenon_decode_Q4_0(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q4_0_block *b = (const struct q4_0_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);
        uint8_t q[BLOCK];

        unpack_nibbles(q, b->nibbles);
        for (int j = 0; j < BLOCK; j++)
            out[j] = (float)(q[j] - 8) * d;
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q4_1(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q4_1_block *b = (const struct q4_1_block *)in + i;
        uint16_t scale = tenon_le16(b->d), offset = tenon_le16(b->m);
        float d = tenon_f32_from_scale(scale), m = tenon_f32_from_scale(offset);
        uint8_t q[BLOCK];

        unpack_nibbles(q, b->nibbles);
        for (int j = 0; j < BLOCK; j++)
            out[j] = (float)q[j] * d + m;
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q5_0(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q5_0_block *b = (const struct q5_0_block *)in + i;
        uint16_t scale = tenon_le16(b->d);
        float d = tenon_f32_from_scale(scale);
        uint8_t q[BLOCK];

        unpack_five(q, b->fifth, b->nibbles);
        for (int j = 0; j < BLOCK; j++)
            out[j] = (float)(q[j] - 16) * d;
        if (tenon_f16_special(scale))
            tenon_settle_nans(out, BLOCK);
    }
}

void tenon_decode_Q5_1(float *restrict out, const uint8_t *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++, out += BLOCK) {
        const struct q5_1_block *b = (const struct q5_1_block *)in + i;
        uint16_t scale = tenon_le16(b->d), offset = tenon_le16(b->m);
        float d = tenon_f32_from_scale(scale), m = tenon_f32_from_scale(offset);
        uint8_t q[BLOCK];

        unpack_five(q, b->fifth, b->nibbles);
        for (int j = 0; j < BLOCK; j++)
            out[j] = (float)q[j] * d + m;
        if (tenon_f16_special(scale) || tenon_f16_special(offset))
            tenon_settle_nans(out, BLOCK);
    }
}

static inline void decode_bytes(float *restrict out, const int8_t *restrict q, uint16_t scale)
{
    float d = tenon_f32_from_scale(scale);

    for (int j = 0; j < BLOCK; j++)
        out[j] = (float)q[j] * d;
    if (tenon_f16_special(scale))
        tenon_settle_nans(out, BLOCK);
}

void tenon_decode_Q8_0(float *restrict out, const uint8_t *restrict in, size_t n)
{
    const struct q8_0_block *b = (const struct q8_0_block *)in;

    for (size_t i = 0; i < n; i++, out += BLOCK)
        decode_bytes(out, b[i].q, tenon_le16(b[i].d));
}

void tenon_decode_Q8_1(float *restrict out, const uint8_t *restrict in, size_t n)
{
    const struct q8_1_block *b = (const struct q8_1_block *)in;

    for (size_t i = 0; i < n; i++, out += BLOCK)
        decode_bytes(out, b[i].q, tenon_le16(b[i].d));
}
