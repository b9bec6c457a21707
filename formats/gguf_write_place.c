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
#include <string.h>

#include "fail.h"
#include "gguf.h"
#include "gguf_write.h"
#include "gguf_write_origin.h"
#include "sort.h"

/* Instead of the key of a payload: of a tensor that has none, and of one that is new, which goes
 * behind all. */
#define KEY_EMPTY UINT32_MAX
#define KEY_NEW   (UINT32_MAX - 1)

/* A file that tensors come from, while its payloads are placed, in their order. */
struct origin {
    struct tenon_gguf_origin of;
    uint32_t first_key;   /* keys are numbers of payloads, of one origin behind those of another */
    unsigned char *taken; /* bits: by a tensor that is written */
    bool used;            /* one of its payloads is kept */
    /* Of the payload that was placed last: */
    bool placed;       /* there is one */
    size_t follower;   /* the number of that behind it, of.n: it is the last */
    uint64_t old, now; /* where it lay, and lies: absolute, relative */
};

struct placing {
    struct tenon_gguf_layout *l;
    struct origin *origins;
    size_t n_origins, origin_room;
    uint32_t n_keys;
    uint32_t *keys;      /* of each tensor: that of its payload, or of that which it goes before */
    unsigned char *kept; /* bits: tensors that are the payload of their key */
    uint32_t *order;     /* of the payloads; NULL: that of the tensors */
    size_t n_order;
    uint64_t reach; /* the end of what is placed, relative */
    /* What stood behind the payload that was placed last, where it came from; 0 bytes: nothing. */
    const struct origin *behind;
    uint64_t behind_offset, behind_bytes;
    /* From the last rest to here, relative, the output is the bytes that follow it in its file;
     * 0: no longer. */
    uint64_t same_end;
};

static bool has_bit(const unsigned char *bits, size_t i)
{
    return (bits[i / 8] >> i % 8 & 1) != 0;
}

static void set_bit(unsigned char *bits, size_t i)
{
    bits[i / 8] = (unsigned char)(bits[i / 8] | 1u << i % 8);
}

static struct tenon_plan_record *record_of(const struct placing *p, size_t i)
{
    return &p->l->plan->tensors[p->l->first + i];
}

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
    record_of(p, tensor)->offset = place;
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

static void free_found(void *found)
{
    tenon_gguf_origin_release(found);
    tenon_mem_free(found);
}

/* A set that is split comes from one file: what was found out about it for the output before this
 * one. False: nothing. */
static bool take_found(struct placing *p, const struct tenon_plan_source *source, struct origin *o)
{
    struct tenon_gguf_origin *found = p->l->plan->found;
    bool same =
        found != NULL && found->model == source->model && found->file == source->tensor->file;

    o->of = (struct tenon_gguf_origin){.model = source->model, .file = source->tensor->file};
    if (!same)
        return false;
    o->of = *found;
    *found = (struct tenon_gguf_origin){0};
    return true;
}

/* Leaves what was found out about the last origin to the next output. */
static enum tenon_status leave_found(struct placing *p, struct tenon_error *err)
{
    struct tenon_gguf_origin *found;

    if (p->n_origins == 0 || p->l->plan->n_files == 1)
        return TENON_OK;
    found = tenon_mem_alloc(1, sizeof(*found));
    if (found == NULL)
        return tenon_fail_memory(err);
    *found = p->origins[p->n_origins - 1].of;
    p->origins[p->n_origins - 1].of = (struct tenon_gguf_origin){0};
    tenon_plan_leave(p->l->plan, found, free_found);
    return TENON_OK;
}

static enum tenon_status add_origin(struct placing *p, const struct tenon_plan_source *source,
                                    struct tenon_error *err)
{
    struct origin *grown =
        tenon_mem_grow(p->origins, &p->origin_room, p->n_origins, sizeof(*grown));
    struct origin *o;
    enum tenon_status st;

