/* The old header of an edited copy: what it has that the model has not, and how it is written. */
#include <string.h>

#include "fail.h"
#include "model_build.h"
#include "safetensors_like.h"
#include "safetensors_private.h"
#include "text.h"

/* A pass over the old header. */
struct reading {
    struct tenon_like *like;
    struct tenon_like_cursor cursor;
    /* Is it as the reference writes it? */
    const struct tenon_tensor *before; /* the entry in front */
    uint64_t end;                      /* of the payloads so far */
    char *spelled;                     /* room for one member */
    size_t spelled_room;
    bool any, canonical;
};

/* --- is it as the reference writes it --- */

/* Room for `n` bytes that are compared with the text. */
static bool make_room(struct reading *r, size_t n)
{
    char *room;

    if (n <= r->spelled_room)
        return true;
    if (!tenon_size_mul(&n, n, 2))
        return false;
    room = tenon_mem_resize(r->spelled, n, 1);
    if (room == NULL)
        return false;
    r->spelled = room;
    r->spelled_room = n;
    return true;
}

static bool follows(const struct reading *r, const struct tenon_tensor *t)
{
    uint32_t rank = tenon_safetensors_rank((enum tenon_dtype)t->dtype), before;

    if (r->before == NULL)
        return true;
    before = tenon_safetensors_rank((enum tenon_dtype)r->before->dtype);
    return before != rank ? before < rank : tenon_str_compare(r->before->name, t->name) < 0;
}

/* Whether the member is what the reference would write for `t`. */
static enum tenon_status compare_entry(struct reading *r, const struct tenon_tensor *t,
                                       const struct tenon_like_item *item, bool *same,
                                       struct tenon_error *err)
{
    const struct tenon_like_old *old = r->like->old;
    struct tenon_plan_tensor spelled = {.name = t->name,
                                        .dtype = (enum tenon_dtype)t->dtype,
                                        .dims = t->dims,
                                        .n_dims = t->n_dims,
                                        .source = {.model = old->model, .tensor = t},
                                        .n_sources = 1};
    size_t len = item->value_end - item->key;
    uint64_t begin = t->offset - old->len - TENON_SAFETENSORS_PREFIX;
    struct tenon_json_out out = {0};

    *same = false;
    tenon_safetensors_put_tensor(&out, &spelled, begin, begin + t->bytes);
    if (out.len != len)
        return TENON_OK;
    if (!make_room(r, len))
        return tenon_fail_memory(err);
    out.data = r->spelled;
    out.len = 0;
    tenon_safetensors_put_tensor(&out, &spelled, begin, begin + t->bytes);
    *same = memcmp(r->spelled, item->text + item->key, len) == 0;
    return TENON_OK;
}

/* Whether the entry is the next one that the reference would write. */
static enum tenon_status check_entry(struct reading *r, const struct tenon_tensor *t,
                                     const struct tenon_like_item *item, struct tenon_error *err)
{
    uint64_t begin = t->offset - r->like->old->len - TENON_SAFETENSORS_PREFIX;

    if (!r->canonical)
        return TENON_OK;
    r->canonical = begin == r->end && follows(r, t);
    r->before = t;
    r->end = begin + t->bytes; /* lies in the file */
    return r->canonical ? compare_entry(r, t, item, &r->canonical, err) : TENON_OK;
}

/* Whether the members follow each other without blanks. */
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

/* Whether the string between `from` and `to`, with its quotes, is spelled as the reference does. */
static bool is_quoted(const struct reading *r, size_t from, size_t to)
{
    struct tenon_json_token token = {.type = TENON_JSON_STRING};
    struct tenon_json_out out = {0};
    struct tenon_str text = {r->like->room, 0};

    token.raw.data = r->like->meta_value + from + 1;
    token.raw.len = to - from - 2;
    token.escaped = memchr(token.raw.data, '\\', token.raw.len) != NULL;
    text.len = tenon_json_unescape(&token, r->like->room);
    tenon_json_put_string(&out, text);
    if (out.len != to - from)
        return false;
    out.data = r->spelled;
    out.len = 0;
    tenon_json_put_string(&out, text);
    return memcmp(out.data, r->like->meta_value + from, to - from) == 0;
}

/* Whether the metadata is as the reference writes it, where any order of keys may come. */
static bool has_usual_metas(const struct reading *r)
{
    const struct tenon_json_object *o = &r->like->metas;
    bool usual = !r->any && !r->like->null_metas && is_compact(o);

    for (size_t i = 0; usual && i < o->n; i++)
        usual = is_quoted(r, o->members[i].key, o->members[i].key_end) &&
                is_quoted(r, o->members[i].value, o->members[i].value_end);
    return usual;
}

