/* The new header of an edited copy. One that is as the reference writes it comes from the plan
 * alone. Any other is the old one, read again, with other digits, names and entries here and there.
 *
 * A separator belongs to the member behind it; removing the first member removes the separator
 * behind it (as in json_edit.h). */
#include "bytes.h"
#include "safetensors_like.h"
#include "safetensors_private.h"
#include "text.h"

/* A root that is being put. */
struct putting {
    const struct tenon_plan *plan;
    const struct tenon_like_head *head;
    size_t first; /* the file's tensors in the plan */
    struct tenon_window *to;
    struct tenon_json_out out;
    struct tenon_like_cursor cursor;
    uint64_t lead_end; /* the text in front of the first member ends there */
    size_t members;    /* that were passed */
    size_t blanks;     /* directly before the next, at most LIKE_BLANKS */
    bool any;          /* was put */
    bool removed;      /* the member in front */
    bool known_edit;   /* something goes away that was put in before */
};

/* --- tensors and metadata --- */

static void put_tensor(struct tenon_json_out *out, const struct tenon_plan_tensor *t,
                       uint64_t begin)
{
    uint64_t end = 0;

    if (tenon_u64_add(&end, begin, t->bytes)) /* was checked when it was placed */
        tenon_safetensors_put_tensor(out, t, begin, end);
}

static void put_new(struct putting *p, uint32_t tensor)
{
    const struct tenon_plan_tensor t = tenon_plan_tensor(p->plan, p->first + tensor);

    put_tensor(&p->out, &t, t.offset - p->head->data);
}

static void put_metas(struct putting *p)
{
    tenon_json_put_text(&p->out, "\"" TENON_SAFETENSORS_META "\":");
    tenon_json_put(&p->out, p->head->meta_text.data, p->head->meta_text.len);
}

/* --- as the reference writes it --- */

static void put_canonical(struct putting *p, size_t n)
{
    tenon_json_put_text(&p->out, "{");
    if (p->head->meta == TENON_LIKE_META_PUT)
        put_metas(p);
    for (size_t i = 0; p->to->st == TENON_OK && i < n; i++) {
        if (i > 0 || p->head->meta == TENON_LIKE_META_PUT)
            tenon_json_put_text(&p->out, ",");
        put_new(p, (uint32_t)i);
    }
    tenon_json_put_text(&p->out, "}");
}

/* --- what is inserted --- */

/* What stands in front of a member that was not there. */
static enum tenon_status put_comma(struct putting *p)
{
    const struct tenon_like_old *old = &p->head->old;

    if (!p->any)
        return tenon_like_put_range(old->model, old->file, old->open, p->lead_end, p->to);
    tenon_json_put_text(&p->out, ",");
    return TENON_OK;
}

/* Blanks of the member that is inserted; `last`: behind all others. */
static void put_blanks(struct putting *p, bool last)
{
    size_t blanks = p->head->minimal ? 0 : TENON_LIKE_BLANKS;

    tenon_json_put_fill(&p->out, ' ', blanks + (last ? p->head->blanks : 0));
}

/* Metadata where there was none, in front of all others: its blanks go behind it. */
static enum tenon_status insert_metas(struct putting *p)
{
    enum tenon_status st;

    if (p->head->meta != TENON_LIKE_META_PUT || p->head->old.meta != UINT64_MAX)
        return TENON_OK;
    st = put_comma(p);
    put_metas(p);
    put_blanks(p, p->head->n_inserted == 0);
    p->any = true;
    return st;
}

static enum tenon_status insert_tensors(struct putting *p)
{
    enum tenon_status st = TENON_OK;

    for (size_t k = 0; st == TENON_OK && k < p->head->n_inserted; k++) {
        st = put_comma(p);
        put_blanks(p, k + 1 == p->head->n_inserted);
        put_new(p, p->head->inserted[k]);
        p->any = true;
    }
    return st;
}

/* --- what was there --- */

static void put_text(struct putting *p, const struct tenon_like_item *item, size_t from, size_t to)
{
    tenon_json_put(&p->out, item->text + from, to - from);
}

/* An entry whose payload lies elsewhere now: only the digits change. */
static enum tenon_status put_moved(struct putting *p, const struct tenon_like_item *item,
                                   uint64_t begin, uint64_t bytes)
{
    struct tenon_like_parsed parsed;
    const struct tenon_json_token *offsets = parsed.offsets;
    enum tenon_status st = tenon_like_parse(p->head->old.model, item->text + item->value,
                                            item->value_end - item->value, &parsed, p->to->err);
    size_t at;

    if (st != TENON_OK)
        return st;
    at = (size_t)(offsets[0].raw.data - item->text);
    put_text(p, item, item->value, at);
    tenon_json_put_u64(&p->out, begin);
    put_text(p, item, at + offsets[0].raw.len, (size_t)(offsets[1].raw.data - item->text));
    tenon_json_put_u64(&p->out, begin + bytes);
    at = (size_t)(offsets[1].raw.data - item->text) + offsets[1].raw.len;
    put_text(p, item, at, item->value_end);
    return TENON_OK;
}

static enum tenon_status put_entry(struct putting *p, const struct tenon_like_item *item,
                                   uint32_t entry)
{
    const struct tenon_like_old *old = &p->head->old;
    const struct tenon_tensor *was = tenon_like_entry(old, entry);
    size_t i = p->first + p->head->tensor_of[entry];
    struct tenon_str name = tenon_plan_name(p->plan, i);
    uint64_t begin = p->plan->tensors[i].offset - p->head->data;
    uint64_t bytes = tenon_plan_tensor_bytes(p->plan, i);

    if (tenon_str_compare(name, was->name) != 0)
        tenon_json_put_string(&p->out, name);
    else
        put_text(p, item, item->key, item->key_end);
    put_text(p, item, item->key_end, item->value);
    if (begin != was->offset - old->len - TENON_SAFETENSORS_PREFIX || bytes != was->bytes)
        return put_moved(p, item, begin, bytes);
    put_text(p, item, item->value, item->value_end);
    return TENON_OK;
}

