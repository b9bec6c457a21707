/* The order of payloads in an edited copy, and their places. They are sorted by number: a record in
 * the plan and the old tensor say all that is to be known of one. */
#include <string.h>

#include "fail.h"
#include "safetensors_like.h"
#include "safetensors_private.h"
#include "sort.h"

/* Tensors are known by their numbers among those of the file in the plan, as these were before they
 * are put into another order. */
struct placing {
    struct tenon_like *like;
    uint32_t *order; /* NULL: as they are */
    uint64_t *moved; /* bits: it does not stay between its old neighbours */
    size_t n_kept;   /* of `order`, those that are not moved; they come first until it is final */
    uint32_t slots[9][9]; /* of moved ones, by width and evenness: the kept one that they go in
                           * front of, by its place in the order */
};

static bool is_moved(const struct placing *p, uint32_t i)
{
    return (p->moved[i / 64] >> (i % 64) & 1) != 0;
}

static void move(struct placing *p, uint32_t i)
{
    p->moved[i / 64] |= UINT64_C(1) << (i % 64);
}

static struct tenon_plan_record *record_of(const struct placing *p, uint32_t i)
{
    return &p->like->plan->tensors[p->like->first + i];
}

static uint64_t bytes_of(const struct placing *p, uint32_t i)
{
    return tenon_plan_tensor_bytes(p->like->plan, p->like->first + i);
}

/* Bytes of an element: the place of a payload should be a multiple of them. */
static uint32_t width_of(const struct placing *p, uint32_t i)
{
    const struct tenon_dtype_info *info =
        tenon_dtype_info((enum tenon_dtype)record_of(p, i)->dtype);

    return info != NULL && info->family == TENON_DTYPE_FAMILY_plain ? info->block_bytes : 1;
}

/* The tensor whose entry it has; of one that has one. */
static const struct tenon_tensor *old_of(const struct placing *p, uint32_t i)
{
    return tenon_like_entry(p->like->old, p->like->entry_of[i]);
}

/* --- those that stay --- */

/* By their old places. */
static int compare_old(const void *owner, uint32_t a, uint32_t b)
{
    const struct tenon_tensor *x = old_of(owner, a), *y = old_of(owner, b);

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_moved(const void *owner, uint32_t a, uint32_t b)
{
    return (int)is_moved(owner, a) - (int)is_moved(owner, b);
}

/* Two names of one old range. */
static bool shares(const struct placing *p, uint32_t a, uint32_t b)
{
    const struct tenon_tensor *x, *y;

    if (is_moved(p, a) || is_moved(p, b))
        return false;
    x = old_of(p, a);
    y = old_of(p, b);
    return x->offset == y->offset && x->bytes == y->bytes && x->bytes > 0;
}

/* Whether the payload is that of its entry. */
static bool is_old(const struct placing *p, uint32_t i)
{
    const struct tenon_like *like = p->like;
    const struct tenon_plan_tensor t = tenon_plan_tensor(like->plan, like->first + i);
    const struct tenon_plan_source *source = tenon_plan_sources(&t);

    return t.n_sources == 1 && source->model == like->old->model && !source->logical &&
           source->tensor->file == like->old->file &&
           source->tensor->offset == old_of(p, i)->offset && source->tensor->bytes == t.bytes &&
           tenon_plan_tensor_is_copy(like->plan, &t) && !t.apart;
}

/* Of several names for one old range, [first, last) of the order, those that no longer have its
 * bytes need a place of their own. One name keeps the place. How many moved. */
static size_t part_range(struct placing *p, size_t first, size_t last)
{
    size_t keeper = first, parted = 0;

    while (keeper < last && !is_old(p, p->order[keeper]))
        keeper++;
    for (size_t i = first; i < last; i++) {
        if (i == (keeper < last ? keeper : first) || is_old(p, p->order[i]))
            continue;
        move(p, p->order[i]);
        parted++;
    }
    return parted;
}

static enum tenon_status part_ranges(struct placing *p, struct tenon_error *err)
{
    size_t first = 0, parted = 0, n = p->n_kept;

    for (size_t i = 1; i <= n; i++) {
        if (i < n && shares(p, p->order[first], p->order[i]))
            continue;
        if (i - first > 1)
            parted += part_range(p, first, i);
        first = i;
    }
    p->n_kept -= parted;
    if (parted > 0 && !tenon_sort(p->order, n, p, compare_moved))
        return tenon_fail_memory(err);
    return TENON_OK;
}

/* --- places --- */

/* One behind the other, the first `n` of the order. */
static enum tenon_status place(struct placing *p, size_t n, struct tenon_error *err)
{
    uint64_t end = 0;

    for (size_t k = 0; k < n; k++) {
        uint32_t i = p->order != NULL ? p->order[k] : (uint32_t)k;

        if (p->order != NULL && k > 0 && shares(p, p->order[k - 1], i)) {
            record_of(p, i)->offset = record_of(p, p->order[k - 1])->offset;
            continue;
        }
        record_of(p, i)->offset = end;
        if (!tenon_u64_add(&end, end, bytes_of(p, i)))
            return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                              "the file would be larger than files can be");
    }
    p->like->payload_bytes = end;
    return TENON_OK;
}

