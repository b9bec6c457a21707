/* The JSON header of a safetensors file: metadata and entries, in one pass. */
#include <string.h>

#include "fail.h"
#include "safetensors_private.h"

/* Dimensions of one entry that are kept; more are refused whatever the options say. */
#define MOST_DIMS 64

enum field { FIELD_DTYPE, FIELD_SHAPE, FIELD_OFFSETS, N_FIELDS, FIELD_UNKNOWN };

static const char *const field_names[N_FIELDS] = {"dtype", "shape", "data_offsets"};

/* One entry while it is read. */
struct entry {
    struct tenon_str name;
    bool named;      /* the name is in the model's arena, not in the header */
    uint64_t offset; /* of its key, absolute */
    struct tenon_str dtype;
    uint64_t dims[MOST_DIMS];
    uint32_t n_dims;
    uint64_t begin, end;
    uint64_t offsets_at;
    bool seen[N_FIELDS];
};

static void count(struct tenon_safetensors_tally *tally, const struct entry *entry)
{
    if (tally->n++ == 0)
        tally->offset = entry->offset;
}

/* The text of a key or string, unescaped where it stands in the header: it goes away with it. */
static struct tenon_str settle(const struct tenon_safetensors_reader *r,
                               const struct tenon_json_token *token)
{
    char *text = r->header.data + (token->raw.data - r->header.data);

    if (!token->escaped)
        return token->raw;
    return (struct tenon_str){text, tenon_json_unescape(token, text)};
}

/* Gives back the text before a token. */
static void pass_text(struct tenon_safetensors_reader *r, const struct tenon_json_token *token)
{
    tenon_scroll_pass(&r->header, (size_t)(token->offset - TENON_SAFETENSORS_PREFIX));
}

/* A copy of a text in the header for the model; data NULL when memory is gone. */
static struct tenon_str keep(const struct tenon_safetensors_reader *r, struct tenon_str text)
{
    text.data = tenon_arena_bytes(tenon_model_arena(r->model), text.data, text.len);
    return text;
}

/* --- metadata --- */

/* The same for a value, which may be most of the header: its pages are kept then. */
static enum tenon_status keep_value(struct tenon_safetensors_reader *r, struct tenon_str value,
                                    struct tenon_str *out, struct tenon_error *err)
{
    size_t from = (size_t)(value.data - r->header.data), bytes;
    void *pages;

    *out = value;
    if (tenon_scroll_keep(&r->header, from, from + value.len, &pages, &bytes))
        return tenon_model_own_pages(r->model, pages, bytes, err);
    *out = keep(r, value);
    return out->data != NULL ? TENON_OK : tenon_fail_memory(err);
}

/* Adds a pair whose texts stand in the header still. */
static enum tenon_status add_pair(struct tenon_safetensors_reader *r, struct tenon_str key,
                                  struct tenon_str value, uint64_t offset, struct tenon_error *err)
{
    struct tenon_meta_entry pair = {.type = TENON_META_STRING,
                                    .item = TENON_META_STRING,
                                    .count = 1,
                                    .offset = offset,
                                    .file = r->file};
    enum tenon_status st;

    pair.key = keep(r, key);
    if (pair.key.data == NULL)
        return tenon_fail_memory(err);
    pair.value.type = TENON_META_STRING;
    st = keep_value(r, value, &pair.value.as.str, err); /* `key` may be gone after that */
    if (st == TENON_OK)
        st = tenon_model_add_meta(r->model, &pair, err);
    if (st != TENON_OK)
        tenon_fail_subject(err, "key", pair.key.data, pair.key.len);
    return st;
}

static enum tenon_status read_meta_pair(struct tenon_safetensors_reader *r, struct tenon_json *json,
                                        const struct tenon_json_token *key, struct tenon_error *err)
{
    struct tenon_str name = settle(r, key);
    struct tenon_json_token value;
    enum tenon_status st =
        tenon_json_expect(json, TENON_JSON_STRING, "a metadata value", &value, err);

    if (st != TENON_OK)
        tenon_fail_subject(err, "key", name.data, name.len);
    else if (!tenon_safetensors_is_superseded(r, key->offset))
        st = add_pair(r, name, settle(r, &value), key->offset, err);
    return st;
}

