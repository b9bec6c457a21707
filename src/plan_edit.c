/* Changing metadata and names. */
#include "tenon/edit.h"

#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "meta_text.h"
#include "meta_value.h"
#include "plan_edit_names.h"
#include "plan_like.h"
#include "plan_mirror.h"
#include "sort.h"
#include "text.h"

static const char alignment_key[] = "general.alignment";
static const char architecture_key[] = "general.architecture";
static const char hex_word[] = "hex"; /* the type of strings that are not UTF-8, in texts */

/* What a GGUF file has that does not say. */
enum { DEFAULT_ALIGNMENT = 32, MOST_ALIGNMENT = 1 << 30 };

/* Longer keys no loader of GGUF files takes. */
enum { MOST_KEY_BYTES = 65535 };

/* The pairs of a file: where each key stands, and which of them go away in the end. */
struct keys {
    struct tenon_names index;
    uint32_t *gone; /* numbers */
    size_t n_gone, room;
};

/* An edit that is being planned. */
struct edit {
    const struct tenon_model *model;
    struct tenon_mirror mirror;
    struct keys *keys; /* of each file of the mirror */
    struct tenon_edit_names names;
    bool gguf, changed;
};

static enum tenon_status fail_about(enum tenon_status status, const char *kind,
                                    struct tenon_str subject, const char *message,
                                    struct tenon_error *err)
{
    tenon_fail(err, status, TENON_NO_OFFSET, "%s", message);
    tenon_fail_subject(err, kind, subject.data, subject.len);
    return status;
}

static bool same(struct tenon_str a, struct tenon_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* --- metadata --- */

static struct tenon_str key_of(const void *owner, uint32_t i)
{
    const struct tenon_mirror_file *file = owner;

    return file->metas[i].key;
}

/* Of two pairs of one key in a file, which it should not have, the first counts. */
static enum tenon_status index_keys(struct edit *e, struct tenon_error *err)
{
    e->keys = tenon_mem_alloc(e->mirror.n_files, sizeof(*e->keys));
    if (e->keys == NULL)
        return tenon_fail_memory(err);
    for (size_t f = 0; f < e->mirror.n_files; f++) {
        const struct tenon_mirror_file *file = &e->mirror.files[f];

        for (uint32_t i = 0; i < file->n_metas; i++)
            if (tenon_names_add(&e->keys[f].index, i, file, key_of) == TENON_NO_INDEX)
                return tenon_fail_memory(err);
    }
    return TENON_OK;
}

/* The pair of that key in file `f`, or NULL. */
static struct tenon_meta_entry *find_in(const struct edit *e, size_t f, struct tenon_str key)
{
    const struct tenon_mirror_file *file = &e->mirror.files[f];
    uint32_t i = tenon_names_find(&e->keys[f].index, key.data, key.len, file, key_of);

    return i != TENON_NO_INDEX ? &file->metas[i] : NULL;
}

static enum tenon_status append_in(struct edit *e, size_t f, const struct tenon_meta_entry *entry,
                                   struct tenon_error *err)
{
    struct tenon_mirror_file *file = &e->mirror.files[f];
    uint32_t i = (uint32_t)file->n_metas;
    enum tenon_status st = tenon_mirror_insert_meta(file, i, entry, err);

    if (st == TENON_OK && tenon_names_add(&e->keys[f].index, i, file, key_of) == TENON_NO_INDEX)
        st = tenon_fail_memory(err);
    return st;
}

/* It is found no longer, but stays where it is until all edits are done: what stands behind it must
 * not move each time. */
static enum tenon_status remove_in(struct edit *e, size_t f, const struct tenon_meta_entry *entry,
                                   struct tenon_error *err)
{
    const struct tenon_mirror_file *file = &e->mirror.files[f];
    struct keys *keys = &e->keys[f];
    uint32_t *gone = tenon_mem_grow(keys->gone, &keys->room, keys->n_gone, sizeof(*gone));
    uint32_t i = (uint32_t)(entry - file->metas);

    if (gone == NULL)
        return tenon_fail_memory(err);
    keys->gone = gone;
    gone[keys->n_gone++] = i;
    tenon_names_remove(&keys->index, i, file, key_of);
    return TENON_OK;
}

static int compare_numbers(const void *owner, uint32_t a, uint32_t b)
{
    (void)owner;
    return (a > b) - (a < b);
}

/* Closes the gaps. */
static enum tenon_status drop_gone(struct edit *e, struct tenon_error *err)
{
    for (size_t f = 0; f < e->mirror.n_files; f++) {
        struct tenon_mirror_file *file = &e->mirror.files[f];
        struct keys *keys = &e->keys[f];
        size_t kept = 0, next = 0;

        if (!tenon_sort(keys->gone, keys->n_gone, NULL, compare_numbers))
            return tenon_fail_memory(err);
        for (size_t i = 0; i < file->n_metas; i++)
            if (next < keys->n_gone && keys->gone[next] == i)
                next++;
            else
                file->metas[kept++] = file->metas[i];
        file->n_metas = kept;
    }
    return TENON_OK;
}

/* The first pair of that key in any file, or NULL. */
static const struct tenon_meta_entry *find_entry(const struct edit *e, struct tenon_str key)
{
    const struct tenon_meta_entry *found = NULL;

    for (size_t f = 0; found == NULL && f < e->mirror.n_files; f++)
        found = find_in(e, f, key);
    return found;
}

/* Keys and texts of GGUF files are UTF-8, and keys have an end. What safetensors files hold, their
 * writer checks. */
static enum tenon_status check_text(const struct edit *e, const struct tenon_edit *edit,
                                    struct tenon_error *err)
{
    if (!e->gguf)
        return TENON_OK;
    if (edit->name.len > MOST_KEY_BYTES)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "a key of %zu bytes, at most %d allowed", edit->name.len, MOST_KEY_BYTES);
    if (!tenon_utf8_valid(edit->name.data, edit->name.len) ||
        !tenon_utf8_valid(edit->value.data, edit->value.len))
        return fail_about(TENON_ERR_CANNOT_REPRESENT, "key", edit->name,
                          "key or value is not valid UTF-8", err);
    return TENON_OK;
}

