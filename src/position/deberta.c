/* DeBERTa: queries and keys meet in a row of a table of distances. v2 keeps distances up to
 * mid = buckets / 2 and takes the logarithm of larger ones. */
#include <math.h>

#include "fail.h"
#include "tenon/bias.h"

enum tenon_status tenon_deberta_check(const struct tenon_deberta *deberta, struct tenon_error *err)
{
    uint32_t span = tenon_deberta_span(deberta);

    if (span == 0 || span > INT32_MAX)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%u relative positions, 1 to %d allowed", span, INT32_MAX);
    if (deberta->buckets == 0)
        return TENON_OK;
    if (deberta->buckets < 4)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%u buckets of distances, at least 4 are needed", deberta->buckets);
    if (deberta->max_distance <= deberta->buckets / 2 + 1)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "the largest distance is %u, %u buckets need more than %u",
                          deberta->max_distance, deberta->buckets, deberta->buckets / 2 + 1);
    return TENON_OK;
}

uint32_t tenon_deberta_span(const struct tenon_deberta *deberta)
{
    return deberta->buckets > 0 ? deberta->buckets : deberta->max_distance;
}

int64_t tenon_deberta_distance(const struct tenon_deberta *deberta, int64_t relative)
{
    int64_t mid = deberta->buckets / 2;
    double size = fabs((double)relative), steps, whole;

    if (deberta->buckets == 0 || size <= (double)mid)
        return relative;
    steps = log(size / (double)mid) / log((deberta->max_distance - 1.0) / (double)mid);
    steps *= (double)(mid - 1);
    whole = round(steps);
    whole = (fabs(steps - whole) < 1e-11 ? whole : ceil(steps)) + (double)mid;
    return (int64_t)(relative < 0 ? -whole : whole);
}

static uint32_t row_of(const struct tenon_deberta *deberta, int64_t distance)
{
    int64_t span = tenon_deberta_span(deberta);

    if (distance < -span)
        return 0;
    return (uint32_t)(distance > span - 1 ? 2 * span - 1 : distance + span);
}

uint32_t tenon_deberta_content_row(const struct tenon_deberta *deberta, int64_t query, int64_t key)
{
    return row_of(deberta, tenon_deberta_distance(deberta, query - key));
}

uint32_t tenon_deberta_position_row(const struct tenon_deberta *deberta, int64_t query, int64_t key)
{
    return row_of(deberta, -tenon_deberta_distance(deberta, query - key));
}

double tenon_deberta_scale(uint32_t head_dim, unsigned n_terms)
{
    return sqrt((double)head_dim * (1.0 + n_terms));
}