static enum tenon_status read_metadata(struct tenon_safetensors_reader *r, struct tenon_json *json,
                                       struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_next(json, &token, err);

    if (st == TENON_OK && token.type == TENON_JSON_NULL) {
        st = tenon_model_find_fault(r->model, "metadata_null", r->file, token.offset, NULL, 0,
                                    "the metadata is null, an object is due");
        return st == TENON_OK ? st : tenon_fail_memory(err);
    }
    if (st == TENON_OK && token.type != TENON_JSON_OBJECT)
        st = tenon_fail(err, TENON_ERR_CORRUPT, token.offset,
                        "the metadata must be an object, not %s", tenon_json_type_name(token.type));
    while (st == TENON_OK) {
        st = tenon_json_next(json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_OBJECT_END)
            break;
        pass_text(r, &token);
        st = read_meta_pair(r, json, &token, err);
    }
    if (st != TENON_OK)
        tenon_fail_subject(err, "key", TENON_SAFETENSORS_META, strlen(TENON_SAFETENSORS_META));
    return st;
}

/* --- one entry --- */

/* A plain unsigned number that fits 64 bits. `*token` has been read. */
static enum tenon_status take_u64(const struct tenon_json_token *token, const char *what,
                                  uint64_t *out, struct tenon_error *err)
{
    if (tenon_json_token_u64(token, out))
        return TENON_OK;
    if (token->type != TENON_JSON_NUMBER)
        return tenon_fail(err, TENON_ERR_CORRUPT, token->offset,
                          "%s must be an unsigned integer, not %s", what,
                          tenon_json_type_name(token->type));
    if (token->raw.len > 32)
        return tenon_fail(err, TENON_ERR_CORRUPT, token->offset,
                          "%s must be an unsigned integer below 2^64, not a number of %zu "
                          "characters",
                          what, token->raw.len);
    return tenon_fail(err, TENON_ERR_CORRUPT, token->offset,
                      "%s must be an unsigned integer below 2^64 in plain digits, not %.*s", what,
                      (int)token->raw.len, token->raw.data);
}

static enum tenon_status read_dtype(struct tenon_safetensors_reader *r, struct tenon_json *json,
                                    struct entry *entry, struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_expect(json, TENON_JSON_STRING, "the dtype", &token, err);

    if (st == TENON_OK)
        entry->dtype = settle(r, &token);
    return st;
}

static enum tenon_status read_shape(struct tenon_safetensors_reader *r, struct tenon_json *json,
                                    struct entry *entry, struct tenon_error *err)
{
    uint32_t limit = tenon_model_options(r->model)->limits.dims;
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_expect(json, TENON_JSON_ARRAY, "the shape", &token, err);

    if (limit > MOST_DIMS)
        limit = MOST_DIMS;
    while (st == TENON_OK) {
        st = tenon_json_next(json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_ARRAY_END)
            break;
        if (entry->n_dims == limit)
            return tenon_fail(err, TENON_ERR_LIMIT, token.offset,
                              "more than %u dimensions, at most %u allowed", limit, limit);
        st = take_u64(&token, "a dimension", &entry->dims[entry->n_dims++], err);
    }
    return st;
}

static enum tenon_status read_offsets(struct tenon_json *json, struct entry *entry,
                                      struct tenon_error *err)
{
    uint64_t *const places[] = {&entry->begin, &entry->end};
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_expect(json, TENON_JSON_ARRAY, "data_offsets", &token, err);

    entry->offsets_at = token.offset;
    for (size_t i = 0; st == TENON_OK && i < 2; i++) {
        st = tenon_json_next(json, &token, err);
        if (st == TENON_OK && token.type == TENON_JSON_ARRAY_END)
            return tenon_fail(err, TENON_ERR_CORRUPT, token.offset,
                              "data_offsets has %zu numbers, 2 are needed", i);
        if (st == TENON_OK)
            st = take_u64(&token, "a data offset", places[i], err);
    }
    if (st == TENON_OK)
        st = tenon_json_next(json, &token, err);
    if (st == TENON_OK && token.type != TENON_JSON_ARRAY_END)
        st = tenon_fail(err, TENON_ERR_CORRUPT, token.offset,
                        "data_offsets has more than 2 numbers");
    return st;
}

static enum tenon_status read_field(struct tenon_safetensors_reader *r, struct tenon_json *json,
                                    enum field field, struct entry *entry, struct tenon_error *err)
{
    entry->seen[field] = true;
    if (field == FIELD_DTYPE)
        return read_dtype(r, json, entry, err);
    if (field == FIELD_SHAPE)
        return read_shape(r, json, entry, err);
    return read_offsets(json, entry, err);
}

static enum field find_field(const struct tenon_json_token *key)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (tenon_json_token_is(key, field_names[i]))
            return (enum field)i;
    return FIELD_UNKNOWN;
}

/* The members of an entry in the usual form, after its brace. */
static enum tenon_status read_members(struct tenon_safetensors_reader *r, struct tenon_json *json,
                                      struct entry *entry, struct tenon_error *err)
{
    bool unknown = false;

