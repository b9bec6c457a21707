/* The encoders of libggml-base.so, found by name at run time: no header, no link. */
#ifndef TENON_TEST_GGML_ENCODERS_H
#define TENON_TEST_GGML_ENCODERS_H

#include "tenon/dtype.h"

typedef size_t (*ggml_quantize_fn)(int type, const float *in, void *out, int64_t first,
                                   int64_t n_rows, int64_t row, const float *importance);

struct ggml_encoders {
    ggml_quantize_fn quantize;
    bool (*needs_importance)(int type);
};

/* From the library of TENON_ORACLE_GGML. False, with the reason on standard output, where that is
 * unset, cannot be loaded or lacks the functions. */
bool ggml_encoders_open(struct ggml_encoders *out);

/* Whether ggml encodes the type without an importance matrix. */
bool ggml_encodes(const struct ggml_encoders *ggml, enum tenon_dtype dtype);

/* Encodes `n_rows` rows of `row` values each. */
void ggml_encode(const struct ggml_encoders *ggml, enum tenon_dtype dtype, const float *in,
                 uint8_t *out, size_t n_rows, size_t row);

#endif
