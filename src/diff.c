/* The comparison as a whole: matches, values, metadata, and the answer. */
#include "tenon/diff.h"

#include <stdlib.h>
#include <string.h>

#include "diff_private.h"
#include "fail.h"
#include "meta_value.h"
#include "parallel.h"
#include "sweep.h"
#include "text.h"

/* The sweep over all matches. */
struct compare_sweep {
    struct tenon_diff_job job;
    struct tenon_diff_pair *pairs;
};

void tenon_diff_options_init(struct tenon_diff_options *options)
{
    memset(options, 0, sizeof(*options));
}

const char *tenon_diff_change_name(enum tenon_diff_change change)
{
    static const char *const names[] = {"as_is", "permuted", "plus_one", "transposed"};

    return (size_t)change < sizeof(names) / sizeof(names[0]) ? names[change] : "unknown";
}

static enum tenon_status compare_piece(void *user, size_t i, unsigned char *buffer,
                                       uint64_t *done_bytes, struct tenon_error *err)
{
    const struct compare_sweep *s = user;
    const struct tenon_diff_match *m = &s->job.matches->items[i];

    *done_bytes = s->job.a->tensors[m->a].bytes + s->job.b->tensors[m->b].bytes;
    return tenon_diff_compare(&s->job, i, buffer, &s->pairs[i], err);
}

static enum tenon_status compare_all(struct compare_sweep *s,
                                     const struct tenon_diff_options *options,
                                     struct tenon_error *err)
{
    struct tenon_hash_options sweep_options = {
        .threads = options->threads, .progress = options->progress, .user = options->user};
    struct tenon_sweep sweep = {.model = s->job.a,
                                .options = &sweep_options,
                                .threads = tenon_threads(options->threads),
                                .n = s->job.matches->n};
    uint64_t total = 0;

    for (size_t i = 0; i < s->job.matches->n; i++)
        total += s->job.a->tensors[s->job.matches->items[i].a].bytes +
                 s->job.b->tensors[s->job.matches->items[i].b].bytes; /* for progress only */
    return tenon_sweep_run(&sweep, TENON_DIFF_BUFFER_BYTES, total, compare_piece, s, err);
}

