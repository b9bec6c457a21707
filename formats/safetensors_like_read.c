/* The old header of an edited copy: its entries, its style, and whose they are. */
#include <string.h>

#include "fail.h"
#include "names.h"
#include "safetensors_like.h"
#include "safetensors_private.h"
#include "text.h"

/* More dimensions are not read. */
#define MOST_DIMS 64

/* An entry in parts. The texts stand in the header. */
struct parsed {
    struct tenon_tensor tensor; /* dtype, dtype_raw, dims, n_dims */
    uint64_t dims[MOST_DIMS];
    struct tenon_json_token offsets[2];
};

/* --- one entry --- */

static enum tenon_status fail_changed(struct tenon_error *err)
{
    return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                      "the header is another one than when the file was opened");
}

static enum tenon_status parse_dtype(const struct tenon_like *like, struct tenon_json *json,
                                     struct parsed *p, struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_expect(json, TENON_JSON_STRING, "the dtype", &token, err);

    if (st != TENON_OK)
        return st;
    p->tensor.dtype = (uint8_t)tenon_dtype_from_safetensors(token.raw.data, token.raw.len);
    p->tensor.dtype_raw = tenon_model_find_dtype(like->model, token.raw);
    return TENON_OK;
}

static enum tenon_status parse_shape(struct tenon_json *json, struct parsed *p,
                                     struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_expect(json, TENON_JSON_ARRAY, "the shape", &token, err);

    while (st == TENON_OK) {
        st = tenon_json_next(json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_ARRAY_END)
            break;
        if (p->tensor.n_dims == MOST_DIMS ||
            !tenon_json_token_u64(&token, &p->dims[p->tensor.n_dims++]))
            st = fail_changed(err);
    }
    return st;
}

static enum tenon_status parse_offsets(struct tenon_json *json, struct parsed *p,
                                       struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_expect(json, TENON_JSON_ARRAY, "data_offsets", &token, err);

    for (size_t i = 0; st == TENON_OK && i < 2; i++)
        st = tenon_json_expect(json, TENON_JSON_NUMBER, "a data offset", &p->offsets[i], err);
    if (st == TENON_OK)
        st = tenon_json_expect(json, TENON_JSON_ARRAY_END, "the end of data_offsets", &token, err);
    return st;
}

static enum tenon_status parse_member(const struct tenon_like *like, struct tenon_json *json,
                                      const struct tenon_json_token *key, struct parsed *p,
                                      struct tenon_error *err)
{
    if (tenon_json_token_is(key, "dtype"))
        return parse_dtype(like, json, p, err);
    if (tenon_json_token_is(key, "shape"))
        return parse_shape(json, p, err);
    if (tenon_json_token_is(key, "data_offsets"))
        return parse_offsets(json, p, err);
    return tenon_json_skip(json, key, err);
}

/* The value of member `i` of the root. */
static enum tenon_status parse_value(const struct tenon_like *like, size_t i, struct parsed *p,
                                     struct tenon_error *err)
{
    const struct tenon_json_member *m = &like->root.members[i];
    struct tenon_json json;
    struct tenon_json_token token;
    enum tenon_status st;

    memset(&p->tensor, 0, sizeof(p->tensor));
    memset(p->offsets, 0, sizeof(p->offsets));
    p->tensor.dims = p->dims;
    tenon_json_init(&json, like->text + m->value, m->value_end - m->value, TENON_JSON_MAX_DEPTH);
    st = tenon_json_next(&json, &token, err);
    if (st == TENON_OK && token.type == TENON_JSON_ARRAY) { /* read in lenient mode */
        st = parse_dtype(like, &json, p, err);
        if (st == TENON_OK)
            st = parse_shape(&json, p, err);
        if (st == TENON_OK)
            st = parse_offsets(&json, p, err);
        return st;
    }
    while (st == TENON_OK) {
        st = tenon_json_next(&json, &token, err);
        if (st != TENON_OK || token.type != TENON_JSON_KEY)
            break;
        st = parse_member(like, &json, &token, p, err);
    }
    return st;
}

static bool take_offset(const struct tenon_like *like, const struct tenon_json_token *token,
                        uint64_t *value, uint32_t *at, uint32_t *end)
{
    if (!tenon_json_token_u64(token, value))
        return false;
    *at = (uint32_t)(token->raw.data - like->text);
    *end = (uint32_t)(token->raw.data + token->raw.len - like->text);
    return true;
}

