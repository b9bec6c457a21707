/* Which tensors of two models correspond: by name, then by canonical role, then experts with
 * slices of stacked matrices. */
#include <stdlib.h>
#include <string.h>

#include "diff_private.h"
#include "fail.h"
#include "tenon/arch.h"

/* What a tensor is for, in one comparable value; the index breaks ties in file order. */
struct role_key {
    uint16_t role;
    uint8_t part, bias;
    int32_t layer, expert;
    uint32_t index;
    uint32_t taken; /* in the first key of a run of equal ones: how many are matched */
};

/* The tensors of `b` that no name has matched, sorted by what they are for. */
struct role_index {
    struct role_key *keys;
    size_t n;
};

/* A model whose family is unknown is read by the names of the other's. */
static struct role_key key_of(const struct tenon_model *model, const struct tenon_model *other,
                              size_t index)
{
    const struct tenon_tensor *t = &model->tensors[index];
    struct role_key key = {.role = t->role,
                           .part = t->part,
                           .bias = (t->flags & TENON_TENSOR_BIAS) != 0,
                           .layer = t->layer,
                           .expert = t->expert,
                           .index = (uint32_t)index};

    if (model->arch == NULL && other->arch != NULL) {
        struct tenon_name_match m = tenon_arch_match(other->arch, t->name.data, t->name.len);

        key.role = (uint16_t)m.role;
        key.part = (uint8_t)m.part;
        key.bias = m.bias;
        key.layer = m.layer;
        key.expert = m.expert;
    }
    return key;
}

static int compare_purpose(const struct role_key *x, const struct role_key *y)
{
    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    if (x->bias != y->bias)
        return x->bias < y->bias ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return x->expert < y->expert ? -1 : x->expert > y->expert;
}

static int compare_keys(const void *a, const void *b)
{
    const struct role_key *x = a, *y = b;
    int order = compare_purpose(x, y);

    if (order != 0)
        return order;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The first key for that purpose, or NULL. */
static struct role_key *find_key(const struct role_index *index, const struct role_key *wanted)
{
    size_t low = 0, high = index->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_purpose(&index->keys[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == index->n || compare_purpose(&index->keys[low], wanted) != 0)
        return NULL;
    return &index->keys[low];
}

/* Takes the next tensor for that purpose that is still free, or TENON_NO_INDEX. */
static uint32_t take_key(struct role_index *index, const struct role_key *wanted)
{
    struct role_key *first = find_key(index, wanted);
    struct role_key *next = first;

    if (first == NULL)
        return TENON_NO_INDEX;
    next += first->taken;
    if (next == index->keys + index->n || compare_purpose(next, wanted) != 0)
        return TENON_NO_INDEX;
    first->taken++;
    return next->index;
}

static enum tenon_status build_index(const struct tenon_model *model,
                                     const struct tenon_model *other, const bool *used,
                                     struct role_index *out, struct tenon_error *err)
{
    out->keys = tenon_mem_alloc(model->n_tensors, sizeof(*out->keys));
    if (out->keys == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < model->n_tensors; i++) {
        struct role_key key = key_of(model, other, i);

        if (!used[i] && key.role != TENON_ROLE_NONE)
            out->keys[out->n++] = key;
    }
    qsort(out->keys, out->n, sizeof(*out->keys), compare_keys);
    return TENON_OK;
}

static enum tenon_status add_match(struct tenon_matches *m, struct tenon_diff_match match,
                                   struct tenon_error *err)
{
    if (!tenon_grow((void **)&m->items, &m->room, m->n, sizeof(*m->items)))
        return tenon_fail_memory(err);
    m->items[m->n++] = match;
    m->used_a[match.a] = true;
    m->used_b[match.b] = true;
    return TENON_OK;
}

/* One name, unless the two conventions mean different things by it. */
static enum tenon_status match_names(const struct tenon_model *a, const struct tenon_model *b,
                                     struct tenon_matches *m, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < a->n_tensors; i++) {
        const struct tenon_tensor *t = &a->tensors[i];
        const struct tenon_tensor *u = tenon_model_find(b, t->name.data, t->name.len);
        uint32_t k = u != NULL ? (uint32_t)(u - b->tensors) : TENON_NO_INDEX;

        if (u == NULL || m->used_b[k])
            continue;
        if (a->dialect != b->dialect && t->role != u->role && t->role != TENON_ROLE_NONE &&
            u->role != TENON_ROLE_NONE)
            continue;
        st = add_match(m, (struct tenon_diff_match){.a = (uint32_t)i, .b = k}, err);
    }
    return st;
}

static enum tenon_status match_roles(const struct tenon_model *a, const struct tenon_model *b,
                                     struct role_index *of_b, struct tenon_matches *m,
                                     struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < a->n_tensors; i++) {
        struct role_key wanted = key_of(a, b, i);
        uint32_t k;

        if (m->used_a[i] || wanted.role == TENON_ROLE_NONE)
            continue;
        k = take_key(of_b, &wanted);
        if (k != TENON_NO_INDEX)
            st = add_match(m, (struct tenon_diff_match){.a = (uint32_t)i, .b = k}, err);
    }
    return st;
}

