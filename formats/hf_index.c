/* Reading index files: one pass, no tree. */
#include "hf_index.h"

#include <string.h>

#include "fail.h"
#include "format.h"
#include "hf_names.h"
#include "json_pull.h"
#include "scroll.h"

static struct tenon_str name_of_entry(const void *owner, uint32_t i)
{
    const struct tenon_hf_index *index = owner;

    return tenon_hf_index_name(&index->entries[i]);
}

static struct tenon_str name_of_shard(const void *owner, uint32_t i)
{
    const struct tenon_hf_index *index = owner;

    return index->shards[i].name;
}

/* What is being read, and where to. */
struct reader {
    struct tenon_hf_index *index;
    const struct tenon_open_options *options;
    struct tenon_scroll text;
    struct tenon_json json;
};

/* The text of a key or string, unescaped where it stands. */
static struct tenon_str settle(struct reader *r, const struct tenon_json_token *token)
{
    char *text = r->text.data + (token->raw.data - r->text.data);

    return (struct tenon_str){text, tenon_json_unescape(token, text)};
}

/* A copy that stays; data NULL when memory is gone. */
static struct tenon_str keep(const struct tenon_hf_index *index, struct tenon_str text)
{
    text.data = tenon_arena_bytes(index->arena, text.data, text.len);
    return text;
}

/* The number of the shard called `name`, which is new or known. */
static enum tenon_status find_shard(struct tenon_hf_index *index, struct tenon_str name,
                                    const struct tenon_open_options *options, uint32_t *out,
                                    struct tenon_error *err)
{
    struct tenon_hf_index_shard *shards =
        tenon_mem_grow(index->shards, &index->shard_room, index->n_shards, sizeof(*shards));
    uint32_t i = (uint32_t)index->n_shards, known;

    if (shards == NULL)
        return tenon_fail_memory(err);
    index->shards = shards;
    shards[i] = (struct tenon_hf_index_shard){.name = name};
    known = tenon_names_add(&index->shard_names, i, index, name_of_shard);
    if (known == TENON_NO_INDEX)
        return tenon_fail_memory(err);
    if (known == i) {
        shards[i].name = keep(index, name);
        if (shards[i].name.data == NULL)
            return tenon_fail_memory(err);
    }
    if (known == i && index->n_shards++ == options->limits.shards)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "more than %u shards",
                          options->limits.shards);
    *out = known;
    return TENON_OK;
}

static enum tenon_status add_entry(struct reader *r, struct tenon_str name, uint64_t offset,
                                   uint32_t shard, struct tenon_error *err)
{
    struct tenon_hf_index *index = r->index;
    const struct tenon_open_options *options = r->options;
    struct tenon_hf_index_entry *entries =
        tenon_mem_grow(index->entries, &index->entry_room, index->n_entries, sizeof(*entries));
    uint32_t i = (uint32_t)index->n_entries, known;

    if (entries == NULL)
        return tenon_fail_memory(err);
    index->entries = entries;
    if (index->n_entries >= options->limits.tensors)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "more than %llu tensors",
                          (unsigned long long)options->limits.tensors);
    entries[i] = (struct tenon_hf_index_entry){
        .name = name.data, .name_len = (uint32_t)name.len, .shard = shard & INT32_MAX};
    known = tenon_names_add(&index->entry_names, i, index, name_of_entry);
    if (known == TENON_NO_INDEX)
        return tenon_fail_memory(err);
    index->shards[shard].n_tensors++;
    if (known == i) {
        entries[i].name = keep(index, name).data;
        if (entries[i].name == NULL)
            return tenon_fail_memory(err);
        index->n_entries++;
        return TENON_OK;
    }
    if (!options->lenient)
        return tenon_fail(err, TENON_ERR_NAME_CLASH, offset,
                          "the tensor stands twice in the weight map");
    index->n_superseded++;
    index->shards[entries[known].shard].n_tensors--;
    entries[known].shard = shard & INT32_MAX;
    return TENON_OK;
}

