/* Cutting a model into files, and putting it together again. */
#include "tenon/split.h"

#include <string.h>

#include "fail.h"
#include "plan_shards.h"

/* split.no and split.count have 16 bits, split.tensors.count has 31. */
#define MOST_FILES   UINT16_MAX
#define MOST_TENSORS INT32_MAX

/* What a GGUF file has that says nothing about it. */
#define DEFAULT_ALIGNMENT 32

static const char alignment_key[] = "general.alignment";

/* A split that is being planned. */
struct split {
    const struct tenon_model *model;
    struct tenon_shard_limit limit;
    bool drop_metadata;
    struct tenon_str prefix;
    const struct tenon_container *container;
    struct tenon_plan *plan;
    uint32_t n_files;
    struct tenon_meta_entry *metas; /* of the first file, with room for those about the set */
    size_t n_metas;
};

static struct tenon_meta_entry number_entry(const char *key, enum tenon_meta_type type,
                                            uint64_t value)
{
    struct tenon_meta_entry entry = {
        .key = {key, strlen(key)}, .type = type, .item = type, .count = 1, .value = {.type = type}};

    if (type == TENON_META_I32)
        entry.value.as.i64 = (int64_t)value;
    else
        entry.value.as.u64 = value;
    return entry;
}

/* Adds the keys about the set, in the order in which llama.cpp's tool leaves them. */
static size_t add_split_keys(const struct split *s, uint32_t i, struct tenon_meta_entry *metas,
                             size_t n)
{
    metas[n++] = number_entry("split.no", TENON_META_U16, i);
    metas[n++] =
        number_entry("split.tensors.count", TENON_META_I32, tenon_model_n_tensors(s->model));
    metas[n++] = number_entry("split.count", TENON_META_U16, s->n_files);
    return n;
}

/* The first file has the model's metadata. The others only say what is needed to read them. */
static enum tenon_status add_gguf_file(struct split *s, uint32_t i, struct tenon_error *err)
{
    struct tenon_plan_file file = tenon_plan_file_like(s->model, s->container);
    struct tenon_meta_entry few[TENON_SPLIT_KEYS + 1];
    size_t n = 0;

    file.like = s->model; /* gaps and the end of the file go along, for the way back */
    file.path = tenon_shard_path(s->plan, s->prefix, i, s->n_files, s->container->extension);
    if (file.path == NULL)
        return tenon_fail_memory(err);
    if (i != 0 && file.alignment != DEFAULT_ALIGNMENT)
        few[n++] = number_entry(alignment_key, TENON_META_U32, file.alignment);
    file.metas = i == 0 ? s->metas : few;
    file.n_metas =
        i == 0 ? add_split_keys(s, i, s->metas, s->n_metas) : add_split_keys(s, i, few, n);
    return tenon_plan_add_file(s->plan, &file, NULL, err);
}

/* Spreads the tensors over files by their padded sizes. */
static enum tenon_status spread(struct split *s, struct tenon_error *err)
{
    uint64_t alignment = tenon_model_file(s->model, 0)->alignment;
    struct tenon_shards shards = {.limit = s->limit};

    for (size_t i = 0; i < s->plan->n_tensors; i++) {
        uint64_t bytes;

        if (!tenon_u64_align(&bytes, tenon_plan_tensor_bytes(s->plan, i), alignment))
            return tenon_fail(err, TENON_ERR_CORRUPT, TENON_NO_OFFSET, "too many bytes");
        s->plan->tensors[i].file = tenon_shards_take_in_order(&shards, bytes);
    }
    s->n_files = shards.filling + 1;
    return TENON_OK;
}

static enum tenon_status add_gguf_files(struct split *s, struct tenon_error *err)
{
    enum tenon_status st = spread(s, err);

    if (st == TENON_OK && (s->n_files > MOST_FILES || s->plan->n_tensors > MOST_TENSORS))
        st = tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                        "%u files for %zu tensors, a set has at most %d and %d", s->n_files,
                        s->plan->n_tensors, MOST_FILES, MOST_TENSORS);
    for (uint32_t i = 0; st == TENON_OK && i < s->n_files; i++)
        st = add_gguf_file(s, i, err);
    return st;
}

static enum tenon_status add_safetensors_files(struct split *s, struct tenon_error *err)
{
    struct tenon_plan_file file = tenon_plan_file_like(s->model, s->container);

    file.metas = s->metas;
    file.n_metas = s->n_metas;
    return tenon_plan_add_shards(s->plan, &file, s->prefix, s->limit, err);
}

static enum tenon_status plan_split(struct split *s, struct tenon_error *err)
{
    enum tenon_status st = tenon_plan_add_model(s->plan, s->model, err);

