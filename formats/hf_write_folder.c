#include "hf_write_folder.h"

#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "hf_edit_index.h"
#include "hf_index.h"
#include "hf_names.h"
#include "hf_write_copy.h"
#include "hf_write_index.h"
#include "json_edit.h"
#include "json_tree.h"
#include "model_build.h"

static const char shard_end[] = ".safetensors";

/* A folder that is being written. */
struct output {
    struct tenon_plan *plan;
    const struct tenon_model *model; /* the input */
    const char *from, *to;           /* the folders, with a slash at their ends; `from` may be "" */
    size_t first, n_shards;          /* files with tensors in safetensors: the first, how many */
};

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* `folder` with one slash at its end. */
static const char *with_slash(struct tenon_plan *plan, const char *folder)
{
    size_t n = strlen(folder);
    char *path;

    while (n > 0 && folder[n - 1] == '/')
        n--;
    path = tenon_arena_text(&plan->arena, folder, n);
    return path != NULL ? tenon_hf_join(&plan->arena, path, "/") : NULL;
}

static enum tenon_status find_folders(struct output *o, struct tenon_error *err)
{
    struct tenon_plan *plan = o->plan;

    o->to = with_slash(plan, plan->folder);
    if (tenon_model_is_directory(o->model)) {
        o->from = with_slash(plan, tenon_model_path(o->model));
    } else {
        const char *path = tenon_model_file(o->model, 0)->path;

        o->from = tenon_arena_text(&plan->arena, path, (size_t)(last_component(path) - path));
    }
    for (size_t i = plan->n_files; i-- > 0;)
        if (plan->files[i].kind == TENON_PLAN_MODEL &&
            strcmp(plan->files[i].format, "safetensors") == 0) {
            o->first = i;
            o->n_shards++;
        }
    return o->from != NULL && o->to != NULL ? TENON_OK : tenon_fail_memory(err);
}

/* Whether both paths lead to one folder. */
static bool is_same_folder(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a[0] != '\0' ? a : ".", &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* The file `path` as a text (tenon_mem_free). */
static enum tenon_status read_text(const char *path, uint64_t limit, struct tenon_json_out *out,
                                   struct tenon_error *err)
{
    struct tenon_source *source = NULL;
    enum tenon_status st = tenon_source_open_file(path, &source, err);

    if (st == TENON_OK)
        st = tenon_source_slurp(source, limit, &out->data, &out->len, err);
    tenon_fail_path(err, path);
    tenon_source_free(source);
    return st;
}

/* --- configs --- */

/* Carries out one edit; one that finds nothing to do is fine, and leaves `text` as it is. */
static enum tenon_status edit_text(struct tenon_json_out *text, enum tenon_json_edit_kind kind,
                                   const struct tenon_plan_flag *flag, const char *value,
                                   struct tenon_error *err)
{
    struct tenon_json_edit edit = {kind, flag->key, value};
    struct tenon_json_out out = {0};
    struct tenon_error fault = {0};
    enum tenon_status st = tenon_json_edit((struct tenon_str){text->data, text->len}, &edit, &out,
                                           kind == TENON_JSON_SET ? err : &fault);

    if (st == TENON_OK) {
        tenon_mem_free(text->data);
        *text = out;
    } else if (kind != TENON_JSON_SET && st != TENON_ERR_NOT_FOUND) {
        tenon_fail(err, st, fault.offset, "%s", fault.message);
    }
    return st;
}

/* What an untie put in goes away; what else there is becomes true. */
static enum tenon_status set_default(struct tenon_json_out *text,
                                     const struct tenon_plan_flag *flag, struct tenon_error *err)
{
    struct tenon_json_out without = {0};
    struct tenon_json_edit remove = {TENON_JSON_REMOVE, flag->key, NULL};
    enum tenon_status st = edit_text(text, TENON_JSON_UNDO, flag, "false", err);

    if (st != TENON_ERR_NOT_FOUND)
        return st;
    st = tenon_json_edit((struct tenon_str){text->data, text->len}, &remove, &without, NULL);
    if (st == TENON_ERR_NOT_FOUND)
        return TENON_OK; /* silent, which means the same */
    tenon_mem_free(without.data);
    return edit_text(text, TENON_JSON_SET, flag, "true", err);
}

/* A member that is there gets another value. */
static enum tenon_status set_existing(struct tenon_json_out *text,
                                      const struct tenon_plan_flag *flag, struct tenon_error *err)
{
    struct tenon_json_out without = {0};
    struct tenon_json_edit remove = {TENON_JSON_REMOVE, flag->key, NULL};
    struct tenon_str whole = {text->data, text->len};

    if (tenon_json_edit(whole, &remove, &without, NULL) == TENON_ERR_NOT_FOUND)
        return TENON_OK;
    tenon_mem_free(without.data);
    return edit_text(text, TENON_JSON_SET, flag, flag->text, err);
}

static enum tenon_status apply_flag(struct tenon_json_out *text, const struct tenon_plan_flag *flag,
                                    struct tenon_error *err)
{
    enum tenon_status st;

    switch (flag->value) {
    case TENON_FLAG_FALSE:
        st = edit_text(text, TENON_JSON_SET, flag, "false", err);
        break;
    case TENON_FLAG_TRUE:
        st = edit_text(text, TENON_JSON_SET, flag, "true", err);
        break;
    case TENON_FLAG_REMOVE:
        st = edit_text(text, TENON_JSON_REMOVE, flag, NULL, err);
        st = st == TENON_ERR_NOT_FOUND ? TENON_OK : st;
        break;
    case TENON_FLAG_TEXT:
        st = set_existing(text, flag, err);
        break;
    case TENON_FLAG_DEFAULT:
    default:
        st = set_default(text, flag, err);
        break;
    }
    if (st != TENON_OK)
        tenon_fail_subject(err, "key", flag->key, strlen(flag->key));
    return st;
}

/* The config that flag `first` is about, with all flags about it. */
static enum tenon_status write_config(struct output *o, size_t first, struct tenon_error *err)
{
    const struct tenon_plan_flag *flags = o->plan->flags;
    const char *from = tenon_hf_join(&o->plan->arena, o->from, flags[first].name);
    const char *to = tenon_hf_join(&o->plan->arena, o->to, flags[first].name);
    struct tenon_json_out text = {0};
    enum tenon_status st = from != NULL && to != NULL
                               ? read_text(from, TENON_JSON_TREE_BYTES, &text, err)
                               : tenon_fail_memory(err);

    for (size_t i = first; st == TENON_OK && i < o->plan->n_flags; i++)
        if (strcmp(flags[i].name, flags[first].name) == 0)
            st = apply_flag(&text, &flags[i], err);
    if (st == TENON_OK)
        st = tenon_plan_add_text(o->plan, to, text.data, text.len, false, err);
    else if (from != NULL)
        tenon_fail_path(err, from);
    tenon_mem_free(text.data);
    return st;
}

static enum tenon_status write_configs(struct output *o, struct tenon_error *err)
{
    const struct tenon_plan_flag *flags = o->plan->flags;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < o->plan->n_flags; i++) {
        bool done = false;

        for (size_t k = 0; k < i; k++)
            done |= strcmp(flags[k].name, flags[i].name) == 0;
        if (!done)
            st = write_config(o, i, err);
    }
    return st;
}

