#include "hf_write_copy.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "hf_names.h"
#include "tenon/text.h"
#include "text.h"

/* More files than these are not looked through. */
#define MOST_FILES 100000

/* Files and folders below the input folder, by their paths in it; they live in the plan's arena. */
struct names {
    const char **items;
    size_t n, room;
};

struct walk {
    struct tenon_plan *plan;
    const struct tenon_model *model;
    const char *from, *to;
    struct names files, folders;
    struct stat output; /* zero when it does not exist yet */
    size_t n_weights;
    const char *weights; /* the first that is left behind */
};

/* Endings of weights of the same model in other formats, and of what describes them. */
static const char *const weights[] = {".safetensors",
                                      ".gguf",
                                      ".bin",
                                      ".pt",
                                      ".pth",
                                      ".ckpt",
                                      ".h5",
                                      ".onnx",
                                      ".msgpack",
                                      ".npz",
                                      ".tflite",
                                      ".safetensors.index.json",
                                      ".bin.index.json",
                                      ".h5.index.json",
                                      ".msgpack.index.json"};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && memcmp(name + n - m, end, m) == 0;
}

static bool is_weights(const char *name)
{
    for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
        if (ends_with(name, weights[i]))
            return true;
    return false;
}

/* A file of the model, or the index that is written anew. */
static bool is_model_file(const struct walk *w, const char *name)
{
    for (size_t i = 0; i < tenon_model_n_files(w->model); i++)
        if (strcmp(tenon_model_file(w->model, i)->name, name) == 0)
            return true;
    for (size_t i = 0; i < tenon_model_n_side_files(w->model); i++) {
        const char *side = tenon_model_side_file(w->model, i);

        if (ends_with(side, name) && ends_with(name, ".safetensors.index.json"))
            return true;
    }
    return false;
}

static enum tenon_status add_name(struct names *names, const char *name, struct tenon_error *err)
{
    const char **items =
        tenon_mem_grow(names->items, &names->room, names->n, sizeof(*names->items));

    if (items == NULL)
        return tenon_fail_memory(err);
    names->items = items;
    if (names->n >= MOST_FILES)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                          "more than %d files lie in the folder", MOST_FILES);
    items[names->n++] = name;
    return TENON_OK;
}

/* Weights in folders of their own are parts of a pipeline, if they are in the usual forms. */
static enum tenon_status take_file(struct walk *w, const char *name, struct tenon_error *err)
{
    bool top = strchr(name, '/') == NULL;

    if (top && is_model_file(w, name))
        return TENON_OK;
    if (is_weights(name) &&
        (top || !(ends_with(name, ".safetensors") || ends_with(name, ".bin")))) {
        if (w->n_weights++ == 0)
            w->weights = name;
        return TENON_OK;
    }
    return add_name(&w->files, name, err);
}

/* One entry of the folder `below` ("" or ending in a slash). Links count as what they lead to, but
 * for links to folders, which could lead in circles. */
static enum tenon_status take_entry(struct walk *w, const char *below, const char *entry,
                                    struct tenon_error *err)
{
    struct tenon_arena *arena = &w->plan->arena;
    const char *name = tenon_hf_join(arena, below, entry), *path;
    struct stat info;

    path = name != NULL ? tenon_hf_join(arena, w->from, name) : NULL;
    if (path == NULL)
        return tenon_fail_memory(err);
    if (lstat(path, &info) != 0)
        return TENON_OK; /* gone meanwhile */
    if (S_ISDIR(info.st_mode)) {
        if (info.st_dev == w->output.st_dev && info.st_ino == w->output.st_ino)
            return TENON_OK; /* the output lies in the input */
        name = entry[0] == '.' ? "" : tenon_hf_join(arena, name, "/");
        if (name == NULL)
            return tenon_fail_memory(err);
        return name[0] != '\0' ? add_name(&w->folders, name, err) : TENON_OK;
    }
    if (S_ISLNK(info.st_mode) && stat(path, &info) != 0)
        return TENON_OK;
    if (!S_ISREG(info.st_mode) || (entry[0] == '.' && ends_with(entry, ".tmp")))
        return TENON_OK;
    return take_file(w, name, err);
}

static enum tenon_status read_folder(struct walk *w, const char *below, struct tenon_error *err)
{
    const char *joined = tenon_hf_join(&w->plan->arena, w->from, below);
    const char *path = joined != NULL && joined[0] != '\0' ? joined : ".";
    DIR *dir;
    enum tenon_status st = TENON_OK;

    if (joined == NULL)
        return tenon_fail_memory(err);
    dir = opendir(path);
    if (dir == NULL) {
        st = tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot open the folder");
        tenon_fail_path(err, path);
        return st;
    }
    while (st == TENON_OK) {
        const struct dirent *entry;

        errno = 0;
        entry = readdir(dir);
        if (entry == NULL)
            break;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            st = take_entry(w, below, entry->d_name, err);
    }
    if (st == TENON_OK && errno != 0)
        st = tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot read the folder");
    closedir(dir);
    tenon_fail_path(err, path);
    return st;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_written(const struct tenon_plan *plan, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(plan->files[i].path, path) == 0)
            return true;
    return false;
}

static enum tenon_status add_copies(struct walk *w, struct tenon_error *err)
{
    struct tenon_arena *arena = &w->plan->arena;
    size_t n = w->plan->n_files;

    if (w->files.n > 1)
        qsort(w->files.items, w->files.n, sizeof(*w->files.items), compare_names);
    for (size_t i = 0; i < w->files.n; i++) {
        struct tenon_plan_file file = {.kind = TENON_PLAN_COPY};
        enum tenon_status st;

        file.path = tenon_hf_join(arena, w->to, w->files.items[i]);
        file.copy_of = tenon_hf_join(arena, w->from, w->files.items[i]);
        if (file.path == NULL || file.copy_of == NULL)
            return tenon_fail_memory(err);
        if (is_written(w->plan, n, file.path))
            continue;
        st = tenon_plan_add_file(w->plan, &file, NULL, err);
        if (st != TENON_OK)
            return st;
    }
    return TENON_OK;
}

static enum tenon_status note_weights(struct walk *w, struct tenon_error *err)
{
    char clean[128];

    if (w->n_weights == 0)
        return TENON_OK;
    tenon_text_sanitise(clean, sizeof(clean), w->weights, strlen(w->weights));
    return tenon_plan_add_note(w->plan, err,
                               "'%s' and %zu other files look like weights in another form, which "
                               "would not be those of the output: they are left behind",
                               clean, w->n_weights - 1);
}

enum tenon_status tenon_hf_write_copies(struct tenon_plan *plan, const struct tenon_model *model,
                                        struct tenon_hf_way way, struct tenon_error *err)
{
    struct walk w = {.plan = plan, .model = model, .from = way.from, .to = way.to};
    enum tenon_status st;

    if (stat(way.to, &w.output) != 0)
        memset(&w.output, 0, sizeof(w.output));
    st = read_folder(&w, "", err);

    for (size_t i = 0; st == TENON_OK && i < w.folders.n; i++)
        st = read_folder(&w, w.folders.items[i], err);
    if (st == TENON_OK)
        st = add_copies(&w, err);
    if (st == TENON_OK)
        st = note_weights(&w, err);
    tenon_mem_free(w.files.items);
    tenon_mem_free(w.folders.items);
    return st;
}
