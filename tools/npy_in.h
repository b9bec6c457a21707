/* Arrays in NumPy's format, as `embed --pixels` takes them. */
#ifndef TENON_TOOLS_NPY_IN_H
#define TENON_TOOLS_NPY_IN_H

#include "tenon/error.h"

enum { TENON_NPY_DIMS = 4 };

/* Zero-initialise. */
struct tenon_npy {
    float *values; /* row-major */
    uint64_t dims[TENON_NPY_DIMS];
    size_t n_dims;
    uint64_t n;
};

/* Reads a .npy file (versions 1.0 to 3.0) of little-endian float16, float32 or float64 in C order
 * with 1 to 4 dimensions. Fails with NOT_RECOGNISED, TRUNCATED, CORRUPT, UNSUPPORTED_FEATURE,
 * LIMIT, IO or NO_MEMORY. */
TENON_MUST_USE enum tenon_status tenon_npy_read(const char *path, struct tenon_npy *out,
                                                struct tenon_error *err);

void tenon_npy_release(struct tenon_npy *npy);

#endif
