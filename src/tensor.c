/* Reading and decoding ranges of a tensor. */
#include <assert.h>
#include <string.h>

#include "fail.h"
#include "model_build.h"
#include "model_private.h"
#include "scales.h"

/* Blocks are read in pieces of this size, on the stack: decoding needs no allocation. */
#define PIECE_BYTES ((size_t)32 * 1024)

/* The most float32 values that one block of any type decodes to. */
#define MOST_BLOCK_VALUES 256

/* A decode in progress. Exactly one of f32 and f64 is set. */
struct decoder {
    const struct tenon_model *model;
    const struct tenon_tensor *tensor;
    const struct tenon_dtype_info *info;
    tenon_decode_fn f32;
    tenon_decode_f64_fn f64;
};

static_assert(sizeof(struct tenon_tensor) <= 80, "a model may have millions of them");

struct tenon_str tenon_tensor_dtype_text(const struct tenon_model *model,
                                         const struct tenon_tensor *tensor)
{
    if (tensor->dtype != TENON_DTYPE_UNKNOWN || tensor->dtype_raw >= model->n_dtypes)
        return (struct tenon_str){"", 0};
    return model->dtypes[tensor->dtype_raw];
}

const struct tenon_tensor *tenon_tensor_shares(const struct tenon_model *model,
                                               const struct tenon_tensor *tensor)
{
    uint32_t i = (uint32_t)(tensor - model->tensors);
    size_t low = 0, high = model->n_aliases;

    if ((tensor->flags & TENON_TENSOR_SHARED) == 0)
        return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (model->aliases[middle].tensor < i)
            low = middle + 1;
        else
            high = middle;
    }
    return &model->tensors[model->aliases[low].first];
}

enum tenon_status tenon_tensor_read(const struct tenon_model *model,
                                    const struct tenon_tensor *tensor, uint64_t off, void *buf,
                                    size_t n, struct tenon_error *err)
{
    uint64_t at;
    enum tenon_status st;

    if (off > tensor->bytes || n > tensor->bytes - off ||
        !tenon_u64_add(&at, tensor->offset, off)) {
        st = tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                        "%zu bytes at %llu asked for, the tensor has %llu", n,
                        (unsigned long long)off, (unsigned long long)tensor->bytes);
    } else {
        st = tenon_source_read(model->sources[tensor->file], at, buf, n, err);
    }
    if (st != TENON_OK) {
        tenon_fail_subject(err, "tensor", tensor->name.data, tensor->name.len);
        tenon_fail_path(err, model->files[tensor->file].path);
    }
    return st;
}

static enum tenon_status fail_decoder(const struct tenon_model *model, const struct tenon_tensor *t,
                                      struct tenon_error *err, enum tenon_status st)
{
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_path(err, model->files[t->file].path);
    return st;
}

/* Reads `n` whole blocks from block `first`, in little-endian form. */
static enum tenon_status read_blocks(const struct decoder *d, uint64_t first, uint8_t *buf,
                                     size_t n, struct tenon_error *err)
{
    size_t bytes = n * d->info->block_bytes;
    enum tenon_status st =
        tenon_tensor_read(d->model, d->tensor, first * d->info->block_bytes, buf, bytes, err);

    if (st == TENON_OK && (d->tensor->flags & TENON_TENSOR_BIG_ENDIAN) != 0 &&
        !tenon_quant_swap(d->info->dtype, buf, n))
        st = tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, d->tensor->offset,
                        "%s blocks have no defined big-endian form", d->info->name);
    return st;
}

/* Part of one block: `skip` values left out, `n` written. */
static void decode_part(const struct decoder *d, const uint8_t *block, size_t skip, size_t n,
                        void *out)
{
    union {
        float f32[MOST_BLOCK_VALUES];
        double f64[MOST_BLOCK_VALUES];
    } values;

    if (d->f64 != NULL) {
        d->f64(values.f64, block, 1);
        memcpy(out, values.f64 + skip, n * sizeof(double));
    } else {
        d->f32(values.f32, block, 1);
        memcpy(out, values.f32 + skip, n * sizeof(float));
    }
}

