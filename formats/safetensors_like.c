/* An edited copy of a safetensors file. What the edit does not concern stays as it is:
 *
 * - the text of every entry and pair of metadata that is kept, and their order. Only the digits of
 *   data_offsets change, where a payload moves;
 * - the order of payloads. Gaps close, there being none in the format.
 *
 * Taking out what was put in gives back the bytes from before. To that end:
 *
 * - A header as the reference writes it (`canonical`) stays one: new entries and payloads go where
 *   the reference would have them.
 * - In any other header new entries go behind all others. New payloads go behind all others, or as
 *   far in front of the end as it takes to lie at a multiple of their element's size without
 *   moving others off theirs: programs that map the file insist on it.
 * - Where a header is padded as little as a multiple of 8 allows (`minimal`), so is its copy.
 *   Otherwise the blanks behind the header stay, whatever they are, and new entries bring blanks
 *   with them, in front of their names, that make the header longer by a multiple of its alignment
 *   (of 8 at least). Taken out again with their blanks, the rest is what it was.
 * - Where something else makes the header longer or shorter, its alignment, if it has one, is kept
 *   by blanks behind it. */
#include "safetensors_like.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "fail.h"
#include "safetensors_private.h"

/* The largest alignment that is kept: a page. */
#define MOST_ALIGNMENT 4096

/* --- the order of payloads --- */

static uint32_t width_of(const struct tenon_plan_tensor *t)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(t->dtype);

    return info != NULL && info->family == TENON_DTYPE_FAMILY_plain ? info->block_bytes : 1;
}

/* Whether the payload of `t` is the old one of entry `e`. */
static bool is_old(const struct tenon_like *like, const struct tenon_plan_tensor *t,
                   const struct tenon_like_entry *e)
{
    const struct tenon_plan_source *source = tenon_plan_sources(t);
    uint64_t base = like->len + TENON_SAFETENSORS_PREFIX;

    return t->n_sources == 1 && source->model == like->model && !source->logical &&
           source->tensor->file == like->old_file && source->tensor->offset >= base &&
           source->tensor->offset - base == e->begin && source->tensor->bytes == t->bytes &&
           tenon_plan_tensor_is_copy(like->plan, t);
}

/* Payloads that stay, by their old places, then the moved ones. */
static int compare_old(const void *a, const void *b)
{
    const struct tenon_like_payload *x = a, *y = b;

    if (x->moved != y->moved)
        return x->moved ? 1 : -1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->tensor < y->tensor ? -1 : 1;
}

/* By slot, moved ones before the one that has the slot, the wider first. */
static int compare_slots(const void *a, const void *b)
{
    const struct tenon_like_payload *x = a, *y = b;

    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (x->moved != y->moved)
        return x->moved ? -1 : 1;
    if (x->width != y->width)
        return x->width > y->width ? -1 : 1;
    return x->tensor < y->tensor ? -1 : 1;
}

/* Two names of one old range. */
static bool shares(const struct tenon_like_payload *a, const struct tenon_like_payload *b)
{
    return !a->moved && !b->moved && a->begin == b->begin && a->end == b->end && a->begin < a->end;
}

static void list_payloads(struct tenon_like *like)
{
    for (size_t i = 0; i < like->n; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(like->plan, like->first + i);
        struct tenon_like_payload *p = &like->payloads[i];
        uint32_t entry = like->entry_of[i];

        *p = (struct tenon_like_payload){.tensor = (uint32_t)i, .entry = entry};
        p->bytes = t.bytes;
        p->width = width_of(&t);
        p->moved = entry == TENON_LIKE_NONE;
        if (p->moved)
            continue;
        p->begin = like->entries[entry].begin;
        p->end = like->entries[entry].end;
        p->old = is_old(like, &t, &like->entries[entry]) && !t.apart;
    }
}

/* Of several names for one old range, [first, last) of the payloads, those that no longer have
 * its bytes need a place of their own. One name keeps the place. */
static void part_range(struct tenon_like *like, size_t first, size_t last)
{
    size_t keeper = first;

    while (keeper < last && !like->payloads[keeper].old)
        keeper++;
    for (size_t i = first; i < last; i++)
        if (i != (keeper < last ? keeper : first) && !like->payloads[i].old)
            like->payloads[i].moved = true;
}

