#include "plan_mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "plan_like.h"
#include "text.h"

static const char config_name[] = "config.json";
static const char index_end[] = ".index.json";

/* --- names of the outputs --- */

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && memcmp(text + n - m, end, m) == 0;
}

static bool has_index(const struct tenon_model *model)
{
    for (size_t i = 0; i < model->n_sides; i++)
        if (ends_with(model->sides[i], index_end))
            return true;
    return false;
}

/* `folder`/`name` in the plan's arena; NULL when memory is gone. */
static const char *join(struct tenon_plan *plan, const char *folder, const char *name)
{
    size_t n = strlen(folder), room = 0;
    char *path;

    while (n > 1 && folder[n - 1] == '/')
        n--;
    if (!tenon_size_add(&room, n + 2, strlen(name)))
        return NULL;
    path = tenon_arena_alloc(&plan->arena, room, 1);
    if (path != NULL)
        snprintf(path, room, "%.*s%s%s", (int)n, folder, n == 1 && folder[0] == '/' ? "" : "/",
                 name);
    return path;
}

/* The name of a file below the model's folder. */
static const char *name_below(const struct tenon_model *model, const struct tenon_file *file)
{
    size_t n = strlen(model->path);

    while (n > 0 && model->path[n - 1] == '/')
        n--;
    if (model->directory && strncmp(file->path, model->path, n) == 0 && file->path[n] == '/') {
        const char *name = file->path + n;

        return name + strspn(name, "/");
    }
    return file->name;
}

/* The length of `path` without "-00001-of-00003.gguf", or without the extension. */
static size_t stem_length(const char *path)
{
    enum { NUMBERS = sizeof("-00001-of-00003") - 1 };
    const char *dot = strrchr(last_component(path), '.');
    size_t n = dot != NULL ? (size_t)(dot - path) : strlen(path);

    if (n > NUMBERS) {
        const char *p = path + n - NUMBERS;

        if (p[0] == '-' && strspn(p + 1, "0123456789") == 5 && memcmp(p + 6, "-of-", 4) == 0 &&
            strspn(p + 10, "0123456789") == 5)
            n -= NUMBERS;
    }
    return n;
}

/* The name of file `i` of a set, from that of any one. */
static const char *name_member(struct tenon_mirror *m, const char *target, size_t i)
{
    enum { ROOM = sizeof("-18446744073709551615-of-18446744073709551615") };
    const char *dot = strrchr(m->model->files[i].name, '.');
    const char *end = dot != NULL ? dot : "";
    size_t n = stem_length(target), room = 0;
    char *path;

    if (!tenon_size_add(&room, n + ROOM, strlen(end)))
        return NULL;
    path = tenon_arena_alloc(&m->plan->arena, room, 1);
    if (path != NULL)
        snprintf(path, room, "%.*s-%05zu-of-%05zu%s", (int)n, target, i + 1, m->n_files, end);
    return path;
}

/* The folder of the file `path`, "." when there is none. */
static const char *folder_of(struct tenon_plan *plan, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return ".";
    return tenon_arena_text(&plan->arena, path, slash > path ? (size_t)(slash - path) : 1);
}

/* The format whose extension `target` has; NULL when it has none of those. */
static const char *format_of_name(const char *target)
{
    if (ends_with(target, ".gguf"))
        return "gguf";
    return ends_with(target, ".safetensors") ? "safetensors" : NULL;
}

static enum tenon_status check_name(const struct tenon_mirror *m, const char *target, bool folder,
                                    struct tenon_error *err)
{
    const char *format = format_of_name(target);

    if (format == NULL || m->in_place)
        return TENON_OK;
    if (folder) {
        tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                   "the output is a folder like the input, but is called like a file");
        tenon_fail_hint(err, "name a folder; 'tenon merge' makes one file of it");
    } else if (strcmp(format, m->model->format) != 0) {
        tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                   "the output is %s like the input, but is called .%s", m->model->format, format);
        tenon_fail_hint(err, "'tenon convert' makes another format");
    } else {
        return TENON_OK;
    }
    tenon_fail_path(err, target);
    return TENON_ERR_MISUSE;
}