/* Whether the old metadata goes away as a member, or entry `entry`, NONE: one that the model never
 * had. */
static bool is_removed(const struct putting *p, bool meta, uint32_t entry)
{
    if (meta)
        return p->head->meta == TENON_LIKE_META_REMOVED;
    return entry == TENON_LIKE_NONE || p->head->tensor_of[entry] == TENON_LIKE_NONE;
}

/* Blanks that a text begins with (from 0 on), or that end where it ends; up to LIKE_BLANKS. */
static size_t count_blanks(const char *text, size_t n, bool at_end)
{
    size_t blanks = 0;

    while (blanks < n && blanks < TENON_LIKE_BLANKS &&
           text[at_end ? n - 1 - blanks : blanks] == ' ')
        blanks++;
    return blanks;
}

/* Whether at least as many blanks as new entries bring stand before a member that goes away, or
 * behind it: it was put in. */
static void note_blanks(struct putting *p, const struct tenon_like_item *item, bool removed)
{
    bool behind = count_blanks(item->text, item->key, false) == TENON_LIKE_BLANKS;
    bool before = count_blanks(item->text, item->key, true) == TENON_LIKE_BLANKS;

    p->known_edit |= (p->removed && behind) || (removed && before);
    p->removed = removed;
}

/* The text in front of a member that was there. */
static enum tenon_status put_separator(struct putting *p, const struct tenon_like_item *item)
{
    if (!p->any || p->members == 0)
        return put_comma(p);
    put_text(p, item, 0, item->key);
    return TENON_OK;
}

static enum tenon_status put_member(struct putting *p, const struct tenon_like_item *item)
{
    const struct tenon_like_old *old = &p->head->old;
    uint64_t key = item->at + item->key;
    uint32_t entry = tenon_like_find_next(old, &p->cursor, key);
    bool meta = key == old->meta, removed = is_removed(p, meta, entry);
    enum tenon_status st;

    if (entry == TENON_LIKE_NONE && !meta)
        return tenon_like_fail_changed(p->to->err);
    note_blanks(p, item, removed);
    if (removed)
        return TENON_OK;
    st = put_separator(p, item);
    if (st == TENON_OK && meta) {
        put_text(p, item, item->key, item->value);
        tenon_json_put(&p->out, p->head->meta_text.data, p->head->meta_text.len);
    } else if (st == TENON_OK) {
        st = put_entry(p, item, entry);
    }
    p->any = true;
    return st == TENON_OK ? p->to->st : st;
}

static enum tenon_status put_members(struct putting *p, struct tenon_like_walk *walk)
{
    struct tenon_like_item item = {.end = false};
    enum tenon_status st = TENON_OK;

    tenon_json_put_text(&p->out, "{");
    while (st == TENON_OK) {
        st = tenon_like_walk_next(walk, &item, p->to->err);
        if (st == TENON_OK && p->members == 0) {
            p->lead_end = item.end ? p->head->old.open : item.at + item.key;
            st = insert_metas(p);
        }
        if (st != TENON_OK || item.end)
            break;
        st = put_member(p, &item);
        p->members++;
    }
    if (st == TENON_OK)
        st = insert_tensors(p);
    if (st != TENON_OK)
        return st;
    note_blanks(p, &item, false);
    put_text(p, &item, 0, item.key + 1);
    return TENON_OK;
}

/* --- all --- */

static enum tenon_status put_edited(struct putting *p)
{
    const struct tenon_like_old *old = &p->head->old;
    struct tenon_like_walk walk = {0};
    enum tenon_status st = tenon_like_walk_begin(&walk, old->model, old->file, p->to->err);

    if (st == TENON_OK && walk.open != old->open)
        st = tenon_like_fail_changed(p->to->err);
    if (st == TENON_OK)
        st = put_members(p, &walk);
    tenon_like_walk_release(&walk);
    return st;
}

enum tenon_status tenon_like_put_root(const struct tenon_plan *plan, uint32_t file,
                                      const struct tenon_like_head *head, bool *out_known,
                                      struct tenon_window *to)
{
    struct putting p = {.plan = plan, .head = head, .to = to, .out = {.window = to}};
    enum tenon_status st = TENON_OK;
    size_t n;

    tenon_plan_tensors_of(plan, file, &p.first, &n);
    if (head->canonical)
        put_canonical(&p, n);
    else
        st = put_edited(&p);
    *out_known = p.known_edit;
    return st == TENON_OK ? to->st : st;
}

enum tenon_status tenon_like_put_head(const struct tenon_plan *plan, uint32_t file,
                                      const void *state, struct tenon_window *to)
{
    const struct tenon_like_head *head = state;
    const struct tenon_like_old *old = &head->old;
    unsigned char length[TENON_SAFETENSORS_PREFIX];
    bool known;
    enum tenon_status st;

    tenon_store_u64(length, head->bytes - TENON_SAFETENSORS_PREFIX, false);
    tenon_window_put(to, length, sizeof(length));
    st = tenon_like_put_range(old->model, old->file, 0, old->open - 1, to);
    if (st == TENON_OK)
        st = tenon_like_put_root(plan, file, head, &known, to);
    if (st == TENON_OK)
        st = tenon_like_put_range(old->model, old->file, old->close + 1, old->len - head->shrink,
                                  to);
    tenon_window_fill(to, ' ', head->grow);
    return st;
}