/* Keys about a set are split's and merge's business. */
static enum tenon_status check_key(const struct edit *e, struct tenon_str key,
                                   struct tenon_error *err)
{
    if (key.len == 0)
        return fail_about(TENON_ERR_MISUSE, "key", key, "a key has at least one character", err);
    if (!e->gguf || !tenon_plan_is_split_key(key))
        return TENON_OK;
    fail_about(TENON_ERR_MISUSE, "key", key, "says which part of a set the file is", err);
    tenon_fail_hint(err, "'tenon merge' and 'tenon split' change it");
    return TENON_ERR_MISUSE;
}

/* The type that the value will have. */
static enum tenon_status choose_type(const struct edit *e, const struct tenon_edit *edit,
                                     const struct tenon_meta_entry *old,
                                     struct tenon_meta_entry *out, struct tenon_error *err)
{
    if (edit->type.len > 0 && !tenon_meta_type_parse(edit->type, &out->type, &out->item)) {
        fail_about(TENON_ERR_MISUSE, "key", edit->name, "of a type that there is not", err);
        tenon_fail_hint(err, "types are u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 bool string, and "
                             "array<u8> and so on");
        return TENON_ERR_MISUSE;
    }
    if (edit->type.len == 0 && old != NULL) {
        out->type = old->type;
        out->item = old->item;
    } else if (edit->type.len == 0 && e->gguf) {
        fail_about(TENON_ERR_MISUSE, "key", edit->name, "is new, and its type is not given", err);
        tenon_fail_hint(err,
                        "write KEY:TYPE=VALUE, as in general.name:string=Tiny; types are u8 i8 "
                        "u16 i16 u32 i32 u64 i64 f32 f64 bool string, and array<u8> and so on");
        return TENON_ERR_MISUSE;
    } else if (edit->type.len == 0) {
        out->type = out->item = TENON_META_STRING;
    }
    return TENON_OK;
}