/* --- metadata --- */

/* The most bytes between a key and the end of its value. */
static size_t longest_member(const struct tenon_json_object *o)
{
    size_t longest = 0;

    for (size_t i = 0; i < o->n; i++)
        if (o->members[i].value_end - o->members[i].key > longest)
            longest = o->members[i].value_end - o->members[i].key;
    return longest;
}

/* Takes the metadata apart into pairs. */
static enum tenon_status scan_metas(struct tenon_like *like, size_t len, struct tenon_error *err)
{
    struct tenon_json_object *o = &like->metas;
    enum tenon_status st =
        tenon_json_object_scan(o, like->meta_value, len, 0, TENON_JSON_MAX_DEPTH, NULL);
    bool strings = true;

    for (size_t i = 0; i < o->n; i++)
        strings &= like->meta_value[o->members[i].value] == '"';
    if (st == TENON_ERR_NO_MEMORY)
        return tenon_fail_memory(err);
    return st == TENON_OK && strings ? TENON_OK : tenon_like_fail_changed(err);
}

static enum tenon_status read_metas(struct reading *r, const struct tenon_like_item *item,
                                    struct tenon_error *err)
{
    struct tenon_like *like = r->like;
    size_t len = item->value_end - item->value, longest;
    enum tenon_status st = TENON_OK;

    if (like->old->meta != UINT64_MAX)
        return tenon_like_fail_changed(err);
    like->old->meta = item->at + item->key;
    like->meta_value = tenon_mem_alloc(len, 1);
    if (like->meta_value == NULL)
        return tenon_fail_memory(err);
    memcpy(like->meta_value, item->text + item->value, len);
    like->null_metas = like->meta_value[0] != '{'; /* null, which the reference takes for none */
    if (!like->null_metas)
        st = scan_metas(like, len, err);
    if (st != TENON_OK)
        return st;
    longest = longest_member(&like->metas) + 1;
    like->room = tenon_mem_alloc(longest, 1);
    if (like->room == NULL || !make_room(r, longest))
        return tenon_fail_memory(err);
    r->canonical = r->canonical && has_usual_metas(r);
    return TENON_OK;
}

/* --- entries that the model does not know --- */

/* The tensor of the member, as the reader would have described it, in the plan's arena. NULL when
 * memory is gone. */
static struct tenon_tensor *make_tensor(struct tenon_like *like, const struct tenon_like_item *item,
                                        const struct tenon_json_token *key,
                                        const struct tenon_like_parsed *p)
{
    struct tenon_arena *arena = &like->plan->arena;
    struct tenon_tensor *t = tenon_arena_alloc(arena, 1, sizeof(*t));
    uint64_t *dims = tenon_arena_alloc(arena, p->tensor.n_dims, sizeof(*dims));
    char *name = tenon_arena_alloc(arena, key->raw.len + 1, 1);
    uint64_t base = like->old->len + TENON_SAFETENSORS_PREFIX;

    if (t == NULL || dims == NULL || name == NULL)
        return NULL;
    *t = p->tensor;
    for (uint32_t d = 0; d < t->n_dims; d++)
        dims[d] = p->dims[d];
    t->dims = dims;
    t->name = (struct tenon_str){name, tenon_json_unescape(key, name)};
    t->file = (uint16_t)like->old->file;
    t->record_offset = item->at + item->key + TENON_SAFETENSORS_PREFIX;
    t->scale = TENON_NO_INDEX;
    return tenon_u64_add(&t->offset, base, p->begin) ? t : NULL;
}

static enum tenon_status add_odd(struct tenon_like *like, struct tenon_tensor *t,
                                 struct tenon_error *err)
{
    struct tenon_like_old *old = like->old;
    struct tenon_tensor **odd = tenon_mem_grow(old->odd, &like->odd_room, old->n_odd, sizeof(*odd));

    if (odd == NULL)
        return tenon_fail_memory(err);
    old->odd = odd;
    odd[old->n_odd++] = t;
    old->all++;
    return TENON_OK;
}

