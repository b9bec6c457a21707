#include "tenon/convert.h"

#include <string.h>

#include "fail.h"
#include "plan_convert.h"
#include "plan_shards.h"
#include "tenon/logical.h"

void tenon_convert_options_init(struct tenon_convert_options *options)
{
    memset(options, 0, sizeof(*options));
}

/* --- where to --- */

static bool is_folder_name(const char *target)
{
    size_t n = strlen(target);

    return n > 0 && target[n - 1] == '/';
}

static enum tenon_status fail_target(struct tenon_error *err, const char *target, const char *what,
                                     const char *hint)
{
    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "%s", what);
    tenon_fail_path(err, target);
    tenon_fail_hint(err, "%s", hint);
    return TENON_ERR_MISUSE;
}

/* The container, by --to, the end of the name, or because a folder stays one. */
static enum tenon_status find_container(struct tenon_conversion *c, struct tenon_error *err)
{
    const struct tenon_container *by_name = tenon_container_of_path(c->target);
    const struct tenon_container *st = &tenon_containers[TENON_CONTAINER_SAFETENSORS];
    bool can_be_folder = tenon_model_is_directory(c->model) && c->from == st;

    if (c->options->format != NULL)
        c->to = tenon_container_find(c->options->format);
    else
        c->to = by_name != NULL ? by_name : can_be_folder ? st : NULL;
    if (c->to == NULL)
        return fail_target(err, c->target, "its name does not say which format it is to have",
                           "name it NAME.gguf or NAME.safetensors, or use --to");
    c->folder = can_be_folder && c->to == st && by_name != st && strcmp(c->target, "-") != 0;
    if (is_folder_name(c->target) && !c->folder)
        return fail_target(err, c->target, "the output is one file, not a folder",
                           "a folder can be made of a safetensors folder only");
    if (c->options->max_shard_bytes == 0)
        return TENON_OK;
    if (c->to != st)
        return fail_target(err, c->target, "shards of a largest size are for safetensors",
                           "cut the GGUF file with 'tenon split'");
    if (strcmp(c->target, "-") == 0)
        return fail_target(err, c->target, "a set of files cannot be written to standard output",
                           "name a file");
    return TENON_OK;
}

/* What the files have in common: what the input has, where its container stays. */
static void prepare_file(struct tenon_conversion *c)
{
    if (c->from == c->to)
        c->file = tenon_plan_file_like(c->model, c->to);
    else
        c->file = (struct tenon_plan_file){.kind = TENON_PLAN_MODEL, .format = c->to->format};
}

/* --- the tensors --- */

static enum tenon_status add_tensor(struct tenon_conversion *c, size_t i, struct tenon_error *err)
{
    const struct tenon_tensor *t = tenon_model_tensor(c->model, i);
    const struct tenon_choice *choice = &c->choices[i];
    struct tenon_plan_source source = {
        .model = c->model, .tensor = t, .n_rows = UINT64_MAX, .logical = choice->unpack};
    struct tenon_plan_tensor tensor = {
        .name = t->name,
        .dtype = (enum tenon_dtype)choice->dtype,
        .dtype_raw = t->dtype_raw,
        .n_dims = t->n_dims,
        .dims = t->dims,
        .sources = &source,
        .n_sources = 1,
    };
    struct tenon_logical logical;

    if (choice->unpack && tenon_logical_init(&logical, c->model, t)) {
        tensor.n_dims = logical.n_dims;
        tensor.dims = logical.dims;
    }
    return tenon_plan_add_tensor(c->plan, &tensor, err);
}

/* --- the files --- */

/* Without another wish a folder that came in shards stays one, in those of transformers' usual
 * size. */
#define USUAL_SHARD_BYTES UINT64_C(5000000000)

/* What the numbers of a set come behind: FOLDER/model, or the name of the file without its end. */
static enum tenon_status find_prefix(struct tenon_conversion *c, struct tenon_str *out,
                                     struct tenon_error *err)
{
    static const char model[] = "/model";
    size_t n = strlen(c->target), end = strlen(c->to->extension), room;
    char *prefix;

    if (!c->folder) {
        *out = (struct tenon_str){c->target,
                                  tenon_container_of_path(c->target) == c->to ? n - end : n};
        return TENON_OK;
    }
    while (n > 0 && c->target[n - 1] == '/')
        n--;
    if (!tenon_size_add(&room, n, sizeof(model)))
        return tenon_fail_memory(err);
    prefix = tenon_arena_alloc(&c->plan->arena, room, 1);
    if (prefix == NULL)
        return tenon_fail_memory(err);
    memcpy(prefix, c->target, n);
    memcpy(prefix + n, model, sizeof(model));
    *out = (struct tenon_str){prefix, room - 1};
    return TENON_OK;
}

static enum tenon_status add_set(struct tenon_conversion *c, struct tenon_error *err)
{
    struct tenon_shard_limit limit = {.bytes = c->options->max_shard_bytes};
    struct tenon_str prefix = {0};
    enum tenon_status st = find_prefix(c, &prefix, err);

    if (limit.bytes == 0 && tenon_model_n_files(c->model) > 1)
        limit.bytes = USUAL_SHARD_BYTES;
    return st == TENON_OK ? tenon_plan_add_shards(c->plan, &c->file, prefix, limit, err) : st;
}

static enum tenon_status add_files(struct tenon_conversion *c, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < tenon_model_n_tensors(c->model); i++)
        if (!c->choices[i].drop)
            st = add_tensor(c, i, err);
    if (st != TENON_OK)
        return st;
    if (c->folder)
        c->plan->folder = c->plan->target;
    if (c->folder || c->options->max_shard_bytes != 0)
        return add_set(c, err);
    c->file.path = c->target;
    return tenon_plan_add_file(c->plan, &c->file, NULL, err);
}

static enum tenon_status plan_conversion(struct tenon_conversion *c, struct tenon_error *err)
{
    enum tenon_status st = tenon_convert_choose(c, err);

    if (st == TENON_OK)
        st = tenon_plan_new(c->target, &c->plan, err);
    if (st == TENON_OK)
        st = tenon_plan_add_model(c->plan, c->model, err);
    if (st == TENON_OK)
        st = tenon_convert_metas(c, err);
    if (st == TENON_OK)
        st = add_files(c, err);
    return st == TENON_OK ? tenon_convert_notes(c, err) : st;
}

enum tenon_status tenon_plan_convert(const struct tenon_model *model, const char *target,
                                     const struct tenon_convert_options *options,
                                     struct tenon_plan **out_plan, struct tenon_error *err)
{
    static const struct tenon_convert_options defaults;
    struct tenon_conversion c = {
        .model = model, .options = options != NULL ? options : &defaults, .target = target};
    enum tenon_status st = tenon_container_of_model(model, &c.from, err);

    if (st == TENON_OK)
        st = find_container(&c, err);
    if (st != TENON_OK)
        return st;
    prepare_file(&c);
    c.choices = tenon_mem_alloc(tenon_model_n_tensors(model), sizeof(*c.choices));
    st = c.choices != NULL ? plan_conversion(&c, err) : tenon_fail_memory(err);
    if (st == TENON_OK) {
        *out_plan = c.plan;
        c.plan = NULL;
    }
    tenon_mem_free(c.choices);
    tenon_mem_free(c.metas);
    tenon_plan_free(c.plan);
    return st;
}
