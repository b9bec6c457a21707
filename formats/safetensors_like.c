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

#include <string.h>

#include "fail.h"
#include "safetensors_private.h"

/* The largest alignment that is kept: a page. */
#define MOST_ALIGNMENT 4096

/* --- metadata --- */

/* What becomes of the metadata as a member of the root. With its last pair it goes, too, unless it
 * was there without any before: the blanks in front of the first pair say how (insert_new of
 * safetensors_like_meta.c). */
static enum tenon_like_meta edit_meta_member(const struct tenon_like *like, bool *null)
{
    const struct tenon_json_object *o = &like->metas;
    size_t lead = o->n > 0 ? o->members[0].key - o->open : 0;

    *null = like->null_metas && o->n_inserts == 0;
    if (like->old->meta == UINT64_MAX)
        return o->n_inserts > 0 ? TENON_LIKE_META_PUT : TENON_LIKE_META_NONE;
    if (like->out->n_metas > 0 || o->n == 0)
        return TENON_LIKE_META_PUT;
    if (lead == 0)
        return TENON_LIKE_META_REMOVED;
    if (lead == 2 && memcmp(like->meta_value + o->open, "  ", 2) == 0)
        *null = true;
    return TENON_LIKE_META_PUT;
}

/* The value of the new metadata, in the plan's arena. */
static enum tenon_status make_metas(struct tenon_like *like, struct tenon_error *err)
{
    static const struct tenon_str null = {"null", 4};
    struct tenon_like_head *head = like->head;
    struct tenon_json_out out = {0};
    bool is_null = false;

    head->meta = edit_meta_member(like, &is_null);
    head->meta_text = null;
    if (head->meta != TENON_LIKE_META_PUT || is_null)
        return TENON_OK;
    tenon_json_object_put(&like->metas, &out);
    out.data = tenon_arena_alloc(&like->plan->arena, out.len, 1);
    if (out.data == NULL)
        return tenon_fail_memory(err);
    out.len = 0;
    tenon_json_object_put(&like->metas, &out);
    head->meta_text = (struct tenon_str){out.data, out.len};
    return TENON_OK;
}

/* --- padding --- */

/* The alignment of the end of the old header, 1 when it has none. */
static uint64_t old_alignment(const struct tenon_like_old *old)
{
    uint64_t end = old->len + TENON_SAFETENSORS_PREFIX, alignment = MOST_ALIGNMENT;

    while (end % alignment != 0)
        alignment /= 2;
    return alignment < 8 ? 1 : alignment;
}

/* Blanks that a text of `len` bytes lacks to one of `old` bytes in steps of `alignment`. */
static uint64_t lacking(uint64_t len, uint64_t old, uint64_t alignment)
{
    return (old % alignment + alignment - len % alignment) % alignment;
}

/* How the padding changes for a root of `len` bytes. `known_edit`: something goes away that was
 * put in before. */
static void pad(struct tenon_like_head *head, uint64_t len, bool known_edit)
{
    const struct tenon_like_old *old = &head->old;
    uint64_t end = old->close + 1, before = end - (old->open - 1);
    uint64_t alignment = old_alignment(old);

    if (head->minimal) {
        head->shrink = old->len - end;
        head->grow = lacking(len, 0, 8);
    } else if (head->n_inserted > 0 ||
               (head->meta == TENON_LIKE_META_PUT && old->meta == UINT64_MAX)) {
        head->blanks = (size_t)lacking(len, before, alignment < 8 ? 8 : alignment);
    } else if (known_edit && lacking(len, before, 8) == 0) {
        return;
    } else if (len > before && lacking(len, before, alignment) != 0 &&
               old->blanks >= len - before + 8) {
        head->shrink = len - before;
    } else {
        head->grow = lacking(len, before, alignment);
    }
}

/* --- the header --- */

static enum tenon_status make_head(struct tenon_like *like, struct tenon_error *err)
{
    struct tenon_like_head *head = like->head;
    const struct tenon_like_old *old = &head->old;
    const struct tenon_plan_head how = {tenon_like_put_head, head};
    struct tenon_window counted = {.err = err};
    uint64_t end = old->close + 1, n;
    bool known = false;
    enum tenon_status st = tenon_like_put_root(like->plan, like->file, head, &known, &counted);

    if (st != TENON_OK)
        return st;
    pad(head, counted.n, known);
    n = old->open - 1 + counted.n + head->blanks + (old->len - end) - head->shrink + head->grow;
    if (n > TENON_SAFETENSORS_MOST_HEADER)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "the header would take %llu bytes, at most %d are read by other programs",
                          (unsigned long long)n, TENON_SAFETENSORS_MOST_HEADER);
    head->bytes = n + TENON_SAFETENSORS_PREFIX;
    return tenon_plan_set_head(like->plan, like->file, how, head->bytes, err);
}

/* New entries can be spelled. (Renamed ones were looked at when they were found.) */
static enum tenon_status check_new(const struct tenon_like *like, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < like->n; i++) {
        struct tenon_plan_tensor t;

        if (like->entry_of[i] != TENON_LIKE_NONE)
            continue;
        t = tenon_plan_tensor(like->plan, like->first + i);
        st = tenon_safetensors_check_tensor(&t, err);
    }
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
    like->head->data = head;
    if (!fits || like->out->bytes > INT64_MAX)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "the file would be larger than files can be");
    return TENON_OK;
}

/* The odd entries' list is the arena's from now on, as all that the header is made of. */
static enum tenon_status keep_odd(struct tenon_like *like, struct tenon_error *err)
{
    size_t n = like->old->n_odd;
    struct tenon_tensor **odd = tenon_arena_alloc(&like->plan->arena, n, sizeof(*odd));

    if (odd == NULL)
        return tenon_fail_memory(err);
    if (n > 0)
        memcpy(odd, like->old->odd, n * sizeof(*odd));
    tenon_mem_free(like->old->odd);
    like->old->odd = odd;
    like->odd_room = 0;
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
        st = make_metas(like, err);
    if (st == TENON_OK)
        st = check_new(like, err);
    if (st == TENON_OK)
        st = tenon_like_place(like, err);
    if (st == TENON_OK)
        st = make_head(like, err);
    if (st == TENON_OK)
        st = shift_payloads(like, err);
    return st == TENON_OK ? keep_odd(like, err) : st;
}

static void release(struct tenon_like *like)
{
    tenon_json_object_release(&like->metas);
    tenon_mem_free(like->meta_value);
    tenon_mem_free(like->room);
    tenon_mem_free(like->entry_of);
    tenon_mem_free(like->claimed);
    if (like->odd_room > 0)
        tenon_mem_free(like->old->odd);
}

enum tenon_status tenon_safetensors_layout_like(struct tenon_plan *plan, uint32_t file,
                                                struct tenon_error *err)
{
    struct tenon_plan_file *out = &plan->files[file];
    struct tenon_like like = {.plan = plan, .out = out, .file = file};
    enum tenon_status st;

    like.head = tenon_arena_alloc(&plan->arena, 1, sizeof(*like.head));
    if (like.head == NULL)
        return tenon_fail_memory(err);
    like.old = &like.head->old;
    like.old->model = out->like;
    like.old->file = out->like_file;
    st = lay_out(&like, err);
    release(&like);
    return st;
}
