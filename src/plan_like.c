#include "plan_like.h"

#include <string.h>

#include "fail.h"
#include "meta_value.h"
#include "model_private.h"
#include "text.h"

const struct tenon_container tenon_containers[TENON_N_CONTAINERS] = {
    [TENON_CONTAINER_GGUF] = {"gguf", "GGUF", ".gguf"},
    [TENON_CONTAINER_SAFETENSORS] = {"safetensors", "safetensors", ".safetensors"},
};

const struct tenon_container *tenon_container_find(const char *format)
{
    for (size_t i = 0; i < TENON_N_CONTAINERS; i++)
        if (strcmp(tenon_containers[i].format, format) == 0)
            return &tenon_containers[i];
    return NULL;
}

/* Lower case, in ASCII only. */
static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool ends_with(const char *path, const char *extension)
{
    size_t n = strlen(path), m = strlen(extension);

    if (n < m)
        return false;
    for (size_t i = 0; i < m; i++)
        if (lower(path[n - m + i]) != extension[i])
            return false;
    return true;
}

const struct tenon_container *tenon_container_of_path(const char *path)
{
    for (size_t i = 0; i < TENON_N_CONTAINERS; i++)
        if (ends_with(path, tenon_containers[i].extension))
            return &tenon_containers[i];
    return NULL;
}

enum tenon_status tenon_container_of_model(const struct tenon_model *model,
                                           const struct tenon_container **out,
                                           struct tenon_error *err)
{
    *out = tenon_container_find(tenon_model_format(model));
    if (*out != NULL && tenon_model_n_files(model) > 0)
        return TENON_OK;
    return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                      "models of the format '%s' are not rewritten", tenon_model_format(model));
}

enum tenon_status tenon_plan_note_left(struct tenon_plan *plan, const struct tenon_model *model,
                                       struct tenon_error *err)
{
    if (!tenon_model_is_directory(model) || tenon_model_n_side_files(model) == 0)
        return TENON_OK;
    return tenon_plan_add_note(plan, err, "config and tokenizer stay behind");
}

struct tenon_plan_file tenon_plan_file_like(const struct tenon_model *model,
                                            const struct tenon_container *container)
{
    const struct tenon_file *first = tenon_model_file(model, 0);

    return (struct tenon_plan_file){
        .kind = TENON_PLAN_MODEL,
        .format = container->format,
        .version = first->version > 1 ? first->version : 0,
        .big_endian = first->big_endian,
        .alignment = first->alignment,
    };
}

bool tenon_plan_is_split_key(struct tenon_str key)
{
    return tenon_str_equal(key, "split.no") || tenon_str_equal(key, "split.count") ||
           tenon_str_equal(key, "split.tensors.count");
}

enum tenon_status tenon_plan_metas_of(const struct tenon_model *model, size_t spare,
                                      struct tenon_meta_entry **out, size_t *out_n,
                                      struct tenon_error *err)
{
    size_t n = tenon_model_n_meta(model), used = 0, room;
    struct tenon_meta_entry *metas = NULL;

    if (tenon_size_add(&room, n, spare))
        metas = tenon_mem_alloc(room, sizeof(*metas));
    if (metas == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct tenon_meta_entry *meta = tenon_model_meta(model, i);

        if (!tenon_plan_is_split_key(meta->key))
            metas[used++] = *meta;
    }
    *out = metas;
    *out_n = used;
    return TENON_OK;
}

enum tenon_status tenon_plan_list_repeats(struct tenon_plan *plan, const struct tenon_model *model,
                                          bool allowed, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < model->n_repeats; i++) {
        const struct tenon_meta_entry *repeat = &model->repeats[i];
        const struct tenon_meta_entry *first = tenon_model_find_key(model, repeat->key);

        if (first == NULL || tenon_plan_is_split_key(repeat->key) ||
            tenon_meta_equal(first, repeat))
            continue;
        st = tenon_plan_add_loss(plan, "metadata", repeat->key, "--drop-metadata", allowed, err,
                                 "'%s' has another value than '%s', which is kept",
                                 tenon_model_file(model, repeat->file)->path,
                                 tenon_model_file(model, first->file)->path);
    }
    return st;
}