/* One pair of the weight map, whose key has been read. */
static enum tenon_status read_pair(struct reader *r, const struct tenon_json_token *key,
                                   struct tenon_error *err)
{
    struct tenon_str name = settle(r, key), file;
    struct tenon_json_token value;
    enum tenon_status st;
    const char *fault;
    uint32_t shard = 0;

    st = tenon_json_expect(&r->json, TENON_JSON_STRING, "the file of a tensor", &value, err);
    if (st == TENON_OK) {
        file = settle(r, &value);
        fault = tenon_hf_fault_of_name(file);
        if (fault != NULL)
            st = tenon_fail(err, TENON_ERR_CORRUPT, value.offset, "the file name '%.*s' %s",
                            (int)(file.len < 100 ? file.len : 100), file.data, fault);
    }
    if (st == TENON_OK)
        st = find_shard(r->index, file, r->options, &shard, err);
    if (st == TENON_OK)
        st = add_entry(r, name, key->offset, shard, err);
    if (st != TENON_OK)
        tenon_fail_subject(err, "tensor", name.data, name.len);
    return st;
}

static enum tenon_status read_weight_map(struct reader *r, struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st =
        tenon_json_expect(&r->json, TENON_JSON_OBJECT, "the weight map", &token, err);

    while (st == TENON_OK) {
        st = tenon_json_next(&r->json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_OBJECT_END)
            break;
        tenon_scroll_pass(&r->text, (size_t)token.offset);
        st = read_pair(r, &token, err);
    }
    return st;
}

static enum tenon_status add_note(struct tenon_hf_index *index, struct tenon_str key,
                                  struct tenon_str value, struct tenon_error *err)
{
    struct tenon_hf_index_note *notes =
        tenon_mem_grow(index->notes, &index->note_room, index->n_notes, sizeof(*notes));
    struct tenon_hf_index_note note = {keep(index, key), keep(index, value)};

    if (notes != NULL)
        index->notes = notes;
    if (notes == NULL || note.key.data == NULL || note.value.data == NULL)
        return tenon_fail_memory(err);
    notes[index->n_notes++] = note;
    return TENON_OK;
}

static enum tenon_status read_metadata(struct reader *r, struct tenon_error *err)
{
    struct tenon_hf_index *index = r->index;
    struct tenon_json *json = &r->json;
    struct tenon_json_token key, value;
    enum tenon_status st = tenon_json_next(json, &value, err);

    if (st != TENON_OK || value.type != TENON_JSON_OBJECT)
        return st == TENON_OK ? tenon_json_skip(json, &value, err) : st;
    while (st == TENON_OK) {
        st = tenon_json_next(json, &key, err);
        if (st != TENON_OK || key.type == TENON_JSON_OBJECT_END)
            break;
        st = tenon_json_next(json, &value, err);
        if (st == TENON_OK && tenon_json_token_is(&key, "total_size")) {
            index->has_total = tenon_json_token_u64(&value, &index->total);
            index->bad_total = !index->has_total;
            index->total_offset = value.offset;
        } else if (st == TENON_OK && value.type == TENON_JSON_STRING) {
            st = add_note(index, settle(r, &key), settle(r, &value), err);
        }
        if (st == TENON_OK)
            st = tenon_json_skip(json, &value, err);
    }
    return st;
}

/* A text that is no object is best explained by what it looks like. */
static enum tenon_status explain_text(const struct tenon_scroll *text, struct tenon_error *err)
{
    const struct tenon_format *format = NULL;
    struct tenon_probe probe = {.bytes = (const unsigned char *)text->data,
                                .n = text->len < TENON_PROBE_BYTES ? text->len : TENON_PROBE_BYTES,
                                .size = text->len,
                                .name = ""};
    enum tenon_status st = tenon_format_detect(&probe, &format, err);

    if (st == TENON_OK)
        st = tenon_fail(err, TENON_ERR_MISMATCH, 0, "is %s where an index of shards is due",
                        format->info.name);
    return st;
}

