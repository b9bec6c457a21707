/* Do the payloads of a safetensors file cover its data exactly? */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "safetensors_private.h"

static int compare_spans(const void *a, const void *b)
{
    const struct tenon_safetensors_span *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->name_pos < y->name_pos ? -1 : x->name_pos > y->name_pos;
}

static bool is_sorted(const struct tenon_safetensors_reader *r)
{
    for (size_t i = 1; i < r->n_spans; i++)
        if (compare_spans(&r->spans[i - 1], &r->spans[i]) > 0)
            return false;
    return true;
}

/* Absolute offset of the key of a span: its name, less the quote. */
static uint64_t record_offset(const struct tenon_safetensors_span *span)
{
    return TENON_SAFETENSORS_PREFIX + span->name_pos - 1;
}

static enum tenon_status name_span(const struct tenon_safetensors_reader *r,
                                   const struct tenon_safetensors_span *span, enum tenon_status st,
                                   struct tenon_error *err)
{
    tenon_fail_subject(err, "tensor", r->header + span->name_pos, span->name_len);
    return st;
}

/* `span` ends after the end of the data. Counts what is missing in all: spans are sorted. */
static enum tenon_status fail_truncated(const struct tenon_safetensors_reader *r, size_t i,
                                        struct tenon_error *err)
{
    const struct tenon_safetensors_span *span = &r->spans[i];
    uint64_t missing = span->end - (span->begin > r->data_bytes ? span->begin : r->data_bytes);
    uint64_t last = 0;

    for (size_t k = i; k < r->n_spans; k++)
        if (r->spans[k].end > last)
            last = r->spans[k].end;
    tenon_fail(err, TENON_ERR_TRUNCATED, record_offset(span),
               "%llu of its %llu bytes are missing: the file ends %llu bytes too early, which "
               "concerns %zu of %zu tensors",
               (unsigned long long)missing, (unsigned long long)(span->end - span->begin),
               (unsigned long long)(last - r->data_bytes), r->n_spans - i, r->n_spans);
    tenon_fail_hint(err, "the download may be incomplete");
    return name_span(r, span, TENON_ERR_TRUNCATED, err);
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
    if (r->alias.n++ == 0) {
        r->alias.name = (struct tenon_str){r->header + span->name_pos, span->name_len};
        r->alias.offset = record_offset(span);
    }
}

/* `span` starts before the data of the ones before it end. */
static enum tenon_status fail_overlap(const struct tenon_safetensors_reader *r,
                                      const struct tenon_safetensors_span *before,
                                      const struct tenon_safetensors_span *span,
                                      struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_CORRUPT, record_offset(span),
               "its data, from %llu to %llu, overlap those from %llu to %llu of the tensor whose "
               "entry is at offset %llu",
               (unsigned long long)span->begin, (unsigned long long)span->end,
               (unsigned long long)before->begin, (unsigned long long)before->end,
               (unsigned long long)record_offset(before));
    return name_span(r, span, TENON_ERR_CORRUPT, err);
}

static enum tenon_status fail_hole(const struct tenon_safetensors_reader *r,
                                   const struct tenon_safetensors_span *span, uint64_t end,
                                   struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_CORRUPT, record_offset(span),
               "%llu bytes before its data, from %llu to %llu, belong to no tensor",
               (unsigned long long)(span->begin - end), (unsigned long long)end,
               (unsigned long long)span->begin);
    return name_span(r, span, TENON_ERR_CORRUPT, err);
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

enum tenon_status tenon_safetensors_cover(struct tenon_safetensors_reader *r,
                                          struct tenon_error *err)
{
    uint64_t end = 0;

    if (!is_sorted(r))
        qsort(r->spans, r->n_spans, sizeof(*r->spans), compare_spans);
    for (size_t i = 0; i < r->n_spans; i++) {
        const struct tenon_safetensors_span *span = &r->spans[i];

        if (span->begin > end)
            return fail_hole(r, span, end, err);
        if (span->begin < end && is_alias(span - 1, span)) {
            count_alias(r, span);
            continue;
        }
        if (span->begin < end)
            return fail_overlap(r, span - 1, span, err);
        if (span->end > r->data_bytes)
            return fail_truncated(r, i, err);
        end = span->end;
    }
    return end < r->data_bytes ? fail_trailing(r, end, err) : TENON_OK;
}
