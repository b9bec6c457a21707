/* What surrounds the payloads of a GGUF file: padding, gaps, bytes behind the end; and how far
 * payloads of unknown types reach. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "gguf.h"

static const struct tenon_str nothing = {"", 0};

/* The padding between records and payloads is zero, unless more records follow than the header
 * counts. Only its beginning is looked at. */
static enum tenon_status check_padding(struct tenon_gguf *g, struct tenon_error *err)
{
    unsigned char pad[256];
    enum tenon_status st;
    uint64_t want;
    size_t n;

    if (!tenon_u64_align(&want, g->end, g->alignment))
        return TENON_OK; /* only without tensors */
    want -= g->end;
    st = tenon_source_read_some(g->cursor.source, g->end, pad,
                                want < sizeof(pad) ? (size_t)want : sizeof(pad), &n, err);
    for (size_t i = 0; st == TENON_OK && i < n; i++) {
        if (pad[i] != 0)
            return tenon_gguf_find_fault(g, err, "padding_not_zero", g->end + i, nothing,
                                         "the padding before the payloads is not zero: more may "
                                         "follow than the header counts");
    }
    return st;
}

static int compare_offsets(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The first of `n` sorted offsets beyond `off`, or `end`. */
static uint64_t find_next(const uint64_t *offsets, size_t n, uint64_t off, uint64_t end)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (offsets[middle] <= off)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && offsets[low] < end ? offsets[low] : end;
}

/* Payloads of unknown types reach to the next one, or to the end of the file: padding included,
 * but nothing is guessed. */
static enum tenon_status derive_sizes(struct tenon_gguf *g, struct tenon_error *err)
{
    size_t first = g->first_tensor, n = tenon_model_n_tensors(g->model) - first;
    uint64_t end = tenon_source_size(g->cursor.source);
    uint64_t *offsets = tenon_mem_alloc(n, sizeof(*offsets));

    if (offsets == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        offsets[i] = tenon_model_tensor(g->model, first + i)->offset;
    qsort(offsets, n, sizeof(*offsets), compare_offsets);
    for (size_t i = 0; i < n; i++) {
        struct tenon_tensor *t = tenon_model_edit_tensor(g->model, first + i);

        if ((t->flags & TENON_TENSOR_SIZE_UNKNOWN) == 0 || t->offset > end)
            continue;
        t->bytes = find_next(offsets, n, t->offset, end) - t->offset;
        t->flags = (uint8_t)((t->flags & ~TENON_TENSOR_SIZE_UNKNOWN) | TENON_TENSOR_SIZE_DERIVED);
    }
    tenon_mem_free(offsets);
    return TENON_OK;
}

/* Whether another GGUF file begins at `off`. */
static enum tenon_status find_magic(const struct tenon_gguf *g, uint64_t off, bool *out,
                                    struct tenon_error *err)
{
    unsigned char magic[4];
    size_t n;
    enum tenon_status st =
        tenon_source_read_some(g->cursor.source, off, magic, sizeof(magic), &n, err);

    *out = st == TENON_OK && n == sizeof(magic) && memcmp(magic, "GGUF", sizeof(magic)) == 0;
    return st;
}

/* What stands behind the last payload, which ends at `end` and its padding at `padded`. */
static enum tenon_status check_tail(struct tenon_gguf *g, uint64_t end, uint64_t padded,
                                    struct tenon_error *err)
{
    uint64_t size = tenon_source_size(g->cursor.source);
    bool tight = false, aligned = false;
    enum tenon_status st;

    if (size < padded && g->declared_tensors != 0)
        return tenon_gguf_find_fault(g, err, "final_padding_missing", size < end ? size : end,
                                     nothing, "%" PRIu64 " bytes of padding are missing at the end",
                                     padded - size);
    if (size <= end)
        return TENON_OK;
    st = find_magic(g, end, &tight, err);
    if (st == TENON_OK)
        st = find_magic(g, padded, &aligned, err);
    if (st != TENON_OK)
        return st;
    if (tight || aligned)
        return tenon_gguf_find_fault(g, err, "concatenated", tight ? end : padded, nothing,
                                     "another GGUF file begins behind this one: files of a set are "
                                     "joined by a merging tool, not by 'cat'");
    if (size > padded)
        return tenon_gguf_find_fault(g, err, "trailing_bytes", padded, nothing,
                                     "%" PRIu64 " bytes stand behind the last payload",
                                     size - padded);
    return TENON_OK;
}

/* The end of the last payload; false when one has no known size or reaches beyond 64 bits. */
static bool find_end(const struct tenon_gguf *g, uint64_t *out)
{
    uint64_t reach = g->data_start;

    for (size_t i = g->first_tensor; i < tenon_model_n_tensors(g->model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(g->model, i);
        uint64_t end;

        if ((t->flags & TENON_TENSOR_SIZE_UNKNOWN) != 0 ||
            !tenon_u64_add(&end, t->offset, t->bytes))
            return false;
        if (t->bytes != 0 && end > reach)
            reach = end;
    }
    *out = reach;
    return true;
}

enum tenon_status tenon_gguf_check_layout(struct tenon_gguf *g, struct tenon_error *err)
{
    enum tenon_status st = check_padding(g, err);
    bool unknown = false;
    uint64_t end, padded;

    for (size_t i = g->first_tensor; i < tenon_model_n_tensors(g->model); i++)
        unknown |= (tenon_model_tensor(g->model, i)->flags & TENON_TENSOR_SIZE_UNKNOWN) != 0;
    if (st == TENON_OK && unknown)
        return derive_sizes(g, err);
    if (st == TENON_OK && find_end(g, &end) && tenon_u64_align(&padded, end, g->alignment))
        st = check_tail(g, end, padded, err);
    return st;
}
