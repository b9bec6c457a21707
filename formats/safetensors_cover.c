/* Do the payloads of a safetensors file cover its data exactly? */
#include <string.h>

#include "fail.h"
#include "safetensors_private.h"
#include "sort.h"

/* The entries in the order of their payloads. */
struct cover {
    struct tenon_safetensors_reader *r;
    const uint32_t *order; /* NULL: as they are numbered */
    size_t n;
};

static struct tenon_safetensors_span span_at(const struct cover *c, size_t i)
{
    return tenon_safetensors_entry(c->r, c->order != NULL ? c->order[i] : i);
}

/* A tenon_sort_fn. */
static int compare_spans(const void *owner, uint32_t a, uint32_t b)
{
    struct tenon_safetensors_span x = tenon_safetensors_entry(owner, a);
    struct tenon_safetensors_span y = tenon_safetensors_entry(owner, b);

    if (x.begin != y.begin)
        return x.begin < y.begin ? -1 : 1;
    if (x.end != y.end)
        return x.end < y.end ? -1 : 1;
    return x.offset < y.offset ? -1 : x.offset > y.offset;
}

static bool is_sorted(const struct cover *c)
{
    for (uint32_t i = 1; i < c->n; i++)
        if (compare_spans(c->r, i - 1, i) > 0)
            return false;
    return true;
}

static enum tenon_status name_span(const struct tenon_safetensors_span *span, enum tenon_status st,
                                   struct tenon_error *err)
{
    tenon_fail_subject(err, "tensor", span->name.data, span->name.len);
    return st;
}

/* Entry `i` ends after the end of the data. Counts what is missing in all. */
static enum tenon_status fail_truncated(const struct cover *c, size_t i, struct tenon_error *err)
{
    struct tenon_safetensors_span span = span_at(c, i);
    uint64_t data = c->r->data_bytes, missing = span.end - (span.begin > data ? span.begin : data);
    uint64_t last = 0;

    for (size_t k = i; k < c->n; k++)
        if (span_at(c, k).end > last)
            last = span_at(c, k).end;
    tenon_fail(err, TENON_ERR_TRUNCATED, span.offset,
               "%llu of its %llu bytes are missing: the file ends %llu bytes too early, which "
               "concerns %zu of %zu tensors",
               (unsigned long long)missing, (unsigned long long)(span.end - span.begin),
               (unsigned long long)(last - data), c->n - i, c->n);
    tenon_fail_hint(err, "the download may be incomplete");
    return name_span(&span, TENON_ERR_TRUNCATED, err);
}

/* Two names for one range: the reference reader refuses it, but nothing about the values is in
 * doubt, so it is an observation. */
static bool is_alias(const struct tenon_safetensors_span *before,
                     const struct tenon_safetensors_span *span)
{
    return before->begin == span->begin && before->end == span->end;
}

static void count_alias(struct tenon_safetensors_reader *r,
                        const struct tenon_safetensors_span *span)
{
    if (r->alias.n++ == 0)
        r->alias.offset = span->offset;
}

/* `span` starts before the data of the ones before it end. */
static enum tenon_status fail_overlap(const struct tenon_safetensors_span *before,
                                      const struct tenon_safetensors_span *span,
                                      struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_CORRUPT, span->offset,
               "its data, from %llu to %llu, overlap those from %llu to %llu of the tensor whose "
               "entry is at offset %llu",
               (unsigned long long)span->begin, (unsigned long long)span->end,
               (unsigned long long)before->begin, (unsigned long long)before->end,
               (unsigned long long)before->offset);
    return name_span(span, TENON_ERR_CORRUPT, err);
}

static enum tenon_status fail_hole(const struct tenon_safetensors_span *span, uint64_t end,
                                   struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_CORRUPT, span->offset,
               "%llu bytes before its data, from %llu to %llu, belong to no tensor",
               (unsigned long long)(span->begin - end), (unsigned long long)end,
               (unsigned long long)span->begin);
    return name_span(span, TENON_ERR_CORRUPT, err);
}

/* Bytes after the last payload. Says so when they are another file. */
static enum tenon_status fail_trailing(const struct tenon_safetensors_reader *r, uint64_t end,
                                       struct tenon_error *err)
{
    uint64_t offset = r->data_start + end;
    unsigned char start[4] = {0};
    size_t got = 0;
    enum tenon_status st = tenon_source_read_some(tenon_model_source(r->model, r->file), offset,
                                                  start, sizeof(start), &got, err);

    if (st != TENON_OK)
        return st;
    tenon_fail(err, TENON_ERR_CORRUPT, offset, "%llu bytes follow the last tensor%s",
               (unsigned long long)(r->data_bytes - end),
               memcmp(start, "PK\3\4", sizeof(start)) == 0 ? ", and they are a zip archive" : "");
    return TENON_ERR_CORRUPT;
}

static enum tenon_status walk(const struct cover *c, struct tenon_error *err)
{
    struct tenon_safetensors_span before = {0};
    uint64_t end = 0;

    for (size_t i = 0; i < c->n; i++) {
        struct tenon_safetensors_span span = span_at(c, i);

        if (span.begin > end)
            return fail_hole(&span, end, err);
        if (span.begin < end && is_alias(&before, &span)) {
            count_alias(c->r, &span);
        } else if (span.begin < end) {
            return fail_overlap(&before, &span, err);
        } else {
            if (span.end > c->r->data_bytes)
                return fail_truncated(c, i, err);
            end = span.end;
        }
        before = span;
    }
    return end < c->r->data_bytes ? fail_trailing(c->r, end, err) : TENON_OK;
}

enum tenon_status tenon_safetensors_cover(struct tenon_safetensors_reader *r,
                                          struct tenon_error *err)
{
    struct cover c = {.r = r, .n = tenon_safetensors_n_entries(r)};
    uint32_t *order;
    enum tenon_status st;

    if (is_sorted(&c))
        return walk(&c, err);
    order = tenon_mem_alloc(c.n, sizeof(*order));
    for (size_t i = 0; order != NULL && i < c.n; i++)
        order[i] = (uint32_t)i;
    c.order = order;
    st = order != NULL && tenon_sort(order, c.n, r, compare_spans) ? walk(&c, err)
                                                                   : tenon_fail_memory(err);
    tenon_mem_free(order);
    return st;
}
