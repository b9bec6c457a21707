/* Every decoder against ggml's own, bit for bit: all codes of the 16-bit floats, and for block
 * types random blocks, half of them with edge values as scales. Two NaNs of block types count as
 * the same: ggml leaves their bits to the processor, we do not (src/dtype/block.h).
 *
 * With the argument --golden it prints tests/src/decoded.def instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "cpu.h"
#include "ggml_decoders.h"
#include "quant.h"

enum { CHUNK = 4096, N_BLOCKS = 1 << 20, SKIPPED = 77 };

struct comparison {
    struct tenon_quant_ops ops[2]; /* plain C, and what this processor selects */
    uint8_t *blocks;
    float *ours, *theirs;
    unsigned long long n_blocks; /* compared so far */
    int comparisons, failures;   /* of a type with one of our decoders */
};

/* One of our decoders with ggml's values, which are in c->theirs. */
static bool compare_ours(struct comparison *c, const struct tenon_dtype_info *info,
                         tenon_decode_fn decode, size_t n)
{
    size_t n_values = n * info->block_elements, at;

    decode(c->ours, c->blocks, n);
    at = blocks_first_difference(c->ours, c->theirs, n_values,
                                 info->family == TENON_DTYPE_FAMILY_block);
    c->n_blocks += n;
    if (at == SIZE_MAX)
        return true;
    printf("%s: value %zu of a block is %a, ggml has %a\n", info->name, at % info->block_elements,
           (double)c->ours[at], (double)c->theirs[at]);
    return false;
}

/* `same[k]` becomes false when ops[k] differs on the `n` blocks of c->blocks. */
static void compare(struct comparison *c, const struct ggml_decoder *oracle, size_t n, bool same[2])
{
    const struct tenon_dtype_info *info = tenon_dtype_info(oracle->dtype);

    oracle->decode(c->blocks, c->theirs, (int64_t)(n * info->block_elements));
    for (int k = 0; k < 2; k++)
        if (same[k])
            same[k] = compare_ours(c, info, c->ops[k].decode[oracle->dtype], n);
}

/* All 65536 codes of a type of two bytes. */
static void compare_all_codes(struct comparison *c, const struct ggml_decoder *oracle, bool same[2])
{
    for (uint32_t code = 0; code < 65536; code++) {
        c->blocks[2 * code] = (uint8_t)code;
        c->blocks[2 * code + 1] = (uint8_t)(code >> 8);
    }
    compare(c, oracle, 65536, same);
}

static void compare_random(struct comparison *c, const struct ggml_decoder *oracle, bool same[2])
{
    struct blocks_rng rng = {0x9e3779b97f4a7c15u + (uint64_t)oracle->dtype};

    for (size_t done = 0; (same[0] || same[1]) && done < N_BLOCKS; done += CHUNK) {
        blocks_fill(&rng, oracle->dtype, c->blocks, CHUNK);
        compare(c, oracle, CHUNK, same);
    }
}

static void compare_type(struct comparison *c, const struct ggml_decoder *oracle)
{
    bool same[2] = {true, true};

    if (oracle->decode == NULL) {
        printf("%s: the library has no decoder\n", tenon_dtype_name(oracle->dtype));
        same[0] = same[1] = false;
    } else if (tenon_dtype_info(oracle->dtype)->family == TENON_DTYPE_FAMILY_block) {
        compare_random(c, oracle, same);
    } else {
        compare_all_codes(c, oracle, same);
    }
    c->comparisons += 2;
    c->failures += !same[0] + !same[1];
}

/* ggml's values of the golden blocks, for machines without ggml. */
static void print_golden(struct comparison *c, const struct ggml_decoder *oracle)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(oracle->dtype);
    size_t n_values = (size_t)BLOCKS_GOLDEN * info->block_elements;
    const uint32_t canonical = 0x7fc00000;

    blocks_fill_golden(oracle->dtype, c->blocks);
    oracle->decode(c->blocks, c->theirs, (int64_t)n_values);
    for (size_t i = 0; i < n_values; i++)
        if (c->theirs[i] != c->theirs[i])
            memcpy(&c->theirs[i], &canonical, sizeof(canonical));
    printf("X(%s, 0x%08x)\n", info->name, (unsigned)blocks_values_crc32(c->theirs, n_values));
}

static void print_all_golden(struct comparison *c, void *library)
{
    struct ggml_decoder oracle;

    printf(
        "/* CRC-32 of decoded blocks, see blocks.h. Made by test_decode_ggml --golden from ggml's\n"
        " * own decoders, NaNs set to 0x7fc00000.\n"
        " * X(id, crc) */\n");
    for (size_t i = 0; ggml_decoder_at(library, i, &oracle); i++)
        if (tenon_dtype_info(oracle.dtype)->family == TENON_DTYPE_FAMILY_block)
            print_golden(c, &oracle);
}

int main(int argc, char **argv)
{
    struct comparison c = {0};
    struct ggml_decoder oracle;
    void *library = ggml_library_open();
    size_t i = 0;

    if (library == NULL)
        return SKIPPED;
    c.blocks = malloc((size_t)CHUNK * 512);
    c.ours = malloc((size_t)CHUNK * 256 * sizeof(float));
    c.theirs = malloc((size_t)CHUNK * 256 * sizeof(float));
    if (c.blocks == NULL || c.ours == NULL || c.theirs == NULL)
        return 1;
    if (argc == 2 && strcmp(argv[1], "--golden") == 0) {
        print_all_golden(&c, library);
        return 0;
    }
    tenon_quant_init_reference(&c.ops[0]);
    tenon_quant_init(&c.ops[1], tenon_cpu_detect());
    for (; ggml_decoder_at(library, i, &oracle); i++)
        compare_type(&c, &oracle);
    printf("%zu types, %llu blocks compared\n", i, c.n_blocks);
    printf("%d passed, %d failed\n", c.comparisons - c.failures, c.failures);
    free(c.blocks);
    free(c.ours);
    free(c.theirs);
    return c.failures == 0 ? 0 : 1;
}
