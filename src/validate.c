/* The checks that every format shares: payloads inside their file, which ones overlap. */
#include <stdlib.h>

#include "fail.h"
#include "model_build.h"
#include "model_private.h"
#include "scales.h"
#include "sort.h"

/* Payload bytes end where? The descriptor's sizes fit 63 bits, so only the sum can overflow. */
static enum tenon_status check_range(const struct tenon_model *model, const struct tenon_tensor *t,
                                     struct tenon_error *err)
{
    const struct tenon_file *file = &model->files[t->file];
    uint64_t end;

    if (t->bytes == 0 && (t->flags & TENON_TENSOR_SIZE_UNKNOWN) == 0)
        return TENON_OK; /* nothing to read, wherever that is */
    if (!tenon_u64_add(&end, t->offset, t->bytes))
        return tenon_fail(err, TENON_ERR_CORRUPT, t->record_offset, "its end does not fit 64 bits");
    if (end <= file->bytes)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_TRUNCATED, t->record_offset,
               "ends %llu bytes after the end of the file (%llu bytes from offset %llu, the file "
               "has %llu)",
               (unsigned long long)(end - file->bytes), (unsigned long long)t->bytes,
               (unsigned long long)t->offset, (unsigned long long)file->bytes);
    tenon_fail_hint(err, "the download may be incomplete");
    return TENON_ERR_TRUNCATED;
}

/* Order by file, offset, size; a tenon_sort_fn. */
static int compare_places(const void *owner, uint32_t a, uint32_t b)
{
    const struct tenon_model *model = owner;
    const struct tenon_tensor *x = &model->tensors[a], *y = &model->tensors[b];

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Tensor `b` comes after `a` in place, and so in the model where the range is the same: that is an
 * alias, a common part a fault. Both can be read all the same, so both are findings; a format that
 * refuses them does so itself. `a` is the first of its range: only a longer one takes its place. */
static enum tenon_status check_pair(struct tenon_model *model, struct tenon_tensor *a,
                                    struct tenon_tensor *b, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (a->file != b->file || b->bytes == 0 || a->bytes == 0 || b->offset >= a->offset + a->bytes)
        return TENON_OK;
    if (a->offset == b->offset && a->bytes == b->bytes) {
        struct tenon_alias alias = {(uint32_t)(b - model->tensors), (uint32_t)(a - model->tensors)};

        if (!tenon_grow((void **)&model->aliases, &model->alias_room, model->n_aliases,
                        sizeof(alias)))
            return tenon_fail_memory(err);
        model->aliases[model->n_aliases++] = alias;
        b->flags |= TENON_TENSOR_SHARED;
        st = tenon_model_find_fault(model, "alias", b->file, b->record_offset, b->name.data,
                                    b->name.len, "has the same bytes in the file as tensor %u",
                                    alias.first);
        return st == TENON_OK ? st : tenon_fail_memory(err);
    }
    st = tenon_model_find_fault(model, "overlap", b->file, b->record_offset, b->name.data,
                                b->name.len,
                                "its bytes overlap those of the tensor whose record is at offset "
                                "%llu",
                                (unsigned long long)a->record_offset);
    return st == TENON_OK ? st : tenon_fail_memory(err);
}

/* Walks tensors by place, which is `by_place` or, when that is NULL, how they stand. `reach` is the
 * one that extends furthest so far. */
static enum tenon_status check_overlaps(struct tenon_model *model, const uint32_t *by_place,
                                        struct tenon_error *err)
{
    struct tenon_tensor *reach = NULL;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < model->n_tensors; i++) {
        struct tenon_tensor *t = &model->tensors[by_place != NULL ? by_place[i] : i];

        if (t->bytes == 0)
            continue;
        if (reach != NULL)
            st = check_pair(model, reach, t, err);
        if (reach == NULL || reach->file != t->file ||
            t->offset + t->bytes > reach->offset + reach->bytes)
            reach = t;
    }
    return st;
}

static bool is_sorted(const struct tenon_model *model)
{
    for (uint32_t i = 1; i < model->n_tensors; i++)
        if (compare_places(model, i - 1, i) > 0)
            return false;
    return true;
}

static int compare_aliases(const void *a, const void *b)
{
    const struct tenon_alias *x = a, *y = b;

    return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

/* The numbers of the tensors by place; NULL when memory is gone. */
static uint32_t *sort_places(const struct tenon_model *model)
{
    uint32_t *numbers = tenon_mem_alloc(model->n_tensors, sizeof(*numbers));

    for (size_t i = 0; numbers != NULL && i < model->n_tensors; i++)
        numbers[i] = (uint32_t)i;
    if (numbers == NULL || tenon_sort(numbers, model->n_tensors, model, compare_places))
        return numbers;
    tenon_mem_free(numbers);
    return NULL;
}

static enum tenon_status check_places(struct tenon_model *model, struct tenon_error *err)
{
    uint32_t *by_place = NULL;
    enum tenon_status st;

    if (!is_sorted(model)) {
        by_place = sort_places(model);
        if (by_place == NULL)
            return tenon_fail_memory(err);
    }
    st = check_overlaps(model, by_place, err);
    tenon_mem_free(by_place);
    if (model->n_aliases != 0)
        qsort(model->aliases, model->n_aliases, sizeof(*model->aliases), compare_aliases);
    return st;
}

enum tenon_status tenon_model_validate(struct tenon_model *model, struct tenon_error *err)
{
    for (size_t i = 0; i < model->n_tensors; i++) {
        const struct tenon_tensor *t = &model->tensors[i];
        enum tenon_status st = check_range(model, t, err);

        if (st != TENON_OK) {
            tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
            tenon_fail_path(err, model->files[t->file].path);
            return st;
        }
    }
    return check_places(model, err);
}

enum tenon_status tenon_model_finish(struct tenon_model *model, struct tenon_error *err)
{
    enum tenon_status st = tenon_model_validate(model, err);

    if (st == TENON_OK && tenon_model_link_scales(model) != TENON_OK)
        st = tenon_fail_memory(err);
    if (st == TENON_OK)
        tenon_model_resolve(model);
    tenon_shapes_release(&model->shapes); /* no more tensors will come */
    return st;
}
