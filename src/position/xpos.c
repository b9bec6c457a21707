/* Magnitudes that depend on the position, beside a rotation or instead of one. */
#include <math.h>

#include "tenon/rope.h"

void tenon_xpos_scales(const struct tenon_xpos *xpos, double position, double *out)
{
    double width = xpos->rotary_dim;
    uint64_t middle = xpos->length / 2;
    double power = (position - (double)middle) / xpos->scale_base;

    for (uint32_t i = 0; i < xpos->rotary_dim / 2; i++)
        out[i] = pow((2.0 * i + 0.4 * width) / (1.4 * width), power);
}

double tenon_attention_temperature(double position, double floor_scale, double attn_scale)
{
    return 1 + attn_scale * log(1 + floor((position + 1) / floor_scale));
}