/* --- the index --- */

/* The index that the model was read by, NULL when there was none. */
static const char *old_index(const struct output *o)
{
    for (size_t i = 0; i < tenon_model_n_side_files(o->model); i++) {
        const char *path = tenon_model_side_file(o->model, i);

        if (strstr(last_component(path), ".safetensors.index.") != NULL)
            return path;
    }
    return NULL;
}

/* Whether every shard is an edited copy of one of the model's. */
static bool is_edited(const struct output *o)
{
    for (size_t i = 0; i < o->plan->n_files; i++)
        if (o->plan->files[i].kind == TENON_PLAN_MODEL && o->plan->files[i].like != o->model)
            return false;
    return true;
}

static enum tenon_status edit_index(struct output *o, const char *old, struct tenon_error *err)
{
    const char *path = tenon_hf_join(&o->plan->arena, o->to, last_component(old));
    uint64_t limit = tenon_model_options(o->model)->limits.json_bytes;
    struct tenon_json_out text = {0};
    enum tenon_status st =
        path != NULL ? read_text(old, limit, &text, err) : tenon_fail_memory(err);

    if (st == TENON_OK)
        st = tenon_hf_edit_index(o->plan, o->model, text, path, err);
    tenon_fail_path(err, old);
    return st;
}

/* The name that the index of the output has, or would have; NULL when memory is gone. */
static const char *index_path(const struct output *o)
{
    struct tenon_arena *arena = &o->plan->arena;
    const char *name = last_component(o->plan->files[o->first].path);
    size_t n = strlen(name), m = sizeof(shard_end) - 1;
    struct tenon_split_name parts;
    const char *stem;

    if (tenon_split_name_parse(name, shard_end, &parts))
        stem = tenon_hf_name_index(arena, name, &parts);
    else
        stem = tenon_hf_join(arena, tenon_arena_text(arena, name, n > m ? n - m : n),
                             ".safetensors.index.json");
    return stem != NULL ? tenon_hf_join(arena, o->to, stem) : NULL;
}

static enum tenon_status write_index(struct output *o, struct tenon_error *err)
{
    const char *old = old_index(o), *path;

    if (o->n_shards == 0)
        return TENON_OK;
    if (is_edited(o))
        return old != NULL ? edit_index(o, old, err) : TENON_OK;
    if (o->n_shards == 1)
        return TENON_OK;
    path = index_path(o);
    return path != NULL ? tenon_hf_write_index(o->plan, path, err) : tenon_fail_memory(err);
}

/* --- what lies there already --- */

static bool is_written(const struct tenon_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->n_files; i++)
        if (strcmp(plan->files[i].path, path) == 0)
            return true;
    return false;
}