/* --- those that are moved --- */

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
static uint32_t find_slot(const struct placing *p, uint32_t width, uint32_t even, uint32_t widest)
{
    uint64_t base = (p->like->old->len + TENON_SAFETENSORS_PREFIX) % 8;
    size_t k = p->n_kept;

    for (;; k--) {
        uint64_t at = k < p->n_kept ? record_of(p, p->order[k])->offset : p->like->payload_bytes;
        bool splits = k > 0 && k < p->n_kept && shares(p, p->order[k - 1], p->order[k]);

        if (!splits && (base + at % 8) % width == 0 && even % widest == 0)
            return (uint32_t)k;
        if (k == 0)
            return (uint32_t)p->n_kept;
        if (width_of(p, p->order[k - 1]) > widest)
            widest = width_of(p, p->order[k - 1]);
    }
}

static uint32_t *slot_of(struct placing *p, uint32_t i)
{
    return &p->slots[width_of(p, i)][evenness(bytes_of(p, i))];
}

/* A slot for every moved payload; what decides it is one of 4 x 4 pairs, whose slots are kept. */
static void find_slots(struct placing *p)
{
    size_t n = p->like->n;
    uint32_t widest = 1;

    memset(p->slots, 0xff, sizeof(p->slots));
    for (size_t k = p->n_kept; k < n; k++)
        if (width_of(p, p->order[k]) > widest)
            widest = width_of(p, p->order[k]);
    for (size_t k = p->n_kept; k < n; k++) {
        uint32_t i = p->order[k], *slot = slot_of(p, i);

        if (*slot == UINT32_MAX)
            *slot = find_slot(p, width_of(p, i), evenness(bytes_of(p, i)), widest);
    }
}