static bool same_value(const struct tenon_meta_entry *a, const struct tenon_meta_entry *b)
{
    if (a->type != b->type || a->item != b->item || a->count != b->count)
        return false;
    if (a->type == TENON_META_STRING)
        return same(a->value.as.str, b->value.as.str);
    if (a->type != TENON_META_ARRAY)
        return memcmp(&a->value.as, &b->value.as, sizeof(uint64_t)) == 0;
    return a->raw_bytes == b->raw_bytes && a->swapped == b->swapped &&
           a->short_lengths == b->short_lengths &&
           (a->raw_bytes == 0 || memcmp(a->raw, b->raw, a->raw_bytes) == 0);
}

/* Payloads of GGUF files stand where `general.alignment` says. */
static enum tenon_status set_alignment(struct edit *e, const struct tenon_meta_entry *entry,
                                       struct tenon_error *err)
{
    uint64_t value = entry->value.as.u64;

    if (entry->type != TENON_META_U32)
        return fail_about(TENON_ERR_MISUSE, "key", entry->key, "is a u32 and nothing else", err);
    if (value == 0 || value > MOST_ALIGNMENT || (value & (value - 1)) != 0)
        return fail_about(TENON_ERR_MISUSE, "key", entry->key, "must be a power of two", err);
    e->mirror.alignment = value;
    return tenon_plan_add_note(e->mirror.plan, err,
                               "every payload moves to a multiple of %llu bytes",
                               (unsigned long long)value);
}

/* In every file that has the key; a new one in the first, or in all where it rules the layout. */
static enum tenon_status put_entry(struct edit *e, const struct tenon_meta_entry *entry,
                                   bool is_new, struct tenon_error *err)
{
    bool everywhere = e->gguf && tenon_str_equal(entry->key, alignment_key);
    enum tenon_status st = everywhere ? set_alignment(e, entry, err) : TENON_OK;

    for (size_t f = 0; st == TENON_OK && f < e->mirror.n_files; f++) {
        struct tenon_meta_entry *old = find_in(e, f, entry->key);

        if (old != NULL) {
            e->changed = e->changed || !same_value(old, entry);
            *old = *entry;
        } else if (everywhere || (is_new && f == 0)) {
            e->changed = true;
            st = append_in(e, f, entry, err);
        }
    }
    return st;
}

static enum tenon_status set_entry(struct edit *e, const struct tenon_edit *edit,
                                   struct tenon_error *err)
{
    const struct tenon_meta_entry *old = find_entry(e, edit->name);
    struct tenon_meta_entry entry = {.key = edit->name};
    enum tenon_status st = check_key(e, edit->name, err);

    if (st == TENON_OK)
        st = check_text(e, edit, err);
    if (st == TENON_OK)
        st = choose_type(e, edit, old, &entry, err);
    if (st == TENON_OK && e->gguf && tenon_str_equal(edit->name, architecture_key) &&
        entry.type != TENON_META_STRING)
        st = fail_about(TENON_ERR_MISUSE, "key", edit->name, "is a string and nothing else", err);
    if (st == TENON_OK)
        st = tenon_meta_value_parse(&e->mirror.plan->arena, edit->value, &entry, err);
    if (st == TENON_OK)
        return put_entry(e, &entry, old == NULL, err);
    tenon_fail_subject(err, "key", edit->name.data, edit->name.len);
    return st;
}

/* --- typed keys where all is text: "KEY:TYPE" (meta_text.h) --- */

/* Room for ":array<string>" and its terminator. */
enum { TYPE_END_BYTES = 32 };

