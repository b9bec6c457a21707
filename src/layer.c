#include "tenon/layer.h"

#include <math.h>

static double weight_at(const struct tenon_norm *norm, uint32_t i)
{
    double weight = norm->weight == NULL ? 1 : norm->weight[i];

    return norm->plus_one ? 1 + weight : weight;
}

static double bias_at(const struct tenon_norm *norm, uint32_t i)
{
    return norm->bias == NULL ? 0 : norm->bias[i];
}

void tenon_layer_norm(const struct tenon_norm *norm, const double *x, double *out)
{
    double mean = 0, variance = 0, scale;

    for (uint32_t i = 0; i < norm->width; i++)
        mean += x[i];
    mean /= norm->width;
    for (uint32_t i = 0; i < norm->width; i++)
        variance += (x[i] - mean) * (x[i] - mean);
    scale = 1 / sqrt(variance / norm->width + norm->eps);
    for (uint32_t i = 0; i < norm->width; i++)
        out[i] = (x[i] - mean) * scale * weight_at(norm, i) + bias_at(norm, i);
}

void tenon_layer_norm_f32(const struct tenon_norm *norm, const float *x, float *out)
{
    double mean = 0, variance = 0;
    float centre, scale;

    for (uint32_t i = 0; i < norm->width; i++)
        mean += (double)x[i];
    mean /= norm->width;
    for (uint32_t i = 0; i < norm->width; i++)
        variance += ((double)x[i] - mean) * ((double)x[i] - mean);
    centre = (float)mean;
    scale = (float)(1 / sqrt(variance / norm->width + norm->eps));
    for (uint32_t i = 0; i < norm->width; i++) {
        float y = (x[i] - centre) * scale * (float)weight_at(norm, i);

        out[i] = y + (float)bias_at(norm, i);
    }
}

void tenon_rms_norm(const struct tenon_norm *norm, const double *x, double *out)
{
    double squares = 0, scale;

    for (uint32_t i = 0; i < norm->width; i++)
        squares += x[i] * x[i];
    scale = 1 / sqrt(squares / norm->width + norm->eps);
    for (uint32_t i = 0; i < norm->width; i++)
        out[i] = x[i] * scale * weight_at(norm, i);
}

void tenon_rms_norm_f32(const struct tenon_norm *norm, const float *x, float *out)
{
    double squares = 0;
    float scale;

    for (uint32_t i = 0; i < norm->width; i++)
        squares += (double)x[i] * (double)x[i];
    scale = (float)(1 / sqrt(squares / norm->width + norm->eps));
    for (uint32_t i = 0; i < norm->width; i++)
        out[i] = x[i] * scale * (float)weight_at(norm, i);
}

void tenon_linear_apply(const struct tenon_linear *linear, const double *x, double *out)
{
    for (uint32_t r = 0; r < linear->rows; r++) {
        const double *row = linear->weight + (size_t)r * linear->cols;
        double sum = linear->bias == NULL ? 0 : linear->bias[r];

        for (uint32_t c = 0; c < linear->cols; c++)
            sum += row[c] * x[c];
        out[r] = sum;
    }
}

/* To `digits` binary digits, none of them worth less than 2^least. */
static double round_digits(double value, int digits, int least)
{
    int exponent;

    if (value == 0 || !isfinite(value))
        return value;
    frexp(value, &exponent);
    exponent = exponent - digits > least ? exponent - digits : least;
    return ldexp(nearbyint(ldexp(value, -exponent)), exponent);
}

double tenon_value_round(enum tenon_dtype dtype, double value)
{
    double rounded = (double)(float)value;

    if (dtype == TENON_DTYPE_F32)
        return rounded;
    if (dtype == TENON_DTYPE_BF16)
        return (double)(float)round_digits(rounded, 8, -133);
    if (dtype != TENON_DTYPE_F16)
        return value;
    rounded = round_digits(rounded, 11, -24);
    return fabs(rounded) > 65504 ? copysign(HUGE_VAL, rounded) : rounded;
}

bool tenon_row_limit_norm(double *row, size_t width, double max_norm, double norm_type)
{
    double norm = 0, factor;

    for (size_t i = 0; i < width; i++)
        norm = isinf(norm_type) ? fmax(norm, fabs(row[i])) : norm + pow(fabs(row[i]), norm_type);
    if (!isinf(norm_type))
        norm = pow(norm, 1 / norm_type);
    if (!(norm > max_norm))
        return false;
    factor = max_norm / (norm + 1e-7);
    for (size_t i = 0; i < width; i++)
        row[i] *= factor;
    return true;
}