static enum tenon_status name_files(struct tenon_mirror *m, const char *target,
                                    struct tenon_error *err)
{
    const struct tenon_model *model = m->model;
    bool folder = model->directory || (m->n_files > 1 && has_index(model));

    if (strcmp(target, "-") == 0 && (folder || m->n_files > 1)) {
        tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                   "a model of several files cannot be written to standard output");
        return TENON_ERR_MISUSE;
    }
    if (check_name(m, target, folder, err) != TENON_OK)
        return TENON_ERR_MISUSE;
    if (folder) {
        m->plan->folder =
            m->in_place && !model->directory ? folder_of(m->plan, target) : m->plan->target;
        if (m->plan->folder == NULL)
            return tenon_fail_memory(err);
    }
    for (size_t i = 0; i < m->n_files; i++) {
        const struct tenon_file *file = &model->files[i];

        if (m->in_place)
            m->files[i].path = file->path;
        else if (folder)
            m->files[i].path = join(m->plan, m->plan->folder, name_below(model, file));
        else
            m->files[i].path = m->n_files == 1 ? m->plan->target : name_member(m, target, i);
        if (m->files[i].path == NULL)
            return tenon_fail_memory(err);
    }
    return TENON_OK;
}

/* --- pairs --- */

static int compare_offsets(const void *a, const void *b)
{
    const struct tenon_meta_entry *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Pairs of `list` that stand in `file` itself, not in an index. */
static enum tenon_status take_metas(struct tenon_mirror_file *out,
                                    const struct tenon_meta_entry *list, size_t n, uint32_t file,
                                    struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < n; i++)
        if (list[i].file == file && list[i].offset != TENON_NO_OFFSET)
            st = tenon_mirror_insert_meta(out, out->n_metas, &list[i], err);
    return st;
}

static enum tenon_status read_metas(struct tenon_mirror *m, struct tenon_error *err)
{
    const struct tenon_model *model = m->model;
    enum tenon_status st = TENON_OK;

    for (uint32_t i = 0; st == TENON_OK && i < m->n_files; i++) {
        struct tenon_mirror_file *file = &m->files[i];
        size_t first;

        st = take_metas(file, model->metas, model->n_metas, i, err);
        first = file->n_metas;
        if (st == TENON_OK)
            st = take_metas(file, model->repeats, model->n_repeats, i, err);
        if (first < file->n_metas)
            qsort(file->metas, file->n_metas, sizeof(*file->metas), compare_offsets);
    }
    return st;
}

size_t tenon_mirror_find_meta(const struct tenon_mirror_file *file, struct tenon_str key)
{
    size_t i = 0;

    while (i < file->n_metas &&
           (file->metas[i].key.len != key.len ||
            (key.len > 0 && memcmp(file->metas[i].key.data, key.data, key.len) != 0)))
        i++;
    return i;
}

enum tenon_status tenon_mirror_insert_meta(struct tenon_mirror_file *file, size_t at,
                                           const struct tenon_meta_entry *entry,
                                           struct tenon_error *err)
{
    struct tenon_meta_entry *metas =
        tenon_mem_grow(file->metas, &file->room, file->n_metas, sizeof(*metas));

    if (metas == NULL)
        return tenon_fail_memory(err);
    file->metas = metas;
    memmove(metas + at + 1, metas + at, (file->n_metas - at) * sizeof(*metas));
    metas[at] = *entry;
    file->n_metas++;
    return TENON_OK;
}

void tenon_mirror_remove_meta(struct tenon_mirror_file *file, size_t at)
{
    file->n_metas--;
    memmove(file->metas + at, file->metas + at + 1, (file->n_metas - at) * sizeof(*file->metas));
}

struct tenon_meta_entry tenon_mirror_text(struct tenon_str key, struct tenon_str value)
{
    return (struct tenon_meta_entry){
        .key = key,
        .type = TENON_META_STRING,
        .item = TENON_META_STRING,
        .count = 1,
        .value = {.type = TENON_META_STRING, .as.str = value},
    };
}