static enum tenon_status parse_index(struct reader *r, struct tenon_error *err)
{
    struct tenon_json_token token;
    bool has_map = false;
    enum tenon_status st;

    tenon_json_init(&r->json, r->text.data, r->text.len, r->options->limits.json_depth);
    st = tenon_json_expect(&r->json, TENON_JSON_OBJECT, "an index", &token, err);
    while (st == TENON_OK) {
        st = tenon_json_next(&r->json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_OBJECT_END)
            break;
        if (tenon_json_token_is(&token, "weight_map") && has_map) {
            st = tenon_fail(err, TENON_ERR_NAME_CLASH, token.offset, "weight_map stands twice");
        } else if (tenon_json_token_is(&token, "weight_map")) {
            has_map = true;
            st = read_weight_map(r, err);
        } else if (tenon_json_token_is(&token, "metadata")) {
            st = read_metadata(r, err);
        } else {
            st = tenon_json_skip(&r->json, &token, err);
        }
    }
    if (st == TENON_OK)
        st = tenon_json_next(&r->json, &token, err); /* the end */
    if (st == TENON_OK && !has_map)
        st = tenon_fail(err, TENON_ERR_CORRUPT, 0, "the index has no weight_map");
    if (st == TENON_OK && r->index->n_entries == 0)
        st = tenon_fail(err, TENON_ERR_CORRUPT, 0, "the weight_map of the index is empty");
    return st;
}

static bool starts_with_brace(const struct tenon_scroll *text)
{
    size_t pos = 0;

    while (pos < text->len && strchr(" \t\r\n", text->data[pos]) != NULL && text->data[pos] != '\0')
        pos++;
    return pos < text->len && text->data[pos] == '{';
}

static enum tenon_status load_text(const struct tenon_source *source, uint64_t limit,
                                   struct tenon_scroll *out, struct tenon_error *err)
{
    uint64_t size = tenon_source_size(source);

    if (limit > UINT32_MAX)
        limit = UINT32_MAX; /* lengths are kept in 32 bits */
    if (size > limit)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "%llu bytes, at most %llu allowed",
                          (unsigned long long)size, (unsigned long long)limit);
    if (!tenon_scroll_new(out, (size_t)size))
        return tenon_fail_memory(err);
    return tenon_source_read(source, 0, out->data, (size_t)size, err);
}

enum tenon_status tenon_hf_index_read(struct tenon_hf_index *index,
                                      const struct tenon_source *source,
                                      const struct tenon_open_options *options,
                                      struct tenon_error *err)
{
    struct reader r = {.index = index, .options = options};
    enum tenon_status st = load_text(source, options->limits.json_bytes, &r.text, err);

    if (st == TENON_OK)
        st = starts_with_brace(&r.text) ? parse_index(&r, err) : explain_text(&r.text, err);
    tenon_scroll_release(&r.text);
    tenon_fail_path(err, tenon_source_path(source));
    return st;
}

void tenon_hf_index_release(struct tenon_hf_index *index)
{
    tenon_names_release(&index->entry_names);
    tenon_names_release(&index->shard_names);
    tenon_mem_free(index->entries);
    tenon_mem_free(index->shards);
    tenon_mem_free(index->notes);
    memset(index, 0, sizeof(*index));
}

struct tenon_hf_index_entry *tenon_hf_index_find(struct tenon_hf_index *index,
                                                 struct tenon_str name)
{
    uint32_t i = tenon_names_find(&index->entry_names, name.data, name.len, index, name_of_entry);

    return i != TENON_NO_INDEX ? &index->entries[i] : NULL;
}

bool tenon_hf_index_has_shard(const struct tenon_hf_index *index, const char *name)
{
    return tenon_names_find(&index->shard_names, name, strlen(name), index, name_of_shard) !=
           TENON_NO_INDEX;
}

struct tenon_str tenon_hf_index_name(const struct tenon_hf_index_entry *entry)
{
    return (struct tenon_str){entry->name, entry->name_len};
}
