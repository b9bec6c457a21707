/* Where the payloads of a GGUF file go.
 *
 * In a new file they follow each other in the order of the records, each from the next multiple of
 * the alignment. An edited copy keeps what it can of the file that it is made from, so that an edit
 * that is undone gives back the first file:
 *
 *   | a | pad | gap | b | pad | c ...     a payload is `loose` when it begins at or behind the
 * padded end of all before it, else it hangs on the one before
 *
 * A loose payload keeps the gap before it, one that hangs its distance from the one before. A new
 * payload goes before the one whose record follows its own; if that hangs on others, before the
 * first of those. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "gguf.h"
#include "gguf_write.h"

#define NO_ORIGIN SIZE_MAX

/* A payload of a file that tensors come from. */
struct old_payload {
    const struct tenon_tensor *tensor;
    uint64_t reach; /* the end of all before it, absolute */
    uint64_t lead;  /* the gap before it, when it is loose */
    bool loose;
    bool taken; /* by a tensor that is written */
};

/* One such file. */
struct origin {
    const struct tenon_model *model;
    uint32_t file;
    struct old_payload *payloads; /* by offset */
    size_t n;
    uint64_t end; /* of the last byte of any payload, absolute */
    uint64_t old,
        now;       /* where its payload that was placed last lay, and lies: absolute, relative */
    size_t placed; /* the number of that payload, NO_ORIGIN: none yet */
    bool used;     /* one of its payloads is kept */
};

/* A payload to be placed. */
struct item {
    size_t tensor; /* of the file that is laid out */
    size_t origin; /* NO_ORIGIN: none */
    size_t payload;
    bool kept; /* is that payload, else goes before it */
};

struct placing {
    struct tenon_gguf_layout *l;
    struct origin *origins;
    size_t n_origins, origin_room;
    struct item *items; /* those that are not empty, in the order of the payloads */
    size_t n_items;
    uint64_t reach; /* the end of what is placed, relative */
    /* What stood behind the payload that was placed last, where it came from; 0 bytes: nothing. */
    const struct origin *behind;
    uint64_t behind_offset, behind_bytes;
    /* From the last rest to here, relative, the output is the bytes that follow it in its file;
     * 0: no longer. */
    uint64_t same_end;
};

static enum tenon_status fail_place(const struct placing *p, size_t i, struct tenon_error *err)
{
    struct tenon_str name = tenon_plan_name(p->l->plan, p->l->first + i);

    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
               "its payload would end beyond 64 bits");
    tenon_fail_subject(err, "tensor", name.data, name.len);
    return TENON_ERR_CANNOT_REPRESENT;
}

/* Puts a payload at `place`. */
static enum tenon_status put_payload(struct placing *p, size_t tensor, uint64_t place,
                                     struct tenon_error *err)
{
    uint64_t bytes = tenon_plan_tensor_bytes(p->l->plan, p->l->first + tensor), end;

    if (!tenon_u64_add(&end, place, bytes))
        return fail_place(p, tensor, err);
    p->l->places[tensor] = place;
    if (bytes != 0 && end > p->reach)
        p->reach = end;
    return TENON_OK;
}

/* The next multiple of the alignment, and `gap` more. */
static enum tenon_status put_next(struct placing *p, size_t tensor, uint64_t gap,
                                  struct tenon_error *err)
{
    uint64_t place;

    if (!tenon_u64_align(&place, p->reach, p->l->alignment) || !tenon_u64_add(&place, place, gap))
        return fail_place(p, tensor, err);
    return put_payload(p, tensor, place, err);
}

static enum tenon_status place_anew(struct placing *p, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < p->l->n; i++)
        st = put_next(p, i, 0, err);
    if (st == TENON_OK && !tenon_u64_align(&p->l->data_bytes, p->reach, p->l->alignment))
        st = fail_place(p, p->l->n - 1, err);
    return st;
}

/* --- the files that tensors come from --- */

static int compare_payloads(const void *a, const void *b)
{
    const struct tenon_tensor *x = ((const struct old_payload *)a)->tensor;
    const struct tenon_tensor *y = ((const struct old_payload *)b)->tensor;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->record_offset < y->record_offset ? -1 : x->record_offset > y->record_offset;
}

/* Collects the payloads of the origin in their order. */
static enum tenon_status list_payloads(struct origin *o, struct tenon_error *err)
{
    size_t all = tenon_model_n_tensors(o->model);
    bool sorted = true;

