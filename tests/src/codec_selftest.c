/* The codecs against their definitions and against each other, without any library, so that it
 * also runs where only a compiler and an emulator are at hand (tests/arm64.sh):
 *
 *   every code of the small floats against sign * mantissa * 2^exponent
 *   fixed blocks of every quantized type against ggml's values (decoded.def)
 *   every decoder that this processor selects against plain C, byte for byte, on random and edge
 *   blocks, at odd counts and addresses, writing nothing past its end
 *
 * Stops at the first difference; prints what it compared and how many checks passed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "cpu.h"
#include "quant.h"

enum { MAX_BLOCKS = 1 << 12, MAX_BLOCK_BYTES = 292, MAX_BLOCK_VALUES = 256 };

struct selftest {
    struct tenon_quant_ops reference, fast;
    uint8_t *blocks;
    float *values, *expected;
    unsigned long long n_values; /* compared so far */
    unsigned n_checks;
};

static void fail(const char *what, enum tenon_dtype dtype, size_t at, float got, float wanted)
{
    printf("%s: %s: value %zu is %a, expected %a\n", what, tenon_dtype_name(dtype), at, (double)got,
           (double)wanted);
    exit(1);
}

/* A small float by its definition. `infinite` types keep the largest exponent for infinities and
 * NaNs; `nan` is the one other magnitude, or for FNUZ types the code, that is no number. */
struct small_float {
    enum tenon_dtype dtype;
    int bits, mantissa, bias;
    bool infinite;
    uint32_t nan;
};

static const struct small_float small_floats[] = {
    {TENON_DTYPE_F16, 16, 10, 15, true, UINT32_MAX},
    {TENON_DTYPE_BF16, 16, 7, 127, true, UINT32_MAX},
    {TENON_DTYPE_F8_E4M3, 8, 3, 7, false, 0x7f},
    {TENON_DTYPE_F8_E5M2, 8, 2, 15, true, UINT32_MAX},
    {TENON_DTYPE_F8_E4M3FNUZ, 8, 3, 8, false, 0x80},
    {TENON_DTYPE_F8_E5M2FNUZ, 8, 2, 16, false, 0x80},
    {TENON_DTYPE_F6_E2M3, 6, 3, 1, false, UINT32_MAX},
    {TENON_DTYPE_F6_E3M2, 6, 2, 3, false, UINT32_MAX},
    {TENON_DTYPE_F4, 4, 1, 1, false, UINT32_MAX},
};

static float define_small(const struct small_float *f, uint32_t code)
{
    uint32_t sign = code >> (f->bits - 1);
    uint32_t magnitude = code & ((1u << (f->bits - 1)) - 1);
    int exponent = (int)(magnitude >> f->mantissa);
    int mantissa = (int)(magnitude & ((1u << f->mantissa) - 1));
    int largest = (1 << (f->bits - 1 - f->mantissa)) - 1;
    double value;

    if (magnitude == f->nan || code == f->nan)
        return NAN;
    if (f->infinite && exponent == largest)
        value = mantissa == 0 ? (double)INFINITY : (double)NAN;
    else if (exponent == 0)
        value = ldexp(mantissa, 1 - f->bias - f->mantissa);
    else
        value = ldexp((1 << f->mantissa) + mantissa, exponent - f->bias - f->mantissa);
    return (float)(sign != 0 ? -value : value);
}

/* All codes one after the other, packed from the lowest bit up. */
static size_t pack_all_codes(uint8_t *blocks, int bits)
{
    size_t n = (size_t)1 << bits;

    memset(blocks, 0, n * (size_t)bits / 8);
    for (size_t code = 0; code < n; code++)
        for (int k = 0; k < bits; k++)
            if ((code >> k & 1) != 0) {
                size_t at = code * (size_t)bits + (size_t)k;

                blocks[at / 8] = (uint8_t)(blocks[at / 8] | 1 << at % 8);
            }
    return n;
}

