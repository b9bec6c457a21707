#include "tiny_model.h"

#include <string.h>

#include "check_error.h"
#include "model_build.h"

void tiny_begin(struct tiny_model *tiny)
{
    struct tenon_error err = {0};
    struct tenon_source *source = NULL;
    uint32_t file;

    memset(tiny, 0, sizeof(*tiny));
    ck_ok(tenon_model_new("tiny", NULL, &tiny->model, &err), err);
    ck_ok(tenon_source_open_memory(tiny->data, TINY_BYTES, "tiny", &source, &err), err);
    ck_ok(tenon_model_add_file(tiny->model, source, &file, &err), err);
}

void tiny_add(struct tiny_model *tiny, const char *name, enum tenon_dtype dtype, uint64_t rows,
              uint64_t cols, const void *bytes)
{
    struct tenon_error err = {0};
    uint64_t dims[2] = {rows, cols}, n_bytes = 0;
    struct tenon_tensor tensor = {
        .dims = rows != 0 ? dims : dims + 1,
        .n_dims = rows != 0 ? 2 : 1,
        .offset = tiny->used,
        .dtype = (uint8_t)dtype,
    };

    tensor.name.len = strlen(name);
    tensor.name.data = tenon_arena_text(tenon_model_arena(tiny->model), name, tensor.name.len);
    ck_assert_ptr_nonnull(tensor.name.data);
    ck_assert(tenon_dtype_bytes(dtype, (rows != 0 ? rows : 1) * cols, &n_bytes));
    ck_assert_uint_le(tiny->used + n_bytes, TINY_BYTES);
    if (bytes != NULL)
        memcpy(tiny->data + tiny->used, bytes, (size_t)n_bytes);
    tiny->last = tiny->used;
    tiny->used += (size_t)n_bytes;
    ck_ok(tenon_model_add_tensor(tiny->model, &tensor, &err), err);
}

void tiny_alias(struct tiny_model *tiny, const char *name, enum tenon_dtype dtype, uint64_t rows,
                uint64_t cols)
{
    size_t used = tiny->used;

    tiny->used = tiny->last;
    tiny_add(tiny, name, dtype, rows, cols, NULL);
    tiny->used = used;
}

void tiny_flag(struct tiny_model *tiny, const char *where, bool value, bool nested)
{
    struct tenon_hparams *h = tenon_model_edit_hparams(tiny->model);

    ck_assert_uint_lt(h->n_tie_flags, TENON_MAX_TIE_FLAGS);
    h->tie_flags[h->n_tie_flags++] =
        (struct tenon_tie_flag){.where = where, .value = value, .nested = nested};
}

void tiny_name(struct tiny_model *tiny, const char *name)
{
    tiny_add(tiny, name, TENON_DTYPE_U8, 0, 0, NULL);
}

const struct tenon_model *tiny_end(struct tiny_model *tiny, const char *model_type)
{
    struct tenon_hparams *hparams = tenon_model_edit_hparams(tiny->model);
    struct tenon_error err = {0};

    hparams->model_type = (struct tenon_str){model_type, strlen(model_type)};
    ck_ok(tenon_model_finish(tiny->model, &err), err);
    return tiny->model;
}

void tiny_free(struct tiny_model *tiny)
{
    tenon_model_free(tiny->model);
    tiny->model = NULL;
}
