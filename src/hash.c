/* XXH3-128 of payloads or decoded values, one tensor a piece, the largest first. */
#include "tenon/hash.h"

#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "digest.h"
#include "fail.h"
#include "mem.h"
#include "model_private.h"
#include "parallel.h"
#include "sweep.h"
#include "tenon/logical.h"

/* Bytes read or values decoded at a time: stays inside a second-level cache. */
#define CHUNK_BYTES ((size_t)256 * 1024)

/* A tensor to hash and where the result goes. */
struct hash_item {
    const struct tenon_tensor *tensor;
    size_t slot;
};

struct hash_job {
    const struct tenon_model *model;
    const struct tenon_hash_options *options;
    tenon_digest_update_fn update;
    struct hash_item *items;
    struct tenon_hash *out;
};

void tenon_hash_options_init(struct tenon_hash_options *options)
{
    memset(options, 0, sizeof(*options));
}

/* Larger first, so that no thread is left with a large one at the end. */
static int compare_items(const void *a, const void *b)
{
    const struct hash_item *x = a, *y = b;

    if (x->tensor->bytes != y->tensor->bytes)
        return x->tensor->bytes > y->tensor->bytes ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static enum tenon_status hash_bytes(const struct hash_job *job, const struct tenon_tensor *t,
                                    unsigned char *buffer, struct tenon_digest *digest,
                                    struct tenon_error *err)
{
    for (uint64_t off = 0; off < t->bytes;) {
        size_t n = t->bytes - off < CHUNK_BYTES ? (size_t)(t->bytes - off) : CHUNK_BYTES;
        enum tenon_status st = tenon_tensor_read(job->model, t, off, buffer, n, err);

        if (st != TENON_OK)
            return st;
        job->update(digest, buffer, n);
        off += n;
    }
    return TENON_OK;
}

/* Puts float32 values into little-endian order; nothing to do on little-endian machines. */
static void order_values(unsigned char *values, size_t n)
{
    const uint32_t one = 1;

    if (*(const unsigned char *)&one == 1)
        return;
    for (size_t i = 0; i < n; i++) {
        unsigned char *p = values + i * sizeof(float);
        unsigned char swapped[] = {p[3], p[2], p[1], p[0]};

        memcpy(p, swapped, sizeof(swapped));
    }
}

static enum tenon_status fail_undecodable(const struct tenon_model *model,
                                          const struct tenon_tensor *t, struct tenon_error *err)
{
    enum tenon_status st = tenon_fail(
        err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET, "its values cannot be decoded (%s)",
        t->scaling == TENON_SCALING_MISFIT ? "the scales beside it do not fit"
                                           : tenon_dtype_name((enum tenon_dtype)t->dtype));

    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_path(err, model->path);
    return st;
}

static enum tenon_status hash_values(const struct hash_job *job, const struct tenon_tensor *t,
                                     unsigned char *buffer, struct tenon_digest *digest,
                                     struct tenon_error *err)
{
    struct tenon_logical logical;
    size_t most;

    if (!tenon_logical_init(&logical, job->model, t))
        return fail_undecodable(job->model, t, err);
    most = CHUNK_BYTES / sizeof(float) / logical.values;
    for (uint64_t first = 0; first < logical.n_elements;) {
        uint64_t left = logical.n_elements - first;
        size_t n = left < most ? (size_t)left : most;
        enum tenon_status st =
            tenon_logical_decode(&logical, first, n, (float *)(void *)buffer, err);

        if (st != TENON_OK)
            return st;
        order_values(buffer, n * logical.values);
        job->update(digest, buffer, n * logical.values * sizeof(float));
        first += n;
    }
    return TENON_OK;
}

static enum tenon_status hash_piece(void *user, size_t i, unsigned char *buffer,
                                    uint64_t *done_bytes, struct tenon_error *err)
{
    const struct hash_job *job = user;
    const struct hash_item *item = &job->items[i];
    struct tenon_digest digest;
    enum tenon_status st;

    tenon_digest_start(&digest);
    if (job->options->values)
        st = hash_values(job, item->tensor, buffer, &digest, err);
    else
        st = hash_bytes(job, item->tensor, buffer, &digest, err);
    if (st != TENON_OK)
        return st;
    job->out[item->slot] = tenon_digest_finish(&digest);
    *done_bytes = item->tensor->bytes;
    return TENON_OK;
}

enum tenon_status tenon_hash_tensors(const struct tenon_model *model, const uint32_t *indices,
                                     size_t n, const struct tenon_hash_options *options,
                                     struct tenon_hash *out, struct tenon_error *err)
{
    static const struct tenon_hash_options defaults;
    struct hash_job job = {.model = model, .options = options ? options : &defaults, .out = out};
    struct tenon_sweep sweep = {.model = model, .options = job.options};
    uint64_t total = 0;
    enum tenon_status st;

    sweep.n = indices != NULL ? n : model->n_tensors;
    sweep.threads = tenon_threads(job.options->threads);
    job.update = tenon_digest_choose(tenon_cpu_detect() & ~model->options.cpu_mask_out);
    job.items = tenon_mem_alloc(sweep.n, sizeof(*job.items));
    if (job.items == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < sweep.n; i++) {
        const struct tenon_tensor *t = &model->tensors[indices != NULL ? indices[i] : i];

        job.items[i] = (struct hash_item){t, i};
        total += t->bytes; /* for progress only; payloads lie inside their files */
    }
    qsort(job.items, sweep.n, sizeof(*job.items), compare_items);
    st = tenon_sweep_run(&sweep, CHUNK_BYTES, total, hash_piece, &job, err);
    tenon_mem_free(job.items);
    return st;
}

/* --- the model's hash --- */

struct named_hash {
    const struct tenon_tensor *tensor;
    const struct tenon_hash *hash;
};

static int compare_names(const void *a, const void *b)
{
    struct tenon_str x = ((const struct named_hash *)a)->tensor->name;
    struct tenon_str y = ((const struct named_hash *)b)->tensor->name;
    size_t shorter = x.len < y.len ? x.len : y.len;
    int order = memcmp(x.data, y.data, shorter);

    if (order != 0)
        return order;
    return x.len < y.len ? -1 : x.len > y.len;
}

static void add_u64(struct tenon_digest *digest, uint64_t value)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    tenon_digest_update(digest, bytes, sizeof(bytes));
}

