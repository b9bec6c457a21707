/* Any GGUF file that can be read is written again, as an edited copy and as a new file; what is
 * written is read, and must be the same model. */
#include "fuzz_model.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "tenon/tenon.h"

/* Files that would be larger are only laid out: alignments may be enormous. */
#define MOST_BYTES ((uint64_t)8 << 20)

static void require(bool good)
{
    if (!good)
        abort();
}

static struct tenon_plan *plan_copy(const struct tenon_model *model, bool keep)
{
    const struct tenon_file *old = tenon_model_file(model, 0);
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL,
                                   .path = "copy",
                                   .format = old->format,
                                   .version = old->version,
                                   .big_endian = old->big_endian,
                                   .n_metas = tenon_model_n_meta(model),
                                   .like = keep ? model : NULL};
    struct tenon_meta_entry *metas = tenon_mem_alloc(file.n_metas, sizeof(*metas));
    struct tenon_error err = {0};
    struct tenon_plan *plan = NULL;

    require(metas != NULL);
    for (size_t i = 0; i < file.n_metas; i++)
        metas[i] = *tenon_model_meta(model, i);
    file.metas = metas;
    require(tenon_plan_new("copy", &plan, &err) == TENON_OK);
    require(tenon_plan_add_file(plan, &file, NULL, &err) == TENON_OK);
    for (size_t i = 0; i < tenon_model_n_tensors(model); i++)
        require(tenon_plan_add_tensor_of(plan, model, tenon_model_tensor(model, i), 0, &err) ==
                TENON_OK);
    tenon_mem_free(metas);
    return plan;
}

static enum tenon_status take_head(void *user, const void *bytes, size_t n, struct tenon_error *err)
{
    unsigned char **to = user;

    (void)err;
    memcpy(*to, bytes, n);
    *to += n;
    return TENON_OK;
}

/* The file's bytes; NULL when they are too many. */
static unsigned char *carry_out(const struct tenon_plan *plan)
{
    const struct tenon_plan_file *file = tenon_plan_file(plan, 0);
    struct tenon_error err = {0};
    unsigned char *bytes, *to;

    require(file->head_bytes <= file->bytes);
    if (file->bytes > MOST_BYTES)
        return NULL;
    bytes = tenon_mem_alloc((size_t)file->bytes, 1);
    require(bytes != NULL);
    to = bytes;
    require(tenon_plan_put_head(plan, 0, take_head, &to, &err) == TENON_OK);
    for (size_t i = 0; i < plan->n_tensors; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);
        const struct tenon_plan_source *source = tenon_plan_sources(&t);

        require(t.bytes == 0 || (t.offset >= file->head_bytes && t.offset <= file->bytes &&
                                 t.bytes <= file->bytes - t.offset));
        require(t.bytes == 0 ||
                tenon_tensor_read(source->model, source->tensor, 0, bytes + t.offset,
                                  (size_t)t.bytes, &err) == TENON_OK);
    }
    for (size_t i = 0; i < plan->n_rests; i++) {
        const struct tenon_plan_rest *rest = &plan->rests[i];

        require(rest->offset >= file->head_bytes && rest->offset <= file->bytes &&
                rest->bytes <= file->bytes - rest->offset);
        require(tenon_source_read(tenon_model_source(rest->model, rest->from), rest->from_offset,
                                  bytes + rest->offset, (size_t)rest->bytes, &err) == TENON_OK);
    }
    return bytes;
}

static bool same_text(struct tenon_str a, struct tenon_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static void compare_pairs(const struct tenon_model *a, const struct tenon_model *b)
{
    require(tenon_model_n_meta(a) == tenon_model_n_meta(b));
    for (size_t i = 0; i < tenon_model_n_meta(a); i++) {
        const struct tenon_meta_entry *x = tenon_model_meta(a, i), *y = tenon_model_meta(b, i);

        require(same_text(x->key, y->key) && x->type == y->type && x->item == y->item &&
                x->count == y->count);
        if (x->type == TENON_META_STRING)
            require(same_text(x->value.as.str, y->value.as.str));
        /* Version 1 has other lengths. */
        if (x->raw != NULL && !x->short_lengths)
            require(x->raw_bytes == y->raw_bytes &&
                    (x->raw_bytes == 0 || memcmp(x->raw, y->raw, x->raw_bytes) == 0));
    }
}

static void compare_tensors(const struct tenon_model *a, const struct tenon_model *b)
{
    struct tenon_error err = {0};

    require(tenon_model_n_tensors(a) == tenon_model_n_tensors(b));
    for (size_t i = 0; i < tenon_model_n_tensors(a); i++) {
        const struct tenon_tensor *x = tenon_model_tensor(a, i), *y = tenon_model_tensor(b, i);

        require(same_text(x->name, y->name) && x->dtype == y->dtype &&
                x->dtype_raw == y->dtype_raw && x->n_dims == y->n_dims &&
                x->n_elements == y->n_elements);
        for (uint32_t d = 0; d < x->n_dims; d++)
            require(x->dims[d] == y->dims[d]);
        /* Of an unknown type the padding counts, too. */
        require(x->bytes == y->bytes ||
                ((y->flags & TENON_TENSOR_SIZE_DERIVED) != 0 && x->bytes <= y->bytes));
        for (uint64_t at = 0; at < x->bytes; at += 4096) {
            size_t n = x->bytes - at < 4096 ? (size_t)(x->bytes - at) : 4096;
            unsigned char p[4096], q[4096];

            require(tenon_tensor_read(a, x, at, p, n, &err) == TENON_OK &&
                    tenon_tensor_read(b, y, at, q, n, &err) == TENON_OK && memcmp(p, q, n) == 0);
        }
    }
}

static void try_copy(const struct tenon_model *model, bool keep)
{
    struct tenon_plan *plan = plan_copy(model, keep);
    struct tenon_model *again = NULL;
    struct tenon_error err = {0};
    unsigned char *bytes = NULL;

    if (tenon_plan_layout(plan, &err) == TENON_OK)
        bytes = carry_out(plan);
    else
        require(!keep && err.message[0] != '\0');
    if (bytes != NULL) {
        require(tenon_model_open_memory(bytes, (size_t)tenon_plan_bytes(plan), NULL, &again,
                                        &err) == TENON_OK);
        compare_pairs(model, again);
        compare_tensors(model, again);
    }
    tenon_model_free(again);
    tenon_mem_free(bytes);
    tenon_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tenon_open_options options;
    struct tenon_model *model = NULL;

    tenon_open_options_init(&options);
    options.format = "gguf";
    if (tenon_model_open_memory(data, size, &options, &model, NULL) != TENON_OK)
        return 0;
    for (int keep = 0; keep < 2; keep++)
        try_copy(model, keep != 0);
    tenon_model_free(model);
    return 0;
}