static enum tenon_status parse_entry(struct tenon_like *like, size_t i, struct parsed *p,
                                     struct tenon_error *err)
{
    struct tenon_like_entry *e = &like->entries[i];
    enum tenon_status st = parse_value(like, i, p, err);

    e->tensor = TENON_LIKE_NONE;
    if (st == TENON_OK &&
        (!take_offset(like, &p->offsets[0], &e->begin, &e->begin_at, &e->begin_end) ||
         !take_offset(like, &p->offsets[1], &e->end, &e->end_at, &e->end_end) || e->begin > e->end))
        st = fail_changed(err);
    p->tensor.bytes = e->end - e->begin;
    return st;
}

/* --- is it as the reference writes it --- */

/* What the check knows of the entry before. */
struct before {
    struct tenon_str name; /* unescaped, in `names` */
    uint32_t rank;
    uint64_t end;
    char *names[2]; /* room for this name and the one before, by turns */
    char *spelled;
    bool any;
};

/* Whether `text` is what `out` would be; false also when memory is gone, which only means that the
 * copy is not sorted. */
static bool is_spelled(struct before *b, const struct tenon_plan_tensor *t, uint64_t begin,
                       uint64_t end, struct tenon_str text)
{
    struct tenon_json_out out = {0};

    tenon_safetensors_put_tensor(&out, t, begin, end);
    if (out.len != text.len)
        return false;
    out.data = b->spelled;
    out.len = 0;
    tenon_safetensors_put_tensor(&out, t, begin, end);
    return memcmp(b->spelled, text.data, text.len) == 0;
}

static bool follows(const struct before *b, uint32_t rank, struct tenon_str name)
{
    if (!b->any)
        return true;
    if (b->rank != rank)
        return b->rank < rank;
    return tenon_safetensors_compare(b->name, name) < 0;
}

/* Whether member `i`, just parsed, is the next one that the reference would write. */
static bool is_next(const struct tenon_like *like, size_t i, const struct parsed *p,
                    struct before *b)
{
    const struct tenon_json_member *m = &like->root.members[i];
    const struct tenon_like_entry *e = &like->entries[i];
    struct tenon_plan_tensor t = {.dtype = (enum tenon_dtype)p->tensor.dtype,
                                  .dims = p->dims,
                                  .n_dims = p->tensor.n_dims,
                                  .source = {.model = like->model, .tensor = &p->tensor},
                                  .n_sources = 1};
    struct tenon_str text = {like->text + m->key, m->value_end - m->key};
    uint32_t rank = tenon_safetensors_rank(t.dtype);

    t.name = tenon_json_object_key(&like->root, i, b->names[i % 2]);
    if (e->begin != b->end || !follows(b, rank, t.name) ||
        !is_spelled(b, &t, e->begin, e->end, text))
        return false;
    b->name = t.name;
    b->rank = rank;
    b->end = e->end;
    b->any = true;
    return true;
}

/* Whether the members follow each other without blanks, metadata before all others. */
static bool is_compact(const struct tenon_json_object *o)
{
    uint32_t end = o->open;

    for (size_t i = 0; i < o->n; i++) {
        const struct tenon_json_member *m = &o->members[i];

        if (m->key != end + (i > 0) || m->value != m->key_end + 1)
            return false;
        end = m->value_end;
    }
    return o->close == end;
}

/* The most bytes between a key and the end of its value. */
static size_t longest_member(const struct tenon_json_object *o)
{
    size_t longest = 0;

    for (size_t i = 0; i < o->n; i++)
        if (o->members[i].value_end - o->members[i].key > longest)
            longest = o->members[i].value_end - o->members[i].key;
    return longest;
}

/* --- the header --- */

/* Whether the string between `from` and `to`, with its quotes, is spelled as the reference does. */
static bool is_quoted(const struct tenon_like *like, struct before *b, size_t from, size_t to)
{
    struct tenon_json_token token = {.type = TENON_JSON_STRING};
    struct tenon_json_out out = {0};
    struct tenon_str text = {b->names[0], 0};

    token.raw.data = like->text + from + 1;
    token.raw.len = to - from - 2;
    token.escaped = memchr(token.raw.data, '\\', token.raw.len) != NULL;
    text.len = tenon_json_unescape(&token, b->names[0]);
    tenon_json_put_string(&out, text);
    if (out.len != to - from)
        return false;
    out.data = b->spelled;
    out.len = 0;
    tenon_json_put_string(&out, text);
    return memcmp(out.data, like->text + from, to - from) == 0;
}

