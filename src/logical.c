/* Codes times scales. */
#include "tenon/logical.h"

#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "scales.h"

/* Scales read at a time. */
#define SCALES 64

/* Groups of 32 MXFP4 codes decoded at a time. */
#define GROUPS 64

bool tenon_logical_init(struct tenon_logical *logical, const struct tenon_model *model,
                        const struct tenon_tensor *tensor)
{
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)tensor->dtype);

    if (info == NULL || (tensor->flags & TENON_TENSOR_SIZE_UNKNOWN) != 0 ||
        model->ops.decode[tensor->dtype] == NULL || tensor->scaling == TENON_SCALING_MISFIT ||
        tensor->n_dims > TENON_LOGICAL_DIMS)
        return false;
    memset(logical, 0, sizeof(*logical));
    logical->model = model;
    logical->codes = tensor;
    logical->scales = tensor->scale != TENON_NO_INDEX ? &model->tensors[tensor->scale] : NULL;
    logical->n_dims = tensor->n_dims;
    logical->n_elements = tensor->n_elements;
    logical->values = info->values;
    if (tensor->n_dims != 0)
        memcpy(logical->dims, tensor->dims, tensor->n_dims * sizeof(*tensor->dims));
    if (tensor->scaling == TENON_SCALING_MXFP4) {
        logical->n_dims--;
        if (!tenon_u64_mul(&logical->dims[logical->n_dims - 1], logical->dims[logical->n_dims - 1],
                           TENON_MXFP4_VALUES) ||
            !tenon_u64_mul(&logical->n_elements, tensor->n_elements, 2))
            return false;
    }
    return true;
}

/* Multiplies a run of one row, from column `col`, by the row's block scales. */
static enum tenon_status scale_run(const struct tenon_logical *l, uint64_t row, uint64_t col,
                                   size_t n, float *values, struct tenon_error *err)
{
    uint64_t across = l->scales->dims[1];
    float scales[SCALES];

    while (n > 0) {
        uint64_t block = col / TENON_SCALE_BLOCK, last = (col + n - 1) / TENON_SCALE_BLOCK;
        size_t count = last - block + 1 < SCALES ? (size_t)(last - block + 1) : SCALES;
        enum tenon_status st = tenon_tensor_decode(
            l->model, l->scales, row / TENON_SCALE_BLOCK * across + block, count, scales, err);

        if (st != TENON_OK)
            return st;
        for (size_t k = 0; k < count; k++) {
            uint64_t end = (block + k + 1) * TENON_SCALE_BLOCK;

            for (; n > 0 && col < end; col++, n--)
                *values++ *= scales[k];
        }
    }
    return TENON_OK;
}

/* Multiplies the values from element `first` on by their scales. */
static enum tenon_status apply_float8(const struct tenon_logical *l, uint64_t first, size_t n,
                                      float *values, struct tenon_error *err)
{
    enum tenon_scaling scaling = (enum tenon_scaling)l->codes->scaling;
    uint64_t cols = l->n_dims != 0 ? l->dims[l->n_dims - 1] : 1;
    float scale = 1;
    enum tenon_status st = TENON_OK;

    if (scaling == TENON_SCALING_SCALAR) {
        st = tenon_tensor_decode(l->model, l->scales, 0, 1, &scale, err);
        for (size_t i = 0; st == TENON_OK && i < n; i++)
            values[i] *= scale;
        return st;
    }
    while (st == TENON_OK && n > 0) {
        uint64_t row = first / cols, col = first % cols;
        size_t run = cols - col < n ? (size_t)(cols - col) : n;

        if (scaling == TENON_SCALING_ROWS) {
            st = tenon_tensor_decode(l->model, l->scales, row, 1, &scale, err);
            for (size_t i = 0; st == TENON_OK && i < run; i++)
                values[i] *= scale;
        } else {
            st = scale_run(l, row, col, run, values, err);
        }
        values += run;
        first += run;
        n -= run;
    }
    return st;
}

enum tenon_status tenon_logical_scales(const struct tenon_logical *logical, uint64_t first,
                                       size_t n, float *out, struct tenon_error *err)
{
    for (size_t i = 0; i < n; i++)
        out[i] = 1;
    return apply_float8(logical, first, n, out, err);
}

/* One group: a scale byte and 16 bytes of codes become a block of the F4 and F8_E8M0 decoders. */
static void decode_group(const struct tenon_logical *l, const uint8_t *codes, uint8_t exponent,
                         float *out)
{
    float scale;

    l->model->ops.decode[TENON_DTYPE_F8_E8M0](&scale, &exponent, 1);
    l->model->ops.decode[TENON_DTYPE_F4](out, codes, TENON_MXFP4_BYTES);
    for (size_t i = 0; i < TENON_MXFP4_VALUES; i++)
        out[i] *= scale;
}

static enum tenon_status decode_mxfp4(const struct tenon_logical *l, uint64_t first, size_t n,
                                      float *out, struct tenon_error *err)
{
    uint8_t codes[GROUPS * TENON_MXFP4_BYTES], exponents[GROUPS];
    float values[TENON_MXFP4_VALUES];

    while (n > 0) {
        uint64_t group = first / TENON_MXFP4_VALUES, last = (first + n - 1) / TENON_MXFP4_VALUES;
        size_t count = last - group + 1 < GROUPS ? (size_t)(last - group + 1) : GROUPS;
        enum tenon_status st = tenon_tensor_read(l->model, l->codes, group * TENON_MXFP4_BYTES,
                                                 codes, count * TENON_MXFP4_BYTES, err);

        if (st == TENON_OK)
            st = tenon_tensor_read(l->model, l->scales, group, exponents, count, err);
        if (st != TENON_OK)
            return st;
        for (size_t k = 0; k < count; k++) {
            size_t skip = (size_t)(first % TENON_MXFP4_VALUES);
            size_t take = TENON_MXFP4_VALUES - skip < n ? (size_t)(TENON_MXFP4_VALUES - skip) : n;

            decode_group(l, codes + k * TENON_MXFP4_BYTES, exponents[k], values);
            memcpy(out, values + skip, take * sizeof(*out));
            out += take;
            first += take;
            n -= take;
        }
    }
    return TENON_OK;
}

enum tenon_status tenon_logical_decode(const struct tenon_logical *logical, uint64_t first,
                                       size_t n, float *out, struct tenon_error *err)
{
    enum tenon_status st;

    if (first > logical->n_elements || n > logical->n_elements - first) {
        st = tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                        "%zu elements from %llu asked for, the matrix has %llu", n,
                        (unsigned long long)first, (unsigned long long)logical->n_elements);
        tenon_fail_subject(err, "tensor", logical->codes->name.data, logical->codes->name.len);
        return st;
    }
    if (logical->codes->scaling == TENON_SCALING_MXFP4)
        return decode_mxfp4(logical, first, n, out, err);
    st = tenon_tensor_decode_codes(logical->model, logical->codes, first, n, out, err);
    if (st == TENON_OK && logical->scales != NULL)
        st = apply_float8(logical, first, n, out, err);
    return st;
}
