/* One bit pattern for what is not a number, see block.h. */
#include "dtype/block.h"

void tenon_settle_nans(float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i] != values[i])
            values[i] = tenon_f32_from_bits(TENON_NAN_BITS);
}