    o->payloads = tenon_mem_alloc(all, sizeof(*o->payloads));
    if (o->payloads == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < all; i++) {
        const struct tenon_tensor *t = tenon_model_tensor(o->model, i);

        if (t->file == o->file && t->bytes != 0)
            o->payloads[o->n++].tensor = t;
    }
    for (size_t i = 1; sorted && i < o->n; i++)
        sorted = compare_payloads(&o->payloads[i - 1], &o->payloads[i]) < 0;
    if (!sorted)
        qsort(o->payloads, o->n, sizeof(*o->payloads), compare_payloads);
    return TENON_OK;
}

/* How each payload lies behind those before it. */
static void measure_gaps(struct origin *o)
{
    const struct tenon_file *file = tenon_model_file(o->model, o->file);
    uint64_t reach = file->header_bytes, next;

    for (size_t i = 0; i < o->n; i++) {
        struct old_payload *old = &o->payloads[i];
        const struct tenon_tensor *t = old->tensor;

        old->reach = reach;
        old->loose = tenon_u64_align(&next, reach, file->alignment) && t->offset >= next;
        if (old->loose)
            old->lead = t->offset - next;
        if (t->offset + t->bytes > reach) /* fits: inside the file */
            reach = t->offset + t->bytes;
    }
    o->end = reach;
    o->placed = NO_ORIGIN;
}

static enum tenon_status find_origin(struct placing *p, const struct tenon_plan_source *source,
                                     size_t *out, struct tenon_error *err)
{
    struct origin *grown;
    enum tenon_status st;

    for (size_t i = p->n_origins; i > 0; i--) { /* most often the last one */
        *out = i - 1;
        if (p->origins[*out].model == source->model &&
            p->origins[*out].file == source->tensor->file)
            return TENON_OK;
    }
    grown = tenon_mem_grow(p->origins, &p->origin_room, p->n_origins, sizeof(*grown));
    if (grown == NULL)
        return tenon_fail_memory(err);
    p->origins = grown;
    *out = p->n_origins;
    grown[*out] = (struct origin){.model = source->model, .file = source->tensor->file};
    p->n_origins++;
    st = list_payloads(&grown[*out], err);
    if (st == TENON_OK)
        measure_gaps(&grown[*out]);
    return st;
}

static size_t find_payload(const struct origin *o, const struct tenon_tensor *t)
{
    struct old_payload key = {.tensor = t};
    const struct old_payload *found =
        bsearch(&key, o->payloads, o->n, sizeof(*o->payloads), compare_payloads);

    return (size_t)(found - o->payloads); /* it is there: it came from this file */
}

/* --- the order of the payloads --- */

/* Whether the tensor has the size and type of a payload of a file with the same alignment. */
static bool may_keep(const struct tenon_gguf_layout *l, const struct tenon_plan_tensor *t)
{
    const struct tenon_plan_source *source = tenon_plan_sources(t);
    const struct tenon_file *file;

    if (t->n_sources != 1 || source->model == NULL || t->bytes != source->tensor->bytes)
        return false;
    file = tenon_model_file(source->model, source->tensor->file);
    return strcmp(file->format, tenon_format_gguf.info.name) == 0 &&
           file->alignment == l->alignment && source->tensor->dtype == t->dtype;
}

static enum tenon_status list_items(struct placing *p, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < p->l->n; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(p->l->plan, p->l->first + i);
        struct item *item = &p->items[p->n_items];

        if (t.bytes == 0)
            continue;
        p->n_items++;
        *item = (struct item){.tensor = i, .origin = NO_ORIGIN};
        if (!may_keep(p->l, &t))
            continue;
        st = find_origin(p, tenon_plan_sources(&t), &item->origin, err);
        if (st == TENON_OK)
            item->payload = find_payload(&p->origins[item->origin], tenon_plan_sources(&t)->tensor);
    }
    return st;
}

static struct old_payload *payload_of(const struct placing *p, const struct item *item)
{
    return &p->origins[item->origin].payloads[item->payload];
}

/* Whether the record of `b` stands behind that of `a` in the file that both come from. */
static bool follows(const struct placing *p, const struct item *a, const struct item *b)
{
    return a->origin == b->origin &&
           payload_of(p, a)->tensor->record_offset < payload_of(p, b)->tensor->record_offset;
}

