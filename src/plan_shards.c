#include "plan_shards.h"

#include <stdio.h>
#include <string.h>

#include "fail.h"

/* --- which tensor goes where --- */

static bool is_full(struct tenon_shard_limit limit, uint64_t held, uint64_t used, uint64_t bytes)
{
    if (held == 0)
        return false;
    if (limit.tensors != 0 && held >= limit.tensors)
        return true;
    return limit.bytes != 0 && (used > limit.bytes || bytes > limit.bytes - used);
}

void tenon_shards_assign_in_order(const uint64_t *bytes, size_t n, struct tenon_shard_limit limit,
                                  uint32_t *out_file, uint32_t *out_n_files)
{
    uint64_t held = 0, used = 0;
    uint32_t file = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_full(limit, held, used, bytes[i])) {
            file++;
            held = used = 0;
        }
        out_file[i] = file;
        held++;
        used += bytes[i]; /* at most the limit, or one payload, or not looked at */
    }
    *out_n_files = file + 1;
}

enum tenon_status tenon_shards_assign(const uint64_t *bytes, size_t n,
                                      struct tenon_shard_limit limit, uint32_t *out_file,
                                      uint32_t *out_n_files, struct tenon_error *err)
{
    uint32_t *number = tenon_mem_alloc(n + 1, sizeof(*number)); /* of a file, by when it began */
    uint32_t filling = TENON_NO_INDEX, begun = 0, closed = 0;
    uint64_t held = 0, used = 0;

    if (number == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        if (limit.bytes != 0 && bytes[i] > limit.bytes) {
            number[begun] = closed++;
            out_file[i] = begun++;
            continue;
        }
        if (filling != TENON_NO_INDEX && is_full(limit, held, used, bytes[i])) {
            number[filling] = closed++;
            filling = TENON_NO_INDEX;
        }
        if (filling == TENON_NO_INDEX) {
            filling = begun++;
            held = used = 0;
        }
        out_file[i] = filling;
        held++;
        used += bytes[i]; /* at most the limit, or not looked at */
    }
    if (filling != TENON_NO_INDEX)
        number[filling] = closed++;
    for (size_t i = 0; i < n; i++)
        out_file[i] = number[out_file[i]];
    *out_n_files = closed != 0 ? closed : 1; /* for the metadata */
    tenon_mem_free(number);
    return TENON_OK;
}

/* --- names --- */

const char *tenon_shard_path(struct tenon_plan *plan, struct tenon_str prefix, uint32_t i,
                             uint32_t n_files, const char *extension)
{
    enum { NUMBERS = sizeof("-4294967295-of-4294967295") };
    size_t room;
    char *path;

    if (!tenon_size_add(&room, prefix.len, NUMBERS + strlen(extension)))
        return NULL;
    path = tenon_arena_alloc(&plan->arena, room, 1);
    if (path == NULL)
        return NULL;
    memcpy(path, prefix.data, prefix.len);
    snprintf(path + prefix.len, room - prefix.len, "-%05u-of-%05u%s", i + 1, n_files, extension);
    return path;
}

/* PREFIX and an ending, in the plan's arena; NULL when memory is gone. */
static const char *join(struct tenon_plan *plan, struct tenon_str prefix, const char *end)
{
    size_t room;
    char *path;

    if (!tenon_size_add(&room, prefix.len, strlen(end) + 1))
        return NULL;
    path = tenon_arena_alloc(&plan->arena, room, 1);
    if (path == NULL)
        return NULL;
    memcpy(path, prefix.data, prefix.len);
    memcpy(path + prefix.len, end, strlen(end));
    return path;
}

/* --- the files --- */

static enum tenon_status spread(struct tenon_plan *plan, struct tenon_shard_limit limit,
                                uint32_t *out_n_files, struct tenon_error *err)
{
    size_t n = plan->n_tensors;
    uint64_t *bytes = tenon_mem_alloc(n, sizeof(*bytes));
    uint32_t *file = tenon_mem_alloc(n, sizeof(*file));
    enum tenon_status st = TENON_OK;

    if (bytes == NULL || file == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        bytes[i] = tenon_plan_tensor_bytes(plan, i);
    st = tenon_shards_assign(bytes, n, limit, file, out_n_files, err);
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        plan->tensors[i].file = file[i];
out:
    tenon_mem_free(bytes);
    tenon_mem_free(file);
    return st;
}

enum tenon_status tenon_plan_add_shards(struct tenon_plan *plan, const struct tenon_plan_file *file,
                                        struct tenon_str prefix, struct tenon_shard_limit limit,
                                        struct tenon_error *err)
{
    const char *extension = tenon_containers[TENON_CONTAINER_SAFETENSORS].extension;
    struct tenon_plan_file copy = *file;
    uint32_t n = 0;
    enum tenon_status st = spread(plan, limit, &n, err);

    if (st == TENON_OK && n > 1 && plan->folder == NULL) {
        plan->index = join(plan, prefix, ".safetensors.index.json");
        st = plan->index != NULL ? TENON_OK : tenon_fail_memory(err);
    }
    for (uint32_t i = 0; st == TENON_OK && i < n; i++) {
        copy.path = n == 1 ? join(plan, prefix, extension)
                           : tenon_shard_path(plan, prefix, i, n, extension);
        st = copy.path != NULL ? tenon_plan_add_file(plan, &copy, NULL, err)
                               : tenon_fail_memory(err);
    }
    return st;
}
