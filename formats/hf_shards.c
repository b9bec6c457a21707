/* Opening the shards of a set. */
#include "hf_shards.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "hf_index.h"
#include "hf_names.h"
#include "open.h"
#include "safetensors.h"

static const char extension[] = ".safetensors";

/* Text that grows up to a bound; what does not fit is left out. */
struct message {
    char text[TENON_ERROR_TEXT_BYTES];
    size_t used;
};

TENON_PRINTF(2, 3)
static void append(struct message *m, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(m->text + m->used, sizeof(m->text) - m->used, format, args);
    va_end(args);
    if (n > 0)
        m->used += (size_t)n;
    if (m->used >= sizeof(m->text))
        m->used = sizeof(m->text) - 1;
}

/* Bytes of names that a list in a message has. */
#define LIST_BYTES 160

/* A number of things, and the names of the first of them: of the very first as much as a message
 * has room for. */
struct tally {
    size_t n, listed;
    char names[LIST_BYTES];
    size_t used;
    char first[TENON_ERROR_TEXT_BYTES];
    size_t first_len;
};

static void count(struct tally *tally, struct tenon_str name)
{
    size_t room = sizeof(tally->names) - tally->used;
    int n;

    if (tally->n++ == 0) {
        tally->first_len = name.len < sizeof(tally->first) ? name.len : sizeof(tally->first);
        memcpy(tally->first, name.data, tally->first_len);
    }
    if (tally->listed + 1 != tally->n)
        return; /* an earlier one did not fit */
    n = snprintf(tally->names + tally->used, room, "%s'%.*s'", tally->n > 1 ? ", " : "",
                 (int)(name.len < 100 ? name.len : 100), name.data);
    if (n > 0 && (size_t)n < room) {
        tally->used += (size_t)n;
        tally->listed++;
    } else {
        tally->names[tally->used] = '\0';
    }
}

/* The names of a tally: "'a', 'b' and 7 more". */
static void append_names(struct message *m, const struct tally *tally)
{
    append(m, "%s", tally->names);
    if (tally->listed < tally->n)
        append(m, "%s%zu more", tally->listed != 0 ? " and " : "", tally->n - tally->listed);
}

/* A set while it is opened. */
struct set {
    struct tenon_model *model;
    const char *prefix;
    struct tenon_hf_index *index; /* NULL: by pattern */
    const char *index_path;
    const char **names; /* of the shards, sorted */
    uint32_t *numbers;  /* their numbers in the index */
    size_t n;
    uint32_t current; /* number of the shard being read */

    struct tally missing, bad, not_indexed, elsewhere;
    struct message faults; /* of the bad ones */
    struct tenon_error first_bad;
};

/* Whether the index puts this tensor into the shard being read. */
static bool keep_tensor(void *user, struct tenon_str *name)
{
    struct set *set = user;
    struct tenon_hf_index_entry *entry = tenon_hf_index_find(set->index, *name);

    if (entry == NULL) {
        count(&set->not_indexed, *name);
        return false;
    }
    if (entry->shard != set->current) {
        count(&set->elsewhere, *name);
        return false;
    }
    entry->seen = true;
    *name = tenon_hf_index_name(entry); /* in the model's arena: once for both */
    return true;
}

/* Opens and reads one shard. */
static enum tenon_status read_shard(struct set *set, const char *path, struct tenon_error *err)
{
    enum tenon_status st;
    uint32_t file;

    st = tenon_open_member(set->model, path, &tenon_format_safetensors, &file, err);
    if (st == TENON_OK)
        st = tenon_safetensors_read(set->model, file, set->index != NULL ? keep_tensor : NULL, set,
                                    err);
    tenon_fail_path(err, path);
    return st;
}

/* Whether a fault concerns the shard, so that the others are still worth a look. */
static bool is_fault_of_shard(enum tenon_status st)
{
    return st != TENON_OK && st != TENON_ERR_NO_MEMORY;
}

static enum tenon_status open_shard(struct set *set, size_t i, struct tenon_error *err)
{
    struct tenon_str name = {set->names[i], strlen(set->names[i])};
    char *path = tenon_hf_join(tenon_model_arena(set->model), set->prefix, set->names[i]);
    struct tenon_error fault = {0};
    enum tenon_status st;

    if (path == NULL)
        return tenon_fail_memory(err);
    set->current = set->numbers != NULL ? set->numbers[i] : 0;
    st = read_shard(set, path, &fault);
    if (st == TENON_ERR_NOT_FOUND) {
        count(&set->missing, name);
        return TENON_OK;
    }
    if (is_fault_of_shard(st)) {
        if (set->bad.n == 0)
            set->first_bad = fault;
        count(&set->bad, name);
        append(&set->faults, "%s'%s': %s%s%.100s", set->bad.n > 1 ? "; " : "", name.data,
               fault.subject, fault.subject[0] != '\0' ? ": " : "", fault.message);
        return TENON_OK;
    }
    return st == TENON_OK ? st : tenon_fail_memory(err);
}

