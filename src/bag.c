/* Bags of rows, as an EmbeddingBag reduces them. */
#include <math.h>
#include <string.h>

#include "fail.h"
#include "tenon/layer.h"

static void add_row(const struct tenon_bag *bag, const double *row, double weight, bool first,
                    double *out)
{
    for (uint32_t c = 0; c < bag->width; c++) {
        if (bag->mode == TENON_BAG_MAX)
            out[c] = first ? row[c] : fmax(out[c], row[c]);
        else
            out[c] += weight * row[c];
    }
}

enum tenon_status tenon_bag_reduce(const struct tenon_bag *bag, const uint32_t *ids, size_t n,
                                   const double *weights, double *out, struct tenon_error *err)
{
    size_t used = 0;

    if (weights != NULL && bag->mode != TENON_BAG_SUM)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          "weights of single rows where rows are not summed");
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= bag->rows)
            return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                              "id %u in a bag, the table has %llu rows", ids[i],
                              (unsigned long long)bag->rows);
    memset(out, 0, bag->width * sizeof(*out));
    for (size_t i = 0; i < n; i++) {
        if (bag->padding >= 0 && ids[i] == (uint64_t)bag->padding)
            continue;
        add_row(bag, bag->table + (size_t)ids[i] * bag->width, weights == NULL ? 1 : weights[i],
                used == 0, out);
        used++;
    }
    if (bag->mode == TENON_BAG_MEAN && used > 0)
        for (uint32_t c = 0; c < bag->width; c++)
            out[c] /= (double)used;
    return TENON_OK;
}
