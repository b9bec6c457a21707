/* An index from names to numbers: open addressing over a seeded XXH3, so that a file cannot
 * choose names that collide. 8 bytes a name, linear time. */
#ifndef TENON_NAMES_H
#define TENON_NAMES_H

#include "tenon/api.h"

/* Gives the name of number i. */
typedef struct tenon_str (*tenon_name_of_fn)(const void *owner, uint32_t i);

/* Zero-initialise; `owner` and `name_of` are asked whenever two names must be compared. */
struct tenon_names {
    uint32_t *slots;
    size_t n_slots, used;
    uint64_t seed;
};

/* Makes room for `n` names. False when memory is gone. */
bool tenon_names_reserve(struct tenon_names *names, size_t n, const void *owner,
                         tenon_name_of_fn name_of);

/* Adds number `i`, whose name must be readable through `name_of`. Returns `i`, the number that
 * has the name already, or TENON_NO_INDEX when memory is gone. */
uint32_t tenon_names_add(struct tenon_names *names, uint32_t i, const void *owner,
                         tenon_name_of_fn name_of);

/* The number with that name, or TENON_NO_INDEX. */
uint32_t tenon_names_find(const struct tenon_names *names, const char *name, size_t len,
                          const void *owner, tenon_name_of_fn name_of);

/* Takes away number `i`, which was added and whose name must still be readable. */
void tenon_names_remove(struct tenon_names *names, uint32_t i, const void *owner,
                        tenon_name_of_fn name_of);

void tenon_names_release(struct tenon_names *names);

#endif
