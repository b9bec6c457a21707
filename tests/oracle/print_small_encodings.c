/* Reads float32 from standard input, writes them encoded as F16, all of them, then as BF16, and so
 * on, for compare_small_encodings.py. */
#include <stdio.h>
#include <stdlib.h>

#include "cpu.h"
#include "quant.h"

static const enum tenon_dtype types[] = {TENON_DTYPE_F16, TENON_DTYPE_BF16, TENON_DTYPE_F8_E4M3,
                                         TENON_DTYPE_F8_E5M2};

enum { MAX_VALUES = 1 << 22, MAX_BYTES_PER_VALUE = 2 };

int main(void)
{
    float *values = malloc(MAX_VALUES * sizeof(*values));
    uint8_t *codes = malloc((size_t)MAX_VALUES * MAX_BYTES_PER_VALUE);
    struct tenon_quant_ops ops;
    size_t n;

    if (values == NULL || codes == NULL)
        return 1;
    tenon_quant_init(&ops, tenon_cpu_detect());
    n = fread(values, sizeof(*values), MAX_VALUES, stdin);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (ops.encode[types[i]](codes, values, n) != SIZE_MAX)
            return 1;
        fwrite(codes, tenon_dtype_info(types[i])->block_bytes, n, stdout);
    }
    free(values);
    free(codes);
    return fflush(stdout) != 0;
}
