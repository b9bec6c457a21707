/* Plans that copy a model, and the bytes of planned files, in memory: what a plan says, without the
 * runner. */
#ifndef TENON_TESTS_PLANNED_H
#define TENON_TESTS_PLANNED_H

#include <string.h>

#include "cooked.h"
#include "format.h"
#include "put_head.h"

/* Adds file `file` of the model to the plan, with its pairs; `keep`: as an edited copy. Returns its
 * number. */
static inline uint32_t planned_file(struct tenon_plan *plan, const struct tenon_model *model,
                                    uint32_t file, bool keep)
{
    const struct tenon_file *old = tenon_model_file(model, file);
    struct tenon_meta_entry *metas = tenon_mem_alloc(tenon_model_n_meta(model), sizeof(*metas));
    struct tenon_plan_file made = {.kind = TENON_PLAN_MODEL,
                                   .path = "planned",
                                   .format = old->format,
                                   .version = old->version,
                                   .big_endian = old->big_endian,
                                   .metas = metas,
                                   .like = keep ? model : NULL,
                                   .like_file = file};
    struct tenon_error err = {0};
    enum tenon_status st;
    uint32_t i = 0;

    ck_assert_ptr_nonnull(metas);
    for (size_t m = 0; m < tenon_model_n_meta(model); m++)
        if (tenon_model_meta(model, m)->file == file)
            metas[made.n_metas++] = *tenon_model_meta(model, m);
    st = tenon_plan_add_file(plan, &made, &i, &err);
    tenon_mem_free(metas);
    ck_ok(st, err);
    return i;
}

/* A plan that writes one file with all of the model. */
static inline struct tenon_plan *planned_copy(const struct tenon_model *model, bool keep)
{
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};
    uint32_t file;

    ck_ok(tenon_plan_new("planned", &plan, &err), err);
    file = planned_file(plan, model, 0, keep);
    for (size_t i = 0; i < tenon_model_n_tensors(model); i++)
        ck_ok(tenon_plan_add_tensor_of(plan, model, tenon_model_tensor(model, i), file, &err), err);
    return plan;
}

/* The bytes of a file whose payloads are copies, of a plan that is laid out. */
static inline void planned_bytes(const struct tenon_plan *plan, uint32_t file,
                                 struct gen_bytes *out)
{
    const struct tenon_plan_file *made = &plan->files[file];

    put_head(plan, file, out);
    ck_assert_uint_ge(made->bytes, made->head_bytes);
    gen_fill(out, 0, (size_t)(made->bytes - made->head_bytes));
    for (size_t i = 0; i < plan->n_tensors; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);
        const struct tenon_plan_source *source = tenon_plan_sources(&t);
        struct tenon_error err = {0};

        if (t.file != file || t.bytes == 0)
            continue;
        ck_assert(tenon_plan_tensor_is_copy(plan, &t));
        ck_assert_uint_eq(t.n_sources, 1);
        ck_assert_uint_le(t.offset + t.bytes, made->bytes);
        if (source->model == NULL)
            memcpy(out->data + t.offset, source->bytes, (size_t)t.bytes);
        if (source->model != NULL)
            ck_ok(tenon_tensor_read(source->model, source->tensor, 0, out->data + t.offset,
                                    (size_t)t.bytes, &err),
                  err);
    }
    for (size_t i = 0; i < plan->n_rests; i++) {
        const struct tenon_plan_rest *rest = &plan->rests[i];
        struct tenon_error err = {0};

        if (rest->file != file)
            continue;
        ck_assert_uint_gt(rest->bytes, 0);
        ck_assert_uint_le(rest->offset + rest->bytes, made->bytes);
        ck_ok(tenon_source_read(tenon_model_source(rest->model, rest->from), rest->from_offset,
                                out->data + rest->offset, (size_t)rest->bytes, &err),
              err);
    }
}

static inline enum tenon_status planned_layout(struct tenon_plan *plan, struct tenon_error *err)
{
    enum tenon_status st = tenon_plan_layout(plan, err);

    ck_assert_int_eq(st, err->status);
    return st;
}

/* The file that `plan` writes. */
static inline void planned_result(struct tenon_plan *plan, struct gen_bytes *out)
{
    struct tenon_error err = {0};

    ck_ok(planned_layout(plan, &err), err);
    planned_bytes(plan, 0, out);
}

static inline void check_same_bytes(const char *name, const struct gen_bytes *a,
                                    const struct gen_bytes *b)
{
    size_t same = 0;

    while (same < a->n && same < b->n && a->data[same] == b->data[same])
        same++;
    ck_assert_msg(a->n == b->n && same == a->n, "%s: %zu and %zu bytes, different from %zu on",
                  name, a->n, b->n, same);
}

static inline void rewrite(const char *recipe, bool keep, struct gen_bytes *out)
{
    struct cooked c;
    struct tenon_plan *plan;

    cooked_open(&c, recipe, NULL);
    ck_ok(c.status, c.err);
    plan = planned_copy(c.model, keep);
    planned_result(plan, out);
    tenon_plan_free(plan);
    cooked_release(&c);
}

static inline void check_identity(const char *recipe, bool keep)
{
    struct gen_files files = {0};
    struct gen_bytes bytes = {0};

    gen_recipe_make(recipe, &files);
    rewrite(recipe, keep, &bytes);
    check_same_bytes(recipe, &bytes, &files.file[0].bytes);
    gen_bytes_release(&bytes);
    gen_files_release(&files);
}

#endif
