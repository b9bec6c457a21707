/* T5: a bias for each head and bucket of distances. Of n buckets on a side the first half hold one
 * distance each, the others grow by a factor up to max_distance. */
#include <math.h>

#include "fail.h"
#include "tenon/bias.h"

static uint32_t buckets_of_side(const struct tenon_t5_bias *t5)
{
    return t5->bidirectional ? t5->n_buckets / 2 : t5->n_buckets;
}

enum tenon_status tenon_t5_check(const struct tenon_t5_bias *t5, struct tenon_error *err)
{
    uint32_t n = buckets_of_side(t5);

    if (n < 2)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%u buckets of distances, at least %d are needed", t5->n_buckets,
                          t5->bidirectional ? 4 : 2);
    if (t5->max_distance <= n / 2)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "the largest distance is %u, %u buckets need more than %u",
                          t5->max_distance, t5->n_buckets, n / 2);
    return TENON_OK;
}

/* Buckets past the exact ones, before rounding down. */
static double far_bucket(const struct tenon_t5_bias *t5, uint64_t distance, uint32_t exact,
                         uint32_t rest)
{
    double ratio = (double)t5->max_distance / exact, steps, whole;

    if (t5->precision == TENON_PRECISION_HF) {
        float f = logf((float)distance / (float)exact) / (float)log(ratio);

        return floor((double)(f * (float)rest));
    }
    if (t5->precision == TENON_PRECISION_GGML) {
        float f = logf((float)((double)distance / exact)) * (float)rest;

        return (double)floorf((float)(exact + (double)f / log(ratio))) - exact;
    }
    steps = log((double)distance / exact) / log(ratio) * rest;
    whole = round(steps);
    return fabs(steps - whole) < 1e-11 ? whole : floor(steps); /* powers are meant exactly */
}

uint32_t tenon_t5_bucket(const struct tenon_t5_bias *t5, int64_t relative)
{
    uint32_t n = buckets_of_side(t5), exact = n / 2, base = 0;
    uint64_t distance = relative < 0 ? 0 - (uint64_t)relative : 0;
    double far;

    if (t5->bidirectional && relative > 0) {
        base = n;
        distance = (uint64_t)relative;
    }
    if (distance < exact)
        return base + (uint32_t)distance;
    far = far_bucket(t5, distance, exact, n - exact);
    return base + (far >= n - 1 - exact ? n - 1 : exact + (uint32_t)far);
}

void tenon_t5_row(const struct tenon_t5_bias *t5, const double *table, int64_t query,
                  uint64_t n_keys, double *out)
{
    for (uint64_t key = 0; key < n_keys; key++)
        out[key] = table[tenon_t5_bucket(t5, (int64_t)key - query)];
}
