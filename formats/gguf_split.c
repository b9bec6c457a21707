/* Split sets of GGUF files.
 *
 *   PREFIX-00001-of-00003.gguf   split.no 0, split.count 3, split.tensors.count: all three
 *   PREFIX-00002-of-00003.gguf   split.no 1 ...
 *
 * Numbers in names begin at 1, those in the files at 0. Only the first member carries the model's
 * metadata; every member has tensors of its own (the first may have none), with offsets from its
 * own data. Members are looked for beside the path as it was given, never behind a link: in a
 * cache of links into a blob store, only the links have these names. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "gguf.h"
#include "open.h"
#include "split_name.h"

#define SUFFIX ".gguf"

/* A set that is being opened. */
struct split_set {
    struct tenon_model *model;
    const char *path; /* of the member that was named */
    struct tenon_split_name name;
    uint32_t file;         /* the member being read */
    int64_t tensors;       /* split.tensors.count of the first member */
    struct tenon_str arch; /* general.architecture of the first member */
};

/* Adds key and path to a failure about a member. */
static enum tenon_status blame(const struct split_set *set, const char *key, enum tenon_status st,
                               struct tenon_error *err)
{
    tenon_fail_subject(err, "key", key, strlen(key));
    tenon_fail_path(err, tenon_model_file(set->model, set->file)->path);
    return st;
}

/* One of the set's numbers must be `want`. */
static enum tenon_status check_number(const struct split_set *set, const char *key,
                                      struct tenon_gguf_number found, int64_t want,
                                      struct tenon_error *err)
{
    enum tenon_status st;

    if (found.value == want && want != TENON_UNKNOWN)
        return TENON_OK;
    if (found.value == TENON_UNKNOWN)
        st = tenon_fail(err, TENON_ERR_MISMATCH, found.offset,
                        "%s, though by its name this is file %u of a set of %u",
                        found.offset == TENON_NO_OFFSET ? "missing" : "no whole number",
                        set->file + 1, set->name.count);
    else
        st = tenon_fail(err, TENON_ERR_MISMATCH, found.offset,
                        "says %" PRId64 " in file %u of a set of %u, where it must be %" PRId64,
                        found.value, set->file + 1, set->name.count, want);
    tenon_fail_hint(err, "files of different sets may have been mixed");
    return blame(set, key, st, err);
}

/* What a member says, a tenon_gguf_split_fn. */
static enum tenon_status check_member(void *user, const struct tenon_gguf_split *split,
                                      struct tenon_error *err)
{
    struct split_set *set = user;
    enum tenon_status st;

    if (set->file == 0) {
        set->tensors = split->tensors.value;
        set->arch = split->arch;
    }
    st = check_number(set, TENON_GGUF_KEY_SPLIT_COUNT, split->count, set->name.count, err);
    if (st == TENON_OK)
        st = check_number(set, TENON_GGUF_KEY_SPLIT_NO, split->no, set->file, err);
    if (st == TENON_OK)
        st = check_number(set, TENON_GGUF_KEY_SPLIT_TENSORS, split->tensors, set->tensors, err);
    if (st != TENON_OK || split->arch.len == 0 ||
        (split->arch.len == set->arch.len &&
         memcmp(split->arch.data, set->arch.data, set->arch.len) == 0))
        return st;
    st = tenon_fail(err, TENON_ERR_MISMATCH, split->arch_off,
                    "differs from that of the first file: this belongs to another model");
    return blame(set, "general.architecture", st, err);
}

/* Opens and reads member set->file. */
static enum tenon_status open_member(struct split_set *set, struct tenon_error *err)
{
    const char *path =
        tenon_split_name_path(tenon_model_arena(set->model), set->path, &set->name, set->file + 1);
    enum tenon_status st;
    uint32_t file;

    if (path == NULL)
        return tenon_fail_memory(err);
    st = tenon_open_member(set->model, path, &tenon_format_gguf, &file, err);
    if (st != TENON_OK)
        return st;
    st = tenon_gguf_read_file(set->model, file, check_member, set, err);
    tenon_fail_path(err, path);
    return st;
}

/* Appends a file name to a list for people, as long as there is room. */
static void list_name(char *list, size_t size, uint32_t n, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t used = strlen(list);

    if (size - used > strlen(path) + 8)
        snprintf(list + used, size - used, "%s%s", n > 1 ? ", " : "",
                 slash != NULL ? slash + 1 : path);
    else if (size - used > 8 && !(used > 3 && strcmp(list + used - 3, "...") == 0))
        snprintf(list + used, size - used, " ...");
}

/* All members must be there before any is read: an error names every one that is missing. */
static enum tenon_status check_presence(const struct split_set *set, struct tenon_error *err)
{
    char missing[TENON_ERROR_TEXT_BYTES / 2] = "";
    struct tenon_arena arena = {0};
    enum tenon_status st = TENON_OK;
    uint32_t n = 0;