/* By slot, the wider first. */
static int compare_slots(const void *owner, uint32_t a, uint32_t b)
{
    const struct placing *p = owner;
    uint32_t x = p->slots[width_of(p, a)][evenness(bytes_of(p, a))];
    uint32_t y = p->slots[width_of(p, b)][evenness(bytes_of(p, b))];

    if (x != y)
        return x < y ? -1 : 1;
    if (width_of(p, a) != width_of(p, b))
        return width_of(p, a) > width_of(p, b) ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Puts the moved ones, sorted, in front of those that have their slots. */
static enum tenon_status merge_moved(struct placing *p, struct tenon_error *err)
{
    size_t n = p->like->n, used = 0, next = p->n_kept;
    uint32_t *merged;

    if (next == n || *slot_of(p, p->order[next]) == p->n_kept)
        return TENON_OK; /* all at the end */
    merged = tenon_mem_alloc(n, sizeof(*merged));
    if (merged == NULL)
        return tenon_fail_memory(err);
    for (size_t k = 0; k <= p->n_kept; k++) {
        while (next < n && *slot_of(p, p->order[next]) == k)
            merged[used++] = p->order[next++];
        if (k < p->n_kept)
            merged[used++] = p->order[k];
    }
    tenon_mem_free(p->order);
    p->order = merged;
    return TENON_OK;
}

static enum tenon_status insert_moved(struct placing *p, struct tenon_error *err)
{
    size_t n = p->like->n;
    enum tenon_status st;

    if (p->n_kept == n)
        return TENON_OK;
    st = place(p, p->n_kept, err);
    if (st != TENON_OK)
        return st;
    find_slots(p);
    if (!tenon_sort(&p->order[p->n_kept], n - p->n_kept, p, compare_slots))
        return tenon_fail_memory(err);
    return merge_moved(p, err);
}

/* --- all --- */

/* Those that have an entry, in front of those that have none. */
static enum tenon_status begin_order(struct placing *p, struct tenon_error *err)
{
    const struct tenon_like *like = p->like;
    uint32_t *next;

    p->order = tenon_mem_alloc(like->n, sizeof(*p->order));
    p->moved = tenon_mem_alloc(like->n / 64 + 1, sizeof(*p->moved));
    if (p->order == NULL || p->moved == NULL)
        return tenon_fail_memory(err);
    for (uint32_t i = 0; i < like->n; i++)
        if (like->entry_of[i] != TENON_LIKE_NONE)
            p->order[p->n_kept++] = i;
    next = &p->order[p->n_kept];
    for (uint32_t i = 0; i < like->n; i++) {
        if (like->entry_of[i] != TENON_LIKE_NONE)
            continue;
        *next++ = i;
        move(p, i);
    }
    return TENON_OK;
}

/* Whose the entries are when the tensors are in their order, in the plan's arena. */
static enum tenon_status note_entries(const struct placing *p, struct tenon_error *err)
{
    const struct tenon_like *like = p->like;
    struct tenon_like_head *head = like->head;
    size_t fresh = 0;

    for (size_t i = 0; i < like->n; i++)
        fresh += like->entry_of[i] == TENON_LIKE_NONE;
    head->tensor_of =
        tenon_arena_alloc(&like->plan->arena, like->old->all, sizeof(*head->tensor_of));
    head->inserted = tenon_arena_alloc(&like->plan->arena, fresh, sizeof(*head->inserted));
    if (head->tensor_of == NULL || head->inserted == NULL)
        return tenon_fail_memory(err);
    for (size_t e = 0; e < like->old->all; e++)
        head->tensor_of[e] = TENON_LIKE_NONE;
    for (uint32_t k = 0; k < like->n; k++) {
        uint32_t entry = like->entry_of[p->order[k]];

        if (entry == TENON_LIKE_NONE)
            head->inserted[head->n_inserted++] = k;
        else
            head->tensor_of[entry] = k;
    }
    return TENON_OK;
}

static enum tenon_status order_payloads(struct placing *p, struct tenon_error *err)
{
    struct tenon_like *like = p->like;
    enum tenon_status st = begin_order(p, err);

    if (st == TENON_OK && !tenon_sort(p->order, p->n_kept, p, compare_old))
        st = tenon_fail_memory(err);
    if (st == TENON_OK)
        st = part_ranges(p, err);
    if (st == TENON_OK)
        st = insert_moved(p, err);
    if (st == TENON_OK)
        st = place(p, like->n, err);
    if (st == TENON_OK)
        st = note_entries(p, err);
    if (st == TENON_OK)
        tenon_plan_reorder(like->plan, like->first, like->n, p->order);
    return st;
}

enum tenon_status tenon_like_place(struct tenon_like *like, struct tenon_error *err)
{
    struct placing p = {.like = like};
    enum tenon_status st;

    if (like->head->canonical) /* sorted already */
        return place(&p, like->n, err);
    st = order_payloads(&p, err);
    tenon_mem_free(p.order);
    tenon_mem_free(p.moved);
    return st;
}