/* Whether `part` has the shape of one slice of `whole` along its first dimension, and there is a
 * slice number `expert`. */
static bool is_slice(const struct tenon_tensor *part, int32_t expert,
                     const struct tenon_tensor *whole)
{
    return expert >= 0 && whole->n_dims == part->n_dims + 1 && (uint64_t)expert < whole->dims[0] &&
           memcmp(whole->dims + 1, part->dims, part->n_dims * sizeof(*part->dims)) == 0;
}

/* Experts of `parts` with the stacked matrix of the other model. `swapped`: `parts` is model b. */
static enum tenon_status match_experts(const struct tenon_model *parts,
                                       const struct tenon_model *stacks, bool swapped,
                                       struct tenon_matches *m, struct tenon_error *err)
{
    struct role_index index = {0};
    const bool *used = swapped ? m->used_b : m->used_a;
    enum tenon_status st = build_index(stacks, parts, swapped ? m->used_a : m->used_b, &index, err);

    for (size_t i = 0; st == TENON_OK && i < parts->n_tensors; i++) {
        const struct tenon_tensor *t = &parts->tensors[i];
        struct role_key wanted = key_of(parts, stacks, i);
        int32_t expert = wanted.expert;
        const struct role_key *key;
        uint64_t first;

        wanted.expert = -1;
        if (used[i] || expert < 0 || (key = find_key(&index, &wanted)) == NULL ||
            !is_slice(t, expert, &stacks->tensors[key->index]))
            continue;
        first = (uint64_t)expert * t->n_elements; /* inside the stack, which was checked */
        st = add_match(m,
                       swapped ? (struct tenon_diff_match){.a = key->index,
                                                           .b = (uint32_t)i,
                                                           .first_a = first,
                                                           .slice_a = true}
                               : (struct tenon_diff_match){.a = (uint32_t)i,
                                                           .b = key->index,
                                                           .first_b = first,
                                                           .slice_b = true},
                       err);
    }
    tenon_mem_free(index.keys);
    return st;
}

static int compare_matches(const void *x, const void *y)
{
    const struct tenon_diff_match *m = x, *n = y;

    if (m->a != n->a)
        return m->a < n->a ? -1 : 1;
    return m->b < n->b ? -1 : m->b > n->b;
}

enum tenon_status tenon_diff_find_matches(const struct tenon_model *a, const struct tenon_model *b,
                                          struct tenon_matches *out, struct tenon_error *err)
{
    struct role_index of_b = {0};
    enum tenon_status st = TENON_OK;

    out->used_a = tenon_mem_alloc(a->n_tensors, sizeof(*out->used_a));
    out->used_b = tenon_mem_alloc(b->n_tensors, sizeof(*out->used_b));
    if (out->used_a == NULL || out->used_b == NULL)
        return tenon_fail_memory(err);
    st = match_names(a, b, out, err);
    if (st == TENON_OK)
        st = build_index(b, a, out->used_b, &of_b, err);
    if (st == TENON_OK)
        st = match_roles(a, b, &of_b, out, err);
    if (st == TENON_OK)
        st = match_experts(a, b, false, out, err);
    if (st == TENON_OK)
        st = match_experts(b, a, true, out, err);
    if (st == TENON_OK && out->n > 0)
        qsort(out->items, out->n, sizeof(*out->items), compare_matches);
    tenon_mem_free(of_b.keys);
    return st;
}

void tenon_matches_release(struct tenon_matches *matches)
{
    tenon_mem_free(matches->items);
    tenon_mem_free(matches->used_a);
    tenon_mem_free(matches->used_b);
}