/* Whether the metadata is as the reference writes it, where any order of keys may come. */
static bool has_usual_metas(const struct tenon_like *like, struct before *b)
{
    const struct tenon_json_object *o = &like->metas;
    bool usual = like->meta_member == 0 && !like->null_metas && is_compact(o);

    if (like->meta_member == SIZE_MAX)
        return true;
    for (size_t i = 0; usual && i < o->n; i++)
        usual = is_quoted(like, b, o->members[i].key, o->members[i].key_end) &&
                is_quoted(like, b, o->members[i].value, o->members[i].value_end);
    return usual;
}

static enum tenon_status parse_entries(struct tenon_like *like, struct before *b,
                                       struct tenon_error *err)
{
    struct parsed p;
    enum tenon_status st = TENON_OK;

    like->canonical = like->minimal && is_compact(&like->root) && has_usual_metas(like, b);
    for (size_t i = 0; st == TENON_OK && i < like->root.n; i++) {
        if (i == like->meta_member)
            continue;
        st = parse_entry(like, i, &p, err);
        if (st == TENON_OK && like->canonical)
            like->canonical = is_next(like, i, &p, b);
    }
    return st;
}

static enum tenon_status load_text(struct tenon_like *like, struct tenon_error *err)
{
    const struct tenon_source *source = tenon_model_source(like->model, like->old_file);
    uint64_t bytes = tenon_model_file(like->model, like->old_file)->header_bytes;

    like->len = (size_t)(bytes - TENON_SAFETENSORS_PREFIX); /* was read into memory once */
    like->text = tenon_mem_resize(NULL, like->len > 0 ? like->len : 1, 1);
    if (like->text == NULL)
        return tenon_fail_memory(err);
    return tenon_source_read(source, TENON_SAFETENSORS_PREFIX, like->text, like->len, err);
}

/* Nothing but blanks in front of and behind the root, and how many there are behind it. */
static void find_padding(struct tenon_like *like)
{
    size_t end = (size_t)like->root.close + 1, pad = like->len - end;

    like->minimal =
        like->root.open == 1 && pad < 8 && (like->len + TENON_SAFETENSORS_PREFIX) % 8 == 0;
    for (size_t i = end; i < like->len; i++)
        like->minimal &= like->text[i] == ' ';
}

static enum tenon_status scan_text(struct tenon_like *like, struct tenon_error *err)
{
    size_t at = 0;
    enum tenon_status st;

    while (at < like->len && like->text[at] != '{')
        at++;
    st = tenon_json_object_scan(&like->root, like->text, like->len, at, TENON_JSON_MAX_DEPTH, err);
    if (st != TENON_OK)
        return st;
    find_padding(like);
    like->metas.text = "";
    like->meta_member = tenon_json_object_find(&like->root, TENON_SAFETENSORS_META);
    if (like->meta_member == SIZE_MAX)
        return TENON_OK;
    at = like->root.members[like->meta_member].value;
    like->null_metas = like->text[at] != '{'; /* null, which the reference takes for none */
    return like->null_metas ? TENON_OK
                            : tenon_json_object_scan(&like->metas, like->text, like->len, at,
                                                     TENON_JSON_MAX_DEPTH, err);
}

/* New pairs are spelled as the reference does where there is no example, or nothing else. */
static void choose_style(struct tenon_like *like)
{
    if (!like->canonical && like->metas.n > 0)
        return;
    like->metas.colon = (struct tenon_str){":", 1};
    like->metas.comma = (struct tenon_str){",", 1};
    like->metas.after_comma = (struct tenon_str){"", 0};
}

enum tenon_status tenon_like_read(struct tenon_like *like, struct tenon_error *err)
{
    struct before b = {0};
    size_t longest;
    enum tenon_status st = load_text(like, err);

    if (st == TENON_OK)
        st = scan_text(like, err);
    if (st != TENON_OK)
        return st;
    longest = longest_member(&like->root) + 1;
    like->entries = tenon_mem_alloc(like->root.n, sizeof(*like->entries));
    like->room = b.names[0] = tenon_mem_alloc(longest, 1);
    b.names[1] = tenon_mem_alloc(longest, 1);
    b.spelled = tenon_mem_alloc(longest, 1);
    if (like->entries == NULL || b.names[0] == NULL || b.names[1] == NULL || b.spelled == NULL)
        st = tenon_fail_memory(err);
    if (st == TENON_OK)
        st = parse_entries(like, &b, err);
    choose_style(like);
    tenon_mem_free(b.names[1]);
    tenon_mem_free(b.spelled);
    return st;
}

