/* A table of positions on another grid: two or four taps along each side. */
#include <math.h>

#include "tenon/vision.h"

#define MAX_TAPS 4

struct taps {
    uint32_t at[MAX_TAPS];
    double weight[MAX_TAPS];
    uint32_t n;
};

/* Keys' kernel with a = -0.75, at distance `x` of at most 2. */
static double cubic(double x)
{
    const double a = -0.75;

    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

static double source_of(const struct tenon_resize *resize, uint32_t in, uint32_t out, uint32_t i)
{
    if (!resize->align_corners)
        return (i + 0.5) * in / out - 0.5;
    return out > 1 ? (double)i * (in - 1) / (out - 1) : 0;
}

static struct taps find_taps(const struct tenon_resize *resize, uint32_t in, uint32_t out,
                             uint32_t i)
{
    double source = source_of(resize, in, out, i), below = floor(source), t = source - below;
    bool is_cubic = resize->kind == TENON_RESIZE_BICUBIC;
    struct taps taps = {.n = is_cubic ? 4 : 2};
    double first = is_cubic ? below - 1 : below;

    for (uint32_t k = 0; k < taps.n; k++) {
        double place = first + k, distance = fabs(source - place);

        taps.at[k] = (uint32_t)fmin(fmax(place, 0), in - 1.0);
        taps.weight[k] = is_cubic ? cubic(distance) : k == 0 ? 1 - t : t;
    }
    return taps;
}

void tenon_resize_at(const struct tenon_resize *resize, const double *table, uint32_t row,
                     uint32_t column, double *out)
{
    struct taps down = find_taps(resize, resize->rows, resize->out_rows, row);
    struct taps along = find_taps(resize, resize->columns, resize->out_columns, column);

    for (uint32_t c = 0; c < resize->width; c++)
        out[c] = 0;
    for (uint32_t k = 0; k < down.n; k++)
        for (uint32_t l = 0; l < along.n; l++) {
            size_t place = (size_t)down.at[k] * resize->columns + along.at[l];
            double weight = down.weight[k] * along.weight[l];

            for (uint32_t c = 0; c < resize->width; c++)
                out[c] += weight * table[place * resize->width + c];
        }
}
