/* Merging runs that double in length: no recursion, no bad case. */
#include "sort.h"

#include <string.h>

#include "mem.h"

struct sorting {
    const void *owner;
    tenon_sort_fn compare;
};

static bool is_sorted(const struct sorting *s, const uint32_t *numbers, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (s->compare(s->owner, numbers[i - 1], numbers[i]) > 0)
            return false;
    return true;
}

/* Merges [0, middle) and [middle, end) of `from` into `to`. */
static void merge(const struct sorting *s, const uint32_t *from, size_t middle, size_t end,
                  uint32_t *to)
{
    size_t a = 0, b = middle;

    for (size_t i = 0; i < end; i++) {
        bool first = b == end || (a < middle && s->compare(s->owner, from[a], from[b]) <= 0);

        to[i] = first ? from[a++] : from[b++];
    }
}

bool tenon_sort(uint32_t *numbers, size_t n, const void *owner, tenon_sort_fn compare)
{
    const struct sorting s = {owner, compare};
    uint32_t *room, *from = numbers, *to;

    if (is_sorted(&s, numbers, n))
        return true;
    to = room = tenon_mem_alloc(n, sizeof(*room));
    if (room == NULL)
        return false;
    for (size_t run = 1; run < n; run = run <= n / 2 ? run * 2 : n) {
        uint32_t *turn = from;

        for (size_t i = 0; i < n;) {
            size_t left = n - i, middle = left < run ? left : run;
            size_t end = left - middle < run ? left : middle + run;

            merge(&s, from + i, middle, end, to + i);
            i += end;
        }
        from = to;
        to = turn;
    }
    if (from != numbers)
        memcpy(numbers, from, n * sizeof(*numbers));
    tenon_mem_free(room);
    return true;
}
