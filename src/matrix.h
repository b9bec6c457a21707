/* Two-dimensional tensors read tile by tile as doubles, whatever their element type, scales and
 * orientation, and how far rounding can have moved each value. */
#ifndef TENON_MATRIX_H
#define TENON_MATRIX_H

#include "tenon/logical.h"

/* Elements of a tile, at most. */
#define TENON_TILE ((size_t)16384)

/* Caller's storage, nothing to release; borrowed from the model. */
struct tenon_matrix {
    struct tenon_logical logical;
    uint64_t rows, cols; /* as seen: exchanged when `transposed` */
    bool transposed;     /* stored the other way round */
    bool wide;           /* elements need double */
};

/* A rectangle of a matrix, of at most TENON_TILE elements. */
struct tenon_tile {
    uint64_t row, col;
    size_t n_rows, n_cols;
};

/* False when `tensor` is not two-dimensional, is empty, or its values cannot be known. */
bool tenon_matrix_init(struct tenon_matrix *m, const struct tenon_model *model,
                       const struct tenon_tensor *tensor);

/* Sees the matrix the other way round. */
void tenon_matrix_transpose(struct tenon_matrix *m);

/* Reads a tile into `out`, row after row. `scratch` has room for TENON_TILE values. */
enum tenon_status tenon_matrix_read(const struct tenon_matrix *m, const struct tenon_tile *tile,
                                    float *scratch, double *out, struct tenon_error *err);

/* For the `values` of a tile, how far each can be from the number it was rounded from, into `out`
 * (tying_bounds.c). */
enum tenon_status tenon_matrix_bounds(const struct tenon_matrix *m, const struct tenon_tile *tile,
                                      const double *values, double *out, struct tenon_error *err);

/* Whether values of this type are exact: integers, or floats compared with their own type. */
bool tenon_bounds_exact(enum tenon_dtype a, enum tenon_dtype b);

/* How much of a row's length its difference can be when both were rounded from one row: 0 when
 * the bounds of single values say all there is to say. */
double tenon_bounds_row_error(enum tenon_dtype a, enum tenon_dtype b);

/* The unit roundoff of a plain float type, of blocks a typical share of their range. */
double tenon_bounds_roundoff(enum tenon_dtype dtype);

#endif