static void part_ranges(struct tenon_like *like)
{
    size_t first = 0;

    for (size_t i = 1; i <= like->n; i++) {
        if (i < like->n && shares(&like->payloads[first], &like->payloads[i]))
            continue;
        part_range(like, first, i);
        first = i;
    }
}

/* The largest power of two up to 8 that divides `bytes`. */
static uint32_t evenness(uint64_t bytes)
{
    uint32_t even = 8;

    while (bytes % even != 0)
        even /= 2;
    return even;
}

/* The last place between kept payloads where one of `width` lies at a multiple of it and leaves
 * those behind it at multiples of theirs, `widest` among them; the end when there is none. */
static uint32_t find_slot(const struct tenon_like *like, uint32_t width, uint32_t even,
                          uint32_t widest)
{
    const struct tenon_like_payload *kept = like->payloads;
    uint64_t base = (like->len + TENON_SAFETENSORS_PREFIX) % 8;
    size_t k = like->n_kept;

    for (;; k--) {
        uint64_t at = k < like->n_kept ? kept[k].new_begin : like->payload_bytes;
        bool splits = k > 0 && k < like->n_kept && shares(&kept[k - 1], &kept[k]);

        if (!splits && (base + at % 8) % width == 0 && even % widest == 0)
            return (uint32_t)k;
        if (k == 0)
            return (uint32_t)like->n_kept;
        if (kept[k - 1].width > widest)
            widest = kept[k - 1].width;
    }
}

/* Where the payloads go, one behind the other in the order that they have. */
static enum tenon_status place_payloads(struct tenon_like *like, size_t n, struct tenon_error *err)
{
    uint64_t end = 0;

    for (size_t i = 0; i < n; i++) {
        struct tenon_like_payload *p = &like->payloads[i];

        if (i > 0 && shares(p - 1, p)) {
            p->new_begin = p[-1].new_begin;
            continue;
        }
        p->new_begin = end;
        if (!tenon_u64_add(&end, end, p->bytes))
            return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                              "the file would be larger than files can be");
    }
    like->payload_bytes = end;
    return TENON_OK;
}

/* A slot for every moved payload; what decides it is one of 4 x 4 pairs, whose slots are kept. */
static void find_slots(struct tenon_like *like)
{
    uint32_t slots[9][9], widest = 1;

    memset(slots, 0xff, sizeof(slots));
    for (size_t i = like->n_kept; i < like->n; i++)
        if (like->payloads[i].width > widest)
            widest = like->payloads[i].width;
    for (size_t i = 0; i < like->n_kept; i++)
        like->payloads[i].slot = (uint32_t)i;
    for (size_t i = like->n_kept; i < like->n; i++) {
        struct tenon_like_payload *p = &like->payloads[i];
        uint32_t even = evenness(p->bytes), *slot = &slots[p->width][even];

        if (*slot == UINT32_MAX)
            *slot = find_slot(like, p->width, even, widest);
        p->slot = *slot;
    }
}

/* The order of payloads, and the plan's tensors in it. */
static enum tenon_status order_payloads(struct tenon_like *like, struct tenon_error *err)
{
    struct tenon_like_payload *payloads = like->payloads;
    uint32_t *order;
    enum tenon_status st;

    qsort(payloads, like->n, sizeof(*payloads), compare_old);
    part_ranges(like);
    qsort(payloads, like->n, sizeof(*payloads), compare_old);
    while (like->n_kept < like->n && !payloads[like->n_kept].moved)
        like->n_kept++;
    st = place_payloads(like, like->n_kept, err);
    if (st != TENON_OK)
        return st;
    find_slots(like);
    qsort(payloads, like->n, sizeof(*payloads), compare_slots);
    order = tenon_mem_alloc(like->n, sizeof(*order));
    if (order == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < like->n; i++)
        order[i] = payloads[i].tensor;
    tenon_plan_reorder(like->plan, like->first, like->n, order);
    tenon_mem_free(order);
    return TENON_OK;
}

/* Gives every payload its place, and entries the places of theirs. */
static enum tenon_status lay_out_payloads(struct tenon_like *like, struct tenon_error *err)
{
    struct tenon_plan_record *tensors;
    enum tenon_status st = TENON_OK;

