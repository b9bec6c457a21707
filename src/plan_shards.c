#include "plan_shards.h"

#include <stdio.h>
#include <string.h>

#include "fail.h"

/* --- which tensor goes where --- */

static bool is_full(const struct tenon_shards *s, uint64_t bytes)
{
    struct tenon_shard_limit limit = s->limit;

    if (s->held == 0)
        return false;
    if (limit.tensors != 0 && s->held >= limit.tensors)
        return true;
    return limit.bytes != 0 && (s->used > limit.bytes || bytes > limit.bytes - s->used);
}

static void hold(struct tenon_shards *s, uint64_t bytes)
{
    s->held++;
    s->used += bytes; /* at most the limit, or one payload, or not looked at */
}

uint32_t tenon_shards_take_in_order(struct tenon_shards *shards, uint64_t bytes)
{
    if (is_full(shards, bytes)) {
        shards->filling++;
        shards->held = shards->used = 0;
    }
    hold(shards, bytes);
    return shards->filling;
}

/* A file begins; its number is known when it is closed. */
static enum tenon_status begin(struct tenon_shards *s, uint32_t *out, struct tenon_error *err)
{
    uint32_t *number = tenon_mem_grow(s->number, &s->room, s->begun, sizeof(*number));

    if (number == NULL)
        return tenon_fail_memory(err);
    s->number = number;
    *out = s->begun++;
    return TENON_OK;
}

enum tenon_status tenon_shards_take(struct tenon_shards *shards, uint64_t bytes, uint32_t *out_file,
                                    struct tenon_error *err)
{
    struct tenon_shards *s = shards;
    enum tenon_status st = TENON_OK;

    if (s->limit.bytes != 0 && bytes > s->limit.bytes) {
        st = begin(s, out_file, err);
        if (st == TENON_OK)
            s->number[*out_file] = s->closed++;
        return st;
    }
    if (s->open && is_full(s, bytes)) {
        s->number[s->filling] = s->closed++;
        s->open = false;
    }
    if (!s->open) {
        st = begin(s, &s->filling, err);
        s->open = st == TENON_OK;
        s->held = s->used = 0;
    }
    hold(s, bytes);
    *out_file = s->filling;
    return st;
}

enum tenon_status tenon_shards_end(struct tenon_shards *shards, uint32_t *out_n_files,
                                   struct tenon_error *err)
{
    if (shards->begun == 0) { /* for the metadata */
        if (begin(shards, &shards->filling, err) != TENON_OK)
            return TENON_ERR_NO_MEMORY;
        shards->open = true;
    }
    if (shards->open)
        shards->number[shards->filling] = shards->closed++;
    shards->open = false;
    *out_n_files = shards->closed;
    return TENON_OK;
}

void tenon_shards_release(struct tenon_shards *shards)
{
    tenon_mem_free(shards->number);
    shards->number = NULL;
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
    struct tenon_shards shards = {.limit = limit};
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < plan->n_tensors; i++)
        st = tenon_shards_take(&shards, tenon_plan_tensor_bytes(plan, i), &plan->tensors[i].file,
                               err);
    if (st == TENON_OK)
        st = tenon_shards_end(&shards, out_n_files, err);
    for (size_t i = 0; st == TENON_OK && i < plan->n_tensors; i++)
        plan->tensors[i].file = shards.number[plan->tensors[i].file];
    tenon_shards_release(&shards);
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
