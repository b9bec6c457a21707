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

/* Merges [0, middle) and [middle, end) of `numbers`; `room` takes the first of them. */
static void merge(const struct sorting *s, uint32_t *numbers, size_t middle, size_t end,
                  uint32_t *room)
{
    size_t a = 0, b = middle;

    memcpy(room, numbers, middle * sizeof(*room));
    for (size_t i = 0; a < middle; i++) {
        bool first = b == end || s->compare(s->owner, room[a], numbers[b]) <= 0;

        numbers[i] = first ? room[a++] : numbers[b++];
    }
}

bool tenon_sort(uint32_t *numbers, size_t n, const void *owner, tenon_sort_fn compare)
{
    const struct sorting s = {owner, compare};
    size_t longest = 1;
    uint32_t *room;

    if (is_sorted(&s, numbers, n))
        return true;
    while (longest <= (n - 1) / 2)
        longest *= 2;
    room = tenon_mem_alloc(longest, sizeof(*room));
    if (room == NULL)
        return false;
    for (size_t run = 1; run <= longest; run *= 2) {
        for (size_t i = 0; n - i > run;) {
            size_t end = n - i - run < run ? n - i : 2 * run;

            merge(&s, numbers + i, run, end, room);
            i += end;
        }
    }
    tenon_mem_free(room);
    return true;
}