static void keep(struct placing *p, struct item *item)
{
    item->kept = true;
    payload_of(p, item)->taken = true;
    p->origins[item->origin].used = true;
}

static bool has_own_name(const struct placing *p, const struct item *item)
{
    struct tenon_str name = tenon_plan_name(p->l->plan, p->l->first + item->tensor);
    const struct tenon_tensor *old = payload_of(p, item)->tensor;

    return name.len == old->name.len && memcmp(name.data, old->name.data, name.len) == 0;
}

/* Tensors that have their name still, as long as their records stay in order: where the places do
 * not follow the records, the loader refuses the file. */
static void keep_named(struct placing *p)
{
    const struct item *last = NULL;

    for (size_t i = 0; i < p->n_items; i++) {
        struct item *item = &p->items[i];

        if (item->origin == NO_ORIGIN || !has_own_name(p, item) || payload_of(p, item)->taken)
            continue;
        if (last != NULL && !follows(p, last, item) && p->origins[item->origin].used)
            continue;
        keep(p, item);
        last = item;
    }
}

/* Then those with a new name, where they are between the same neighbours still. */
static void keep_renamed(struct placing *p)
{
    const struct item *last = NULL;
    size_t next = 0;

    for (size_t i = 0; i < p->n_items; i++) {
        struct item *item = &p->items[i];
        bool ordered;

        while (next < p->n_items && (next <= i || !p->items[next].kept))
            next++;
        if (item->kept) {
            last = item;
            continue;
        }
        if (item->origin == NO_ORIGIN || payload_of(p, item)->taken)
            continue;
        ordered = !p->origins[item->origin].used;
        if (last != NULL && last->origin == item->origin)
            ordered = follows(p, last, item);
        else if (next < p->n_items && p->items[next].origin == item->origin)
            ordered = true;
        if (ordered && next < p->n_items && p->items[next].origin == item->origin)
            ordered = follows(p, item, &p->items[next]);
        if (!ordered)
            continue;
        keep(p, item);
        last = item;
    }
}

/* All others go before the next one that is kept, and what that hangs on. */
static void anchor_new(struct placing *p)
{
    struct item next = {.origin = NO_ORIGIN};

    for (size_t i = p->n_items; i > 0; i--) {
        struct item *item = &p->items[i - 1];

        if (item->kept) {
            next = *item;
            continue;
        }
        item->origin = next.origin;
        item->payload = next.payload;
        while (item->origin != NO_ORIGIN && item->payload > 0 && !payload_of(p, item)->loose)
            item->payload--;
    }
}

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->origin != y->origin)
        return x->origin < y->origin ? -1 : 1;
    if (x->payload != y->payload)
        return x->payload < y->payload ? -1 : 1;
    if (x->kept != y->kept)
        return x->kept ? 1 : -1;
    return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

/* --- placing --- */

/* The last rest of this file, if what lies at `place` and came from `from` is as far from it as
 * there; else NULL. */
static struct tenon_plan_rest *find_rest(const struct placing *p, const struct origin *o,
                                         uint64_t from, uint64_t place)
{
    struct tenon_plan *plan = p->l->plan;
    struct tenon_plan_rest *last;

    if (plan->n_rests == p->l->first_rest || p->same_end == 0)
        return NULL;
    last = &plan->rests[plan->n_rests - 1];
    return last->model == o->model && last->from == o->file && place >= last->offset &&
                   from - last->from_offset == place - last->offset /* may wrap alike */
               ? last
               : NULL;
}

/* `n` bytes of the origin from `from` on go to `place`: as more of the last rest, when all between
 * is the same there as here. Empty payloads may lie behind the end of their file, where there is
 * nothing to copy. */
static enum tenon_status add_rest(struct placing *p, const struct origin *o, uint64_t from,
                                  uint64_t place, uint64_t n, struct tenon_error *err)
{
    uint64_t end = tenon_model_file(o->model, o->file)->bytes;
    struct tenon_plan_rest *last = find_rest(p, o, from, place);
    struct tenon_plan_rest rest = {.file = (uint32_t)(p->l->file - p->l->plan->files),
                                   .offset = place,
                                   .model = o->model,
                                   .from = o->file,
                                   .from_offset = from};

    if (from < end)
        rest.bytes = n < end - from ? n : end - from;
    if (rest.bytes == 0)
        return TENON_OK;
    if (last == NULL || p->same_end != place) {
        p->same_end = place + rest.bytes; /* fits: before the file's end */
        return tenon_plan_add_rest(p->l->plan, &rest, err);
    }
    p->same_end = place + rest.bytes;
    last->bytes = p->same_end - last->offset;
    return TENON_OK;
}