    if (grown == NULL)
        return tenon_fail_memory(err);
    p->origins = grown;
    o = &grown[p->n_origins++];
    *o = (struct origin){.first_key = p->n_keys};
    st = take_found(p, source, o) ? TENON_OK : tenon_gguf_origin_init(&o->of, err);
    if (st != TENON_OK)
        return st;
    if (o->of.n >= KEY_NEW - p->n_keys)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many tensors");
    p->n_keys += (uint32_t)o->of.n; /* fits: just compared */
    o->taken = tenon_mem_alloc(o->of.n / 8 + 1, 1);
    return o->taken != NULL ? TENON_OK : tenon_fail_memory(err);
}

static enum tenon_status find_origin(struct placing *p, const struct tenon_plan_source *source,
                                     struct origin **out, struct tenon_error *err)
{
    enum tenon_status st;

    for (size_t i = p->n_origins; i > 0; i--) { /* most often the last one */
        *out = &p->origins[i - 1];
        if ((*out)->of.model == source->model && (*out)->of.file == source->tensor->file)
            return TENON_OK;
    }
    st = add_origin(p, source, err);
    *out = p->n_origins > 0 ? &p->origins[p->n_origins - 1] : NULL;
    return st;
}

static struct origin *origin_of(const struct placing *p, uint32_t key)
{
    size_t low = 0, high = p->n_origins;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (p->origins[middle].first_key <= key)
            low = middle;
        else
            high = middle;
    }
    return &p->origins[low];
}

static const struct tenon_tensor *payload_of(const struct placing *p, uint32_t key)
{
    const struct origin *o = origin_of(p, key);

    return tenon_gguf_origin_payload(&o->of, key - o->first_key);
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

static enum tenon_status find_keys(struct placing *p, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < p->l->n; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(p->l->plan, p->l->first + i);
        const struct tenon_plan_source *source = tenon_plan_sources(&t);
        struct origin *o;

        p->keys[i] = t.bytes != 0 ? KEY_NEW : KEY_EMPTY;
        if (t.bytes == 0 || !may_keep(p->l, &t))
            continue;
        st = find_origin(p, source, &o, err);
        if (st == TENON_OK)
            p->keys[i] = o->first_key + (uint32_t)tenon_gguf_origin_find(&o->of, source->tensor);
    }
    return st;
}

/* Whether the record of `b` stands behind that of `a` in the file that both come from. */
static bool follows(const struct placing *p, uint32_t a, uint32_t b)
{
    return origin_of(p, a) == origin_of(p, b) &&
           payload_of(p, a)->record_offset < payload_of(p, b)->record_offset;
}

static bool is_taken(const struct placing *p, uint32_t key)
{
    const struct origin *o = origin_of(p, key);

    return has_bit(o->taken, key - o->first_key);
}

static void keep(struct placing *p, size_t i)
{
    struct origin *o = origin_of(p, p->keys[i]);

    set_bit(p->kept, i);
    set_bit(o->taken, p->keys[i] - o->first_key);
    o->used = true;
}

static bool has_own_name(const struct placing *p, size_t i)
{
    struct tenon_str name = tenon_plan_name(p->l->plan, p->l->first + i);
    const struct tenon_tensor *old = payload_of(p, p->keys[i]);

    return name.len == old->name.len && memcmp(name.data, old->name.data, name.len) == 0;
}

/* Tensors that have their name still, as long as their records stay in order: where the places do
 * not follow the records, the loader refuses the file. */
static void keep_named(struct placing *p)
{
    uint32_t last = KEY_NEW;

    for (size_t i = 0; i < p->l->n; i++) {
        uint32_t key = p->keys[i];

        if (key >= KEY_NEW || !has_own_name(p, i) || is_taken(p, key))
            continue;
        if (last != KEY_NEW && !follows(p, last, key) && origin_of(p, key)->used)
            continue;
        keep(p, i);
        last = key;
    }
}

/* Whether `key`, neither of which neighbours that are kept (KEY_NEW: none) is it, stays between
 * them. */
static bool is_between(const struct placing *p, uint32_t last, uint32_t key, uint32_t next)
{
    const struct origin *o = origin_of(p, key);
    bool has_next = next != KEY_NEW && origin_of(p, next) == o;
    bool ordered = !o->used;

    if (last != KEY_NEW && origin_of(p, last) == o)
        ordered = follows(p, last, key);
    else if (has_next)
        ordered = true;
    return ordered && (!has_next || follows(p, key, next));
}

