/* Entries of the old header of an edited copy: their numbers, and what their values say. */
#include <string.h>

#include "model_build.h"
#include "safetensors_like.h"
#include "safetensors_private.h"

/* --- numbers --- */

const struct tenon_tensor *tenon_like_entry(const struct tenon_like_old *old, uint32_t entry)
{
    return entry < old->n ? tenon_model_tensor(old->model, old->first + entry)
                          : old->odd[entry - old->n];
}

uint32_t tenon_like_find_next(const struct tenon_like_old *old, struct tenon_like_cursor *cursor,
                              uint64_t key)
{
    uint64_t offset = key + TENON_SAFETENSORS_PREFIX;

    if (cursor->known < old->n &&
        tenon_like_entry(old, (uint32_t)cursor->known)->record_offset == offset)
        return (uint32_t)cursor->known++;
    if (cursor->odd < old->n_odd && old->odd[cursor->odd]->record_offset == offset)
        return (uint32_t)(old->n + cursor->odd++);
    return TENON_LIKE_NONE;
}

/* --- values --- */

/* The functions return false where the text is not what a reader of the file could have read. */
static bool parse_dtype(const struct tenon_model *model, struct tenon_json *json,
                        struct tenon_like_parsed *p)
{
    struct tenon_json_token token;

    if (tenon_json_expect(json, TENON_JSON_STRING, "the dtype", &token, NULL) != TENON_OK)
        return false;
    p->tensor.dtype = (uint8_t)tenon_dtype_from_safetensors(token.raw.data, token.raw.len);
    p->tensor.dtype_raw = tenon_model_find_dtype(model, token.raw);
    return true;
}

static bool parse_shape(struct tenon_json *json, struct tenon_like_parsed *p)
{
    struct tenon_json_token token;

    p->tensor.n_dims = 0;
    if (tenon_json_expect(json, TENON_JSON_ARRAY, "the shape", &token, NULL) != TENON_OK)
        return false;
    for (;;) {
        if (tenon_json_next(json, &token, NULL) != TENON_OK)
            return false;
        if (token.type == TENON_JSON_ARRAY_END)
            return true;
        if (p->tensor.n_dims == TENON_LIKE_DIMS ||
            !tenon_json_token_u64(&token, &p->dims[p->tensor.n_dims++]))
            return false;
    }
}

static bool parse_offsets(struct tenon_json *json, struct tenon_like_parsed *p)
{
    struct tenon_json_token token;
    uint64_t end = 0;

    if (tenon_json_expect(json, TENON_JSON_ARRAY, "data_offsets", &token, NULL) != TENON_OK ||
        tenon_json_next(json, &p->offsets[0], NULL) != TENON_OK ||
        tenon_json_next(json, &p->offsets[1], NULL) != TENON_OK ||
        tenon_json_expect(json, TENON_JSON_ARRAY_END, "the end", &token, NULL) != TENON_OK ||
        !tenon_json_token_u64(&p->offsets[0], &p->begin) ||
        !tenon_json_token_u64(&p->offsets[1], &end) || p->begin > end)
        return false;
    p->tensor.bytes = end - p->begin;
    p->placed = true;
    return true;
}

static bool parse_member(const struct tenon_model *model, struct tenon_json *json,
                         const struct tenon_json_token *key, struct tenon_like_parsed *p)
{
    if (tenon_json_token_is(key, "dtype"))
        return parse_dtype(model, json, p);
    if (tenon_json_token_is(key, "shape"))
        return parse_shape(json, p);
    if (tenon_json_token_is(key, "data_offsets"))
        return parse_offsets(json, p);
    return tenon_json_skip(json, key, NULL) == TENON_OK;
}

static bool parse_value(const struct tenon_model *model, struct tenon_json *json,
                        struct tenon_like_parsed *p)
{
    struct tenon_json_token token;

    if (tenon_json_next(json, &token, NULL) != TENON_OK)
        return false;
    if (token.type == TENON_JSON_ARRAY) /* read in lenient mode */
        return parse_dtype(model, json, p) && parse_shape(json, p) && parse_offsets(json, p);
    if (token.type != TENON_JSON_OBJECT)
        return false;
    for (;;) {
        if (tenon_json_next(json, &token, NULL) != TENON_OK)
            return false;
        if (token.type != TENON_JSON_KEY)
            return p->placed;
        if (!parse_member(model, json, &token, p))
            return false;
    }
}

enum tenon_status tenon_like_parse(const struct tenon_model *model, const char *text, size_t len,
                                   struct tenon_like_parsed *out, struct tenon_error *err)
{
    struct tenon_json json;

    memset(&out->tensor, 0, sizeof(out->tensor));
    out->tensor.dims = out->dims;
    out->placed = false;
    tenon_json_init(&json, text, len, TENON_JSON_MAX_DEPTH);
    return parse_value(model, &json, out) ? TENON_OK : tenon_like_fail_changed(err);
}