/* The tensors that an index puts into missing shards. */
static void count_lost(const struct set *set, struct tally *lost)
{
    for (size_t i = 0; set->index != NULL && i < set->index->n_entries; i++) {
        const struct tenon_hf_index_entry *entry = &set->index->entries[i];

        if (!entry->seen)
            count(lost, tenon_hf_index_name(entry));
    }
}

static enum tenon_status fail_missing(const struct set *set, struct tenon_error *err)
{
    struct message m = {.used = 0};
    struct tally lost = {.n = 0};

    append(&m, "%zu of %zu shards %s missing: ", set->missing.n, set->n,
           set->missing.n == 1 ? "is" : "are");
    append_names(&m, &set->missing);
    count_lost(set, &lost);
    if (lost.n != 0) {
        append(&m, "; %zu tensors are not there: ", lost.n);
        append_names(&m, &lost);
    }
    if (set->bad.n != 0) {
        append(&m, "; of the others %zu cannot be used: ", set->bad.n);
        append_names(&m, &set->bad);
    }
    tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET, "%s", m.text);
    tenon_fail_subject(err, "file", set->missing.first, set->missing.first_len);
    tenon_fail_path(err, set->index_path);
    tenon_fail_hint(err, set->index != NULL
                             ? "fetch the missing files, or fix the index if it is a stale one"
                             : "fetch the missing files");
    return TENON_ERR_NOT_FOUND;
}

static enum tenon_status fail_bad(const struct set *set, struct tenon_error *err)
{
    enum tenon_status st = set->first_bad.status;

    if (set->bad.n == 1) {
        if (err != NULL && err->status == TENON_OK)
            *err = set->first_bad;
        return st;
    }
    tenon_fail(err, st, TENON_NO_OFFSET, "%zu of %zu shards cannot be used: %s", set->bad.n, set->n,
               set->faults.text);
    tenon_fail_path(err, set->index_path);
    tenon_fail_hint(err, "%s", set->first_bad.hint);
    return st;
}

static enum tenon_status report_tally(const struct set *set, const char *code,
                                      const struct tally *tally, const char *what)
{
    struct message m = {.used = 0};

    if (tally->n == 0)
        return TENON_OK;
    append_names(&m, tally);
    return tenon_model_find_fault(set->model, code, TENON_NO_INDEX, TENON_NO_OFFSET, tally->first,
                                  tally->first_len, "%zu tensor%s %s: %s", tally->n,
                                  tally->n == 1 ? "" : "s", what, m.text);
}

static uint64_t sum_bytes(const struct tenon_model *model)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < tenon_model_n_tensors(model); i++)
        if (!tenon_u64_add(&sum, sum, tenon_model_tensor(model, i)->bytes))
            return UINT64_MAX;
    return sum;
}

static enum tenon_status check_total(const struct set *set)
{
    const struct tenon_hf_index *index = set->index;
    uint64_t sum = sum_bytes(set->model), files = 0;

    if (index->bad_total)
        return tenon_model_find_fault(set->model, "total_size_wrong", TENON_NO_INDEX,
                                      TENON_NO_OFFSET, set->index_path, strlen(set->index_path),
                                      "metadata.total_size at offset %llu is no unsigned integer",
                                      (unsigned long long)index->total_offset);
    if (!index->has_total || index->total == sum)
        return TENON_OK;
    for (size_t i = 0; i < tenon_model_n_files(set->model); i++)
        if (!tenon_u64_add(&files, files, tenon_model_file(set->model, i)->bytes))
            return TENON_OK;
    return tenon_model_find_fault(set->model, "total_size_wrong", TENON_NO_INDEX, TENON_NO_OFFSET,
                                  set->index_path, strlen(set->index_path),
                                  "metadata.total_size is %llu, the tensors take %llu bytes%s",
                                  (unsigned long long)index->total, (unsigned long long)sum,
                                  index->total == files ? " (it counts the headers, too)" : "");
}

/* Shards that are not there, where no index says what they held. */
static enum tenon_status report_missing(const struct set *set)
{
    struct message m = {.used = 0};

    append(&m, "%zu of %zu shards %s missing: ", set->missing.n, set->n,
           set->missing.n == 1 ? "is" : "are");
    append_names(&m, &set->missing);
    return tenon_model_find_fault(set->model, "shards_missing", TENON_NO_INDEX, TENON_NO_OFFSET,
                                  set->missing.first, set->missing.first_len, "%s", m.text);
}

static enum tenon_status report_index(const struct set *set)
{
    struct tally absent = {.n = 0};
    enum tenon_status st;