/* Then those with a new name, where they are between the same neighbours still. */
static void keep_renamed(struct placing *p)
{
    uint32_t last = KEY_NEW;
    size_t next = 0;

    for (size_t i = 0; i < p->l->n; i++) {
        uint32_t key = p->keys[i];

        while (next < p->l->n && (next <= i || !has_bit(p->kept, next)))
            next++;
        if (has_bit(p->kept, i)) {
            last = key;
            continue;
        }
        if (key >= KEY_NEW || is_taken(p, key) ||
            !is_between(p, last, key, next < p->l->n ? p->keys[next] : KEY_NEW))
            continue;
        keep(p, i);
        last = key;
    }
}

/* The key of what the payload of `key` hangs on. `*heads`, to be freed, is that of the origin which
 * was asked for last, `*of`. */
static enum tenon_status find_head(const struct placing *p, uint32_t *key, uint32_t **heads,
                                   const struct origin **of, struct tenon_error *err)
{
    const struct origin *o = origin_of(p, *key);

    if (*of != o) {
        tenon_mem_free(*heads);
        *heads = tenon_gguf_origin_heads(&o->of);
        *of = o;
    }
    if (*heads == NULL)
        return tenon_fail_memory(err);
    *key = o->first_key + (*heads)[*key - o->first_key];
    return TENON_OK;
}

/* All others go before the next one that is kept, and what that hangs on. */
static enum tenon_status anchor_new(struct placing *p, struct tenon_error *err)
{
    uint32_t next = KEY_NEW, *heads = NULL;
    const struct origin *of = NULL;
    enum tenon_status st = TENON_OK;

    for (size_t i = p->l->n; st == TENON_OK && i > 0; i--) {
        if (has_bit(p->kept, i - 1)) {
            next = p->keys[i - 1];
        } else if (p->keys[i - 1] != KEY_EMPTY) {
            p->keys[i - 1] = next;
            if (next != KEY_NEW)
                st = find_head(p, &p->keys[i - 1], &heads, &of, err);
        }
    }
    tenon_mem_free(heads);
    return st;
}

static int compare_items(const void *owner, uint32_t a, uint32_t b)
{
    const struct placing *p = owner;

    if (p->keys[a] != p->keys[b])
        return p->keys[a] < p->keys[b] ? -1 : 1;
    return has_bit(p->kept, a) - has_bit(p->kept, b);
}

/* Most often the payloads are in the order of the tensors. */
static enum tenon_status sort_items(struct placing *p, struct tenon_error *err)
{
    size_t last = p->l->n;
    bool sorted = true;

    for (size_t i = 0; sorted && i < p->l->n; i++) {
        if (p->keys[i] == KEY_EMPTY)
            continue;
        sorted = last == p->l->n || compare_items(p, (uint32_t)last, (uint32_t)i) <= 0;
        last = i;
    }
    if (sorted)
        return TENON_OK;
    p->order = tenon_mem_alloc(p->l->n, sizeof(*p->order));
    if (p->order == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < p->l->n; i++)
        if (p->keys[i] != KEY_EMPTY)
            p->order[p->n_order++] = (uint32_t)i;
    return tenon_sort(p->order, p->n_order, p, compare_items) ? TENON_OK : tenon_fail_memory(err);
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
    return last->model == o->of.model && last->from == o->of.file && place >= last->offset &&
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
    uint64_t end = tenon_model_file(o->of.model, o->of.file)->bytes;
    struct tenon_plan_rest *last = find_rest(p, o, from, place);
    struct tenon_plan_rest rest = {.file = (uint32_t)(p->l->file - p->l->plan->files),
                                   .offset = place,
                                   .model = o->of.model,
                                   .from = o->of.file,
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

/* After tensor `i`, which is kept, was placed: whether the output still is the bytes that follow
 * the last rest in its file. */
static void extend_rest(struct placing *p, const struct origin *o, size_t i)
{
    const struct tenon_plan_tensor t = tenon_plan_tensor(p->l->plan, p->l->first + i);

    if (find_rest(p, o, o->old, o->now) == NULL)
        return;
    if (!tenon_plan_tensor_is_copy(p->l->plan, &t))
        p->same_end = 0;
    else if (o->now <= p->same_end && p->same_end - o->now < t.bytes)
        p->same_end = o->now + t.bytes; /* fits: was placed there */
}

/* Brings along, into the gap up to `place`, the padding that stood behind the last payload. `reach`
 * is where that ends. */
static enum tenon_status fill_gap(struct placing *p, uint64_t place, uint64_t reach,
                                  struct tenon_error *err)
{
    uint64_t n = p->behind_bytes;