static bool same_float(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

static void check_small_float(struct selftest *t, const struct small_float *f)
{
    size_t n = pack_all_codes(t->blocks, f->bits);

    t->reference.decode[f->dtype](t->values, t->blocks,
                                  n / tenon_dtype_info(f->dtype)->block_elements);
    for (size_t code = 0; code < n; code++) {
        float wanted = define_small(f, (uint32_t)code);

        if (!same_float(t->values[code], wanted))
            fail("definition", f->dtype, code, t->values[code], wanted);
    }
    t->n_values += n;
    t->n_checks++;
}

/* 2^(e - 127), 255 is no number. */
static void check_e8m0(struct selftest *t)
{
    size_t n = pack_all_codes(t->blocks, 8);

    t->reference.decode[TENON_DTYPE_F8_E8M0](t->values, t->blocks, n);
    for (size_t e = 0; e < n; e++) {
        float wanted = e == 255 ? NAN : (float)ldexp(1, (int)e - 127);

        if (!same_float(t->values[e], wanted))
            fail("definition", TENON_DTYPE_F8_E8M0, e, t->values[e], wanted);
    }
    t->n_values += n;
    t->n_checks++;
}

static const struct {
    enum tenon_dtype dtype;
    uint32_t crc;
} golden[] = {
#define X(id, crc) {TENON_DTYPE_##id, crc},
#include "decoded.def"
#undef X
};

static void check_golden(struct selftest *t)
{
    for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
        const struct tenon_dtype_info *info = tenon_dtype_info(golden[i].dtype);
        size_t n = (size_t)BLOCKS_GOLDEN * info->block_elements;
        uint32_t crc;

        blocks_fill_golden(golden[i].dtype, t->blocks);
        t->reference.decode[golden[i].dtype](t->values, t->blocks, BLOCKS_GOLDEN);
        crc = blocks_values_crc32(t->values, n);
        if (crc != golden[i].crc) {
            printf("golden blocks of %s: crc 0x%08x, expected 0x%08x\n", info->name, (unsigned)crc,
                   (unsigned)golden[i].crc);
            exit(1);
        }
        t->n_values += n;
        t->n_checks++;
    }
}

/* Both decoders on the `n` blocks at `in`, the fast one to an address of its own alignment. */
static void compare_at(struct selftest *t, enum tenon_dtype dtype, const uint8_t *in, size_t n,
                       size_t shift)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);
    size_t n_values = n * info->block_elements * info->values, at;
    float *values = t->values + shift;
    const float guard = 12345.0f;

    values[n_values] = guard;
    t->reference.decode[dtype](t->expected, in, n);
    t->fast.decode[dtype](values, in, n);
    at = blocks_first_difference(values, t->expected, n_values, false);
    if (at != SIZE_MAX)
        fail("variant", dtype, at, values[at], t->expected[at]);
    if (values[n_values] != guard)
        fail("written past the end", dtype, n_values, values[n_values], guard);
    t->n_values += n_values;
}

static void check_variant(struct selftest *t, enum tenon_dtype dtype, size_t n_rounds)
{
    struct blocks_rng rng = {UINT64_C(0xc0dec5e1f7e57000) + (uint64_t)dtype};

    for (size_t n = 0; n <= 40; n++) {
        blocks_fill(&rng, dtype, t->blocks, n + 8);
        compare_at(t, dtype, t->blocks + n % 7, n, n % 5);
    }
    for (size_t round = 0; round < n_rounds; round++) {
        blocks_fill(&rng, dtype, t->blocks, MAX_BLOCKS);
        compare_at(t, dtype, t->blocks, MAX_BLOCKS, 0);
    }
    t->n_checks++;
}

static bool init_selftest(struct selftest *t)
{
    size_t n_values = (size_t)MAX_BLOCKS * MAX_BLOCK_VALUES + 64;

    tenon_quant_init_reference(&t->reference);
    tenon_quant_init(&t->fast, tenon_cpu_detect());
    t->blocks = malloc((size_t)MAX_BLOCKS * MAX_BLOCK_BYTES);
    t->values = malloc(n_values * sizeof(float));
    t->expected = malloc(n_values * sizeof(float));
    return t->blocks != NULL && t->values != NULL && t->expected != NULL;
}

/* `codec_selftest [ROUNDS]`: 4096 random blocks of each type a round; 4 unless given. */
int main(int argc, char **argv)
{
    size_t n_rounds = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 4;
    const struct tenon_dtype_info *info;
    struct selftest t = {0};
    int n_variants = 0, n_types = 0;

    if (!init_selftest(&t))
        return 1;
    for (size_t i = 0; i < sizeof(small_floats) / sizeof(small_floats[0]); i++)
        check_small_float(&t, &small_floats[i]);
    check_e8m0(&t);
    check_golden(&t);
    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++) {
        if (info->block_bytes == 0)
            continue;
        check_variant(&t, info->dtype, n_rounds);
        n_types++;
        n_variants += t.fast.decode[info->dtype] != t.reference.decode[info->dtype];
    }
    printf("%d types, %d with a variant for this processor, %llu values compared\n", n_types,
           n_variants, t.n_values);
    printf("%u passed, 0 failed\n", t.n_checks);
    free(t.blocks);
    free(t.values);
    free(t.expected);
    return 0;
}
