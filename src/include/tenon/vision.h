/* Pictures as tokens: patches, class tokens, and tables of positions on another grid. */
#ifndef TENON_VISION_H
#define TENON_VISION_H

#include "tenon/api.h"
#include "tenon/error.h"

TENON_BEGIN_DECLS

/* A convolution whose stride is its kernel: each patch of the picture by each filter. The weight is
 * out x channels x patch_height x patch_width, rightmost fastest; filters are not turned round. */
struct tenon_patches {
    uint32_t channels, height, width; /* of the picture, channel first */
    uint32_t patch_height, patch_width;
    uint32_t out;
    const double *weight;
    const double *bias; /* NULL: none */
};

/* Fails with MISMATCH where patches do not fill the picture. */
TENON_API TENON_MUST_USE enum tenon_status tenon_patches_check(const struct tenon_patches *patches,
                                                               struct tenon_error *err);

/* Adds the token of the patch in that row and column to `out`, `out` values; the bias, too. Of a
 * kernel over several frames each frame adds with its own weights, the bias with one of them. */
TENON_API void tenon_patch_add(const struct tenon_patches *patches, const double *picture,
                               uint32_t row, uint32_t column, double *out);

/* Where a grid's tokens stand; `merge` x `merge` blocks one after another when above 1. */
struct tenon_grid {
    uint32_t rows, columns; /* multiples of `merge` */
    uint32_t merge;
};

/* Row and column of token `i`. */
TENON_API void tenon_grid_place(const struct tenon_grid *grid, uint64_t i, uint32_t *out_row,
                                uint32_t *out_column);

/* Patches of a square picture; rows of its table of positions. */
TENON_API uint64_t tenon_grid_patches(uint32_t image_size, uint32_t patch_size);

enum tenon_class_token { TENON_CLASS_NONE = 0, TENON_CLASS_FIRST = 1, TENON_CLASS_LAST = 2 };

/* The patch (or -1 for the class token) that stands at token `i` of `n_patches`. */
TENON_API int64_t tenon_class_token_patch(enum tenon_class_token where, uint64_t n_patches,
                                          uint64_t i);

enum tenon_resize_kind { TENON_RESIZE_BILINEAR = 0, TENON_RESIZE_BICUBIC = 1 };

/* A table of one grid (rows x columns x width, width fastest) on another. Cubic kernel with
 * a = -0.75; taps beyond the border are those at it. */
struct tenon_resize {
    enum tenon_resize_kind kind;
    bool align_corners; /* corners meet; else (i + 0.5) * in / out - 0.5 */
    uint32_t rows, columns;
    uint32_t out_rows, out_columns;
    uint32_t width;
};

/* The `width` values at one place of the new grid. No side may be 0. */
TENON_API void tenon_resize_at(const struct tenon_resize *resize, const double *table, uint32_t row,
                               uint32_t column, double *out);

TENON_END_DECLS

#endif
