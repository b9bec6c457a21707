/* Keys that a later, equal key replaces: the reference reader lets the last one count. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "names.h"
#include "safetensors_private.h"

/* One key as it was met first, with the offset of its latest appearance. */
struct seen_key {
    struct tenon_str name;
    uint64_t offset;
};

/* The distinct keys of one object. */
struct seen_keys {
    struct seen_key *keys;
    size_t n, room;
    struct tenon_names names;
};

static struct tenon_str name_of_key(const void *owner, uint32_t i)
{
    const struct seen_keys *seen = owner;

    return seen->keys[i].name;
}

static void release_keys(struct seen_keys *seen)
{
    tenon_names_release(&seen->names);
    tenon_mem_free(seen->keys);
}

/* Adds a key; when it is known, its earlier appearance is noted as superseded. */
static bool see_key(struct tenon_safetensors_reader *r, struct seen_keys *seen,
                    const struct tenon_str *name, uint64_t offset, size_t *room)
{
    uint32_t i = (uint32_t)seen->n, known;
    struct seen_key *keys = tenon_mem_grow(seen->keys, &seen->room, seen->n, sizeof(*keys));
    uint64_t *superseded;

    if (keys == NULL)
        return false;
    seen->keys = keys;
    seen->keys[i].name = *name;
    seen->keys[i].offset = offset;
    known = tenon_names_add(&seen->names, i, seen, name_of_key);
    if (known == TENON_NO_INDEX)
        return false;
    if (known == i) {
        seen->n++;
        return true;
    }
    superseded = tenon_mem_grow(r->superseded, room, r->n_superseded, sizeof(*superseded));
    if (superseded == NULL)
        return false;
    r->superseded = superseded;
    r->superseded[r->n_superseded++] = seen->keys[known].offset;
    seen->keys[known].offset = offset;
    return true;
}

static int compare_offsets(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

bool tenon_safetensors_is_superseded(const struct tenon_safetensors_reader *r, uint64_t offset)
{
    return r->n_superseded != 0 && bsearch(&offset, r->superseded, r->n_superseded,
                                           sizeof(*r->superseded), compare_offsets) != NULL;
}

/* What a key stands for: in the header, or in `arena` when it must be unescaped. */
static bool settle_key(const struct tenon_json_token *token, struct tenon_arena *arena,
                       struct tenon_str *out)
{
    char *text;

    *out = token->raw;
    if (!token->escaped)
        return true;
    text = tenon_arena_bytes(arena, token->raw.data, token->raw.len);
    if (text == NULL)
        return false;
    *out = (struct tenon_str){text, tenon_json_unescape(token, text)};
    return true;
}

/* Faults of the text are left to the real pass: the walk just ends there. */
static bool walk_keys(struct tenon_safetensors_reader *r, struct tenon_arena *arena,
                      struct seen_keys *seen)
{
    struct tenon_json_token token;
    struct tenon_json json;
    size_t room = 0;
    bool in_meta = false;

    tenon_json_init(&json, r->header.data, r->header.len,
                    tenon_model_options(r->model)->limits.json_depth);
    tenon_json_set_base(&json, TENON_SAFETENSORS_PREFIX);
    while (tenon_json_next(&json, &token, NULL) == TENON_OK && token.type != TENON_JSON_END) {
        struct tenon_str name;

        if (token.type != TENON_JSON_KEY || json.depth > (in_meta ? 2u : 1u))
            continue;
        if (!settle_key(&token, arena, &name))
            return false;
        if (json.depth == 1)
            in_meta = name.len == strlen(TENON_SAFETENSORS_META) &&
                      memcmp(name.data, TENON_SAFETENSORS_META, name.len) == 0;
        if (json.depth == 1 && in_meta)
            continue; /* never replaced: two of them are an error */
        if (!see_key(r, &seen[json.depth - 1], &name, token.offset, &room))
            return false;
    }
    return true;
}

enum tenon_status tenon_safetensors_supersede(struct tenon_safetensors_reader *r,
                                              struct tenon_error *err)
{
    struct seen_keys seen[2] = {{0}, {0}};
    struct tenon_arena arena = {0}; /* of keys that stand otherwise in the header */
    bool ok = walk_keys(r, &arena, seen);

    if (ok && r->n_superseded != 0)
        qsort(r->superseded, r->n_superseded, sizeof(*r->superseded), compare_offsets);
    release_keys(&seen[0]);
    release_keys(&seen[1]);
    tenon_arena_release(&arena);
    return ok ? TENON_OK : tenon_fail_memory(err);
}