static void add_text(struct tenon_digest *digest, const char *text, size_t len)
{
    add_u64(digest, len);
    tenon_digest_update(digest, text, len);
}

static void add_tensor(struct tenon_digest *digest, const struct named_hash *item, bool values)
{
    const struct tenon_tensor *t = item->tensor;
    const char *dtype = tenon_dtype_name((enum tenon_dtype)t->dtype);

    add_text(digest, t->name.data, t->name.len);
    if (!values)
        add_text(digest, dtype, strlen(dtype));
    add_u64(digest, t->n_dims);
    for (uint32_t i = 0; i < t->n_dims; i++)
        add_u64(digest, t->dims[i]);
    add_u64(digest, item->hash->high);
    add_u64(digest, item->hash->low);
}

enum tenon_status tenon_hash_model(const struct tenon_model *model,
                                   const struct tenon_hash *tensors, bool values,
                                   struct tenon_hash *out, struct tenon_error *err)
{
    struct named_hash *items = tenon_mem_alloc(model->n_tensors, sizeof(*items));
    struct tenon_digest digest;

    if (items == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < model->n_tensors; i++)
        items[i] = (struct named_hash){&model->tensors[i], &tensors[i]};
    qsort(items, model->n_tensors, sizeof(*items), compare_names);
    tenon_digest_start(&digest);
    for (size_t i = 0; i < model->n_tensors; i++)
        add_tensor(&digest, &items[i], values);
    *out = tenon_digest_finish(&digest);
    tenon_mem_free(items);
    return TENON_OK;
}
