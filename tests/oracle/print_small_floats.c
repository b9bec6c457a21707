/* Prints, for every type below, its name and the float32 bits of every code, one line each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "quant.h"

static const struct {
    enum tenon_dtype dtype;
    int bits;
} types[] = {
    {TENON_DTYPE_F16, 16},        {TENON_DTYPE_BF16, 16},   {TENON_DTYPE_F8_E4M3, 8},
    {TENON_DTYPE_F8_E5M2, 8},     {TENON_DTYPE_F8_E8M0, 8}, {TENON_DTYPE_F8_E4M3FNUZ, 8},
    {TENON_DTYPE_F8_E5M2FNUZ, 8}, {TENON_DTYPE_F6_E2M3, 6}, {TENON_DTYPE_F6_E3M2, 6},
    {TENON_DTYPE_F4, 4},
};

enum { MAX_CODES = 1 << 16 };

static void pack_all_codes(uint8_t *blocks, int bits)
{
    uint64_t held = 0;
    int n_held = 0;

    for (uint32_t code = 0; code < 1u << bits; code++) {
        held |= (uint64_t)code << n_held;
        for (n_held += bits; n_held >= 8; n_held -= 8, held >>= 8)
            *blocks++ = (uint8_t)held;
    }
}

int main(void)
{
    static uint8_t blocks[2 * MAX_CODES];
    static float values[MAX_CODES];
    struct tenon_quant_ops ops;

    tenon_quant_init(&ops, tenon_cpu_detect());
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t n = (size_t)1 << types[i].bits;

        pack_all_codes(blocks, types[i].bits);
        ops.decode[types[i].dtype](values, blocks,
                                   n / tenon_dtype_info(types[i].dtype)->block_elements);
        printf("%s", tenon_dtype_name(types[i].dtype));
        for (size_t code = 0; code < n; code++) {
            uint32_t bits;

            memcpy(&bits, &values[code], sizeof(bits));
            printf(" %08" PRIx32, bits);
        }
        printf("\n");
    }
    return 0;
}
