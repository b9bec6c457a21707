/* File names of split sets: PREFIX-00001-of-00005.gguf. */
#ifndef TENON_FORMATS_SPLIT_NAME_H
#define TENON_FORMATS_SPLIT_NAME_H

#include "mem.h"

struct tenon_split_name {
    size_t prefix_len; /* of the path, up to the number */
    unsigned digits;   /* of each number */
    uint32_t no;       /* which member, from 1 to count */
    uint32_t count;
    const char *suffix; /* as given to parse */
};

/* Takes the path of a member apart: a dash or underscore, the member's number, "-of-", the number
 * of members, both in five digits or more, then `suffix` (static, with its dot). False when it is
 * not of that form or the numbers make no sense. */
bool tenon_split_name_parse(const char *path, const char *suffix, struct tenon_split_name *out);

/* The path of member `no` of the same set, in `arena`; NULL when memory is gone. */
const char *tenon_split_name_path(struct tenon_arena *arena, const char *path,
                                  const struct tenon_split_name *name, uint32_t no);

#endif
