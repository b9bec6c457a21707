/* Sets of tensors with identical contents. Tensors of one size and type are hashed where there
 * is more than one of them; equal hashes propose, bytes decide. Vectors count too, although norms
 * that are all ones are equal by nature: who asks can tell them by their shapes. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "tenon/hash.h"
#include "tying_case.h"

struct member {
    uint32_t index;
    uint16_t dtype;
    bool placed; /* in a group already */
    uint64_t bytes;
    struct tenon_hash hash;
};

struct grouping {
    struct tenon_tying_case *c;
    struct member *members;
    size_t n;
    uint32_t *placed;
    size_t *ends;
    size_t n_placed, n_groups;
};

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By size and type, the largest first; those of one kind in file order. */
static int compare_kind(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = compare_u64(y->bytes, x->bytes);

    if (order == 0)
        order = compare_u64(x->dtype, y->dtype);
    return order != 0 ? order : compare_u64(x->index, y->index);
}

/* By hash within a kind. */
static int compare_hash(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = compare_u64(y->bytes, x->bytes);

    if (order == 0)
        order = compare_u64(x->dtype, y->dtype);
    if (order == 0)
        order = compare_u64(x->hash.high, y->hash.high);
    if (order == 0)
        order = compare_u64(x->hash.low, y->hash.low);
    return order != 0 ? order : compare_u64(x->index, y->index);
}

static bool same_kind(const struct member *a, const struct member *b)
{
    return a->bytes == b->bytes && a->dtype == b->dtype;
}

static bool same_hash(const struct member *a, const struct member *b)
{
    return same_kind(a, b) && a->hash.high == b->hash.high && a->hash.low == b->hash.low;
}

/* Candidates: tensors that hold something, of which at least two are of one kind. */
static void collect(struct grouping *g)
{
    const struct tenon_model *model = g->c->model;
    size_t kept = 0;

    for (size_t i = 0; i < model->n_tensors; i++) {
        const struct tenon_tensor *t = &model->tensors[i];

        if (t->bytes == 0)
            continue;
        g->members[g->n++] =
            (struct member){.index = (uint32_t)i, .dtype = t->dtype, .bytes = t->bytes};
    }
    qsort(g->members, g->n, sizeof(*g->members), compare_kind);
    for (size_t i = 0; i < g->n; i++) {
        bool before = i > 0 && same_kind(&g->members[i], &g->members[i - 1]);
        bool after = i + 1 < g->n && same_kind(&g->members[i], &g->members[i + 1]);

        /* What was moved to the front so far is not needed behind: kinds lie together. */
        if (after || before) {
            struct member m = g->members[i];

            g->members[kept++] = m;
        }
    }
    g->n = kept;
}

static enum tenon_status hash_members(struct grouping *g, struct tenon_error *err)
{
    struct tenon_hash_options options;
    struct tenon_hash *hashes = tenon_mem_alloc(g->n, sizeof(*hashes));
    uint32_t *indices = tenon_mem_alloc(g->n, sizeof(*indices));
    enum tenon_status st;

    if (hashes == NULL || indices == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    for (size_t i = 0; i < g->n; i++)
        indices[i] = g->members[i].index;
    tenon_hash_options_init(&options);
    options.threads = g->c->options.threads;
    st = tenon_hash_tensors(g->c->model, indices, g->n, &options, hashes, err);
    for (size_t i = 0; st == TENON_OK && i < g->n; i++)
        g->members[i].hash = hashes[i];
    if (st == TENON_OK)
        qsort(g->members, g->n, sizeof(*g->members), compare_hash);
out:
    tenon_mem_free(indices);
    tenon_mem_free(hashes);
    return st;
}

/* Puts members `first` and all up to `end` with its very bytes into a group. */
static enum tenon_status place_group(struct grouping *g, size_t first, size_t end,
                                     struct tenon_error *err)
{
    const struct tenon_tensor *tensors = g->c->model->tensors;
    size_t start = g->n_placed;

    g->placed[g->n_placed++] = g->members[first].index;
    for (size_t i = first + 1; i < end; i++) {
        bool same = false;
        enum tenon_status st;

        if (g->members[i].placed)
            continue;
        st = tenon_tying_same_bytes(g->c->model, &tensors[g->members[first].index],
                                    &tensors[g->members[i].index], &same, err);
        if (st != TENON_OK)
            return st;
        if (!same)
            continue;
        g->members[i].placed = true;
        g->placed[g->n_placed++] = g->members[i].index;
    }
    if (g->n_placed - start < 2)
        g->n_placed = start;
    else
        g->ends[g->n_groups++] = g->n_placed;
    return TENON_OK;
}

static enum tenon_status place_all(struct grouping *g, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < g->n;) {
        size_t end = i + 1;

        while (end < g->n && same_hash(&g->members[i], &g->members[end]))
            end++;
        for (size_t k = i; st == TENON_OK && k + 1 < end; k++)
            if (!g->members[k].placed)
                st = place_group(g, k, end, err);
        i = end;
    }
    return st;
}

enum tenon_status tenon_tying_find_groups(struct tenon_tying_case *c, struct tenon_error *err)
{
    struct grouping g = {.c = c};
    enum tenon_status st = TENON_OK;

    g.members = tenon_mem_alloc(c->model->n_tensors, sizeof(*g.members));
    if (g.members == NULL)
        return tenon_fail_memory(err);
    collect(&g);
    if (g.n == 0)
        goto out;
    g.placed = tenon_arena_alloc(&c->arena, g.n, sizeof(*g.placed));
    g.ends = tenon_arena_alloc(&c->arena, g.n, sizeof(*g.ends));
    if (g.placed == NULL || g.ends == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    st = hash_members(&g, err);
    if (st == TENON_OK)
        st = place_all(&g, err);
    c->out->group_members = g.placed;
    c->out->group_ends = g.ends;
    c->out->n_groups = g.n_groups;
out:
    tenon_mem_free(g.members);
    return st;
}
