/* Patches of a picture, and the order of their tokens. */
#include "fail.h"
#include "tenon/vision.h"

enum tenon_status tenon_patches_check(const struct tenon_patches *p, struct tenon_error *err)
{
    if (p->patch_height == 0 || p->patch_width == 0 || p->height % p->patch_height != 0 ||
        p->width % p->patch_width != 0)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "a picture of %u x %u (height x width), not whole patches of %u x %u",
                          p->height, p->width, p->patch_height, p->patch_width);
    return TENON_OK;
}

/* One filter against one patch, in the weight's order. */
static double correlate(const struct tenon_patches *p, const double *filter, const double *picture,
                        size_t first)
{
    size_t plane = (size_t)p->height * p->width;
    double sum = 0;

    for (uint32_t c = 0; c < p->channels; c++)
        for (uint32_t i = 0; i < p->patch_height; i++) {
            const double *pixels = picture + c * plane + first + (size_t)i * p->width;

            for (uint32_t j = 0; j < p->patch_width; j++)
                sum += *filter++ * pixels[j];
        }
    return sum;
}

void tenon_patch_add(const struct tenon_patches *patches, const double *picture, uint32_t row,
                     uint32_t column, double *out)
{
    size_t first = (size_t)row * patches->patch_height * patches->width +
                   (size_t)column * patches->patch_width;
    size_t filter = (size_t)patches->channels * patches->patch_height * patches->patch_width;

    for (uint32_t o = 0; o < patches->out; o++) {
        out[o] += correlate(patches, patches->weight + o * filter, picture, first);
        if (patches->bias != NULL)
            out[o] += patches->bias[o];
    }
}

void tenon_grid_place(const struct tenon_grid *grid, uint64_t i, uint32_t *out_row,
                      uint32_t *out_column)
{
    uint64_t merge = grid->merge > 1 ? grid->merge : 1;
    uint64_t block = i / (merge * merge), inside = i % (merge * merge);
    uint64_t across = grid->columns / merge;

    *out_row = (uint32_t)(block / across * merge + inside / merge);
    *out_column = (uint32_t)(block % across * merge + inside % merge);
}

uint64_t tenon_grid_patches(uint32_t image_size, uint32_t patch_size)
{
    uint64_t side = patch_size == 0 ? 0 : image_size / patch_size;

    return side * side;
}

int64_t tenon_class_token_patch(enum tenon_class_token where, uint64_t n_patches, uint64_t i)
{
    if (where == TENON_CLASS_FIRST)
        return (int64_t)i - 1;
    if (where == TENON_CLASS_LAST && i == n_patches)
        return -1;
    return (int64_t)i;
}