/* --- whose entry --- */

/* The entry of a tensor of the old file. */
static uint32_t find_entry(const struct tenon_like *like, const struct tenon_tensor *t)
{
    uint64_t key = t->record_offset - TENON_SAFETENSORS_PREFIX;
    size_t first = 0, last = like->root.n;

    while (first < last) {
        size_t middle = first + (last - first) / 2;

        if (like->root.members[middle].key < key)
            first = middle + 1;
        else
            last = middle;
    }
    return first < like->root.n && like->root.members[first].key == key ? (uint32_t)first
                                                                        : TENON_LIKE_NONE;
}

/* The tensor of the old file whose payload `t` is, unchanged; NULL when it is not. */
static const struct tenon_tensor *copied_from(const struct tenon_like *like,
                                              const struct tenon_plan_tensor *t)
{
    const struct tenon_plan_source *source = tenon_plan_sources(t);

    if (t->n_sources != 1 || source->model != like->model || source->logical ||
        source->tensor->file != like->old_file || source->tensor->bytes != t->bytes ||
        !tenon_plan_tensor_is_copy(like->plan, t))
        return NULL;
    return source->tensor;
}

static bool same_shape(const struct tenon_plan_tensor *t, const struct tenon_tensor *old)
{
    if (t->dtype != (enum tenon_dtype)old->dtype || t->n_dims != old->n_dims)
        return false;
    for (uint32_t d = 0; d < t->n_dims; d++)
        if (t->dims[d] != old->dims[d])
            return false;
    return true;
}

static void claim(struct tenon_like *like, size_t i, uint32_t entry)
{
    like->entry_of[i] = entry;
    like->entries[entry].tensor = (uint32_t)i;
}

/* Entries of the same name and shape. */
static void claim_by_name(struct tenon_like *like)
{
    for (size_t i = 0; i < like->n; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(like->plan, like->first + i);
        const struct tenon_tensor *old = copied_from(like, &t);
        uint32_t entry;

        if (old == NULL || tenon_safetensors_compare(old->name, t.name) != 0)
            old = tenon_model_find(like->model, t.name.data, t.name.len);
        if (old == NULL || old->file != like->old_file || !same_shape(&t, old))
            continue;
        if (t.dtype == TENON_DTYPE_UNKNOWN && copied_from(like, &t) != old)
            continue; /* its type is known by its source only */
        entry = find_entry(like, old);
        if (entry != TENON_LIKE_NONE)
            claim(like, i, entry);
    }
}

/* Entries that only get another name. In a sorted header they change their place, too. */
static void claim_renamed(struct tenon_like *like)
{
    for (size_t i = 0; i < like->n && !like->canonical; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(like->plan, like->first + i);
        const struct tenon_tensor *old = copied_from(like, &t);
        uint32_t entry;

        if (like->entry_of[i] != TENON_LIKE_NONE || old == NULL || !same_shape(&t, old))
            continue;
        entry = find_entry(like, old);
        if (entry != TENON_LIKE_NONE && like->entries[entry].tensor == TENON_LIKE_NONE)
            claim(like, i, entry);
    }
}

static enum tenon_status claim_entries(struct tenon_like *like, struct tenon_error *err)
{
    tenon_mem_free(like->entry_of);
    like->entry_of = tenon_mem_alloc(like->n, sizeof(*like->entry_of));
    if (like->entry_of == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < like->n; i++)
        like->entry_of[i] = TENON_LIKE_NONE;
    for (size_t i = 0; i < like->root.n; i++)
        like->entries[i].tensor = TENON_LIKE_NONE;
    claim_by_name(like);
    claim_renamed(like);
    return TENON_OK;
}

/* --- entries that the model does not know --- */

/* Whether type and shape take as many bytes as the payload has. */
static bool has_size(struct tenon_tensor *t)
{
    uint64_t bytes = 0;

    t->n_elements = 1;
    for (uint32_t d = 0; d < t->n_dims; d++)
        if (!tenon_u64_mul(&t->n_elements, t->n_elements, t->dims[d]))
            return false;
    return tenon_dtype_bytes((enum tenon_dtype)t->dtype, t->n_elements, &bytes) &&
           bytes == t->bytes;
}

/* The tensor of member `i`, as the reader would have described it, in the plan's arena. */
static struct tenon_tensor *make_tensor(struct tenon_like *like, size_t i, const struct parsed *p,
                                        struct tenon_str name)
{
    struct tenon_arena *arena = &like->plan->arena;
    struct tenon_tensor *t = tenon_arena_alloc(arena, 1, sizeof(*t));
    uint64_t *dims = tenon_arena_alloc(arena, MOST_DIMS, sizeof(*dims));
    uint64_t base = like->len + TENON_SAFETENSORS_PREFIX;