    count_lost(set, &absent);
    st = report_tally(set, "index_names_absent_tensor", &absent,
                      "named in the index, but not in the shard it names");
    if (st == TENON_OK)
        st = report_tally(set, "tensor_not_in_index", &set->not_indexed,
                          "in the shards, but not in the index, and left out");
    if (st == TENON_OK)
        st = report_tally(set, "tensor_in_two_shards", &set->elsewhere,
                          "in another shard than the index says; the index was followed");
    if (st == TENON_OK && set->index->n_superseded != 0)
        st = tenon_model_find_fault(set->model, "duplicate_key", TENON_NO_INDEX, TENON_NO_OFFSET,
                                    set->index_path, strlen(set->index_path),
                                    "%zu tensors stand twice in the weight map; the last counts",
                                    set->index->n_superseded);
    return st == TENON_OK ? check_total(set) : st;
}

/* The texts of the index's metadata, of which some name dropped aliases, join that of the files,
 * which goes first. */
static enum tenon_status add_notes(const struct set *set, struct tenon_error *err)
{
    struct tenon_arena *arena = tenon_model_arena(set->model);
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < set->index->n_notes; i++) {
        const struct tenon_hf_index_note *note = &set->index->notes[i];
        const char *key = tenon_arena_text(arena, note->key.data, note->key.len);
        const char *value = tenon_arena_text(arena, note->value.data, note->value.len);
        struct tenon_meta_entry pair = {.type = TENON_META_STRING,
                                        .item = TENON_META_STRING,
                                        .count = 1,
                                        .offset = TENON_NO_OFFSET};

        if (key == NULL || value == NULL)
            return tenon_fail_memory(err);
        if (strlen(key) != note->key.len || tenon_model_find_meta(set->model, key) != NULL)
            continue;
        pair.key = (struct tenon_str){key, note->key.len};
        pair.value.type = TENON_META_STRING;
        pair.value.as.str = (struct tenon_str){value, note->value.len};
        st = tenon_model_add_meta(set->model, &pair, err);
    }
    return st;
}

/* Opens every shard, then reports. */
static enum tenon_status open_all(struct set *set, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < set->n; i++)
        st = open_shard(set, i, err);
    if (st != TENON_OK)
        return st;
    /* With an index we know what is lost; without one a shard still speaks for itself. */
    if (set->missing.n != 0 && (set->index != NULL || set->missing.n + set->bad.n == set->n))
        return fail_missing(set, err);
    if (set->bad.n != 0)
        return fail_bad(set, err);
    if (set->missing.n != 0)
        st = report_missing(set);
    else if (set->index == NULL)
        st = tenon_model_find_fault(set->model, "index_missing", TENON_NO_INDEX, TENON_NO_OFFSET,
                                    set->names[0], strlen(set->names[0]),
                                    "%zu shards without an index file", set->n);
    else
        st = report_index(set);
    if (st != TENON_OK)
        return tenon_fail_memory(err);
    return set->index != NULL ? add_notes(set, err) : TENON_OK;
}

/* --- by index --- */

/* A shard's name and its number in the index, for sorting. */
struct named_shard {
    char *name;
    uint32_t number;
};

