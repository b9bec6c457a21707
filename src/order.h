/* Sorting things by their numbers: 4 bytes each, and as much again while it is done. */
#ifndef TENON_ORDER_H
#define TENON_ORDER_H

#include "tenon/api.h"

/* Below, at or above 0 as number `a` of `owner` comes before, with or after number `b`. */
typedef int (*tenon_order_fn)(const void *owner, uint32_t a, uint32_t b);

/* The numbers below `n` in order (tenon_mem_free); equal ones stay in that of their numbers.
 * NULL when memory is gone. */
uint32_t *tenon_order_make(size_t n, const void *owner, tenon_order_fn compare);

#endif
