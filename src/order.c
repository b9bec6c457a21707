/* Merging ever longer runs. Runs that follow each other already are left alone, so that what is
 * nearly sorted costs little more than a look. */
#include "order.h"

#include <string.h>

#include "mem.h"

/* A sort in progress. */
struct sort {
    const void *owner;
    tenon_order_fn compare;
    uint32_t *order, *spare;
};

/* Merges the sorted runs [first, middle) and [middle, end). The first moves out of the way. */
static void merge(const struct sort *s, size_t first, size_t middle, size_t end)
{
    size_t n = middle - first, i = 0, k = first;

    if (s->compare(s->owner, s->order[middle - 1], s->order[middle]) <= 0)
        return;
    memcpy(s->spare, s->order + first, n * sizeof(*s->spare));
    while (i < n && middle < end) {
        if (s->compare(s->owner, s->spare[i], s->order[middle]) <= 0)
            s->order[k++] = s->spare[i++];
        else
            s->order[k++] = s->order[middle++];
    }
    memcpy(s->order + k, s->spare + i, (n - i) * sizeof(*s->spare));
}

uint32_t *tenon_order_make(size_t n, const void *owner, tenon_order_fn compare)
{
    struct sort s = {.owner = owner, .compare = compare};

    s.order = tenon_mem_alloc(n, sizeof(*s.order));
    s.spare = tenon_mem_alloc(n, sizeof(*s.spare));
    if (s.order == NULL || s.spare == NULL) {
        tenon_mem_free(s.order);
        tenon_mem_free(s.spare);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        s.order[i] = (uint32_t)i;
    for (size_t width = 1; width < n; width *= 2)
        for (size_t i = 0; i + width < n; i += 2 * width)
            merge(&s, i, i + width, i + 2 * width < n ? i + 2 * width : n);
    tenon_mem_free(s.spare);
    return s.order;
}
