/* Whose the entries of the old header are. */
#include <string.h>

#include "fail.h"
#include "names.h"
#include "safetensors_like.h"
#include "text.h"

/* --- the entry of a tensor --- */

static bool stands_at(const struct tenon_like_old *old, size_t entry, uint64_t offset)
{
    return tenon_like_entry(old, (uint32_t)entry)->record_offset == offset;
}

/* Of entries [first, last), the one whose key stands at `offset` of the file, or NONE. */
static uint32_t find_offset(const struct tenon_like_old *old, size_t first, size_t last,
                            uint64_t offset)
{
    size_t low = first, high = last;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tenon_like_entry(old, (uint32_t)middle)->record_offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < last && stands_at(old, low, offset) ? (uint32_t)low : TENON_LIKE_NONE;
}

/* The entry of a tensor of the old file. `guess` is tried first: mostly they come in order. */
static uint32_t find_entry(const struct tenon_like_old *old, const struct tenon_tensor *t,
                           size_t guess)
{
    uint32_t entry;

    if (guess < old->n && stands_at(old, guess, t->record_offset))
        return (uint32_t)guess;
    entry = find_offset(old, 0, old->n, t->record_offset);
    return entry != TENON_LIKE_NONE ? entry : find_offset(old, old->n, old->all, t->record_offset);
}

/* The tensor of the old file whose payload `t` is, unchanged; NULL when it is not. */
static const struct tenon_tensor *copied_from(const struct tenon_like *like,
                                              const struct tenon_plan_tensor *t)
{
    const struct tenon_plan_source *source = tenon_plan_sources(t);

    if (t->n_sources != 1 || source->model != like->old->model || source->logical ||
        source->tensor->file != like->old->file || source->tensor->bytes != t->bytes ||
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

static bool is_claimed(const struct tenon_like *like, uint32_t entry)
{
    return (like->claimed[entry / 64] >> (entry % 64) & 1) != 0;
}

static void claim(struct tenon_like *like, size_t i, uint32_t entry)
{
    like->entry_of[i] = entry;
    like->claimed[entry / 64] |= UINT64_C(1) << (entry % 64);
}

/* Entries of the same name and shape. */
static void claim_by_name(struct tenon_like *like)
{
    size_t guess = 0;

    for (size_t i = 0; i < like->n; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(like->plan, like->first + i);
        const struct tenon_tensor *source = copied_from(like, &t), *old = source;
        uint32_t entry;

        if (old == NULL || tenon_str_compare(old->name, t.name) != 0)
            old = tenon_model_find(like->old->model, t.name.data, t.name.len);
        if (old == NULL || old->file != like->old->file || !same_shape(&t, old))
            continue;
        if (t.dtype == TENON_DTYPE_UNKNOWN && source != old)
            continue; /* its type is known by its source only */
        entry = find_entry(like->old, old, guess);
        if (entry == TENON_LIKE_NONE)
            continue;
        claim(like, i, entry);
        guess = (size_t)entry + 1;
    }
}

/* Entries that only get another name. In a sorted header they change their place, too. */
static enum tenon_status claim_renamed(struct tenon_like *like, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < like->n && !like->head->canonical; i++) {
        struct tenon_plan_tensor t;
        const struct tenon_tensor *old;
        uint32_t entry;

        if (like->entry_of[i] != TENON_LIKE_NONE)
            continue;
        t = tenon_plan_tensor(like->plan, like->first + i);
        old = copied_from(like, &t);
        if (old == NULL || !same_shape(&t, old))
            continue;
        entry = find_entry(like->old, old, 0);
        if (entry == TENON_LIKE_NONE || is_claimed(like, entry))
            continue;
        claim(like, i, entry);
        st = tenon_safetensors_check_tensor(&t, err);
    }
    return st;
}

static enum tenon_status claim_entries(struct tenon_like *like, struct tenon_error *err)
{
    tenon_mem_free(like->entry_of);
    tenon_mem_free(like->claimed);
    like->entry_of = tenon_mem_alloc(like->n, sizeof(*like->entry_of));
    like->claimed = tenon_mem_alloc(like->old->all / 64 + 1, sizeof(*like->claimed));
    if (like->entry_of == NULL || like->claimed == NULL)
        return tenon_fail_memory(err);
    if (like->n > 0)
        memset(like->entry_of, 0xff, like->n * sizeof(*like->entry_of)); /* NONE */
    claim_by_name(like);
    return claim_renamed(like, err);
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

static enum tenon_status add_stray(struct tenon_like *like, struct tenon_tensor *t,
                                   struct tenon_error *err)
{
    if (!has_size(t)) { /* the reader does not judge what an index leaves out */
        t->dtype = TENON_DTYPE_UNKNOWN;
        t->flags = TENON_TENSOR_SIZE_DERIVED;
        like->head->canonical = false;
    }
    return tenon_plan_add_tensor_of(like->plan, like->old->model, t, like->file, err);
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
    const struct tenon_tensor *known = tenon_model_find(like->old->model, name.data, name.len);

    return (known == NULL || known->file != like->old->file) &&
           tenon_names_find(names, name.data, name.len, like, name_of) == TENON_NO_INDEX;
}

/* An entry that no tensor of the plan has goes away, unless the model never knew it. */
static enum tenon_status add_strays(struct tenon_like *like, bool *added, struct tenon_error *err)
{
    struct tenon_names names = {0};
    enum tenon_status st = TENON_OK;

    if (like->old->n_odd == 0)
        return TENON_OK;
    if (!index_names(like, &names))
        st = tenon_fail_memory(err);
    for (size_t i = 0; st == TENON_OK && i < like->old->n_odd; i++) {
        if (!is_stray(like, &names, like->old->odd[i]->name))
            continue;
        st = add_stray(like, like->old->odd[i], err);
        *added = true;
    }
    tenon_names_release(&names);
    return st;
}

/* --- all --- */

static enum tenon_status find_tensors(struct tenon_like *like, struct tenon_error *err)
{
    enum tenon_status st = tenon_plan_group(like->plan, err);

    if (st != TENON_OK)
        return st;
    tenon_plan_tensors_of(like->plan, like->file, &like->first, &like->n);
    if (like->n >= TENON_LIKE_NONE || like->old->all >= TENON_LIKE_NONE)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many tensors");
    return like->head->canonical ? tenon_safetensors_sort(like->plan, like->first, like->n, err)
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
