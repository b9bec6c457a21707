/* Sorting numbers of things instead of the things: 4 bytes each, and at most as much while it is
 * sorted. */
#ifndef TENON_SORT_H
#define TENON_SORT_H

#include "tenon/api.h"

/* Below, equal to or above zero, as `a` goes before, with or behind `b`. */
typedef int (*tenon_sort_fn)(const void *owner, uint32_t a, uint32_t b);

/* Sorts `n` numbers; equal ones stay in order. At most n log2 n comparisons, n where they are in
 * order already. False when memory is gone, and then nothing has moved. */
bool tenon_sort(uint32_t *numbers, size_t n, const void *owner, tenon_sort_fn compare);

#endif