/* After a kept payload was placed: whether the output still is the bytes that follow the last rest
 * in its file. */
static void extend_rest(struct placing *p, const struct item *item)
{
    const struct origin *o = &p->origins[item->origin];
    const struct tenon_plan_tensor t = tenon_plan_tensor(p->l->plan, p->l->first + item->tensor);
    const struct tenon_plan_rest *last = find_rest(p, o, o->old, o->now);

    if (!tenon_plan_tensor_is_copy(p->l->plan, &t))
        p->same_end = 0;
    else if (last != NULL && o->now <= p->same_end && p->same_end - o->now < t.bytes)
        p->same_end = o->now + t.bytes; /* fits: was placed there */
}

/* Brings along what fills the gap before `place`: the padding that stood behind the last payload,
 * and the `lead` bytes before that of `item`. */
static enum tenon_status fill_gap(struct placing *p, const struct item *item, uint64_t place,
                                  uint64_t reach, uint64_t lead, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (p->behind_bytes != 0 && place > reach) {
        uint64_t gap = place - reach - lead;

        st = add_rest(p, p->behind, p->behind_offset, reach,
                      gap < p->behind_bytes ? gap : p->behind_bytes, err);
    }
    if (st == TENON_OK && lead != 0) {
        const struct origin *o = &p->origins[item->origin];

        st = add_rest(p, o, o->payloads[item->payload].tensor->offset - lead, place - lead, lead,
                      err);
    }
    return st;
}

/* After a kept payload was placed: what stands behind it, unless something else reaches further. */
static void look_behind(struct placing *p, const struct item *item)
{
    const struct origin *o = &p->origins[item->origin];
    bool last = item->payload + 1 == o->n;
    uint64_t reach = last ? o->end : o->payloads[item->payload + 1].reach;
    uint64_t next = last ? tenon_model_file(o->model, o->file)->bytes
                         : o->payloads[item->payload + 1].tensor->offset;
    uint64_t padded;

    p->behind = o;
    p->behind_offset = reach;
    p->behind_bytes = 0;
    if (reach < o->old || p->reach < o->now || reach - o->old != p->reach - o->now || next <= reach)
        return;
    p->behind_bytes = next - reach;
    if (!last && tenon_u64_align(&padded, reach, p->l->alignment) && padded < next)
        p->behind_bytes = padded - reach;
}

static enum tenon_status place_kept(struct placing *p, const struct item *item,
                                    struct tenon_error *err)
{
    struct origin *o = &p->origins[item->origin];
    const struct old_payload *old = &o->payloads[item->payload];
    uint64_t reach = p->reach;
    enum tenon_status st;

    if (!old->loose && o->placed != NO_ORIGIN && item->payload <= o->placed + 1)
        st = put_payload(p, item->tensor, o->now + (old->tensor->offset - o->old), err);
    else
        st = put_next(p, item->tensor, old->lead, err);
    if (st == TENON_OK)
        st = fill_gap(p, item, p->l->places[item->tensor], reach, old->lead, err);
    o->old = old->tensor->offset;
    o->now = p->l->places[item->tensor];
    o->placed = item->payload;
    extend_rest(p, item);
    look_behind(p, item);
    return st;
}

static enum tenon_status place_new(struct placing *p, const struct item *item,
                                   struct tenon_error *err)
{
    uint64_t reach = p->reach;
    enum tenon_status st = put_next(p, item->tensor, 0, err);

    if (st == TENON_OK)
        st = fill_gap(p, item, p->l->places[item->tensor], reach, 0, err);
    p->behind_bytes = 0;
    return st;
}

/* The end of the file: as that of the origin, when its last payload is the last one here. */
static enum tenon_status place_end(struct placing *p, struct tenon_error *err)
{
    const struct item *last = &p->items[p->n_items - 1];
    bool same = last->kept && last->payload + 1 == p->origins[last->origin].n;
    uint64_t end;

