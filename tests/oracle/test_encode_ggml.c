/* Every encoder that ggml has too, against ggml's, byte for byte: the value sets of value_sets.c
 * and the F32 tensors of real checkpoints, in rows of one block, of several and of many.
 * With the argument --golden it prints tests/src/encoded.def instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "ggml_encoders.h"
#include "quant.h"
#include "real_values.h"
#include "value_sets.h"

enum { N_VALUES = 1 << 20, SKIPPED = 77 };

struct comparison {
    struct ggml_encoders oracle;
    struct tenon_quant_ops ops[2];
    float *values;
    uint8_t *ours, *theirs;
    unsigned long long n_bytes, n_different;
    size_t n_compared; /* sets of values so far */
};

/* We encode everything in one call, ggml row by row, and the rest that fills no row. */
static size_t row_blocks(size_t round)
{
    static const size_t blocks[] = {1, 3, 7, 1023};

    return blocks[round % (sizeof(blocks) / sizeof(blocks[0]))];
}

static void encode_theirs(struct comparison *c, const struct tenon_dtype_info *info, size_t n,
                          size_t round)
{
    size_t row = row_blocks(round) * info->block_elements;
    size_t n_rows = n / row, rest = n % row;
    uint8_t *tail = c->theirs + n_rows * row_blocks(round) * info->block_bytes;

    ggml_encode(&c->oracle, info->dtype, c->values, c->theirs, n_rows, row);
    if (rest > 0)
        ggml_encode(&c->oracle, info->dtype, c->values + n_rows * row, tail, 1, rest);
}

static void report(const struct comparison *c, const struct tenon_dtype_info *info,
                   const char *name, size_t n_bytes, size_t n_different)
{
    size_t at = 0;

    printf("%-8s %-18s %9zu bytes, %zu differ", info->name, name, n_bytes, n_different);
    while (n_different > 0 && c->ours[at] == c->theirs[at])
        at++;
    if (n_different > 0)
        printf("; byte %zu of block %zu is %02x, ggml has %02x", at % info->block_bytes,
               at / info->block_bytes, c->ours[at], c->theirs[at]);
    printf("\n");
}

/* One set of values, with the plain encoder and with the best. */
static void compare_values(struct comparison *c, const struct tenon_dtype_info *info,
                           const char *name, size_t n_values)
{
    size_t n = n_values / info->block_elements;
    size_t n_bytes = n * info->block_bytes;

    for (size_t k = 0; k < 2; k++) {
        size_t n_different = 0, failed;

        if (k == 1 && c->ops[1].encode[info->dtype] == c->ops[0].encode[info->dtype])
            continue;
        memset(c->ours, 0xaa, n_bytes);
        memset(c->theirs, 0x55, n_bytes);
        encode_theirs(c, info, n * info->block_elements, c->n_compared++);
        failed = c->ops[k].encode[info->dtype](c->ours, c->values, n);
        for (size_t i = 0; i < n_bytes; i++)
            n_different += c->ours[i] != c->theirs[i];
        if (failed != SIZE_MAX)
            n_different += n_bytes;
        report(c, info, name, n_bytes, n_different);
        c->n_bytes += n_bytes;
        c->n_different += n_different;
    }
}

static void compare_type(struct comparison *c, const struct tenon_dtype_info *info)
{
    struct blocks_rng rng = {0x9e3779b97f4a7c15u + (uint64_t)info->dtype};
    const struct value_set *set;
    size_t n_real;

    for (size_t i = 0; (set = value_set_at(i)) != NULL; i++) {
        set->fill(&rng, c->values, N_VALUES);
        compare_values(c, info, set->name, N_VALUES);
    }
    n_real = real_values_read(c->values, N_VALUES);
    if (n_real > 0)
        compare_values(c, info, "real weights", n_real);
}

/* ggml's blocks of the golden values, for machines without ggml. */
static void print_golden(struct comparison *c, const struct tenon_dtype_info *info)
{
    size_t n_bytes = VALUE_SET_GOLDEN / info->block_elements * info->block_bytes;
    uint32_t crc = 0;

    for (size_t i = 0; value_set_fill_golden(i, c->values); i++) {
        ggml_encode(&c->oracle, info->dtype, c->values, c->theirs, 1, VALUE_SET_GOLDEN);
        crc = blocks_crc32(crc, c->theirs, n_bytes);
    }
    printf("X(%s, 0x%08x)\n", info->name, (unsigned)crc);
}

static void run(struct comparison *c,
                void (*action)(struct comparison *c, const struct tenon_dtype_info *info))
{
    const struct tenon_dtype_info *info;

    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++)
        if (ggml_encodes(&c->oracle, info->dtype) && c->ops[0].encode[info->dtype] != NULL)
            action(c, info);
}

int main(int argc, char **argv)
{
    struct comparison c = {0};

    if (!ggml_encoders_open(&c.oracle))
        return SKIPPED;
    tenon_quant_init_reference(&c.ops[0]);
    tenon_quant_init(&c.ops[1], tenon_cpu_detect());
    c.values = malloc(N_VALUES * sizeof(float));
    c.ours = malloc(N_VALUES * sizeof(float));
    c.theirs = malloc(N_VALUES * sizeof(float));
    if (c.values == NULL || c.ours == NULL || c.theirs == NULL)
        return 1;
    if (argc == 2 && strcmp(argv[1], "--golden") == 0) {
        printf("/* CRC-32 of the golden values of value_sets.h, encoded. Made by test_encode_ggml\n"
               " * --golden with ggml's own encoders.\n"
               " * X(id, crc) */\n");
        run(&c, print_golden);
        return 0;
    }
    run(&c, compare_type);
    printf("%llu bytes compared, %llu differ\n", c.n_bytes, c.n_different);
    free(c.values);
    free(c.ours);
    free(c.theirs);
    return c.n_different == 0 ? 0 : 1;
}
