/* ALiBi: a slope for each head, times a distance. */
#include <math.h>

#include "tenon/bias.h"
#include "tenon/layer.h"

/* 2^(-max_bias * step / n): as one power, or as a power of the first slope in float32. */
static double slope(double max_bias, uint64_t n, uint64_t step, enum tenon_precision precision)
{
    double exponent = -max_bias / (double)n;
    float first;

    if (precision == TENON_PRECISION_EXACT)
        return exp2(exponent * (double)step);
    first = precision == TENON_PRECISION_GGML ? powf(2.0f, -(float)max_bias / (float)n)
                                              : (float)exp2(exponent);
    return (double)powf(first, (float)step);
}

void tenon_alibi_slopes(uint32_t n_heads, double max_bias, enum tenon_precision precision,
                        double *out)
{
    uint64_t c = 1;

    while (2 * c <= n_heads)
        c *= 2;
    for (uint64_t h = 0; h < n_heads; h++)
        out[h] = h < c ? slope(max_bias, c, h + 1, precision)
                       : slope(max_bias, 2 * c, 2 * (h - c) + 1, precision);
}

static double round_bf16(double value)
{
    return tenon_value_round(TENON_DTYPE_BF16, value);
}

static double distance(uint64_t a, uint64_t b)
{
    return (double)(a > b ? a - b : b - a);
}

void tenon_alibi_row(const struct tenon_alibi *alibi, uint64_t query, uint64_t n_keys, double *out)
{
    for (uint64_t key = 0; key < n_keys; key++) {
        double product = alibi->slope * (double)key;

        if (alibi->form == TENON_ALIBI_DISTANCE)
            product = -alibi->slope * distance(query, key);
        else if (alibi->form == TENON_ALIBI_LAST)
            product = -alibi->slope * distance(n_keys - 1, key);
        else if (alibi->form == TENON_ALIBI_ROUNDED)
            product = round_bf16(round_bf16(alibi->slope) * (double)key) / sqrt(alibi->head_dim);
        out[key] = product;
    }
}