/* The pair KEY:TYPE, of whatever type, into `*out`; NULL when there is none. NO_MEMORY only. */
static enum tenon_status find_typed(const struct edit *e, struct tenon_str key,
                                    const struct tenon_meta_entry **out, struct tenon_error *err)
{
    char *name = NULL;
    size_t room;

    *out = NULL;
    if (tenon_size_add(&room, key.len, TYPE_END_BYTES))
        name = tenon_mem_alloc(room, 1);
    if (name == NULL)
        return tenon_fail_memory(err);
    if (key.len != 0)
        memcpy(name, key.data, key.len);
    for (unsigned i = 0; *out == NULL && i <= TENON_META_F64 + 1; i++) {
        bool is_hex = i > TENON_META_F64;
        const char *word = is_hex ? hex_word : tenon_meta_type_name((enum tenon_meta_type)i);
        int n;

        if (i == TENON_META_ARRAY)
            continue;
        n = snprintf(name + key.len, TYPE_END_BYTES, ":%s", word);
        *out = find_entry(e, (struct tenon_str){name, key.len + (size_t)n});
        if (*out != NULL)
            break;
        n = snprintf(name + key.len, TYPE_END_BYTES, ":array<%s>", word);
        *out = find_entry(e, (struct tenon_str){name, key.len + (size_t)n});
    }
    tenon_mem_free(name);
    return TENON_OK;
}

/* The type at the end of the key of such a pair; texts of other bytes than UTF-8 are strings. */
static void read_type(const struct tenon_meta_entry *typed, size_t key_len,
                      struct tenon_meta_entry *out)
{
    struct tenon_str word = {typed->key.data + key_len + 1, typed->key.len - key_len - 1};

    if (tenon_meta_type_parse(word, &out->type, &out->item))
        return;
    out->item = TENON_META_STRING;
    out->type = tenon_str_equal(word, hex_word) ? TENON_META_STRING : TENON_META_ARRAY;
}

/* Puts `text` where the pair `place` stands, in every file that has it, though the key differ. */
static enum tenon_status replace_entry(struct edit *e, struct tenon_str place,
                                       const struct tenon_meta_entry *text, struct tenon_error *err)
{
    e->changed = true;
    for (size_t f = 0; f < e->mirror.n_files; f++) {
        const struct tenon_mirror_file *file = &e->mirror.files[f];
        struct tenon_meta_entry *old = find_in(e, f, place);
        uint32_t i;

        if (old == NULL)
            continue;
        i = (uint32_t)(old - file->metas);
        tenon_names_remove(&e->keys[f].index, i, file, key_of);
        *old = *text;
        if (tenon_names_add(&e->keys[f].index, i, file, key_of) == TENON_NO_INDEX)
            return tenon_fail_memory(err);
    }
    return TENON_OK;
}

/* Sets a value that has a type, as the pair of texts that stands for it. `old`, which may be NULL,
 * is the pair of the same key, whatever its type is. */
static enum tenon_status set_typed(struct edit *e, const struct tenon_edit *edit,
                                   const struct tenon_meta_entry *old, struct tenon_error *err)
{
    struct tenon_arena *arena = &e->mirror.plan->arena;
    struct tenon_meta_entry typed = {.key = edit->name}, text = {0};
    enum tenon_status st = check_key(e, edit->name, err);

    if (st == TENON_OK && edit->type.len != 0)
        st = choose_type(e, edit, NULL, &typed, err);
    else if (st == TENON_OK)
        read_type(old, edit->name.len, &typed);
    if (st == TENON_OK)
        st = tenon_meta_value_parse(arena, edit->value, &typed, err);
    if (st == TENON_OK)
        st = tenon_meta_to_text(arena, &typed, &text, err);
    if (st == TENON_ERR_NO_MEMORY)
        st = tenon_fail_memory(err);
    if (st == TENON_OK)
        return old == NULL || find_entry(e, text.key) != NULL
                   ? put_entry(e, &text, old == NULL, err)
                   : replace_entry(e, old->key, &text, err);
    tenon_fail_subject(err, "key", edit->name.data, edit->name.len);
    return st;
}