    if (!(same && p->behind->end == p->behind_offset
              ? tenon_u64_add(&end, p->reach, p->behind_bytes)
              : tenon_u64_align(&end, p->reach, p->l->alignment)))
        return fail_place(p, last->tensor, err);
    p->l->data_bytes = end;
    return fill_gap(p, last, end, p->reach, 0, err);
}

/* Empty payloads go where the next one begins, which is where the loader expects them; one that lay
 * elsewhere stays there. */
static enum tenon_status place_empty(struct placing *p, struct tenon_error *err)
{
    uint64_t next, old_next = 0;
    enum tenon_status st = TENON_OK;
    size_t origin;

    if (!tenon_u64_align(&next, p->reach, p->l->alignment))
        return fail_place(p, p->l->n - 1, err);
    for (size_t i = p->l->n; st == TENON_OK && i > 0; i--) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(p->l->plan, p->l->first + i - 1);
        const struct tenon_plan_source *source = tenon_plan_sources(&t);
        bool old = may_keep(p->l, &t);
        uint64_t offset = old ? source->tensor->offset : 0, expected = old_next;

        if (t.bytes != 0) {
            next = p->l->places[i - 1];
            old_next = old ? offset : old_next;
            continue;
        }
        p->l->places[i - 1] = next;
        if (!old)
            continue;
        st = find_origin(p, source, &origin, err);
        if (st == TENON_OK &&
            (old_next != 0 ||
             tenon_u64_align(&expected, p->origins[origin].end, p->l->alignment)) &&
            offset != expected)
            p->l->places[i - 1] =
                offset - tenon_model_file(source->model, source->tensor->file)->header_bytes;
    }
    return st;
}

static enum tenon_status place_alike(struct placing *p, struct tenon_error *err)
{
    bool sorted = true; /* most often */
    enum tenon_status st;

    p->items = tenon_mem_alloc(p->l->n, sizeof(*p->items));
    if (p->items == NULL)
        return tenon_fail_memory(err);
    st = list_items(p, err);
    if (st != TENON_OK)
        return st;
    keep_named(p);
    keep_renamed(p);
    anchor_new(p);
    for (size_t i = 1; sorted && i < p->n_items; i++)
        sorted = compare_items(&p->items[i - 1], &p->items[i]) < 0;
    if (!sorted)
        qsort(p->items, p->n_items, sizeof(*p->items), compare_items);
    for (size_t i = 0; st == TENON_OK && i < p->n_items; i++)
        st = p->items[i].kept ? place_kept(p, &p->items[i], err) : place_new(p, &p->items[i], err);
    if (st == TENON_OK && p->n_items != 0)
        st = place_end(p, err);
    return st == TENON_OK ? place_empty(p, err) : st;
}

/* Without tensors: what stands behind the header and its padding. */
static enum tenon_status place_none(struct tenon_gguf_layout *l, struct tenon_error *err)
{
    struct tenon_plan_rest rest = {.file = (uint32_t)(l->file - l->plan->files),
                                   .model = l->file->like,
                                   .from = l->file->like_file};
    const struct tenon_file *like;

    if (l->file->like == NULL)
        return TENON_OK;
    like = tenon_model_file(l->file->like, l->file->like_file);
    for (size_t i = 0; i < tenon_model_n_tensors(l->file->like); i++)
        if (tenon_model_tensor(l->file->like, i)->file == l->file->like_file)
            return TENON_OK;
    if (!tenon_u64_align(&rest.from_offset, like->header_bytes, l->alignment) ||
        like->bytes <= rest.from_offset)
        return TENON_OK;
    l->data_bytes = rest.bytes = like->bytes - rest.from_offset;
    return tenon_plan_add_rest(l->plan, &rest, err);
}

enum tenon_status tenon_gguf_place(struct tenon_gguf_layout *l, struct tenon_error *err)
{
    struct placing p = {.l = l};
    enum tenon_status st;

    l->places = tenon_mem_alloc(l->n, sizeof(*l->places));
    if (l->places == NULL)
        return tenon_fail_memory(err);
    l->data_bytes = 0;
    if (l->n == 0)
        return place_none(l, err);
    st = l->file->like != NULL ? place_alike(&p, err) : place_anew(&p, err);
    for (size_t i = 0; i < p.n_origins; i++)
        tenon_mem_free(p.origins[i].payloads);
    tenon_mem_free(p.origins);
    tenon_mem_free(p.items);
    return st;
}