    like->payloads = tenon_mem_alloc(like->n, sizeof(*like->payloads));
    if (like->payloads == NULL)
        return tenon_fail_memory(err);
    list_payloads(like);
    if (!like->canonical) /* else the tensors are sorted already */
        st = order_payloads(like, err);
    if (st == TENON_OK)
        st = place_payloads(like, like->n, err);
    tensors = like->n > 0 ? like->plan->tensors + like->first : NULL;
    for (size_t i = 0; st == TENON_OK && i < like->n; i++) {
        const struct tenon_like_payload *p = &like->payloads[i];

        tensors[i].offset = p->new_begin;
        if (p->entry == TENON_LIKE_NONE)
            continue;
        like->entries[p->entry].begin = p->new_begin;
        if (!tenon_u64_add(&like->entries[p->entry].end, p->new_begin, p->bytes))
            return tenon_fail_memory(err);
    }
    return st;
}

/* --- the members of the root --- */

static enum tenon_status insert(struct tenon_like *like, size_t before, uint32_t payload,
                                struct tenon_error *err)
{
    const struct tenon_str none = {NULL, 0};

    like->inserted[like->root.n_inserts] = payload;
    return tenon_json_object_insert(&like->root, before, none, none, err);
}

/* What becomes of the metadata as a member of the root. With its last pair it goes, too, unless it
 * was there without any before: the blanks in front of the first pair say how (insert_new). */
static enum tenon_status edit_meta_member(struct tenon_like *like, struct tenon_error *err)
{
    static const struct tenon_json_change null = {.value = {"null", 4}};
    const struct tenon_json_object *o = &like->metas;
    size_t lead = o->n > 0 ? o->members[0].key - o->open : 0;

    if (like->meta_member == SIZE_MAX)
        return o->n_inserts > 0 ? insert(like, 0, TENON_LIKE_NONE, err) : TENON_OK;
    if (like->out->n_metas > 0 || o->n == 0)
        return TENON_OK;
    if (lead == 0)
        like->root.members[like->meta_member].edit = TENON_JSON_REMOVED;
    if (lead == 2 && memcmp(like->text + o->open, "  ", 2) == 0)
        return tenon_json_object_change(&like->root, like->meta_member, null, err);
    return TENON_OK;
}

static enum tenon_status rename_entry(struct tenon_like *like, const struct tenon_like_payload *p,
                                      const struct tenon_plan_tensor *t, struct tenon_error *err)
{
    struct tenon_json_change change = {{NULL, 0}, {NULL, 0}};
    enum tenon_status st = tenon_safetensors_check_tensor(t, err);

    if (st != TENON_OK)
        return st;
    change.key = tenon_like_quote(like, "", t->name);
    return change.key.data != NULL ? tenon_json_object_change(&like->root, p->entry, change, err)
                                   : tenon_fail_memory(err);
}

/* The entries of payload `i`: a new one, or an old one, perhaps under another name. */
static enum tenon_status edit_entry(struct tenon_like *like, size_t i, size_t *before,
                                    struct tenon_error *err)
{
    const struct tenon_like_payload *p = &like->payloads[i];
    const struct tenon_plan_tensor t = tenon_plan_tensor(like->plan, like->first + i);
    struct tenon_str key;

    if (p->entry == TENON_LIKE_NONE) {
        enum tenon_status st = tenon_safetensors_check_tensor(&t, err);

        return st == TENON_OK ? insert(like, *before, (uint32_t)i, err) : st;
    }
    if (like->canonical)
        *before = (size_t)p->entry + 1;
    key = tenon_json_object_key(&like->root, p->entry, like->room);
    return tenon_safetensors_compare(key, t.name) != 0 ? rename_entry(like, p, &t, err) : TENON_OK;
}

/* Whether at least as many blanks as new entries bring stand from `at` on, or end there. */
static bool has_blanks(const struct tenon_like *like, size_t at)
{
    size_t before = 0, behind = 0;

    while (before < at && before < TENON_LIKE_BLANKS && like->text[at - before - 1] == ' ')
        before++;
    while (at + behind < like->len && behind < TENON_LIKE_BLANKS && like->text[at + behind] == ' ')
        behind++;
    return before == TENON_LIKE_BLANKS || behind == TENON_LIKE_BLANKS;
}