static enum tenon_status read_odd(struct reading *r, const struct tenon_like_item *item,
                                  const struct tenon_json_token *key, struct tenon_error *err)
{
    struct tenon_like *like = r->like;
    struct tenon_like_parsed p;
    struct tenon_tensor *t;
    enum tenon_status st = tenon_like_parse(like->old->model, item->text + item->value,
                                            item->value_end - item->value, &p, err);

    if (st != TENON_OK)
        return st;
    t = make_tensor(like, item, key, &p);
    st = t != NULL ? add_odd(like, t, err) : tenon_fail_memory(err);
    return st == TENON_OK ? check_entry(r, t, item, err) : st;
}

/* --- all members --- */

/* A member that is no tensor of the model's. */
static enum tenon_status read_unknown(struct reading *r, const struct tenon_like_item *item,
                                      struct tenon_error *err)
{
    struct tenon_json json;
    struct tenon_json_token key;

    tenon_json_init(&json, item->text + item->key, item->key_end - item->key, 0);
    if (tenon_json_expect(&json, TENON_JSON_STRING, "a key", &key, NULL) != TENON_OK)
        return tenon_like_fail_changed(err);
    return tenon_json_token_is(&key, TENON_SAFETENSORS_META) ? read_metas(r, item, err)
                                                             : read_odd(r, item, &key, err);
}

static enum tenon_status read_member(struct reading *r, const struct tenon_like_item *item,
                                     struct tenon_error *err)
{
    const struct tenon_like_old *old = r->like->old;
    uint32_t entry = tenon_like_find_next(old, &r->cursor, item->at + item->key);
    enum tenon_status st;

    r->canonical = r->canonical && item->key == r->any && item->value == item->key_end + 1;
    st = entry != TENON_LIKE_NONE ? check_entry(r, tenon_like_entry(old, entry), item, err)
                                  : read_unknown(r, item, err);
    r->any = true;
    return st;
}

static enum tenon_status read_members(struct reading *r, struct tenon_like_walk *walk,
                                      struct tenon_error *err)
{
    struct tenon_like_old *old = r->like->old;
    struct tenon_like_item item = {.end = false};
    enum tenon_status st = tenon_like_walk_begin(walk, old->model, old->file, err);

    old->len = walk->len;
    old->open = walk->open;
    while (st == TENON_OK) {
        st = tenon_like_walk_next(walk, &item, err);
        if (st != TENON_OK || item.end)
            break;
        st = read_member(r, &item, err);
    }
    if (st == TENON_OK && r->cursor.known != old->n)
        st = tenon_like_fail_changed(err);
    if (st != TENON_OK)
        return st;
    r->canonical = r->canonical && item.key == 0;
    old->close = item.at + item.key;
    return tenon_like_walk_tail(walk, &old->blanks, err);
}

/* --- the header --- */

/* The model's tensors of a file are those that were read one after the other. */
static size_t find_first(const struct tenon_like_old *old, uint32_t file)
{
    size_t first = 0, last = tenon_model_n_tensors(old->model);

    while (first < last) {
        size_t middle = first + (last - first) / 2;

        if (tenon_model_tensor(old->model, middle)->file < file)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* Nothing but blanks in front of and behind the root, and no more than needed behind it. */
static bool is_minimal(const struct tenon_like_old *old)
{
    uint64_t pad = old->len - (old->close + 1);

    return old->open == 1 && pad < 8 && (old->len + TENON_SAFETENSORS_PREFIX) % 8 == 0 &&
           old->blanks == pad;
}

/* New pairs are spelled as the reference does where there is no example, or nothing else. */
static void choose_style(struct tenon_like *like)
{
    if (!like->head->canonical && like->metas.n > 0)
        return;
    like->metas.colon = (struct tenon_str){":", 1};
    like->metas.comma = (struct tenon_str){",", 1};
    like->metas.after_comma = (struct tenon_str){"", 0};
}

enum tenon_status tenon_like_read(struct tenon_like *like, struct tenon_error *err)
{
    struct tenon_like_old *old = like->old;
    struct reading r = {.like = like, .canonical = true};
    struct tenon_like_walk walk = {0};
    enum tenon_status st;

    old->meta = UINT64_MAX;
    old->first = find_first(old, old->file);
    old->all = old->n = find_first(old, old->file + 1) - old->first;
    like->metas.text = "";
    st = read_members(&r, &walk, err);
    if (st == TENON_OK) {
        like->head->minimal = is_minimal(old);
        like->head->canonical = like->head->minimal && r.canonical;
        choose_style(like);
    }
    tenon_like_walk_release(&walk);
    tenon_mem_free(r.spelled);
    return st;
}
