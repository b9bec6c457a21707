/* Which of the files in a folder are the model. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "hf.h"
#include "hf_names.h"
#include "hf_shards.h"
#include "open.h"
#include "probe.h"
#include "safetensors.h"

/* Ways to a model, best first. */
enum way {
    WAY_INDEX,        /* model.safetensors.index.json */
    WAY_SINGLE,       /* model.safetensors */
    WAY_SHARDS,       /* shards without an index */
    WAY_OTHER_INDEX,  /* *.safetensors.index.json */
    WAY_OTHER_SINGLE, /* *.safetensors */
    WAY_TORCH,        /* pytorch_model.bin, with or without index */
    WAY_GGUF,         /* *.gguf */
    N_WAYS
};

/* The candidates of one way: "a, b" as far as they fit. */
struct candidates {
    const char *first;
    size_t n, listed;
    char names[TENON_ERROR_TEXT_BYTES / 2];
    size_t used;
};

struct folder {
    struct tenon_model *model;
    const char *prefix;
    struct tenon_hf_listing listing;
    struct candidates ways[N_WAYS];
};

static void add_candidate(struct candidates *c, const char *name)
{
    size_t room = sizeof(c->names) - sizeof(" and 18446744073709551615 more") - c->used;
    int n;

    if (c->n++ == 0)
        c->first = name;
    if (c->listed + 1 != c->n)
        return; /* an earlier one did not fit */
    n = snprintf(c->names + c->used, room, "%s%s", c->n > 1 ? ", " : "", name);
    if (n > 0 && (size_t)n < room) {
        c->used += (size_t)n;
        c->listed++;
    } else {
        c->names[c->used] = '\0';
    }
}

/* The list, with the number of those that it lacks. */
static const char *list(struct candidates *c)
{
    if (c->listed < c->n)
        snprintf(c->names + c->used, sizeof(c->names) - c->used, "%s%zu more",
                 c->listed != 0 ? " and " : "", c->n - c->listed);
    return c->names;
}

static bool ends_with(const char *name, const char *suffix)
{
    return tenon_text_ends_with(name, strlen(name), suffix);
}

/* Whether an earlier name of the listing is a shard of the same set. */
static bool is_later_shard(const struct folder *f, size_t i, const char *extension,
                           const struct tenon_split_name *parts)
{
    const char *name = f->listing.names[i];

    for (size_t k = i; k-- > 0;) {
        struct tenon_split_name other;
        const char *before = f->listing.names[k];

        if (strncmp(before, name, parts->prefix_len) != 0)
            return false; /* sorted: no earlier name has this stem */
        if (tenon_split_name_parse(before, extension, &other) &&
            other.prefix_len == parts->prefix_len && other.count == parts->count &&
            other.digits == parts->digits)
            return true;
    }
    return false;
}

/* The way that a file name opens, N_WAYS for none. */
static enum way way_of(const char *name)
{
    static const struct {
        const char *text;
        bool whole; /* the whole name, else its end */
        enum way way;
    } rows[] = {
        {"model.safetensors.index.json", true, WAY_INDEX},
        {"model.safetensors", true, WAY_SINGLE},
        {"pytorch_model.bin.index.json", true, WAY_TORCH},
        {"pytorch_model.bin", true, WAY_TORCH},
        {".safetensors.index.json", false, WAY_OTHER_INDEX},
        {".safetensors", false, WAY_OTHER_SINGLE},
        {".gguf", false, WAY_GGUF},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].whole ? strcmp(name, rows[i].text) == 0 : ends_with(name, rows[i].text))
            return rows[i].way;
    return N_WAYS;
}

/* A projector beside a GGUF model is no model of its own. */
static bool is_projector(const char *name)
{
    return strncmp(name, "mmproj", 6) == 0;
}

static void sort_out(struct folder *f)
{
    for (size_t i = 0; i < f->listing.n; i++) {
        const char *name = f->listing.names[i];
        enum way way = way_of(name);
        struct tenon_split_name parts;

        if (way == N_WAYS || (way == WAY_GGUF && is_projector(name)))
            continue;
        if (way == WAY_OTHER_SINGLE && tenon_split_name_parse(name, ".safetensors", &parts)) {
            if (!is_later_shard(f, i, ".safetensors", &parts))
                add_candidate(&f->ways[WAY_SHARDS], name);
            continue;
        }
        if (way == WAY_GGUF && tenon_split_name_parse(name, ".gguf", &parts) &&
            is_later_shard(f, i, ".gguf", &parts))
            continue;
        add_candidate(&f->ways[way], name);
    }
}

static enum tenon_status fail_empty(const struct folder *f, struct tenon_error *err)
{
    struct candidates all = {.n = 0};

    for (size_t i = 0; i < f->listing.n; i++)
        add_candidate(&all, f->listing.names[i]);
    if (all.n == 0)
        tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET,
                   "the folder holds no file of a model");
    else
        tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET,
                   "the folder holds no weights that can be read, only %zu other file%s: %s", all.n,
                   all.n == 1 ? "" : "s", list(&all));
    tenon_fail_hint(err, "weights are looked for in model.safetensors.index.json, "
                         "model.safetensors, other safetensors files and one GGUF file");
    return TENON_ERR_NOT_FOUND;
}

static enum tenon_status fail_torch(struct folder *f, struct tenon_error *err)
{
    struct candidates *gguf = &f->ways[WAY_GGUF];

    tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
               "the weights are a PyTorch checkpoint (%s), which is recognised but not read",
               list(&f->ways[WAY_TORCH]));
    if (gguf->n != 0)
        tenon_fail_hint(err, "name the GGUF file beside it: %s", list(gguf));
    else
        tenon_fail_hint(err, "save the model as safetensors");
    return TENON_ERR_UNSUPPORTED_FEATURE;
}