    if (n == 0 || place <= reach)
        return TENON_OK;
    return add_rest(p, p->behind, p->behind_offset, reach, n < place - reach ? n : place - reach,
                    err);
}

/* After payload `old` was placed: what stands behind it, unless something else reaches further. */
static void look_behind(struct placing *p, struct origin *o, const struct tenon_tensor *old)
{
    bool last = o->follower == o->of.n;
    uint64_t reach = tenon_gguf_origin_reach(old, o->of.reach);
    uint64_t next = last ? tenon_model_file(o->of.model, o->of.file)->bytes
                         : tenon_gguf_origin_payload(&o->of, o->follower)->offset;
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

/* As far behind the payload before it as it was. */
static enum tenon_status put_behind(struct placing *p, size_t i, const struct origin *o,
                                    const struct tenon_tensor *old, struct tenon_error *err)
{
    uint64_t place;

    if (!tenon_u64_add(&place, o->now, old->offset - o->old))
        return fail_place(p, i, err);
    return put_payload(p, i, place, err);
}

static enum tenon_status place_kept(struct placing *p, size_t i, struct tenon_error *err)
{
    struct origin *o = origin_of(p, p->keys[i]);
    size_t k = p->keys[i] - o->first_key;
    const struct tenon_tensor *old = tenon_gguf_origin_payload(&o->of, k);
    uint64_t reach = p->reach, lead = 0;
    enum tenon_status st;

    tenon_gguf_origin_advance(&o->of, k);
    if (!tenon_gguf_origin_is_loose(&o->of, old, o->of.reach, &lead) && o->placed &&
        o->follower == k)
        st = put_behind(p, i, o, old, err);
    else
        st = put_next(p, i, lead, err);
    if (st != TENON_OK)
        return st;
    o->placed = true;
    o->follower = tenon_gguf_origin_next(&o->of, k + 1);
    o->old = old->offset;
    o->now = record_of(p, i)->offset;
    st = fill_gap(p, o->now - lead, reach, err);
    if (st == TENON_OK && lead != 0)
        st = add_rest(p, o, o->old - lead, o->now - lead, lead, err);
    extend_rest(p, o, i);
    look_behind(p, o, old);
    return st;
}

static enum tenon_status place_new(struct placing *p, size_t i, struct tenon_error *err)
{
    uint64_t reach = p->reach;
    enum tenon_status st = put_next(p, i, 0, err);

    if (st == TENON_OK)
        st = fill_gap(p, record_of(p, i)->offset, reach, err);
    p->behind_bytes = 0;
    return st;
}

/* The end of the file, behind tensor `i`: as that of the origin, when that is its last payload. */
static enum tenon_status place_end(struct placing *p, size_t i, struct tenon_error *err)
{
    bool same = has_bit(p->kept, i) && p->behind->follower == p->behind->of.n;
    uint64_t end;

    if (!(same ? tenon_u64_add(&end, p->reach, p->behind_bytes)
               : tenon_u64_align(&end, p->reach, p->l->alignment)))
        return fail_place(p, i, err);
    p->l->data_bytes = end;
    return fill_gap(p, end, p->reach, err);
}

/* Without payloads, here and in the old file: what stands behind the header and its padding. */
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
        if (tenon_model_tensor(l->file->like, i)->file == l->file->like_file &&
            tenon_model_tensor(l->file->like, i)->bytes != 0)
            return TENON_OK;
    if (!tenon_u64_align(&rest.from_offset, like->header_bytes, l->alignment) ||
        like->bytes <= rest.from_offset)
        return TENON_OK;
    l->data_bytes = rest.bytes = like->bytes - rest.from_offset;
    return tenon_plan_add_rest(l->plan, &rest, err);
}

static enum tenon_status place_items(struct placing *p, struct tenon_error *err)
{
    size_t n = p->order != NULL ? p->n_order : p->l->n, last = p->l->n;
    enum tenon_status st = TENON_OK;