static void remove_entries(struct tenon_like *like)
{
    for (size_t i = 0; i < like->root.n; i++) {
        struct tenon_json_member *m = &like->root.members[i];

        if (i != like->meta_member && like->entries[i].tensor == TENON_LIKE_NONE)
            m->edit = TENON_JSON_REMOVED;
        if (m->edit == TENON_JSON_REMOVED && !like->minimal)
            like->known_edit |= has_blanks(like, m->key) || has_blanks(like, m->value_end);
    }
}

static enum tenon_status edit_root(struct tenon_like *like, struct tenon_error *err)
{
    size_t before = like->canonical ? like->meta_member != SIZE_MAX : like->root.n;
    enum tenon_status st;

    like->root.comma = (struct tenon_str){",", 1};
    like->root.after_comma = (struct tenon_str){"", 0};
    like->inserted = tenon_mem_alloc(like->n + 1, sizeof(*like->inserted));
    if (like->inserted == NULL)
        return tenon_fail_memory(err);
    st = edit_meta_member(like, err);
    for (size_t i = 0; st == TENON_OK && i < like->n; i++)
        st = edit_entry(like, i, &before, err);
    remove_entries(like);
    return st;
}

/* --- the text --- */

static void put_value(const void *user, struct tenon_json_out *out, size_t i)
{
    const struct tenon_like *like = user;
    const struct tenon_json_member *m = &like->root.members[i];
    const struct tenon_like_entry *e = &like->entries[i];

    if (i == like->meta_member && (!like->null_metas || like->metas.n_inserts > 0)) {
        tenon_json_object_put(&like->metas, out);
        return;
    }
    if (i == like->meta_member) {
        tenon_json_put(out, like->text + m->value, m->value_end - m->value);
        return;
    }
    tenon_json_put(out, like->text + m->value, e->begin_at - m->value);
    tenon_json_put_u64(out, e->begin);
    tenon_json_put(out, like->text + e->begin_end, e->end_at - e->begin_end);
    tenon_json_put_u64(out, e->end);
    tenon_json_put(out, like->text + e->end_end, m->value_end - e->end_end);
}

static void put_insert(const void *user, struct tenon_json_out *out, size_t i)
{
    const struct tenon_like *like = user;
    size_t blanks = like->minimal ? 0 : TENON_LIKE_BLANKS;
    struct tenon_plan_tensor t;
    uint64_t end = 0;

    if (i + 1 == like->root.n_inserts)
        blanks += like->blanks;
    if (like->inserted[i] == TENON_LIKE_NONE) { /* the first member: blanks go behind it */
        tenon_json_put_text(out, "\"" TENON_SAFETENSORS_META "\":");
        tenon_json_object_put(&like->metas, out);
        tenon_json_put_fill(out, ' ', blanks);
        return;
    }
    t = tenon_plan_tensor(like->plan, like->first + like->inserted[i]);
    tenon_json_put_fill(out, ' ', blanks);
    if (tenon_u64_add(&end, t.offset, t.bytes)) /* was checked when it was placed */
        tenon_safetensors_put_tensor(out, &t, t.offset, end);
}

/* Bytes of the text between the blanks in front of it and those behind it. */
static size_t measure_root(const struct tenon_like *like)
{
    struct tenon_json_out out = {0};

    tenon_json_object_put(&like->root, &out);
    return out.len;
}

/* The alignment of the end of the old header, 1 when it has none. */
static uint64_t old_alignment(const struct tenon_like *like)
{
    uint64_t end = like->len + TENON_SAFETENSORS_PREFIX, alignment = MOST_ALIGNMENT;

    while (end % alignment != 0)
        alignment /= 2;
    return alignment < 8 ? 1 : alignment;
}

/* Blanks that a text of `len` bytes lacks to one of `old` bytes in steps of `alignment`. */
static size_t lacking(size_t len, size_t old, uint64_t alignment)
{
    return (size_t)((old % alignment + alignment - len % alignment) % alignment);
}