static enum tenon_status set_key(struct edit *e, const struct tenon_edit *edit,
                                 struct tenon_error *err)
{
    const struct tenon_meta_entry *same_key = find_entry(e, edit->name), *typed = NULL;
    struct tenon_edit plain = *edit;
    bool is_text = edit->type.len == 0 || tenon_str_equal(edit->type, "string");
    enum tenon_status st = e->gguf ? TENON_OK : find_typed(e, edit->name, &typed, err);

    if (st != TENON_OK)
        return st;
    if (e->gguf)
        return set_entry(e, edit, err);
    if (is_text && (typed == NULL || (edit->type.len == 0 && same_key != NULL))) {
        plain.type.len = 0;
        return set_entry(e, &plain, err);
    }
    return set_typed(e, edit, typed != NULL ? typed : same_key, err);
}

static enum tenon_status unset_key(struct edit *e, const struct tenon_edit *edit,
                                   struct tenon_error *err)
{
    const struct tenon_meta_entry *found = find_entry(e, edit->name);
    enum tenon_status st = check_key(e, edit->name, err);
    struct tenon_str key;

    if (st == TENON_OK && found == NULL && !e->gguf)
        st = find_typed(e, edit->name, &found, err);
    if (st != TENON_OK)
        return st;
    if (found == NULL) {
        fail_about(TENON_ERR_NOT_FOUND, "key", edit->name, "no such key", err);
        tenon_fail_hint(err, "'tenon meta' lists the keys of a model");
        return TENON_ERR_NOT_FOUND;
    }
    key = found->key;
    for (size_t f = 0; st == TENON_OK && f < e->mirror.n_files; f++) {
        const struct tenon_meta_entry *entry = find_in(e, f, key);

        if (entry != NULL)
            st = remove_in(e, f, entry, err);
    }
    e->changed = true;
    if (st != TENON_OK || !e->gguf || !tenon_str_equal(edit->name, alignment_key))
        return st;
    e->mirror.alignment = DEFAULT_ALIGNMENT;
    return tenon_plan_add_note(e->mirror.plan, err, "every payload moves to a multiple of %d bytes",
                               DEFAULT_ALIGNMENT);
}

/* --- tensors --- */

static enum tenon_status rename_tensor(struct edit *e, const struct tenon_edit *edit,
                                       struct tenon_error *err)
{
    uint32_t found;

    if (edit->value.len == 0)
        return fail_about(TENON_ERR_MISUSE, "tensor", edit->name, "its new name is empty", err);
    if (e->gguf && !tenon_utf8_valid(edit->value.data, edit->value.len))
        return fail_about(TENON_ERR_CANNOT_REPRESENT, "tensor", edit->value,
                          "its name is not valid UTF-8", err);
    found = tenon_edit_names_find(&e->names, edit->name);
    if (found == TENON_NO_INDEX) {
        fail_about(TENON_ERR_NOT_FOUND, "tensor", edit->name, "no such tensor", err);
        tenon_fail_hint(err, "'tenon ls' lists the tensors of a model");
        return TENON_ERR_NOT_FOUND;
    }
    if (same(edit->name, edit->value))
        return TENON_OK;
    if (tenon_edit_names_find(&e->names, edit->value) != TENON_NO_INDEX)
        return fail_about(TENON_ERR_NAME_CLASH, "tensor", edit->value,
                          "the new name is taken already", err);
    e->changed = true;
    return tenon_edit_names_change(&e->names, found, edit->name, edit->value, err);
}

static enum tenon_status drop_tensors(struct edit *e, const struct tenon_edit *edit,
                                      struct tenon_error *err)
{
    const char *pattern = tenon_arena_text(&e->mirror.plan->arena, edit->name.data, edit->name.len);
    size_t found;

