/* Sinusoids of two coordinates: MAE and DETR. */
#include <math.h>

#include "rope_private.h"
#include "tenon/sinusoid.h"

static void mae_half(uint32_t quarter, bool single, double coordinate, double *out)
{
    for (uint32_t i = 0; i < quarter; i++) {
        double angle = coordinate / pow(10000, (double)i / quarter);

        out[i] = tenon_step(single, sin(angle));
        out[quarter + i] = tenon_step(single, cos(angle));
    }
}

void tenon_sinusoid_mae_row(uint32_t width, enum tenon_precision precision, double row,
                            double column, double *out)
{
    bool single = precision != TENON_PRECISION_EXACT; /* float64, rounded at the end */

    mae_half(width / 4, single, column, out);
    mae_half(width / 4, single, row, out + width / 2);
}

/* Valid pixels from the start of a line to a place, and on the whole line. */
struct count {
    double here, all;
};

static struct count count_valid(const bool *valid, size_t stride, uint32_t n, uint32_t place)
{
    struct count count = {0, 0};

    for (uint32_t i = 0; i < n; i++) {
        count.all += valid[i * stride];
        if (i == place)
            count.here = count.all;
    }
    return count;
}

static void detr_features(const struct tenon_detr_grid *grid, bool single, struct count count,
                          double *out)
{
    double position = count.here;

    if (grid->normalize) {
        double total = tenon_step(single, count.all + tenon_step(single, grid->eps));

        position = tenon_step(single, position / total);
        position = tenon_step(single, position * tenon_step(single, grid->scale));
    }
    for (uint32_t j = 0; j < grid->features; j++) {
        double exponent = tenon_step(single, (double)(j - j % 2) / grid->features);
        double wave = tenon_step_pow(single, grid->temperature, exponent);
        double angle = tenon_step(single, position / wave);

        if (single)
            out[j] = (double)(j % 2 == 0 ? sinf((float)angle) : cosf((float)angle));
        else
            out[j] = j % 2 == 0 ? sin(angle) : cos(angle);
    }
}

void tenon_sinusoid_detr(const struct tenon_detr_grid *grid, enum tenon_precision precision,
                         uint32_t row, uint32_t column, double *out)
{
    bool single = precision != TENON_PRECISION_EXACT;
    struct count down = count_valid(grid->valid + column, grid->columns, grid->rows, row);
    struct count along =
        count_valid(grid->valid + (size_t)row * grid->columns, 1, grid->columns, column);

    detr_features(grid, single, down, out);
    detr_features(grid, single, along, out + grid->features);
}
