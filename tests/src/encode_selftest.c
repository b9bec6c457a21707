/* The encoders against ggml's bytes (encoded.def) and against each other, without any library, so
 * that it also runs where only a compiler and an emulator are at hand (tests/arm64.sh). Stops at
 * the first difference. */
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "quant.h"
#include "value_sets.h"

static const struct {
    enum tenon_dtype dtype;
    uint32_t crc;
} rows[] = {
#define X(id, crc) {TENON_DTYPE_##id, crc},
#include "encoded.def"
#undef X
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static bool check(enum tenon_dtype dtype, tenon_encode_fn encode, uint32_t expected)
{
    static float values[VALUE_SET_GOLDEN];
    static uint8_t blocks[VALUE_SET_GOLDEN * sizeof(float)];
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);
    size_t n = VALUE_SET_GOLDEN / info->block_elements;
    uint32_t crc = 0;

    for (size_t i = 0; value_set_fill_golden(i, values); i++) {
        if (encode(blocks, values, n) != SIZE_MAX) {
            printf("%s: value set %zu was refused\n", info->name, i);
            return false;
        }
        crc = blocks_crc32(crc, blocks, n * info->block_bytes);
    }
    if (crc != expected)
        printf("%s: CRC-32 of the blocks is %08x, not %08x\n", info->name, (unsigned)crc,
               (unsigned)expected);
    return crc == expected;
}

int main(void)
{
    struct tenon_quant_ops plain, best;
    int n_variants = 0;

    tenon_quant_init_reference(&plain);
    tenon_quant_init(&best, tenon_cpu_detect());
    for (size_t i = 0; i < N_ROWS; i++) {
        enum tenon_dtype dtype = rows[i].dtype;

        if (!check(dtype, plain.encode[dtype], rows[i].crc) ||
            !check(dtype, best.encode[dtype], rows[i].crc))
            return 1;
        n_variants += best.encode[dtype] != plain.encode[dtype];
    }
    printf("%d types, %d with a variant for this processor\n", N_ROWS, n_variants);
    return 0;
}
