/* The time of a diffusion process as a vector. */
#include <math.h>

#include "fail.h"
#include "rope_private.h"
#include "tenon/sinusoid.h"

enum tenon_status tenon_timestep_check(const struct tenon_timestep *t, struct tenon_error *err)
{
    uint32_t half = t->width / 2;

    if (t->width < 2 || !((double)half - t->shift > 0))
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "timesteps of width %u, shifted by %g: half of the width must be more "
                          "than the shift",
                          t->width, t->shift);
    if (!isfinite(t->max_period) || t->max_period <= 0)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "the longest period is %g, a finite number above 0 is needed",
                          t->max_period);
    return TENON_OK;
}

static double frequency(const struct tenon_timestep *t, bool single, uint32_t i)
{
    uint32_t half = t->width / 2;
    double divisor = (double)half - t->shift;
    float exponent;

    if (!single)
        return pow(t->max_period, -(double)i / divisor);
    exponent = (float)-log(t->max_period) * (float)i / (float)divisor;
    return (double)expf(exponent);
}

void tenon_timestep_row(const struct tenon_timestep *t, double step, double *out)
{
    bool single = t->precision != TENON_PRECISION_EXACT;
    uint32_t half = t->width / 2;
    double *sines = t->flipped ? out + half : out, *cosines = t->flipped ? out : out + half;

    out[t->width - 1] = 0; /* of an odd width */
    for (uint32_t i = 0; i < half; i++) {
        double angle = tenon_step(single, tenon_step(single, step) * frequency(t, single, i));

        angle = tenon_step(single, tenon_step(single, t->scale) * angle);
        sines[i] = single ? (double)sinf((float)angle) : sin(angle);
        cosines[i] = single ? (double)cosf((float)angle) : cos(angle);
    }
}
