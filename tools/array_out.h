/* Files of arrays, for NumPy and for what reads safetensors. Values are made while they are
 * written, a few rows at a time. */
#ifndef TENON_TOOLS_ARRAY_OUT_H
#define TENON_TOOLS_ARRAY_OUT_H

#include "out.h"
#include "tenon/dtype.h"
#include "tenon/error.h"

enum { TENON_ARRAY_DIMS = 4, TENON_MOST_ARRAYS = 3 };

/* Makes `n` rows from row `first` on: `n` times the last dimension values. */
typedef enum tenon_status (*tenon_rows_fn)(void *user, uint64_t first, size_t n, float *out,
                                           struct tenon_error *err);

struct tenon_array {
    const char *name;
    enum tenon_dtype dtype; /* F32, F16 or BF16; I64 for integers */
    uint64_t dims[TENON_ARRAY_DIMS];
    size_t n_dims; /* at least one */
    tenon_rows_fn rows;
    void *user;
    const uint64_t *integers; /* all of them, instead of `rows` */
};

/* The number of rows, and of values in one. */
uint64_t tenon_array_n_rows(const struct tenon_array *array);
uint64_t tenon_array_row(const struct tenon_array *array);

/* Calls `row` for each row, in order, a few at a time in memory. */
typedef enum tenon_status (*tenon_row_fn)(void *user, uint64_t i, const float *values,
                                          struct tenon_error *err);
TENON_MUST_USE enum tenon_status tenon_array_each(const struct tenon_array *array, tenon_row_fn row,
                                                  void *user, struct tenon_error *err);

/* Whether the extension of `path` is a form of file for arrays, and holds that dtype: MISUSE or
 * CANNOT_REPRESENT otherwise. */
TENON_MUST_USE enum tenon_status tenon_array_check(const char *path, enum tenon_dtype dtype,
                                                   struct tenon_error *err);
bool tenon_array_is_form(const char *path);

/* Writes them: .safetensors holds them by name (in the order of its dtypes, then of names), .npy
 * those that are no integers, one after the other along a new first dimension where there are
 * several, which must then have the same shape (MISMATCH); .npz all of them as .npy files, less
 * than 4 GiB (LIMIT), and `out` must then be a regular file, written from its beginning. */
TENON_MUST_USE enum tenon_status tenon_arrays_write(const char *path,
                                                    const struct tenon_array *arrays, size_t n,
                                                    struct tenon_out *out, struct tenon_error *err);

#endif
