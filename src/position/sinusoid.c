/* A row for each position: sines and cosines of p * w_i. */
#include "tenon/sinusoid.h"

#include <math.h>

#include "fail.h"
#include "rope_private.h"

void tenon_sinusoid_init(struct tenon_sinusoid *sinusoid)
{
    *sinusoid = (struct tenon_sinusoid){.interleaved = true, .base = 10000, .frequency = 1};
}

enum tenon_status tenon_sinusoid_check(const struct tenon_sinusoid *sinusoid,
                                       struct tenon_error *err)
{
    uint32_t least = sinusoid->spacing == TENON_SPACING_PAPER       ? 1
                     : sinusoid->spacing == TENON_SPACING_TIMESCALE ? 4
                                                                    : 2;

    if (sinusoid->width < least)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "a table of sinusoids is %u wide, at least %u is needed", sinusoid->width,
                          least);
    if (!isfinite(sinusoid->base) || sinusoid->base <= 0)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "the base of sinusoids is %g, a finite number above 0 is needed",
                          sinusoid->base);
    return TENON_OK;
}

/* Where float32 is replayed, spacing by timescales is: one rounded step in the exponent, expf. */
static double timescale_frequency(const struct tenon_sinusoid *s, uint32_t i)
{
    bool single = s->precision != TENON_PRECISION_EXACT;
    uint32_t h = s->width / 2, steps = h > 1 ? h - 1 : 1;
    float step;

    if (!single)
        return s->frequency * pow(s->base, -(double)i / steps);
    step = (float)(log(s->base) / steps);
    return tenon_step(true, s->frequency * (double)expf(-step * (float)i));
}

/* Of the paper's spacing float64 is rounded once, at the end. */
static double angle_at(const struct tenon_sinusoid *s, double position, uint32_t i)
{
    if (s->spacing == TENON_SPACING_PAPER)
        return s->frequency * position / pow(s->base, 2.0 * i / s->width);
    if (s->precision == TENON_PRECISION_EXACT)
        return position * timescale_frequency(s, i);
    return tenon_step(true, tenon_step(true, position) * timescale_frequency(s, i));
}

static double sine(const struct tenon_sinusoid *s, double angle)
{
    if (s->precision == TENON_PRECISION_EXACT)
        return sin(angle);
    return s->spacing == TENON_SPACING_PAPER ? (double)(float)sin(angle)
                                             : (double)sinf((float)angle);
}

static double cosine(const struct tenon_sinusoid *s, double angle)
{
    if (s->precision == TENON_PRECISION_EXACT)
        return cos(angle);
    return s->spacing == TENON_SPACING_PAPER ? (double)(float)cos(angle)
                                             : (double)cosf((float)angle);
}

void tenon_sinusoid_row(const struct tenon_sinusoid *sinusoid, double position, double *out)
{
    uint32_t width = sinusoid->width, n_cosines = width / 2;
    uint32_t n_sines = sinusoid->spacing == TENON_SPACING_PAPER ? width - n_cosines : n_cosines;
    uint32_t stride = sinusoid->interleaved ? 2 : 1;
    double *cosines = out + (sinusoid->interleaved ? 1 : n_sines);

    if (width > 0)
        out[width - 1] = 0; /* of an odd width by timescales */
    for (uint32_t i = 0; i < n_sines; i++) {
        double angle = angle_at(sinusoid, position, i);

        out[(size_t)stride * i] = sine(sinusoid, angle);
        if (i < n_cosines)
            cosines[(size_t)stride * i] = cosine(sinusoid, angle);
    }
}

void tenon_sinusoid_grid_row(const struct tenon_sinusoid *sinusoid, uint32_t n_axes,
                             const double *coordinates, double *out)
{
    uint32_t n = sinusoid->width / 2 / n_axes;
    struct tenon_sinusoid block = *sinusoid;

    block.width = 2 * n;
    block.interleaved = false;
    block.spacing = TENON_SPACING_TIMESCALE_CLAMPED;
    for (uint32_t i = 0; i < sinusoid->width; i++)
        out[i] = 0;
    for (uint32_t axis = 0; axis < n_axes; axis++)
        tenon_sinusoid_row(&block, coordinates[axis], out + (size_t)axis * block.width);
}