    if (t == NULL || dims == NULL)
        return NULL;
    *t = p->tensor;
    t->name.len = name.len;
    t->name.data = tenon_arena_text(arena, name.data, name.len);
    for (uint32_t d = 0; d < t->n_dims; d++)
        dims[d] = p->dims[d];
    t->dims = dims;
    t->file = (uint16_t)like->old_file;
    t->record_offset = (uint64_t)like->root.members[i].key + TENON_SAFETENSORS_PREFIX;
    t->scale = TENON_NO_INDEX;
    if (!has_size(t)) { /* the reader does not judge what an index leaves out */
        t->dtype = TENON_DTYPE_UNKNOWN;
        t->flags = TENON_TENSOR_SIZE_DERIVED;
        like->canonical = false;
    }
    if (!tenon_u64_add(&t->offset, base, like->entries[i].begin))
        return NULL;
    return t->name.data != NULL ? t : NULL;
}

static enum tenon_status add_stray(struct tenon_like *like, size_t i, struct tenon_str name,
                                   struct tenon_error *err)
{
    struct parsed p;
    struct tenon_like_entry entry = like->entries[i];
    enum tenon_status st = parse_entry(like, i, &p, err);
    struct tenon_tensor *t;

    like->entries[i] = entry;
    if (st != TENON_OK)
        return st;
    t = make_tensor(like, i, &p, name);
    if (t == NULL)
        return tenon_fail_memory(err);
    return tenon_plan_add_tensor_of(like->plan, like->model, t, like->file, err);
}

static struct tenon_str name_of(const void *owner, uint32_t i)
{
    const struct tenon_like *like = owner;

    return tenon_plan_name(like->plan, like->first + i);
}

/* Indexes the names of the tensors that the plan writes into the file. */
static bool index_names(const struct tenon_like *like, struct tenon_names *names)
{
    if (!tenon_names_reserve(names, like->n, like, name_of))
        return false;
    for (uint32_t i = 0; i < like->n; i++)
        if (tenon_names_add(names, i, like, name_of) == TENON_NO_INDEX)
            return false;
    return true;
}

/* Whether the model never knew the entry called `name`, and the plan has nothing in its place. */
static bool is_stray(const struct tenon_like *like, const struct tenon_names *names,
                     struct tenon_str name)
{
    const struct tenon_tensor *known = tenon_model_find(like->model, name.data, name.len);

    return (known == NULL || known->file != like->old_file) &&
           tenon_names_find(names, name.data, name.len, like, name_of) == TENON_NO_INDEX;
}

/* An entry that no tensor of the plan has goes away, unless the model never knew it. */
static enum tenon_status add_strays(struct tenon_like *like, bool *added, struct tenon_error *err)
{
    struct tenon_names names = {0};
    enum tenon_status st = index_names(like, &names) ? TENON_OK : tenon_fail_memory(err);

    for (size_t i = 0; st == TENON_OK && i < like->root.n; i++) {
        struct tenon_str name;

        if (i == like->meta_member || like->entries[i].tensor != TENON_LIKE_NONE)
            continue;
        name = tenon_json_object_key(&like->root, i, like->room);
        if (!is_stray(like, &names, name))
            continue;
        st = add_stray(like, i, name, err);
        *added = true;
    }
    tenon_names_release(&names);
    return st;
}

static enum tenon_status find_tensors(struct tenon_like *like, struct tenon_error *err)
{
    enum tenon_status st = tenon_plan_group(like->plan, err);

    if (st != TENON_OK)
        return st;
    tenon_plan_tensors_of(like->plan, like->file, &like->first, &like->n);
    if (like->n >= TENON_LIKE_NONE)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many tensors");
    return like->canonical ? tenon_safetensors_sort(like->plan, like->first, like->n, err)
                           : TENON_OK;
}

enum tenon_status tenon_like_match(struct tenon_like *like, struct tenon_error *err)
{
    bool added = false;
    enum tenon_status st = find_tensors(like, err);

    if (st == TENON_OK)
        st = claim_entries(like, err);
    if (st == TENON_OK)
        st = add_strays(like, &added, err);
    if (st != TENON_OK || !added)
        return st;
    st = find_tensors(like, err);
    return st == TENON_OK ? claim_entries(like, err) : st;
}
