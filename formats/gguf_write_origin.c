#include "gguf_write_origin.h"

#include "fail.h"
#include "sort.h"

/* The first tensor of file `file` or a later one: a model has them in the order of its files. */
static size_t find_first(const struct tenon_model *model, uint64_t file)
{
    size_t first = 0, last = tenon_model_n_tensors(model);

    while (first < last) {
        size_t middle = first + (last - first) / 2;

        if (tenon_model_tensor(model, middle)->file < file)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

static const struct tenon_tensor *tensor_of(const struct tenon_gguf_origin *o, size_t i)
{
    return tenon_model_tensor(o->model, o->first + i);
}

/* By place, then by record. */
static int compare_payloads(const struct tenon_tensor *a, const struct tenon_tensor *b)
{
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->record_offset > b->record_offset) - (a->record_offset < b->record_offset);
}

static int compare_numbers(const void *owner, uint32_t a, uint32_t b)
{
    return compare_payloads(tensor_of(owner, a), tensor_of(owner, b));
}

/* Finds the end, too. */
static bool is_in_order(struct tenon_gguf_origin *o)
{
    const struct tenon_tensor *last = NULL;
    bool sorted = true;

    for (size_t i = 0; i < o->n; i++) {
        const struct tenon_tensor *t = tensor_of(o, i);

        if (t->bytes == 0)
            continue;
        sorted = sorted && (last == NULL || compare_payloads(last, t) < 0);
        o->end = tenon_gguf_origin_reach(t, o->end);
        last = t;
    }
    return sorted;
}

enum tenon_status tenon_gguf_origin_init(struct tenon_gguf_origin *o, struct tenon_error *err)
{
    size_t n = 0;

    o->first = find_first(o->model, o->file);
    o->n = find_first(o->model, (uint64_t)o->file + 1) - o->first;
    o->end = o->reach = tenon_model_file(o->model, o->file)->header_bytes;
    if (o->n >= TENON_NO_INDEX)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many tensors");
    if (is_in_order(o))
        return TENON_OK;
    o->list = tenon_mem_alloc(o->n, sizeof(*o->list));
    if (o->list == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < o->n; i++)
        if (tensor_of(o, i)->bytes != 0)
            o->list[n++] = (uint32_t)i;
    o->n = n;
    return tenon_sort(o->list, n, o, compare_numbers) ? TENON_OK : tenon_fail_memory(err);
}

void tenon_gguf_origin_release(struct tenon_gguf_origin *o)
{
    tenon_mem_free(o->list);
    o->list = NULL;
}

const struct tenon_tensor *tenon_gguf_origin_payload(const struct tenon_gguf_origin *o, size_t k)
{
    return tensor_of(o, o->list != NULL ? o->list[k] : k);
}

size_t tenon_gguf_origin_find(const struct tenon_gguf_origin *o, const struct tenon_tensor *tensor)
{
    size_t low = 0, high = o->n;

    if (o->list == NULL)
        return (size_t)(tensor - tensor_of(o, 0)); /* it is one of the model, of this file */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_payloads(tenon_gguf_origin_payload(o, middle), tensor) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t tenon_gguf_origin_next(const struct tenon_gguf_origin *o, size_t k)
{
    while (k < o->n && tenon_gguf_origin_payload(o, k)->bytes == 0)
        k++;
    return k;
}

void tenon_gguf_origin_advance(struct tenon_gguf_origin *o, size_t k)
{
    if (o->next > k) {
        o->next = 0;
        o->reach = tenon_model_file(o->model, o->file)->header_bytes;
    }
    for (; o->next < k; o->next++) {
        const struct tenon_tensor *t = tenon_gguf_origin_payload(o, o->next);

        if (t->bytes != 0)
            o->reach = tenon_gguf_origin_reach(t, o->reach);
    }
}

uint64_t tenon_gguf_origin_reach(const struct tenon_tensor *tensor, uint64_t reach)
{
    uint64_t end = tensor->offset + tensor->bytes; /* fits: inside the file */

    return end > reach ? end : reach;
}

bool tenon_gguf_origin_is_loose(const struct tenon_gguf_origin *o,
                                const struct tenon_tensor *tensor, uint64_t reach,
                                uint64_t *out_gap)
{
    uint64_t next;

    if (!tenon_u64_align(&next, reach, tenon_model_file(o->model, o->file)->alignment) ||
        tensor->offset < next)
        return false;
    *out_gap = tensor->offset - next;
    return true;
}

uint32_t *tenon_gguf_origin_heads(const struct tenon_gguf_origin *o)
{
    uint32_t *heads = tenon_mem_alloc(o->n, sizeof(*heads));
    uint64_t reach = tenon_model_file(o->model, o->file)->header_bytes, gap;
    size_t head = o->n;

    for (size_t k = 0; heads != NULL && k < o->n; k++) {
        const struct tenon_tensor *t = tenon_gguf_origin_payload(o, k);

        if (t->bytes == 0)
            continue;
        if (head == o->n || tenon_gguf_origin_is_loose(o, t, reach, &gap))
            head = k;
        heads[k] = (uint32_t)head;
        reach = tenon_gguf_origin_reach(t, reach);
    }
    return heads;
}
