#include "plan_edit_names.h"

#include "bits.h"
#include "fail.h"
#include "sort.h"
#include "tenon/text.h"

static struct tenon_str given_name(const void *owner, uint32_t i)
{
    const struct tenon_edit_names *names = owner;

    return names->given[i].name;
}

enum tenon_status tenon_edit_names_init(struct tenon_edit_names *names,
                                        const struct tenon_model *model, struct tenon_error *err)
{
    names->model = model;
    names->renamed = tenon_bits_new(tenon_model_n_tensors(model));
    names->dropped = tenon_bits_new(tenon_model_n_tensors(model));
    return names->renamed != NULL && names->dropped != NULL ? TENON_OK : tenon_fail_memory(err);
}

void tenon_edit_names_release(struct tenon_edit_names *names)
{
    tenon_mem_free(names->renamed);
    tenon_mem_free(names->dropped);
    tenon_mem_free(names->given);
    tenon_names_release(&names->index);
    tenon_mem_free(names->order);
}

/* --- while they change --- */

static uint32_t find_given(const struct tenon_edit_names *names, struct tenon_str name)
{
    return tenon_names_find(&names->index, name.data, name.len, names, given_name);
}

uint32_t tenon_edit_names_find(const struct tenon_edit_names *names, struct tenon_str name)
{
    uint32_t given = find_given(names, name), i = TENON_NO_INDEX;

    if (given != TENON_NO_INDEX) {
        i = names->given[given].tensor;
    } else {
        const struct tenon_tensor *t = tenon_model_find(names->model, name.data, name.len);

        if (t != NULL)
            i = (uint32_t)(t - tenon_model_tensor(names->model, 0));
        if (i != TENON_NO_INDEX && tenon_bits_has(names->renamed, i))
            i = TENON_NO_INDEX;
    }
    return i != TENON_NO_INDEX && !tenon_bits_has(names->dropped, i) ? i : TENON_NO_INDEX;
}

/* A name that was never given gets an entry. */
static enum tenon_status add_given(struct tenon_edit_names *names, struct tenon_str name,
                                   uint32_t *out, struct tenon_error *err)
{
    struct tenon_given_name *given =
        tenon_mem_grow(names->given, &names->room, names->n_given, sizeof(*given));

    *out = (uint32_t)names->n_given;
    if (given == NULL)
        return tenon_fail_memory(err);
    names->given = given;
    given[*out] = (struct tenon_given_name){name, TENON_NO_INDEX};
    if (tenon_names_add(&names->index, *out, names, given_name) == TENON_NO_INDEX)
        return tenon_fail_memory(err);
    names->n_given++;
    return TENON_OK;
}

enum tenon_status tenon_edit_names_change(struct tenon_edit_names *names, uint32_t i,
                                          struct tenon_str old, struct tenon_str name,
                                          struct tenon_error *err)
{
    uint32_t before = find_given(names, old), given = find_given(names, name);
    enum tenon_status st = TENON_OK;

    if (before != TENON_NO_INDEX)
        names->given[before].tensor = TENON_NO_INDEX;
    tenon_bits_add(names->renamed, i);
    if (given == TENON_NO_INDEX)
        st = add_given(names, name, &given, err);
    if (st == TENON_OK)
        names->given[given].tensor = i;
    return st;
}

/* Whether tensor `i`, which is called `name`, is dropped now. */
static bool drop(struct tenon_edit_names *names, size_t i, struct tenon_str name,
                 const char *pattern)
{
    if (tenon_bits_has(names->dropped, i) || !tenon_text_glob(pattern, name.data, name.len))
        return false;
    tenon_bits_add(names->dropped, i);
    return true;
}

size_t tenon_edit_names_drop(struct tenon_edit_names *names, const char *pattern)
{
    size_t n = 0;

    for (size_t i = 0; i < tenon_model_n_tensors(names->model); i++)
        if (!tenon_bits_has(names->renamed, i))
            n += drop(names, i, tenon_model_tensor(names->model, i)->name, pattern);
    for (size_t k = 0; k < names->n_given; k++)
        if (names->given[k].tensor != TENON_NO_INDEX)
            n += drop(names, names->given[k].tensor, names->given[k].name, pattern);
    return n;
}

bool tenon_edit_names_dropped(const struct tenon_edit_names *names, size_t i)
{
    return tenon_bits_has(names->dropped, i);
}

/* --- afterwards --- */

static int compare_given(const void *owner, uint32_t a, uint32_t b)
{
    const struct tenon_given_name *given = owner;

    return (given[a].tensor > given[b].tensor) - (given[a].tensor < given[b].tensor);
}

enum tenon_status tenon_edit_names_end(struct tenon_edit_names *names, struct tenon_error *err)
{
    tenon_names_release(&names->index);
    names->order = tenon_mem_alloc(names->n_given, sizeof(*names->order));
    if (names->order == NULL)
        return tenon_fail_memory(err);
    for (uint32_t k = 0; k < names->n_given; k++)
        if (names->given[k].tensor != TENON_NO_INDEX)
            names->order[names->n_order++] = k;
    return tenon_sort(names->order, names->n_order, names->given, compare_given)
               ? TENON_OK
               : tenon_fail_memory(err);
}

struct tenon_str tenon_edit_names_of(const struct tenon_edit_names *names, size_t i)
{
    size_t low = 0, high = names->n_order;

    if (!tenon_bits_has(names->renamed, i))
        return tenon_model_tensor(names->model, i)->name;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (names->given[names->order[middle]].tensor <= i)
            low = middle;
        else
            high = middle;
    }
    return names->given[names->order[low]].name;
}