    for (;;) {
        struct tenon_json_token key;
        enum tenon_status st = tenon_json_next(json, &key, err);
        enum field field;

        if (st != TENON_OK)
            return st;
        if (key.type == TENON_JSON_OBJECT_END)
            break;
        field = find_field(&key);
        if (field == FIELD_UNKNOWN) {
            unknown = true;
            st = tenon_json_skip(json, &key, err);
        } else if (entry->seen[field]) {
            st = tenon_fail(err, TENON_ERR_NAME_CLASH, key.offset, "%s stands twice in one entry",
                            field_names[field]);
        } else {
            st = read_field(r, json, field, entry, err);
        }
        if (st != TENON_OK)
            return st;
    }
    if (unknown)
        count(&r->unknown_field, entry);
    for (size_t i = 0; i < N_FIELDS; i++)
        if (!entry->seen[i])
            return tenon_fail(err, TENON_ERR_CORRUPT, entry->offset, "the entry has no %s",
                              field_names[i]);
    return TENON_OK;
}

/* An entry as the array [dtype, shape, data_offsets], which the reference reader lets pass. */
static enum tenon_status read_array(struct tenon_safetensors_reader *r, struct tenon_json *json,
                                    struct entry *entry, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    struct tenon_json_token token;

    count(&r->array_form, entry);
    for (size_t i = 0; st == TENON_OK && i < N_FIELDS; i++)
        st = read_field(r, json, (enum field)i, entry, err);
    if (st == TENON_OK)
        st = tenon_json_next(json, &token, err);
    if (st == TENON_OK && token.type != TENON_JSON_ARRAY_END)
        st = tenon_fail(err, TENON_ERR_CORRUPT, token.offset, "the entry has more than 3 items");
    return st;
}

static enum tenon_status read_value(struct tenon_safetensors_reader *r, struct tenon_json *json,
                                    struct entry *entry, struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_next(json, &token, err);

    if (st != TENON_OK)
        return st;
    if (token.type == TENON_JSON_OBJECT)
        return read_members(r, json, entry, err);
    if (token.type == TENON_JSON_ARRAY && r->lenient)
        return read_array(r, json, entry, err);
    return tenon_fail(err, TENON_ERR_CORRUPT, token.offset, "an entry must be an object, not %s",
                      tenon_json_type_name(token.type));
}

/* --- entries --- */

static enum tenon_status check_span(const struct tenon_safetensors_reader *r,
                                    const struct entry *entry, struct tenon_error *err)
{
    uint64_t end;

    if (entry->begin > entry->end)
        return tenon_fail(err, TENON_ERR_CORRUPT, entry->offsets_at,
                          "data_offsets run backwards, from %llu to %llu",
                          (unsigned long long)entry->begin, (unsigned long long)entry->end);
    if (!tenon_u64_add(&end, r->data_start, entry->end))
        return tenon_fail(err, TENON_ERR_CORRUPT, entry->offsets_at,
                          "its end does not fit 64 bits");
    return TENON_OK;
}

static enum tenon_status check_size(const struct tenon_tensor *t, const struct entry *entry,
                                    struct tenon_error *err)
{
    uint64_t bytes = entry->end - entry->begin;

    if (t->bytes == bytes)
        return TENON_OK;
    return tenon_fail(err, TENON_ERR_CORRUPT, entry->offsets_at,
                      "data_offsets span %llu bytes, but %llu elements of %s take %llu",
                      (unsigned long long)bytes, (unsigned long long)t->n_elements,
                      tenon_dtype_name((enum tenon_dtype)t->dtype), (unsigned long long)t->bytes);
}

static void note_alignment(struct tenon_safetensors_reader *r, const struct tenon_tensor *t,
                           const struct entry *entry)
{
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)t->dtype);

    if (info != NULL && info->family == TENON_DTYPE_FAMILY_plain && t->bytes != 0 &&
        t->offset % info->block_bytes != 0)
        count(&r->misaligned, entry);
}

/* What an unknown type takes is known from its place. */
static void take_size(struct tenon_tensor *t, const struct entry *entry)
{
    t->bytes = entry->end - entry->begin;
    t->flags = (uint8_t)((t->flags & ~TENON_TENSOR_SIZE_UNKNOWN) | TENON_TENSOR_SIZE_DERIVED);
}

static enum tenon_status add_tensor(struct tenon_safetensors_reader *r, const struct entry *entry,
                                    struct tenon_error *err)
{
    struct tenon_tensor tensor = {.name = entry->name,
                                  .dims = entry->dims,
                                  .n_dims = (uint8_t)entry->n_dims,
                                  .offset = r->data_start + entry->begin,
                                  .record_offset = entry->offset,
                                  .file = (uint16_t)r->file};
    struct tenon_tensor *added;
    enum tenon_status st = TENON_OK;