    if (pattern == NULL)
        return tenon_fail_memory(err);
    found = tenon_edit_names_drop(&e->names, pattern);
    if (found == 0)
        return fail_about(TENON_ERR_NOT_FOUND, "tensor", edit->name,
                          "no tensor's name fits this pattern", err);
    e->changed = true;
    return tenon_plan_add_note(e->mirror.plan, err, "%zu tensor%s dropped", found,
                               found == 1 ? "" : "s");
}

static enum tenon_status apply(struct edit *e, const struct tenon_edit *edit,
                               struct tenon_error *err)
{
    switch (edit->kind) {
    case TENON_EDIT_SET:
        return set_key(e, edit, err);
    case TENON_EDIT_UNSET:
        return unset_key(e, edit, err);
    case TENON_EDIT_RENAME:
        return rename_tensor(e, edit, err);
    case TENON_EDIT_DROP:
        return drop_tensors(e, edit, err);
    }
    return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "no such kind of edit");
}

/* --- all --- */

static enum tenon_status begin(struct edit *e, const char *target, struct tenon_error *err)
{
    enum tenon_status st = tenon_mirror_init(&e->mirror, e->model, target, err);

    e->gguf = strcmp(tenon_model_format(e->model), "gguf") == 0;
    if (st == TENON_OK)
        st = index_keys(e, err);
    return st == TENON_OK ? tenon_edit_names_init(&e->names, e->model, err) : st;
}

static void release(struct edit *e)
{
    for (size_t f = 0; e->keys != NULL && f < e->mirror.n_files; f++) {
        tenon_names_release(&e->keys[f].index);
        tenon_mem_free(e->keys[f].gone);
    }
    tenon_mem_free(e->keys);
    tenon_edit_names_release(&e->names);
    tenon_mirror_release(&e->mirror);
}

static enum tenon_status add_tensor(struct edit *e, size_t i, struct tenon_error *err)
{
    const struct tenon_tensor *t = tenon_model_tensor(e->model, i);
    struct tenon_plan_source source = {.model = e->model, .tensor = t, .n_rows = UINT64_MAX};
    struct tenon_plan_tensor out = {
        .name = tenon_edit_names_of(&e->names, i),
        .dtype = (enum tenon_dtype)t->dtype,
        .dtype_raw = t->dtype_raw,
        .n_dims = t->n_dims,
        .dims = t->dims,
        .file = e->mirror.files[t->file].number,
        .sources = &source,
        .n_sources = 1,
    };

    return tenon_plan_add_tensor(e->mirror.plan, &out, err);
}

static enum tenon_status write_all(struct edit *e, struct tenon_error *err)
{
    size_t n = tenon_model_n_tensors(e->model);
    enum tenon_status st = drop_gone(e, err);

    for (size_t i = 0; i < n; i++)
        e->mirror.files[tenon_model_tensor(e->model, i)->file].n_tensors +=
            !tenon_edit_names_dropped(&e->names, i);
    if (st == TENON_OK)
        st = tenon_edit_names_end(&e->names, err);
    if (st == TENON_OK)
        st = tenon_mirror_add_files(&e->mirror, err);
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        if (!tenon_edit_names_dropped(&e->names, i))
            st = add_tensor(e, i, err);
    e->mirror.plan->empty = !e->changed;
    return st;
}

enum tenon_status tenon_plan_edit(const struct tenon_model *model, const char *target,
                                  const struct tenon_edit_options *options,
                                  struct tenon_plan **out_plan, struct tenon_error *err)
{
    struct edit e = {.model = model};
    enum tenon_status st = begin(&e, target, err);

    for (size_t i = 0; st == TENON_OK && options != NULL && i < options->n_edits; i++)
        st = apply(&e, &options->edits[i], err);
    if (st == TENON_OK)
        st = write_all(&e, err);
    if (st == TENON_OK) {
        *out_plan = e.mirror.plan;
        e.mirror.plan = NULL;
    }
    release(&e);
    return st;
}
