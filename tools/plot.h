/* The pictures of `embed` and `rope`. */
#ifndef TENON_TOOLS_PLOT_H
#define TENON_TOOLS_PLOT_H

#include "out.h"
#include "tenon/error.h"
#include "tenon/rope.h"

/* A matrix that is being shown as a heat map. Larger ones are shown by the means of equal shares.
 */
struct tenon_heat {
    double *sums;
    uint64_t *counts;
    uint64_t rows, cols; /* of the matrix */
    size_t shown_rows, shown_cols;
    double least, most; /* finite values */
};

/* Fails with NO_MEMORY only. Release in any case. */
TENON_MUST_USE enum tenon_status tenon_heat_init(struct tenon_heat *heat, uint64_t rows,
                                                 uint64_t cols, struct tenon_error *err);

/* Takes row `i` of the matrix in: `cols` values. */
void tenon_heat_add(struct tenon_heat *heat, uint64_t i, const float *values);

/* Draws it. `title` says what is shown; `labels` (may be NULL) names the matrix's rows. */
void tenon_heat_draw(const struct tenon_heat *heat, const char *title,
                     const char *(*label)(void *user, uint64_t row, char buf[32]), void *user,
                     struct tenon_out *out);
void tenon_heat_release(struct tenon_heat *heat);

/* Two panels: the wavelength of every pair against the context, with and without scaling; and the
 * mean cosine over the pairs against the distance of two positions, which is how the inner product
 * of equal vectors decays. `plain` is the table without scaling, NULL when it is the same. */
struct tenon_rope_plot {
    const char *title; /* names every part of the variant */
    const struct tenon_rope_table *table, *plain;
    double original, context; /* positions; NaN: unknown */
};
TENON_MUST_USE enum tenon_status tenon_rope_draw(const struct tenon_rope_plot *plot,
                                                 struct tenon_out *out, struct tenon_error *err);

#endif