static int compare_shards(const void *a, const void *b)
{
    const struct named_shard *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Fills names and numbers of the set, sorted by name: that is the order of the model's files. */
static enum tenon_status sort_shards(struct set *set, struct tenon_error *err)
{
    size_t n = set->index->n_shards;
    struct named_shard *sorted = tenon_mem_alloc(n, sizeof(*sorted));
    enum tenon_status st = TENON_OK;

    set->names = tenon_mem_alloc(n, sizeof(*set->names));
    set->numbers = tenon_mem_alloc(n, sizeof(*set->numbers));
    if (sorted == NULL || set->names == NULL || set->numbers == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        struct tenon_str name = set->index->shards[i].name;

        sorted[i].name = tenon_arena_text(tenon_model_arena(set->model), name.data, name.len);
        sorted[i].number = (uint32_t)i;
        if (sorted[i].name == NULL) {
            st = tenon_fail_memory(err);
            goto out;
        }
    }
    qsort(sorted, n, sizeof(*sorted), compare_shards);
    for (size_t i = 0; i < n; i++) {
        set->names[i] = sorted[i].name;
        set->numbers[i] = sorted[i].number;
    }
    set->n = n;
out:
    tenon_mem_free(sorted);
    return st;
}

static enum tenon_status open_by_index(struct tenon_model *model, const char *prefix,
                                       const char *index_path, struct tenon_hf_index *index,
                                       struct tenon_error *err)
{
    struct set set = {.model = model, .prefix = prefix, .index = index, .index_path = index_path};
    enum tenon_status st = sort_shards(&set, err);

    if (st == TENON_OK)
        st = open_all(&set, err);
    tenon_mem_free(set.names);
    tenon_mem_free(set.numbers);
    return st;
}

static enum tenon_status read_index(struct tenon_model *model, const char *path,
                                    struct tenon_hf_index *index, struct tenon_error *err)
{
    struct tenon_source *source = NULL;
    enum tenon_status st = tenon_source_open_file(path, &source, err);

    if (st == TENON_OK)
        st = tenon_hf_index_read(index, source, tenon_model_options(model), err);
    tenon_source_free(source);
    return st == TENON_OK ? tenon_model_add_side(model, path, err) : st;
}

enum tenon_status tenon_hf_open_indexed(struct tenon_model *model, const char *prefix,
                                        const char *index_name, struct tenon_error *err)
{
    const char *path = tenon_hf_join(tenon_model_arena(model), prefix, index_name);
    struct tenon_hf_index index = {.arena = tenon_model_arena(model)};
    enum tenon_status st;

    if (path == NULL)
        return tenon_fail_memory(err);
    st = read_index(model, path, &index, err);
    if (st == TENON_OK)
        st = open_by_index(model, prefix, path, &index, err);
    tenon_hf_index_release(&index);
    return st;
}

/* --- by pattern --- */

static enum tenon_status open_by_pattern(struct tenon_model *model, const char *prefix,
                                         const char *name, struct tenon_error *err)
{
    struct set set = {.model = model, .prefix = prefix, .index_path = tenon_model_path(model)};
    struct tenon_split_name parts;
    enum tenon_status st = TENON_OK;

    if (!tenon_split_name_parse(name, extension, &parts))
        return tenon_hf_open_single(model, prefix, name, err);
    if (parts.count > tenon_model_options(model)->limits.shards)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "%u shards, at most %u allowed",
                          parts.count, tenon_model_options(model)->limits.shards);
    set.names = tenon_mem_alloc(parts.count, sizeof(*set.names));
    if (set.names == NULL)
        return tenon_fail_memory(err);
    for (uint32_t i = 0; st == TENON_OK && i < parts.count; i++) {
        set.names[i] = tenon_split_name_path(tenon_model_arena(model), name, &parts, i + 1);
        if (set.names[i] == NULL)
            st = tenon_fail_memory(err);
    }
    set.n = parts.count;
    if (st == TENON_OK)
        st = open_all(&set, err);
    tenon_mem_free(set.names);
    return st;
}

/* Opens the set by the index beside it, if there is one and it names `name`; else *out_done
 * stays false. */
static enum tenon_status try_index(struct tenon_model *model, const char *prefix, const char *name,
                                   bool *out_done, struct tenon_error *err)
{
    struct tenon_arena *arena = tenon_model_arena(model);
    struct tenon_split_name parts;
    struct tenon_hf_index index = {.arena = tenon_model_arena(model)};
    struct tenon_error fault = {0};
    const char *index_name, *path;
    enum tenon_status st;

    if (!tenon_split_name_parse(name, extension, &parts))
        return TENON_OK;
    index_name = tenon_hf_name_index(arena, name, &parts);
    path = index_name != NULL ? tenon_hf_join(arena, prefix, index_name) : NULL;
    if (path == NULL)
        return tenon_fail_memory(err);
    st = read_index(model, path, &index, &fault);
    if (st == TENON_ERR_NOT_FOUND) {
        st = TENON_OK;
    } else if (st != TENON_OK) {
        if (err != NULL && err->status == TENON_OK)
            *err = fault;
    } else if (tenon_hf_index_has_shard(&index, name)) {
        *out_done = true;
        st = open_by_index(model, prefix, path, &index, err);
    } else {
        st = tenon_model_find_fault(model, "index_stale", TENON_NO_INDEX, TENON_NO_OFFSET, path,
                                    strlen(path), "the index does not name the shard '%s'", name);
        if (st != TENON_OK)
            tenon_fail_memory(err);
    }
    tenon_hf_index_release(&index);
    return st;
}

enum tenon_status tenon_hf_open_shards(struct tenon_model *model, const char *prefix,
                                       const char *name, struct tenon_error *err)
{
    bool done = false;
    enum tenon_status st = try_index(model, prefix, name, &done, err);

    return st != TENON_OK || done ? st : open_by_pattern(model, prefix, name, err);
}

enum tenon_status tenon_hf_open_single(struct tenon_model *model, const char *prefix,
                                       const char *name, struct tenon_error *err)
{
    const char *path = tenon_hf_join(tenon_model_arena(model), prefix, name);
    enum tenon_status st;
    uint32_t file;

    if (path == NULL)
        return tenon_fail_memory(err);
    st = tenon_open_member(model, path, &tenon_format_safetensors, &file, err);
    if (st == TENON_OK)
        st = tenon_safetensors_read(model, file, NULL, NULL, err);
    tenon_fail_path(err, path);
    return st;
}
