/* Open addressing with linear probing; slots hold number + 1, 0 when free. */
#include "names.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "mem.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Slots per name, at least: keeps probe runs short. */
#define SPREAD      2
#define LEAST_SLOTS 16

/* A seed that the author of a file cannot know. */
static uint64_t make_seed(const void *address)
{
    uint64_t seed = 0;

    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
        seed = (uint64_t)time(NULL) ^ (uint64_t)(uintptr_t)address;
    return seed;
}

/* The slot that a name gets when it is free. */
static size_t first_slot(const struct tenon_names *names, struct tenon_str name)
{
    return (size_t)XXH3_64bits_withSeed(name.data, name.len, names->seed) & (names->n_slots - 1);
}

static size_t find_slot(const struct tenon_names *names, struct tenon_str name, const void *owner,
                        tenon_name_of_fn name_of)
{
    size_t mask = names->n_slots - 1, slot = first_slot(names, name);

    while (names->slots[slot] != 0) {
        struct tenon_str other = name_of(owner, names->slots[slot] - 1);

        if (other.len == name.len && memcmp(other.data, name.data, name.len) == 0)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

bool tenon_names_reserve(struct tenon_names *names, size_t n, const void *owner,
                         tenon_name_of_fn name_of)
{
    struct tenon_names grown = {.seed = names->seed, .used = names->used};
    size_t wanted, n_slots = LEAST_SLOTS;

    if (!tenon_size_mul(&wanted, n, SPREAD))
        return false;
    while (n_slots < wanted)
        if (!tenon_size_mul(&n_slots, n_slots, 2))
            return false;
    if (n_slots <= names->n_slots)
        return true;
    grown.slots = tenon_mem_alloc(n_slots, sizeof(*grown.slots));
    if (grown.slots == NULL)
        return false;
    grown.n_slots = n_slots;
    if (names->slots == NULL)
        grown.seed = make_seed(grown.slots);
    for (size_t i = 0; i < names->n_slots; i++) {
        uint32_t stored = names->slots[i];

        if (stored != 0)
            grown.slots[find_slot(&grown, name_of(owner, stored - 1), owner, name_of)] = stored;
    }
    tenon_mem_free(names->slots);
    *names = grown;
    return true;
}

uint32_t tenon_names_add(struct tenon_names *names, uint32_t i, const void *owner,
                         tenon_name_of_fn name_of)
{
    size_t slot;

    if (!tenon_names_reserve(names, names->used + 1, owner, name_of))
        return TENON_NO_INDEX;
    slot = find_slot(names, name_of(owner, i), owner, name_of);
    if (names->slots[slot] != 0)
        return names->slots[slot] - 1;
    names->slots[slot] = i + 1;
    names->used++;
    return i;
}

uint32_t tenon_names_find(const struct tenon_names *names, const char *name, size_t len,
                          const void *owner, tenon_name_of_fn name_of)
{
    size_t slot;

    if (names->n_slots == 0)
        return TENON_NO_INDEX;
    slot = find_slot(names, (struct tenon_str){name, len}, owner, name_of);
    return names->slots[slot] != 0 ? names->slots[slot] - 1 : TENON_NO_INDEX;
}

/* Those behind it that it stood in the way of move up, so that no search ends too early. */
void tenon_names_remove(struct tenon_names *names, uint32_t i, const void *owner,
                        tenon_name_of_fn name_of)
{
    size_t mask = names->n_slots - 1, gap = find_slot(names, name_of(owner, i), owner, name_of);

    for (size_t at = (gap + 1) & mask; names->slots[at] != 0; at = (at + 1) & mask) {
        size_t first = first_slot(names, name_of(owner, names->slots[at] - 1));

        if (((at - first) & mask) < ((at - gap) & mask))
            continue;
        names->slots[gap] = names->slots[at];
        gap = at;
    }
    names->slots[gap] = 0;
    names->used--;
}

void tenon_names_release(struct tenon_names *names)
{
    tenon_mem_free(names->slots);
    memset(names, 0, sizeof(*names));
}