    for (size_t k = 0; st == TENON_OK && k < n; k++) {
        size_t i = p->order != NULL ? p->order[k] : k;

        if (p->keys[i] == KEY_EMPTY)
            continue;
        st = has_bit(p->kept, i) ? place_kept(p, i, err) : place_new(p, i, err);
        last = i;
    }
    if (st != TENON_OK)
        return st;
    return last != p->l->n ? place_end(p, last, err) : place_none(p->l, err);
}

/* Where an empty payload lies, `old_next` being the one that follows it there, or 0: where the
 * loader expects it, and so `next`, or elsewhere. */
static enum tenon_status find_empty(struct placing *p, const struct tenon_plan_source *source,
                                    uint64_t old_next, uint64_t *next, struct tenon_error *err)
{
    uint64_t offset = source->tensor->offset, expected = old_next, place;
    struct origin *o;
    enum tenon_status st = find_origin(p, source, &o, err);

    if (st != TENON_OK)
        return st;
    if ((old_next == 0 && !tenon_u64_align(&expected, o->of.end, p->l->alignment)) ||
        offset == expected)
        return TENON_OK;
    place = offset - tenon_model_file(source->model, source->tensor->file)->header_bytes;
    /* Readers do not believe that one of unknown type behind the end of the file is empty. */
    if (source->tensor->dtype != TENON_DTYPE_UNKNOWN || place <= p->l->data_bytes)
        *next = place;
    return TENON_OK;
}

/* Empty payloads go where the next one begins, which is where the loader expects them; one that lay
 * elsewhere stays there. */
static enum tenon_status place_empty(struct placing *p, struct tenon_error *err)
{
    uint64_t next, old_next = 0;
    enum tenon_status st = TENON_OK;

    if (!tenon_u64_align(&next, p->reach, p->l->alignment))
        return fail_place(p, p->l->n - 1, err);
    for (size_t i = p->l->n; st == TENON_OK && i > 0; i--) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(p->l->plan, p->l->first + i - 1);
        struct tenon_plan_record *record = record_of(p, i - 1);
        bool old = may_keep(p->l, &t);

        if (t.bytes != 0) {
            next = record->offset;
            old_next = old ? tenon_plan_sources(&t)->tensor->offset : old_next;
            continue;
        }
        record->offset = next;
        if (old)
            st = find_empty(p, tenon_plan_sources(&t), old_next, &record->offset, err);
    }
    return st;
}

static enum tenon_status place_alike(struct placing *p, struct tenon_error *err)
{
    enum tenon_status st;

    p->keys = tenon_mem_alloc(p->l->n, sizeof(*p->keys));
    p->kept = tenon_mem_alloc(p->l->n / 8 + 1, 1);
    if (p->keys == NULL || p->kept == NULL)
        return tenon_fail_memory(err);
    st = find_keys(p, err);
    if (st != TENON_OK)
        return st;
    keep_named(p);
    keep_renamed(p);
    st = anchor_new(p, err);
    if (st == TENON_OK)
        st = sort_items(p, err);
    if (st == TENON_OK)
        st = place_items(p, err);
    return st == TENON_OK ? place_empty(p, err) : st;
}

enum tenon_status tenon_gguf_place(struct tenon_gguf_layout *l, struct tenon_error *err)
{
    struct placing p = {.l = l};
    enum tenon_status st;

    l->data_bytes = 0;
    if (l->n == 0)
        return place_none(l, err);
    st = l->file->like != NULL ? place_alike(&p, err) : place_anew(&p, err);
    if (st == TENON_OK)
        st = leave_found(&p, err);
    for (size_t i = 0; i < p.n_origins; i++) {
        tenon_gguf_origin_release(&p.origins[i].of);
        tenon_mem_free(p.origins[i].taken);
    }
    tenon_mem_free(p.origins);
    tenon_mem_free(p.keys);
    tenon_mem_free(p.kept);
    tenon_mem_free(p.order);
    return st;
}