    tensor.dtype = (uint8_t)tenon_dtype_from_safetensors(entry->dtype.data, entry->dtype.len);
    if (tensor.dtype == TENON_DTYPE_UNKNOWN) {
        count(&r->unknown_dtype, entry);
        st = tenon_model_add_dtype(r->model, entry->dtype, &tensor.dtype_raw, err);
    }
    if (st == TENON_OK)
        st = entry->named ? tenon_model_add_named(r->model, &tensor, err)
                          : tenon_model_add_tensor(r->model, &tensor, err);
    if (st != TENON_OK)
        return st;
    added = tenon_model_edit_tensor(r->model, tenon_model_n_tensors(r->model) - 1);
    if ((added->flags & TENON_TENSOR_SIZE_UNKNOWN) != 0)
        take_size(added, entry);
    note_alignment(r, added, entry);
    return check_size(added, entry, err);
}

/* An entry that is not kept: only its place counts. An edited copy of the file spells its dtype as
 * it is, whatever the payload's size makes of it. */
static enum tenon_status pass_tensor(struct tenon_safetensors_reader *r, const struct entry *entry,
                                     struct tenon_error *err)
{
    struct tenon_safetensors_span span = {
        .begin = entry->begin, .end = entry->end, .name = entry->name, .offset = entry->offset};
    struct tenon_safetensors_span *passed =
        tenon_mem_grow(r->passed, &r->passed_room, r->n_passed, sizeof(*passed));
    uint32_t number;

    if (passed == NULL)
        return tenon_fail_memory(err);
    r->passed = passed;
    span.name.data = tenon_arena_bytes(&r->arena, span.name.data, span.name.len);
    if (span.name.data == NULL)
        return tenon_fail_memory(err);
    r->passed[r->n_passed++] = span;
    return tenon_model_add_dtype(r->model, entry->dtype, &number, err);
}

/* Whether the entry belongs to the model. The name may move to the model then. */
static bool is_kept(const struct tenon_safetensors_reader *r, struct entry *entry)
{
    const char *text = entry->name.data;
    bool kept = r->keep == NULL || r->keep(r->user, &entry->name);

    entry->named = entry->name.data != text;
    return kept;
}

static enum tenon_status read_entry(struct tenon_safetensors_reader *r, struct tenon_json *json,
                                    const struct tenon_json_token *key, struct tenon_error *err)
{
    struct entry entry;
    enum tenon_status st;

    memset(&entry, 0, offsetof(struct entry, dims));
    memset(&entry.n_dims, 0, sizeof(entry) - offsetof(struct entry, n_dims));
    entry.name = settle(r, key);
    entry.offset = key->offset;
    if (tenon_safetensors_is_superseded(r, key->offset))
        return tenon_json_skip(json, key, err);
    if (key->has_nul && !r->lenient)
        st = tenon_fail(err, TENON_ERR_CORRUPT, key->offset, "a NUL character in a tensor name");
    else
        st = read_value(r, json, &entry, err);
    if (st == TENON_OK && key->has_nul)
        count(&r->nul_name, &entry);
    if (st == TENON_OK)
        st = check_span(r, &entry, err);
    if (st == TENON_OK)
        st = is_kept(r, &entry) ? add_tensor(r, &entry, err) : pass_tensor(r, &entry, err);
    if (st != TENON_OK)
        tenon_fail_subject(err, "tensor", entry.name.data, entry.name.len);
    return st;
}

enum tenon_status tenon_safetensors_parse(struct tenon_safetensors_reader *r,
                                          struct tenon_error *err)
{
    struct tenon_json json;
    struct tenon_json_token token;
    bool has_metadata = false;
    enum tenon_status st;

    tenon_json_init(&json, r->header.data, r->header.len,
                    tenon_model_options(r->model)->limits.json_depth);
    tenon_json_set_base(&json, TENON_SAFETENSORS_PREFIX);
    st = tenon_json_expect(&json, TENON_JSON_OBJECT, "the header", &token, err);
    while (st == TENON_OK) {
        st = tenon_json_next(&json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_OBJECT_END)
            break;
        pass_text(r, &token);
        if (!tenon_json_token_is(&token, TENON_SAFETENSORS_META)) {
            st = read_entry(r, &json, &token, err);
        } else if (has_metadata) {
            st = tenon_fail(err, TENON_ERR_NAME_CLASH, token.offset, "%s stands twice",
                            TENON_SAFETENSORS_META);
        } else {
            has_metadata = true;
            st = read_metadata(r, &json, err);
        }
    }
    if (st == TENON_OK)
        st = tenon_json_next(&json, &token, err); /* nothing but white space may follow */
    return st;
}