/* Shards that the index at `path` names, and that are not written again. */
static enum tenon_status add_stale(struct output *o, const struct tenon_hf_index *index,
                                   struct tenon_error *err)
{
    size_t before = o->plan->n_stale;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < index->n_shards; i++) {
        struct tenon_str name = index->shards[i].name;
        const char *copy = tenon_arena_text(&o->plan->arena, name.data, name.len);
        const char *path = copy != NULL ? tenon_hf_join(&o->plan->arena, o->to, copy) : NULL;

        if (path == NULL)
            st = tenon_fail_memory(err);
        else if (!is_written(o->plan, path))
            st = tenon_plan_add_stale(o->plan, path, err);
    }
    if (st != TENON_OK || o->plan->n_stale == before)
        return st;
    return tenon_plan_add_note(o->plan, err, "%zu shard%s of the old index %s",
                               o->plan->n_stale - before, o->plan->n_stale - before == 1 ? "" : "s",
                               o->plan->n_stale - before == 1 ? "goes" : "go");
}

/* `index` without ".index.json", where a file of that name lies in the folder and is not written;
 * else NULL. */
static const char *find_single(struct output *o, const char *index)
{
    static const char end[] = ".index.json";
    const char *path = tenon_arena_text(&o->plan->arena, index, strlen(index) - (sizeof(end) - 1));
    struct stat info;

    return path != NULL && stat(path, &info) == 0 && !is_written(o->plan, path) ? path : NULL;
}

/* A model in one file would be loaded instead of the shards beside it. The input itself gives way
 * to its shards, another model does not. */
static enum tenon_status check_single(struct output *o, const char *index, struct tenon_error *err)
{
    const char *path = is_written(o->plan, index) ? find_single(o, index) : NULL;
    enum tenon_status st;

    if (path == NULL)
        return TENON_OK;
    for (size_t i = 0; i < tenon_model_n_files(o->model); i++)
        if (is_same_folder(o->from, o->to) &&
            strcmp(last_component(tenon_model_file(o->model, i)->path), last_component(path)) ==
                0) {
            st = tenon_plan_add_note(o->plan, err, "'%s' gives way to its shards",
                                     last_component(path));
            return st == TENON_OK ? tenon_plan_add_stale(o->plan, path, err) : st;
        }
    st = tenon_fail(err, TENON_ERR_EXISTS, TENON_NO_OFFSET,
                    "lies in the folder, and loaders would take it for the model");
    tenon_fail_hint(err, "remove it, or choose another folder");
    tenon_fail_path(err, path);
    return st;
}

/* An index that is there already is replaced; then the shards that only it names go away. One that
 * would remain beside other shards would be taken for theirs. */
static enum tenon_status find_stale(struct output *o, struct tenon_error *err)
{
    const char *path = o->n_shards > 0 ? index_path(o) : NULL;
    struct tenon_arena arena = {0};
    struct tenon_hf_index index = {.arena = &arena};
    struct tenon_source *source = NULL;
    struct tenon_error fault = {0};
    enum tenon_status st;

    if (o->n_shards == 0)
        return TENON_OK;
    if (path == NULL)
        return tenon_fail_memory(err);
    st = check_single(o, path, err);
    if (st != TENON_OK)
        return st;
    st = tenon_source_open_file(path, &source, &fault);
    if (st != TENON_OK)
        return st == TENON_ERR_NO_MEMORY ? tenon_fail_memory(err) : TENON_OK; /* none there */
    if (!is_written(o->plan, path)) {
        st = tenon_fail(err, TENON_ERR_EXISTS, TENON_NO_OFFSET,
                        "an index lies in the folder that is not that of the output");
        tenon_fail_hint(err, "choose another folder, or --max-shard-size: shards replace shards");
        tenon_fail_path(err, path);
    } else {
        st = tenon_hf_index_read(&index, source, tenon_model_options(o->model), &fault);
        st = st == TENON_ERR_NO_MEMORY ? tenon_fail_memory(err)
             : st == TENON_OK          ? add_stale(o, &index, err)
                                       : TENON_OK; /* what cannot be read names nothing */
    }
    tenon_hf_index_release(&index);
    tenon_arena_release(&arena);
    tenon_source_free(source);
    return st;
}

enum tenon_status tenon_hf_write_folder(struct tenon_plan *plan, struct tenon_error *err)
{
    struct output o = {.plan = plan};
    enum tenon_status st;

    if (plan->n_models == 0)
        return TENON_OK;
    o.model = plan->models[0];
    st = find_folders(&o, err);
    if (st == TENON_OK)
        st = write_configs(&o, err);
    if (st == TENON_OK)
        st = write_index(&o, err);
    if (st == TENON_OK && !is_same_folder(o.from, o.to))
        st = tenon_hf_write_copies(plan, o.model, (struct tenon_hf_way){o.from, o.to}, err);
    return st == TENON_OK ? find_stale(&o, err) : st;
}
