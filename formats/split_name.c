/* File names of split sets. */
#include "split_name.h"

#include <stdio.h>
#include <string.h>

#include "probe.h"

#define LEAST_DIGITS 5
#define MOST_DIGITS  9 /* fits 32 bits */

/* The number whose last digit stands before `end`, and how many digits it has. */
static unsigned parse_backwards(const char *path, size_t end, uint32_t *out)
{
    uint32_t value = 0, weight = 1;
    unsigned n = 0;

    while (n < MOST_DIGITS && n < end && path[end - n - 1] >= '0' && path[end - n - 1] <= '9') {
        value += (uint32_t)(path[end - n - 1] - '0') * weight;
        weight *= 10;
        n++;
    }
    *out = value;
    return n;
}

bool tenon_split_name_parse(const char *path, const char *suffix, struct tenon_split_name *out)
{
    static const char between[] = "-of-";
    size_t end = strlen(path);
    uint32_t no, count;
    unsigned digits;

    if (!tenon_text_ends_with(path, end, suffix))
        return false;
    end -= strlen(suffix);
    digits = parse_backwards(path, end, &count);
    if (digits < LEAST_DIGITS || !tenon_text_ends_with(path, end - digits, between))
        return false;
    end -= digits + (sizeof(between) - 1);
    if (parse_backwards(path, end, &no) != digits || end <= digits ||
        (path[end - digits - 1] != '-' && path[end - digits - 1] != '_'))
        return false;
    if (no == 0 || no > count)
        return false;
    *out = (struct tenon_split_name){end - digits, digits, no, count, suffix};
    return true;
}

const char *tenon_split_name_path(struct tenon_arena *arena, const char *path,
                                  const struct tenon_split_name *name, uint32_t no)
{
    enum { NUMBERS = 2 * 10 + 5 };
    size_t room;
    char *made;

    if (!tenon_size_add(&room, name->prefix_len, NUMBERS + strlen(name->suffix)))
        return NULL;
    made = tenon_arena_alloc(arena, room, 1);
    if (made == NULL)
        return NULL;
    memcpy(made, path, name->prefix_len);
    /* fits: room is more than the prefix */
    snprintf(made + name->prefix_len, room - name->prefix_len, "%0*u-of-%0*u%s", (int)name->digits,
             no, (int)name->digits, name->count, name->suffix);
    return made;
}
