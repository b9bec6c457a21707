#include <stdio.h>

#include "tenon/tensor.h"

static const char *const role_names[TENON_ROLE_END] = {
#define X(id, number, name, per_layer) [number] = name,
#include "tenon/roles.def"
#undef X
};

/* What stands before the role of each part. */
static const char *const part_prefixes[] = {
    [TENON_PART_MAIN] = "",
    [TENON_PART_ENCODER] = "encoder.",
    [TENON_PART_DECODER] = "decoder.",
    [TENON_PART_VISION] = "vision.",
    [TENON_PART_AUDIO] = "audio.",
};

const char *tenon_role_name(enum tenon_role role)
{
    size_t i = (size_t)role;

    return i < TENON_ROLE_END && role_names[i] != NULL ? role_names[i] : "";
}

char *tenon_tensor_role_name(const struct tenon_tensor *tensor, char *buf, size_t size)
{
    const char *role = tenon_role_name((enum tenon_role)tensor->role);
    const char *part = tensor->part < sizeof part_prefixes / sizeof part_prefixes[0]
                           ? part_prefixes[tensor->part]
                           : "";
    const char *bias = tensor->flags & TENON_TENSOR_BIAS ? ".bias" : "";

    if (size > 0)
        snprintf(buf, size, "%s%s%s", *role ? part : "", role, *role ? bias : "");
    return buf;
}
