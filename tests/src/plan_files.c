#include "plan_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_error.h"
#include "model_build.h"

static const char head[PLAN_HEAD_BYTES + 1] = "HEAD....................................";

void plan_lay_out(struct tenon_plan *plan)
{
    struct tenon_error err = {0};

    for (size_t i = 0; i < plan->n_files; i++) {
        struct tenon_plan_file *file = &plan->files[i];

        if (file->kind != TENON_PLAN_MODEL)
            continue;
        ck_ok(tenon_plan_keep_head(plan, (uint32_t)i, head, PLAN_HEAD_BYTES, &err), err);
        file->bytes = PLAN_HEAD_BYTES;
        for (size_t k = 0; k < plan->n_tensors; k++) {
            struct tenon_plan_record *tensor = &plan->tensors[k];

            if (tensor->file != i)
                continue;
            ck_assert(tenon_u64_align(&tensor->offset, file->bytes, PLAN_ALIGNMENT));
            file->bytes = tensor->offset + tenon_plan_tensor_bytes(plan, k);
        }
    }
    plan->laid_out = true;
}

struct tenon_plan *plan_begin(const char *path)
{
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL, .path = path, .format = "test"};
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};

    ck_ok(tenon_plan_new(path, &plan, &err), err);
    ck_ok(tenon_plan_add_file(plan, &file, NULL, &err), err);
    return plan;
}

void plan_add(struct tenon_plan *plan, const struct plan_tensor *tensor)
{
    struct tenon_plan_tensor added = {
        .name = {"out", 3},
        .dtype = tensor->dtype,
        .n_dims = tensor->n_dims,
        .dims = tensor->dims,
        .combine = tensor->combine,
        .sources = tensor->sources,
        .n_sources = tensor->n_sources,
        .steps = tensor->steps,
        .n_steps = tensor->n_steps,
    };
    struct tenon_error err = {0};

    ck_ok(tenon_plan_add_tensor(plan, &added, &err), err);
}

struct tenon_plan_source plan_source(const struct tenon_model *model, const char *name)
{
    const struct tenon_tensor *tensor = tenon_model_find(model, name, strlen(name));

    ck_assert_ptr_nonnull(tensor);
    return (struct tenon_plan_source){.model = model, .tensor = tensor, .n_rows = UINT64_MAX};
}

void plan_write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

unsigned char *plan_read_file(const char *path, size_t *out_n)
{
    FILE *f = fopen(path, "rb");
    unsigned char *bytes;
    long size;

    if (f == NULL)
        return NULL;
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    ck_assert_int_ge(size, 0);
    rewind(f);
    bytes = malloc((size_t)size + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)size, f), (size_t)size);
    fclose(f);
    *out_n = (size_t)size;
    return bytes;
}

struct tenon_model *plan_model_of_file(const struct tiny_model *tiny, const char *path)
{
    struct tenon_model *model = NULL;
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};
    uint32_t file;

    plan_write_file(path, tiny->data, tiny->used);
    ck_ok(tenon_model_new(path, NULL, &model, &err), err);
    ck_ok(tenon_source_open_file(path, &source, &err), err);
    ck_ok(tenon_model_add_file(model, source, &file, &err), err);
    for (size_t i = 0; i < tenon_model_n_tensors(tiny->model); i++)
        ck_ok(tenon_model_add_tensor(model, tenon_model_tensor(tiny->model, i), &err), err);
    ck_ok(tenon_model_finish(model, &err), err);
    return model;
}

size_t plan_count_hidden(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    size_t n = 0;

    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir)) != NULL)
        n += entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 &&
             strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}