/* Decodes `n` values from value `first`, block pieces at a time. */
static enum tenon_status decode_values(const struct decoder *d, uint64_t first, size_t n,
                                       unsigned char *out, struct tenon_error *err)
{
    _Alignas(32) uint8_t piece[PIECE_BYTES];
    size_t width = d->f64 != NULL ? sizeof(double) : sizeof(float);
    size_t per_block = (size_t)d->info->block_elements * d->info->values;
    size_t most = PIECE_BYTES / d->info->block_bytes;

    while (n > 0) {
        uint64_t block = first / per_block;
        size_t skip = (size_t)(first % per_block);
        size_t whole = skip == 0 ? n / per_block : 0;
        size_t take = whole > most ? most : whole;
        size_t done = take != 0 ? take * per_block : per_block - skip;
        enum tenon_status st = read_blocks(d, block, piece, take != 0 ? take : 1, err);

        if (st != TENON_OK)
            return st;
        if (done > n)
            done = n;
        if (take == 0)
            decode_part(d, piece, skip, done, out);
        else if (d->f64 != NULL)
            d->f64((double *)(void *)out, piece, take);
        else
            d->f32((float *)(void *)out, piece, take);
        out += done * width;
        first += done;
        n -= done;
    }
    return TENON_OK;
}

/* Sets up and checks the range; `first` and `n` come in elements and leave in values. */
static enum tenon_status begin_decode(struct decoder *d, uint64_t *first, size_t *n,
                                      struct tenon_error *err)
{
    const struct tenon_tensor *t = d->tensor;

    d->info = tenon_dtype_info((enum tenon_dtype)t->dtype);
    if (d->info == NULL || (t->flags & TENON_TENSOR_SIZE_UNKNOWN) != 0)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                          "the element type %s cannot be decoded",
                          tenon_dtype_name((enum tenon_dtype)t->dtype));
    d->f32 = d->model->ops.decode[t->dtype];
    if (d->f32 == NULL)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                          "there is no decoder for %s", d->info->name);
    if (*first > t->n_elements || *n > t->n_elements - *first)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          "%zu elements from %llu asked for, the tensor has %llu", *n,
                          (unsigned long long)*first, (unsigned long long)t->n_elements);
    *first *= d->info->values; /* at most 2, and elements fit 63 bits */
    *n *= d->info->values;
    return TENON_OK;
}

enum tenon_status tenon_tensor_decode_codes(const struct tenon_model *model,
                                            const struct tenon_tensor *tensor, uint64_t first,
                                            size_t n, float *out, struct tenon_error *err)
{
    struct decoder d = {.model = model, .tensor = tensor};
    enum tenon_status st = begin_decode(&d, &first, &n, err);

    if (st == TENON_OK)
        st = decode_values(&d, first, n, (unsigned char *)out, err);
    return st == TENON_OK ? st : fail_decoder(model, tensor, err, st);
}

/* Codes without their scales are not the values that the model computes with. */
static enum tenon_status refuse_scaled(const struct tenon_model *model,
                                       const struct tenon_tensor *tensor, struct tenon_error *err)
{
    struct tenon_str scales;

    if (tensor->scale == TENON_NO_INDEX)
        return TENON_OK;
    scales = model->tensors[tensor->scale].name;
    tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
               "its values are codes to be multiplied by the scales in '%.*s'",
               (int)(scales.len < 200 ? scales.len : 200), scales.data);
    return fail_decoder(model, tensor, err, TENON_ERR_UNSUPPORTED_FEATURE);
}

enum tenon_status tenon_tensor_decode(const struct tenon_model *model,
                                      const struct tenon_tensor *tensor, uint64_t first, size_t n,
                                      float *out, struct tenon_error *err)
{
    enum tenon_status st = refuse_scaled(model, tensor, err);

    return st == TENON_OK ? tenon_tensor_decode_codes(model, tensor, first, n, out, err) : st;
}

enum tenon_status tenon_tensor_decode_f64(const struct tenon_model *model,
                                          const struct tenon_tensor *tensor, uint64_t first,
                                          size_t n, double *out, struct tenon_error *err)
{
    struct decoder d = {.model = model, .tensor = tensor};
    enum tenon_status st = refuse_scaled(model, tensor, err);
    float narrow[MOST_BLOCK_VALUES];

    if (st != TENON_OK)
        return st;
    st = begin_decode(&d, &first, &n, err);
    if (st != TENON_OK)
        return fail_decoder(model, tensor, err, st);
    d.f64 = model->ops.decode_f64[tensor->dtype];
    if (d.f64 != NULL) {
        st = decode_values(&d, first, n, (unsigned char *)out, err);
        return st == TENON_OK ? st : fail_decoder(model, tensor, err, st);
    }
    while (st == TENON_OK && n > 0) {
        /* Up to the next block boundary, so that no block is read twice in a row. */
        size_t take = MOST_BLOCK_VALUES - (size_t)(first % MOST_BLOCK_VALUES);

        if (take > n)
            take = n;
        st = decode_values(&d, first, take, (unsigned char *)narrow, err);
        for (size_t i = 0; st == TENON_OK && i < take; i++)
            out[i] = narrow[i];
        out += take;
        first += take;
        n -= take;
    }
    return st == TENON_OK ? st : fail_decoder(model, tensor, err, st);
}