static enum tenon_status fail_ambiguous(struct candidates *c, struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_AMBIGUOUS, TENON_NO_OFFSET,
               "the folder holds %zu models that are equally good: %s", c->n, list(c));
    tenon_fail_hint(err, "name the file instead of the folder");
    return TENON_ERR_AMBIGUOUS;
}

static enum tenon_status take_way(struct folder *f, enum way way, struct tenon_error *err)
{
    const char *name = f->ways[way].first;
    const char *path;

    if (way == WAY_TORCH)
        return fail_torch(f, err);
    if (f->ways[way].n > 1)
        return fail_ambiguous(&f->ways[way], err);
    if (way == WAY_GGUF) {
        path = tenon_hf_join(tenon_model_arena(f->model), f->prefix, name);
        return path != NULL ? tenon_open_path(f->model, path, err) : tenon_fail_memory(err);
    }
    tenon_model_set_format(f->model, tenon_format_safetensors.info.name);
    if (way == WAY_INDEX || way == WAY_OTHER_INDEX)
        return tenon_hf_open_indexed(f->model, f->prefix, name, err);
    if (way == WAY_SHARDS)
        return tenon_hf_open_shards(f->model, f->prefix, name, err);
    return tenon_hf_open_single(f->model, f->prefix, name, err);
}

/* Whether the model has that file; its files are sorted by name. */
static bool is_opened(const struct tenon_model *model, const char *name)
{
    size_t first = 0, last = tenon_model_n_files(model);

    while (first < last) {
        size_t middle = first + (last - first) / 2;
        int order = strcmp(name, tenon_model_file(model, middle)->name);

        if (order == 0)
            return true;
        if (order < 0)
            last = middle;
        else
            first = middle + 1;
    }
    return false;
}

/* Safetensors files in the folder that are no part of the model. */
static enum tenon_status report_strays(const struct folder *f, struct tenon_error *err)
{
    struct candidates strays = {.n = 0};
    enum tenon_status st;

    for (size_t i = 0; i < f->listing.n; i++) {
        const char *name = f->listing.names[i];

        if (ends_with(name, ".safetensors") && !is_opened(f->model, name))
            add_candidate(&strays, name);
    }
    if (strays.n == 0)
        return TENON_OK;
    st = tenon_model_find_fault(f->model, "stray_file", TENON_NO_INDEX, TENON_NO_OFFSET,
                                strays.first, strlen(strays.first),
                                "%zu safetensors file%s beside the model, not part of it: %s",
                                strays.n, strays.n == 1 ? "" : "s", list(&strays));
    return st == TENON_OK ? st : tenon_fail_memory(err);
}

/* The folder's path with a slash at its end. */
static char *make_prefix(struct tenon_model *model, const char *path)
{
    size_t n = strlen(path);

    return tenon_hf_join(tenon_model_arena(model), path, n != 0 && path[n - 1] == '/' ? "" : "/");
}

static enum tenon_status open_folder(struct folder *f, struct tenon_error *err)
{
    enum tenon_status st =
        tenon_hf_listing_read(&f->listing, tenon_model_arena(f->model), f->prefix, err);
    int way = 0;

    if (st != TENON_OK)
        return st;
    sort_out(f);
    while (way < N_WAYS && f->ways[way].n == 0)
        way++;
    if (way == N_WAYS)
        return fail_empty(f, err);
    st = take_way(f, (enum way)way, err);
    if (st != TENON_OK || way == WAY_GGUF)
        return st;
    st = report_strays(f, err);
    return st == TENON_OK ? tenon_hf_read_beside(f->model, f->prefix, err) : st;
}

bool tenon_hf_is_directory(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

enum tenon_status tenon_hf_open_directory(struct tenon_model *model, const char *path,
                                          struct tenon_error *err)
{
    struct folder f = {.model = model};
    enum tenon_status st;

    f.prefix = make_prefix(model, path);
    if (f.prefix == NULL)
        return tenon_fail_memory(err);
    tenon_model_set_directory(model);
    st = open_folder(&f, err);
    tenon_fail_path(err, path);
    tenon_hf_listing_release(&f.listing);
    return st;
}

/* --- one file --- */

/* The part of a path up to its last slash, in the arena. */
static char *prefix_of(struct tenon_model *model, const char *path)
{
    const char *slash = strrchr(path, '/');

    return tenon_arena_text(tenon_model_arena(model), path,
                            slash != NULL ? (size_t)(slash - path) + 1 : 0);
}

enum tenon_status tenon_hf_open_file(struct tenon_model *model, struct tenon_source *source,
                                     struct tenon_error *err)
{
    const char *path = tenon_source_path(source);
    struct tenon_split_name parts;
    char *prefix = prefix_of(model, path);
    char *name = NULL;
    enum tenon_status st;
    uint32_t file;

    if (prefix != NULL)
        name = tenon_hf_join(tenon_model_arena(model), "", path + strlen(prefix));
    if (name == NULL) {
        tenon_source_free(source);
        return tenon_fail_memory(err);
    }
    if (tenon_model_options(model)->format == NULL &&
        tenon_split_name_parse(name, ".safetensors", &parts) && parts.count > 1) {
        tenon_source_free(source);
        st = tenon_hf_open_shards(model, prefix, name, err);
    } else {
        st = tenon_add_source(model, source, &tenon_format_safetensors, &file, err);
        if (st == TENON_OK)
            st = tenon_safetensors_read(model, file, NULL, NULL, err);
    }
    if (st == TENON_OK && strncmp(name, "model", 5) == 0)
        st = tenon_hf_read_beside(model, prefix, err);
    return st;
}