/* Indices of what is not used, into fresh memory. */
static enum tenon_status list_unused(const bool *used, size_t n, const uint32_t **out,
                                     size_t *out_n, struct tenon_error *err)
{
    uint32_t *list = tenon_mem_alloc(n, sizeof(*list));

    if (list == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        if (!used[i])
            list[(*out_n)++] = (uint32_t)i;
    *out = list;
    return TENON_OK;
}

/* --- metadata --- */

/* A key with its place. */
struct sorted_key {
    const struct tenon_meta_entry *entry;
    uint32_t index;
};

static int compare_sorted(const void *x, const void *y)
{
    const struct sorted_key *a = x, *b = y;
    int order = tenon_str_compare(a->entry->key, b->entry->key);

    if (order != 0)
        return order;
    return a->index < b->index ? -1 : a->index > b->index;
}

static struct sorted_key *sort_keys(const struct tenon_model *model)
{
    struct sorted_key *keys = tenon_mem_alloc(model->n_metas, sizeof(*keys));

    for (size_t i = 0; keys != NULL && i < model->n_metas; i++)
        keys[i] = (struct sorted_key){&model->metas[i], (uint32_t)i};
    if (keys != NULL)
        qsort(keys, model->n_metas, sizeof(*keys), compare_sorted);
    return keys;
}

static int compare_u32(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

    return a < b ? -1 : a > b;
}

/* The keys of both models and where the indices go. */
struct meta_merge {
    struct sorted_key *keys_a, *keys_b;
    size_t n_a, n_b;
    uint32_t *only_a, *only_b, *changed;
};

/* Walks both sorted lists at once. What is found is in file order afterwards. */
static void merge_keys(const struct meta_merge *m, struct tenon_diff *d)
{
    size_t i = 0, k = 0;

    while (i < m->n_a || k < m->n_b) {
        int order = i == m->n_a ? 1
                    : k == m->n_b
                        ? -1
                        : tenon_str_compare(m->keys_a[i].entry->key, m->keys_b[k].entry->key);

        if (order < 0) {
            m->only_a[d->n_meta_only_a++] = m->keys_a[i++].index;
        } else if (order > 0) {
            m->only_b[d->n_meta_only_b++] = m->keys_b[k++].index;
        } else {
            if (!tenon_meta_equal(m->keys_a[i].entry, m->keys_b[k].entry)) {
                m->changed[2 * d->n_meta_changed] = m->keys_a[i].index;
                m->changed[2 * d->n_meta_changed + 1] = m->keys_b[k].index;
                d->n_meta_changed++;
            }
            i++;
            k++;
        }
    }
    qsort(m->only_a, d->n_meta_only_a, sizeof(uint32_t), compare_u32);
    qsort(m->only_b, d->n_meta_only_b, sizeof(uint32_t), compare_u32);
    qsort(m->changed, d->n_meta_changed, 2 * sizeof(uint32_t), compare_u32);
}

static enum tenon_status compare_meta(const struct tenon_model *a, const struct tenon_model *b,
                                      struct tenon_diff *d, struct tenon_error *err)
{
    struct meta_merge m = {.n_a = a->n_metas, .n_b = b->n_metas};

    if (strcmp(a->format, b->format) != 0)
        return TENON_OK;
    m.keys_a = sort_keys(a);
    m.keys_b = sort_keys(b);
    d->meta_only_a = m.only_a = tenon_mem_alloc(m.n_a, sizeof(uint32_t));
    d->meta_only_b = m.only_b = tenon_mem_alloc(m.n_b, sizeof(uint32_t));
    d->meta_changed = m.changed = tenon_mem_alloc(m.n_a, 2 * sizeof(uint32_t));
    d->meta_compared = m.keys_a != NULL && m.keys_b != NULL && m.only_a != NULL &&
                       m.only_b != NULL && m.changed != NULL;
    if (d->meta_compared)
        merge_keys(&m, d);
    tenon_mem_free(m.keys_a);
    tenon_mem_free(m.keys_b);
    return d->meta_compared ? TENON_OK : tenon_fail_memory(err);
}

/* --- the answer --- */

/* Buffers that loaders compute and converters drop or write anew. */
static bool is_derived(const struct tenon_tensor *t)
{
    return t->role == TENON_ROLE_ROPE_FREQS || t->role == TENON_ROLE_ROPE_FACTORS_LONG ||
           t->role == TENON_ROLE_ROPE_FACTORS_SHORT || t->role == TENON_ROLE_ROPE_INV_FREQ ||
           t->role == TENON_ROLE_ATTN_MASK;
}

static bool nothing_missing(const struct tenon_model *model, const uint32_t *list, size_t n,
                            bool forgive_derived)
{
    for (size_t i = 0; i < n; i++)
        if (!forgive_derived || !is_derived(&model->tensors[list[i]]))
            return false;
    return true;
}

static bool is_same(const struct tenon_model *a, const struct tenon_model *b,
                    const struct tenon_diff *d)
{
    bool forgive = a->dialect != b->dialect;

    for (size_t i = 0; i < d->n_pairs; i++)
        if (!d->pairs[i].equal_values)
            return false;
    return nothing_missing(a, d->only_a, d->n_only_a, forgive) &&
           nothing_missing(b, d->only_b, d->n_only_b, forgive) && d->n_meta_only_a == 0 &&
           d->n_meta_only_b == 0 && d->n_meta_changed == 0;
}

enum tenon_status tenon_diff_models(const struct tenon_model *a, const struct tenon_model *b,
                                    const struct tenon_diff_options *options,
                                    struct tenon_diff **out_diff, struct tenon_error *err)
{
    static const struct tenon_diff_options defaults;
    struct tenon_matches matches = {0};
    struct compare_sweep sweep = {.job = {.a = a, .b = b, .matches = &matches}};
    struct tenon_diff *d = tenon_mem_alloc(1, sizeof(*d));
    enum tenon_status st;

    if (options == NULL)
        options = &defaults;
    sweep.job.tolerance = options->tolerance;
    if (d == NULL)
        return tenon_fail_memory(err);
    st = tenon_diff_find_matches(a, b, &matches, err);
    if (st != TENON_OK)
        goto out;
    d->pairs = sweep.pairs = tenon_mem_alloc(matches.n, sizeof(*sweep.pairs));
    if (d->pairs == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    d->n_pairs = matches.n;
    st = list_unused(matches.used_a, a->n_tensors, &d->only_a, &d->n_only_a, err);
    if (st == TENON_OK)
        st = list_unused(matches.used_b, b->n_tensors, &d->only_b, &d->n_only_b, err);
    if (st == TENON_OK)
        st = compare_meta(a, b, d, err);
    if (st == TENON_OK)
        st = compare_all(&sweep, options, err);
    if (st != TENON_OK)
        goto out;
    d->same = is_same(a, b, d);
    *out_diff = d;
    d = NULL;
out:
    tenon_matches_release(&matches);
    tenon_diff_free(d);
    return st;
}

/* The answer's arrays are const for its reader only. */
static void free_array(const void *array)
{
    void *p;

    memcpy(&p, &array, sizeof(p));
    tenon_mem_free(p);
}

void tenon_diff_free(struct tenon_diff *diff)
{
    if (diff == NULL)
        return;
    free_array(diff->only_a);
    free_array(diff->only_b);
    free_array(diff->pairs);
    free_array(diff->meta_only_a);
    free_array(diff->meta_only_b);
    free_array(diff->meta_changed);
    tenon_mem_free(diff);
}