    for (size_t i = 0; st == TENON_OK && i < tenon_model_n_tensors(s->model); i++)
        st = tenon_plan_add_tensor_of(s->plan, s->model, tenon_model_tensor(s->model, i), 0, err);
    if (st == TENON_OK)
        st = tenon_plan_metas_of(s->model, TENON_SPLIT_KEYS, &s->metas, &s->n_metas, err);
    if (st == TENON_OK)
        st = tenon_plan_list_repeats(s->plan, s->model, s->drop_metadata, err);
    if (st == TENON_OK)
        st = tenon_plan_note_left(s->plan, s->model, err);
    if (st != TENON_OK)
        return st;
    return s->container == &tenon_containers[TENON_CONTAINER_GGUF] ? add_gguf_files(s, err)
                                                                   : add_safetensors_files(s, err);
}

static enum tenon_status check_options(const struct tenon_split_options *options,
                                       struct tenon_error *err)
{
    if ((options->max_bytes != 0) != (options->max_tensors != 0))
        return TENON_OK;
    return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                      "the largest size of a file or the most tensors in it must be given, not %s",
                      options->max_bytes != 0 ? "both" : "neither");
}

enum tenon_status tenon_plan_split(const struct tenon_model *model, const char *prefix,
                                   const struct tenon_split_options *options,
                                   struct tenon_plan **out_plan, struct tenon_error *err)
{
    struct split s = {.model = model,
                      .limit = {options->max_bytes, options->max_tensors},
                      .drop_metadata = options->drop_metadata,
                      .prefix = {prefix, strlen(prefix)}};
    enum tenon_status st = check_options(options, err);

    if (st == TENON_OK)
        st = tenon_container_of_model(model, &s.container, err);
    if (st == TENON_OK)
        st = tenon_plan_new(prefix, &s.plan, err);
    if (st == TENON_OK) {
        s.plan->apart = true;
        st = plan_split(&s, err);
    }
    if (st == TENON_OK) {
        *out_plan = s.plan;
        s.plan = NULL;
    }
    tenon_mem_free(s.metas);
    tenon_plan_free(s.plan);
    return st;
}

/* --- putting together --- */

/* Whether the model is, or says that it is, a set. */
static bool is_set(const struct tenon_model *model)
{
    return tenon_model_n_files(model) > 1 || tenon_model_find_meta(model, "split.count") != NULL;
}

static enum tenon_status check_merge(const char *target, const struct tenon_container *container,
                                     struct tenon_error *err)
{
    const struct tenon_container *named = tenon_container_of_path(target);

    if (named == NULL || named == container)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
               "the input is %s, and merging does not make another format of it", container->title);
    tenon_fail_path(err, target);
    tenon_fail_hint(err, "name it NAME%s, or use 'tenon convert'", container->extension);
    return TENON_ERR_MISUSE;
}

enum tenon_status tenon_plan_merge(const struct tenon_model *model, const char *target,
                                   const struct tenon_merge_options *options,
                                   struct tenon_plan **out_plan, struct tenon_error *err)
{
    const struct tenon_container *container = NULL;
    struct tenon_meta_entry *metas = NULL;
    struct tenon_plan *plan = NULL;
    struct tenon_plan_file file = {0};
    enum tenon_status st = tenon_container_of_model(model, &container, err);

    if (st == TENON_OK)
        st = check_merge(target, container, err);
    if (st == TENON_OK)
        st = tenon_plan_new(target, &plan, err);
    if (st != TENON_OK)
        goto out;
    plan->apart = true;
    file = tenon_plan_file_like(model, container);
    file.path = target;
    if (container == &tenon_containers[TENON_CONTAINER_GGUF] || !is_set(model))
        file.like = model;
    st = tenon_plan_metas_of(model, 0, &metas, &file.n_metas, err);
    file.metas = metas;
    if (st == TENON_OK)
        st = tenon_plan_list_repeats(plan, model, options != NULL && options->drop_metadata, err);
    if (st == TENON_OK)
        st = tenon_plan_add_model(plan, model, err);
    if (st == TENON_OK)
        st = tenon_plan_add_file(plan, &file, NULL, err);
    for (size_t i = 0; st == TENON_OK && i < tenon_model_n_tensors(model); i++)
        st = tenon_plan_add_tensor_of(plan, model, tenon_model_tensor(model, i), 0, err);
    if (st == TENON_OK && !is_set(model))
        st = tenon_plan_add_note(plan, err, "one file: there is nothing to merge, so it is copied");
    if (st == TENON_OK)
        st = tenon_plan_note_left(plan, model, err);
    if (st != TENON_OK)
        goto out;
    *out_plan = plan;
    plan = NULL;
out:
    tenon_mem_free(metas);
    tenon_plan_free(plan);
    return st;
}