    for (uint32_t no = 1; st == TENON_OK && no <= set->name.count; no++) {
        const char *path = tenon_split_name_path(&arena, set->path, &set->name, no);
        struct tenon_source *source = NULL;
        struct tenon_error why = {0};

        if (path == NULL) {
            st = tenon_fail_memory(err);
            break;
        }
        st = tenon_source_open_file(path, &source, &why);
        tenon_source_free(source);
        if (st == TENON_ERR_NOT_FOUND) {
            list_name(missing, sizeof(missing), ++n, path);
            st = TENON_OK;
        } else if (st != TENON_OK && err != NULL) {
            *err = why;
        }
        tenon_arena_release(&arena);
    }
    tenon_arena_release(&arena);
    if (st != TENON_OK || n == 0)
        return st;
    tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET,
               "%u of the %u files of the set %s missing: %s", n, set->name.count,
               n == 1 ? "is" : "are", missing);
    tenon_fail_hint(err, "put all files of the set in one folder");
    return TENON_ERR_NOT_FOUND;
}

static enum tenon_status check_total(const struct split_set *set, struct tenon_error *err)
{
    size_t n = tenon_model_n_tensors(set->model);
    enum tenon_status st;

    if (set->tensors >= 0 && (uint64_t)set->tensors == n)
        return TENON_OK;
    st = tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                    "says %" PRId64 " tensors, the files of the set have %zu", set->tensors, n);
    tenon_fail_subject(err, "key", TENON_GGUF_KEY_SPLIT_TENSORS,
                       sizeof(TENON_GGUF_KEY_SPLIT_TENSORS) - 1);
    tenon_fail_path(err, tenon_model_file(set->model, 0)->path);
    return st;
}

static enum tenon_status open_set(struct split_set *set, struct tenon_error *err)
{
    enum tenon_status st;

    if (set->name.count > tenon_model_options(set->model)->limits.shards)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                          "by its name one of %u files, at most %u are allowed", set->name.count,
                          tenon_model_options(set->model)->limits.shards);
    st = check_presence(set, err);
    for (set->file = 0; st == TENON_OK && set->file < set->name.count; set->file++)
        st = open_member(set, err);
    return st == TENON_OK ? check_total(set, err) : st;
}

/* A file that is part of a set by what it says, but not by its name: the others cannot be found,
 * and half a model must not pass for a whole one. A tenon_gguf_split_fn; `user` is the model. */
static enum tenon_status check_alone(void *user, const struct tenon_gguf_split *split,
                                     struct tenon_error *err)
{
    static const char key[] = TENON_GGUF_KEY_SPLIT_COUNT;
    struct tenon_model *model = user;
    int64_t count = split->count.value, no = split->no.value;
    enum tenon_status st;

    if (count <= 1)
        return TENON_OK;
    if (tenon_model_options(model)->lenient) {
        st = tenon_model_find_fault(
            model, "set_incomplete", (uint32_t)tenon_model_n_files(model) - 1, split->count.offset,
            key, sizeof(key) - 1, "one of %" PRId64 " files, read alone", count);
        return st == TENON_OK ? st : tenon_fail_memory(err);
    }
    tenon_fail(err, TENON_ERR_NOT_FOUND, split->count.offset,
               "one of %" PRId64 " files, and its name does not lead to the others", count);
    tenon_fail_subject(err, "key", key, sizeof(key) - 1);
    tenon_fail_hint(err, "name it NAME-%05" PRId64 "-of-%05" PRId64 ".gguf, beside the others",
                    no >= 0 && no < count ? no + 1 : 1, count);
    return TENON_ERR_NOT_FOUND;
}

enum tenon_status tenon_gguf_read(struct tenon_model *model, uint32_t file, struct tenon_error *err)
{
    enum tenon_status st = tenon_gguf_read_file(model, file, check_alone, model, err);

    tenon_fail_path(err, tenon_model_file(model, file)->path);
    return st;
}

static enum tenon_status open_alone(struct tenon_model *model, struct tenon_source *source,
                                    struct tenon_error *err)
{
    uint32_t file;
    enum tenon_status st = tenon_add_source(model, source, &tenon_format_gguf, &file, err);

    return st == TENON_OK ? tenon_gguf_read(model, file, err) : st;
}

enum tenon_status tenon_gguf_open(struct tenon_model *model, struct tenon_source *source,
                                  struct tenon_error *err)
{
    struct split_set set = {.model = model, .tensors = TENON_UNKNOWN, .arch = {"", 0}};
    enum tenon_status st;

    if (!tenon_split_name_parse(tenon_source_path(source), SUFFIX, &set.name) ||
        set.name.count == 1)
        return open_alone(model, source, err);
    set.path = tenon_arena_text(tenon_model_arena(model), tenon_source_path(source),
                                strlen(tenon_source_path(source)));
    tenon_source_free(source);
    if (set.path == NULL)
        return tenon_fail_memory(err);
    st = open_set(&set, err);
    tenon_fail_path(err, set.path);
    return st;
}
