/* The metadata of an edited copy: pairs keep their place and spelling. */
#include <string.h>

#include "fail.h"
#include "names.h"
#include "safetensors_like.h"
#include "safetensors_private.h"
#include "text.h"

/* What is found out about the pairs of the plan. */
struct pairs {
    struct tenon_like *like;
    const struct tenon_meta_entry *metas; /* of the plan */
    struct tenon_names names;             /* of their keys */
    uint32_t *old;                        /* the old pair of each, or NONE */
    char *room;                           /* for one text, unescaped */
};

static struct tenon_str key_of(const void *owner, uint32_t i)
{
    return ((const struct pairs *)owner)->metas[i].key;
}

static enum tenon_status index_keys(struct pairs *p, size_t n, struct tenon_error *err)
{
    if (n >= TENON_LIKE_NONE)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many pairs of metadata");
    p->old = tenon_mem_alloc(n, sizeof(*p->old));
    if (p->old == NULL || !tenon_names_reserve(&p->names, n, p, key_of))
        return tenon_fail_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        enum tenon_status st = tenon_safetensors_check_meta(&p->metas[i], err);
        uint32_t known;

        if (st != TENON_OK)
            return st;
        p->old[i] = TENON_LIKE_NONE;
        known = tenon_names_add(&p->names, i, p, key_of);
        if (known == TENON_NO_INDEX)
            return tenon_fail_memory(err);
        if (known != i)
            return tenon_safetensors_refuse("key", p->metas[i].key, "the key stands twice", err);
    }
    return TENON_OK;
}

struct tenon_str tenon_like_quote(struct tenon_like *like, const char *lead, struct tenon_str text)
{
    struct tenon_json_out out = {0};

    tenon_json_put_text(&out, lead);
    tenon_json_put_string(&out, text);
    out.data = tenon_arena_alloc(&like->plan->arena, out.len, 1);
    if (out.data == NULL)
        return (struct tenon_str){NULL, 0};
    out.len = 0;
    tenon_json_put_text(&out, lead);
    tenon_json_put_string(&out, text);
    return (struct tenon_str){out.data, out.len};
}

/* --- old pairs --- */

/* The value of old pair `i`, unescaped, in `room`. */
static struct tenon_str value_of(const struct pairs *p, size_t i)
{
    const struct tenon_json_object *o = &p->like->metas;
    const struct tenon_json_member *m = &o->members[i];
    struct tenon_json_token token = {.type = TENON_JSON_STRING};

    token.raw.data = o->text + m->value + 1;
    token.raw.len = m->value_end - m->value - 2;
    token.escaped = memchr(token.raw.data, '\\', token.raw.len) != NULL;
    return (struct tenon_str){p->room, tenon_json_unescape(&token, p->room)};
}

/* Old pair `i` is pair `found` of the plan. */
static enum tenon_status change_pair(struct pairs *p, size_t i, uint32_t found,
                                     struct tenon_error *err)
{
    const struct tenon_meta_entry *meta = &p->metas[found];
    struct tenon_json_change change = {{NULL, 0}, {NULL, 0}};
    struct tenon_json_object *o = &p->like->metas;

    if (p->old[found] != TENON_LIKE_NONE)
        o->members[p->old[found]].edit = TENON_JSON_REMOVED; /* of two equal keys the last counts */
    p->old[found] = (uint32_t)i;
    if (tenon_str_compare(value_of(p, i), meta->value.as.str) == 0)
        return TENON_OK;
    change.value = tenon_like_quote(p->like, "", meta->value.as.str);
    return change.value.data != NULL ? tenon_json_object_change(o, i, change, err)
                                     : tenon_fail_memory(err);
}

static enum tenon_status match_pair(struct pairs *p, size_t i, struct tenon_error *err)
{
    struct tenon_json_object *o = &p->like->metas;
    struct tenon_str key = tenon_json_object_key(o, i, p->room);
    uint32_t found = tenon_names_find(&p->names, key.data, key.len, p, key_of);

    if (found != TENON_NO_INDEX)
        return change_pair(p, i, found, err);
    o->members[i].edit = TENON_JSON_REMOVED;
    return TENON_OK;
}

static enum tenon_status match_pairs(struct pairs *p, struct tenon_error *err)
{
    const struct tenon_json_object *o = &p->like->metas;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < o->n; i++)
        st = match_pair(p, i, err);
    return st;
}

/* --- new pairs --- */

/* Each goes behind the pair that it follows in the plan. Metadata that was there without pairs is
 * known again by one blank in front of the first, metadata that was null by two. */
static enum tenon_status insert_new(struct pairs *p, size_t n, struct tenon_error *err)
{
    const struct tenon_like *like = p->like;
    bool empty = like->old->meta != UINT64_MAX && like->metas.n == 0;
    size_t place = 0;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < n; i++) {
        const char *lead = !empty || i > 0 ? "" : like->null_metas ? "  " : " ";
        struct tenon_str key, value;

        if (p->old[i] != TENON_LIKE_NONE) {
            place = p->old[i] >= place ? (size_t)p->old[i] + 1 : place;
            continue;
        }
        key = tenon_like_quote(p->like, lead, p->metas[i].key);
        value = tenon_like_quote(p->like, "", p->metas[i].value.as.str);
        st = key.data != NULL && value.data != NULL
                 ? tenon_json_object_insert(&p->like->metas, place, key, value, err)
                 : tenon_fail_memory(err);
    }
    return st;
}

static enum tenon_status edit_pairs(struct pairs *p, size_t n, struct tenon_error *err)
{
    enum tenon_status st = index_keys(p, n, err);

    if (st == TENON_OK)
        st = match_pairs(p, err);
    return st == TENON_OK ? insert_new(p, n, err) : st;
}

enum tenon_status tenon_like_edit_metas(struct tenon_like *like, struct tenon_error *err)
{
    struct pairs p = {.like = like, .metas = like->out->metas, .room = like->room};
    enum tenon_status st = edit_pairs(&p, like->out->n_metas, err);

    tenon_names_release(&p.names);
    tenon_mem_free(p.old);
    return st;
}
