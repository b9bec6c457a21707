/* Which finite values a target has lost: those that are no finite number any more. */
#include <float.h>
#include <math.h>

#include "plan_make.h"

/* Values of the largest blocks. */
#define MOST_BLOCK_VALUES 256

/* Blocks keep their scales as F16. No scale is greater than the greatest value of its block, so
 * below this nothing is lost, and blocks need no look. */
#define BLOCK_LIMIT 65520

double tenon_make_limit(enum tenon_dtype dtype)
{
    /* Half-way between the greatest number of the type and what would come next, where ties go up;
     * F8_E4M3 gives 464, a tie, its even neighbour 448: the next float32 is the first to be lost.
     */
    static const struct {
        enum tenon_dtype dtype;
        double value;
    } rows[] = {
        {TENON_DTYPE_F32, 0x1.ffffffp127}, {TENON_DTYPE_F16, 65520},
        {TENON_DTYPE_BF16, 0x1.ffp127},    {TENON_DTYPE_F8_E4M3, 0x1.d00002p8},
        {TENON_DTYPE_F8_E5M2, 61440},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].dtype == dtype)
            return rows[i].value;
    return (double)INFINITY;
}

double tenon_make_safe_limit(enum tenon_dtype dtype)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);

    return info->block_elements > 1 ? BLOCK_LIMIT : tenon_make_limit(dtype);
}

void tenon_make_note_lost(struct tenon_make_overflow *overflow, uint64_t at, double value)
{
    if (overflow->n == 0 || at < overflow->first) {
        overflow->first = at;
        overflow->value = value;
    }
    overflow->n++;
}

/* The place of the value of largest magnitude. */
static size_t find_largest(const float *values, size_t n)
{
    size_t found = 0;

    for (size_t i = 1; i < n; i++)
        if (fabsf(values[i]) > fabsf(values[found]))
            found = i;
    return found;
}

static bool any_large(const float *values, size_t n)
{
    unsigned found = 0;

    for (size_t i = 0; i < n; i++)
        found |= fabsf(values[i]) >= BLOCK_LIMIT;
    return found != 0;
}

/* Where a scale, or a sum on the way to it, is too large, a block decodes to infinity and NaN, or
 * all to zero. What blocks do to values in the usual way never makes one of the larger ones an
 * eighth of what it was: even of two bits and a sign something is left. */
static bool is_lost(float value, float decoded, float largest)
{
    if (!isfinite(decoded))
        return true;
    return fabsf(value) >= largest / 2 && fabsf(decoded) < fabsf(value) / 8; /* of infinity, too */
}

/* How many values of the block at `values` are lost. */
static size_t count_in_block(const struct tenon_make *make, const float *values,
                             const unsigned char *encoded, float largest)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);
    float decoded[MOST_BLOCK_VALUES];
    size_t n = 0;

    make->ops->decode[info->dtype](decoded, encoded, 1);
    for (size_t i = 0; i < info->block_elements; i++)
        n += is_lost(values[i], decoded[i], largest);
    return n;
}

/* Of a block that is lost the largest value is named: the others went with it. */
static void count_in_blocks(const struct tenon_make *make, const struct tenon_make_values *in,
                            const unsigned char *encoded, struct tenon_make_overflow *overflow)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);
    const float *values = (const float *)(const void *)in->values;

    for (size_t i = 0; i < in->n; i += info->block_elements, encoded += info->block_bytes) {
        size_t lost = 0, at = i + find_largest(values + i, info->block_elements);
        float largest = fminf(fabsf(values[at]), FLT_MAX); /* as it was encoded */

        if (largest >= BLOCK_LIMIT)
            lost = count_in_block(make, values + i, encoded, largest);
        if (lost == 0)
            continue;
        tenon_make_note_lost(overflow, in->first + at, (double)values[at]);
        overflow->n += lost - 1;
    }
}

void tenon_make_count_lost(const struct tenon_make *make, const struct tenon_make_values *in,
                           const unsigned char *encoded, struct tenon_make_overflow *overflow)
{
    enum tenon_dtype dtype = make->tensor.dtype;
    float limit = (float)tenon_make_limit(dtype);
    const float *values = (const float *)(const void *)in->values;

    if (tenon_dtype_info(dtype)->block_elements > 1) {
        if (any_large(values, in->n))
            count_in_blocks(make, in, encoded, overflow);
        return;
    }
    if (!tenon_quant_any_lost(dtype, encoded, in->n))
        return;
    for (size_t i = 0; i < in->n; i++)
        if (isfinite(values[i]) && fabsf(values[i]) >= limit)
            tenon_make_note_lost(overflow, in->first + i, (double)values[i]);
}
