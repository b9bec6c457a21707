#include "blocks.h"

#include <string.h>

static const uint16_t f16_edges[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x7bff,
    0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfc01, 0x7dff, 0x7e00, 0xfe00, 0x7fff, 0xffff,
};

static const uint32_t f32_edges[] = {
    0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffffffff,
};

enum {
    N_F16 = sizeof(f16_edges) / sizeof(f16_edges[0]),
    N_F32 = sizeof(f32_edges) / sizeof(f32_edges[0])
};

/* Where the float scales of a block stand. */
static const struct {
    enum tenon_dtype dtype;
    int offset, width;
} scales[] = {
    {TENON_DTYPE_Q4_0, 0, 2},   {TENON_DTYPE_Q4_1, 0, 2},   {TENON_DTYPE_Q4_1, 2, 2},
    {TENON_DTYPE_Q5_0, 0, 2},   {TENON_DTYPE_Q5_1, 0, 2},   {TENON_DTYPE_Q5_1, 2, 2},
    {TENON_DTYPE_Q8_0, 0, 2},   {TENON_DTYPE_Q8_1, 0, 2},   {TENON_DTYPE_Q2_K, 80, 2},
    {TENON_DTYPE_Q2_K, 82, 2},  {TENON_DTYPE_Q3_K, 108, 2}, {TENON_DTYPE_Q4_K, 0, 2},
    {TENON_DTYPE_Q4_K, 2, 2},   {TENON_DTYPE_Q5_K, 0, 2},   {TENON_DTYPE_Q5_K, 2, 2},
    {TENON_DTYPE_Q6_K, 208, 2}, {TENON_DTYPE_Q8_K, 0, 4},   {TENON_DTYPE_IQ2_XXS, 0, 2},
    {TENON_DTYPE_IQ2_XS, 0, 2}, {TENON_DTYPE_IQ2_S, 0, 2},  {TENON_DTYPE_IQ3_XXS, 0, 2},
    {TENON_DTYPE_IQ3_S, 0, 2},  {TENON_DTYPE_IQ1_S, 0, 2},  {TENON_DTYPE_IQ4_NL, 0, 2},
    {TENON_DTYPE_IQ4_XS, 0, 2}, {TENON_DTYPE_TQ1_0, 52, 2}, {TENON_DTYPE_TQ2_0, 64, 2},
    {TENON_DTYPE_Q1_0, 0, 2},   {TENON_DTYPE_Q2_0, 0, 2},
};

enum { N_SCALES = sizeof(scales) / sizeof(scales[0]) };

uint32_t blocks_random(struct blocks_rng *rng)
{
    uint64_t x = rng->state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    rng->state = x;
    return (uint32_t)((x * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

static void put_le(uint8_t *at, uint32_t value, int width)
{
    for (int k = 0; k < width; k++)
        at[k] = (uint8_t)(value >> (8 * k));
}

/* IQ1_M keeps its scale in the upper halves of bytes 49, 51, 53 and 55. */
static void put_iq1_m_scale(uint8_t *block, uint16_t half)
{
    for (int k = 0; k < 4; k++)
        block[49 + 2 * k] = (uint8_t)((block[49 + 2 * k] & 15) | (half >> (4 * k) & 15) << 4);
}

static void put_scales(enum tenon_dtype dtype, uint8_t *block, uint32_t (*next)(void *, int),
                       void *context)
{
    if (dtype == TENON_DTYPE_IQ1_M)
        put_iq1_m_scale(block, (uint16_t)next(context, 2));
    for (int k = 0; k < N_SCALES; k++)
        if (scales[k].dtype == dtype)
            put_le(block + scales[k].offset, next(context, scales[k].width), scales[k].width);
}

static uint32_t next_edge(void *rng, int width)
{
    uint32_t r = blocks_random(rng);

    return width == 2 ? f16_edges[r % N_F16] : f32_edges[r % N_F32];
}

/* Between 2^-9 and 2^-5, either sign. */
static uint32_t next_ordinary(void *rng, int width)
{
    uint32_t r = blocks_random(rng);

    return width == 2 ? 0x1800 + (r & 0x8fff) : 0x3b000000 + (r & 0x81ffffff);
}

static void fill_random(struct blocks_rng *rng, uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += 4) {
        uint32_t r = blocks_random(rng);

        memcpy(bytes + i, &r, n - i < 4 ? n - i : 4);
    }
}

void blocks_fill(struct blocks_rng *rng, enum tenon_dtype dtype, uint8_t *blocks, size_t n)
{
    size_t block_bytes = tenon_dtype_info(dtype)->block_bytes;

    fill_random(rng, blocks, n * block_bytes);
    for (size_t i = 0; i < n; i++)
        if ((blocks_random(rng) & 1) != 0)
            put_scales(dtype, blocks + i * block_bytes, next_edge, rng);
}

void blocks_fill_ordinary(struct blocks_rng *rng, enum tenon_dtype dtype, uint8_t *blocks, size_t n)
{
    size_t block_bytes = tenon_dtype_info(dtype)->block_bytes;

    fill_random(rng, blocks, n * block_bytes);
    for (size_t i = 0; i < n; i++)
        put_scales(dtype, blocks + i * block_bytes, next_ordinary, rng);
}

size_t blocks_first_difference(const float *a, const float *b, size_t n, bool any_nan)
{
    if (memcmp(a, b, n * sizeof(*a)) == 0)
        return SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof(a[i])) != 0 && !(any_nan && a[i] != a[i] && b[i] != b[i]))
            return i;
    return SIZE_MAX;
}

uint32_t blocks_crc32(uint32_t crc, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    }
    return ~crc;
}

void blocks_fill_golden(enum tenon_dtype dtype, uint8_t *blocks)
{
    struct blocks_rng rng = {UINT64_C(0x7e0a1d1dec0de000) + (uint64_t)dtype};

    blocks_fill(&rng, dtype, blocks, BLOCKS_GOLDEN);
}

uint32_t blocks_values_crc32(const float *values, size_t n)
{
    uint32_t crc = 0;

    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[4];
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof(bits));
        put_le(bytes, bits, 4);
        crc = blocks_crc32(crc, bytes, 4);
    }
    return crc;
}
