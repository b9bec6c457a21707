/* Encoding values for callers outside the library. */
#include "tenon/encode.h"

#include "cpu.h"
#include "fail.h"
#include "quant.h"

enum tenon_status tenon_values_encode(enum tenon_dtype dtype, const float *values, size_t n,
                                      void *out, struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);
    struct tenon_quant_ops ops;
    size_t per_block, bad;

    tenon_quant_init(&ops, tenon_cpu_detect());
    if (info == NULL || ops.encode[dtype] == NULL)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                          "%s cannot be written", tenon_dtype_name(dtype));
    per_block = (size_t)info->block_elements * info->values;
    if (n % per_block != 0)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          "%zu values are not whole blocks of %zu", n, per_block);
    bad = ops.encode[dtype](out, values, n / per_block);
    if (bad != SIZE_MAX)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "%s cannot hold %g, value number %zu", info->name, (double)values[bad],
                          bad);
    return TENON_OK;
}