/* How the padding changes with the text: by `*grow` more blanks at its end, or `*shrink` fewer. */
static void pad(struct tenon_like *like, size_t *grow, size_t *shrink)
{
    size_t end = (size_t)like->root.close + 1, old = end - (like->root.open - 1), blanks = 0;
    uint64_t alignment = old_alignment(like);
    size_t len = measure_root(like);

    *grow = *shrink = 0;
    if (like->minimal) {
        *shrink = like->len - end;
        *grow = lacking(len, 0, 8);
        return;
    }
    if (like->root.n_inserts > 0) {
        like->blanks = lacking(len, old, alignment < 8 ? 8 : alignment);
        return;
    }
    if (like->known_edit && lacking(len, old, 8) == 0)
        return;
    while (blanks < like->len - end && like->text[like->len - 1 - blanks] == ' ')
        blanks++;
    if (len > old && lacking(len, old, alignment) != 0 && blanks >= len - old + 8)
        *shrink = len - old;
    else
        *grow = lacking(len, old, alignment);
}

static enum tenon_status make_head(struct tenon_like *like, struct tenon_error *err)
{
    size_t grow = 0, shrink = 0, n = 0, lead = like->root.open - 1, end = like->root.close + 1;
    struct tenon_json_out out = {0};
    enum tenon_status st;

    pad(like, &grow, &shrink);
    n = lead + measure_root(like) + (like->len - end) - shrink + grow;
    if (n > TENON_SAFETENSORS_MOST_HEADER)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "the header would take %zu bytes, at most %d are read by other programs",
                          n, TENON_SAFETENSORS_MOST_HEADER);
    out.data = tenon_mem_alloc(n + TENON_SAFETENSORS_PREFIX, 1);
    if (out.data == NULL)
        return tenon_fail_memory(err);
    tenon_store_u64((unsigned char *)out.data, n, false);
    out.len = TENON_SAFETENSORS_PREFIX;
    tenon_json_put(&out, like->text, lead);
    tenon_json_object_put(&like->root, &out);
    tenon_json_put(&out, like->text + end, like->len - end - shrink);
    tenon_json_put_fill(&out, ' ', grow);
    st = tenon_plan_keep_head(like->plan, like->file, out.data, out.len, err);
    tenon_mem_free(out.data);
    return st;
}

/* Counts all places from the beginning of the file. */
static enum tenon_status shift_payloads(struct tenon_like *like, struct tenon_error *err)
{
    struct tenon_plan_record *tensors = like->n > 0 ? like->plan->tensors + like->first : NULL;
    uint64_t head = like->out->head_bytes;
    bool fits = tenon_u64_add(&like->out->bytes, like->payload_bytes, head);

    for (size_t i = 0; fits && i < like->n; i++)
        fits = tenon_u64_add(&tensors[i].offset, tensors[i].offset, head);
    if (!fits || like->out->bytes > INT64_MAX)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "the file would be larger than files can be");
    return TENON_OK;
}

static enum tenon_status lay_out(struct tenon_like *like, struct tenon_error *err)
{
    enum tenon_status st = tenon_like_read(like, err);

    if (st == TENON_OK)
        st = tenon_like_match(like, err);
    if (st == TENON_OK)
        st = tenon_like_edit_metas(like, err);
    if (st == TENON_OK)
        st = lay_out_payloads(like, err);
    if (st == TENON_OK)
        st = edit_root(like, err);
    if (st == TENON_OK)
        st = make_head(like, err);
    return st == TENON_OK ? shift_payloads(like, err) : st;
}

enum tenon_status tenon_safetensors_layout_like(struct tenon_plan *plan, uint32_t file,
                                                struct tenon_error *err)
{
    struct tenon_plan_file *out = &plan->files[file];
    struct tenon_like like = {.plan = plan, .out = out, .file = file};
    enum tenon_status st;

    like.model = out->like;
    like.old_file = out->like_file;
    like.root.put_value = put_value;
    like.root.put_insert = put_insert;
    like.root.user = &like;
    st = lay_out(&like, err);
    tenon_json_object_release(&like.root);
    tenon_json_object_release(&like.metas);
    tenon_mem_free(like.text);
    tenon_mem_free(like.room);
    tenon_mem_free(like.entries);
    tenon_mem_free(like.entry_of);
    tenon_mem_free(like.payloads);
    tenon_mem_free(like.inserted);
    return st;
}