/* --- all --- */

enum tenon_status tenon_mirror_init(struct tenon_mirror *mirror, const struct tenon_model *model,
                                    const char *target, struct tenon_error *err)
{
    const struct tenon_container *container;
    enum tenon_status st = tenon_container_of_model(model, &container, err);

    mirror->model = model;
    mirror->in_place = strcmp(target, model->path) == 0;
    if (st == TENON_OK)
        st = tenon_plan_new(target, &mirror->plan, err);
    if (st == TENON_OK)
        st = tenon_plan_add_model(mirror->plan, model, err);
    if (st != TENON_OK)
        return st;
    mirror->files = tenon_mem_alloc(model->n_files, sizeof(*mirror->files));
    if (mirror->files == NULL)
        return tenon_fail_memory(err);
    mirror->n_files = model->n_files;
    st = name_files(mirror, target, err);
    return st == TENON_OK ? read_metas(mirror, err) : st;
}

void tenon_mirror_release(struct tenon_mirror *mirror)
{
    for (size_t i = 0; i < mirror->n_files; i++)
        tenon_mem_free(mirror->files[i].metas);
    tenon_mem_free(mirror->files);
    tenon_plan_free(mirror->plan);
}

/* The pair by which each file of a GGUF set says how many tensors all have. */
static void count_tensors(struct tenon_mirror_file *file, uint64_t n)
{
    static const char key[] = "split.tensors.count";
    size_t i = tenon_mirror_find_meta(file, (struct tenon_str){key, sizeof(key) - 1});

    if (i < file->n_metas && file->metas[i].type == TENON_META_I32 && n <= INT32_MAX)
        file->metas[i].value.as.i64 = (int64_t)n;
}

/* Whether file `i` loses its last tensor, and an index says which files there are. */
static bool is_needless(const struct tenon_mirror *m, uint32_t i)
{
    if (m->files[i].n_tensors > 0 || m->n_files == 1 || !has_index(m->model))
        return false;
    for (size_t t = 0; t < m->model->n_tensors; t++)
        if (m->model->tensors[t].file == i)
            return true;
    return false;
}

static enum tenon_status add_file(struct tenon_mirror *m, uint32_t i, uint64_t n_tensors,
                                  struct tenon_error *err)
{
    const struct tenon_file *old = &m->model->files[i];
    struct tenon_mirror_file *new = &m->files[i];
    struct tenon_plan_file file = {
        .kind = TENON_PLAN_MODEL,
        .path = new->path,
        .format = old->format,
        .version = old->version > 1 ? old->version : 0,
        .big_endian = old->big_endian,
        .alignment = m->alignment != 0 ? m->alignment : old->alignment,
        .metas = new->metas,
        .like = m->model,
        .like_file = i,
    };

    new->number = TENON_NO_INDEX;
    if (is_needless(m, i))
        return m->in_place ? tenon_plan_add_stale(m->plan, new->path, err) : TENON_OK;
    count_tensors(new, n_tensors);
    file.n_metas = new->n_metas;
    return tenon_plan_add_file(m->plan, &file, &new->number, err);
}

enum tenon_status tenon_mirror_add_files(struct tenon_mirror *mirror, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    uint64_t n_tensors = 0;

    for (size_t i = 0; i < mirror->n_files; i++)
        n_tensors += mirror->files[i].n_tensors;
    if (mirror->n_files > 0 && mirror->model->files[0].version == 1)
        st = tenon_plan_add_note(mirror->plan, err,
                                 "version 1 of GGUF is not written: the output has the newest");
    for (uint32_t i = 0; st == TENON_OK && i < mirror->n_files; i++)
        st = add_file(mirror, i, n_tensors, err);
    return st;
}

bool tenon_mirror_has_config(const struct tenon_mirror *mirror)
{
    const struct tenon_model *model = mirror->model;

    if (mirror->plan->folder == NULL)
        return false;
    for (size_t i = 0; i < model->n_sides; i++)
        if (strcmp(last_component(model->sides[i]), config_name) == 0)
            return true;
    return false;
}
