/* Entries of the old header of an edited copy: their numbers, and what their values say. */
#include <string.h>

#include "fail.h"
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

static enum tenon_status parse_dtype(const struct tenon_model *model, struct tenon_json *json,
                                     struct tenon_like_parsed *p, struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_expect(json, TENON_JSON_STRING, "the dtype", &token, err);

    if (st != TENON_OK)
        return st;
    p->tensor.dtype = (uint8_t)tenon_dtype_from_safetensors(token.raw.data, token.raw.len);
    p->tensor.dtype_raw = tenon_model_find_dtype(model, token.raw);
    return TENON_OK;
}

static enum tenon_status parse_shape(struct tenon_json *json, struct tenon_like_parsed *p,
                                     struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_expect(json, TENON_JSON_ARRAY, "the shape", &token, err);

    while (st == TENON_OK) {
        st = tenon_json_next(json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_ARRAY_END)
            break;
        if (p->tensor.n_dims == TENON_LIKE_DIMS ||
            !tenon_json_token_u64(&token, &p->dims[p->tensor.n_dims++]))
            st = tenon_like_fail_changed(err);
    }
    return st;
}

static enum tenon_status parse_offsets(struct tenon_json *json, struct tenon_like_parsed *p,
                                       struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_expect(json, TENON_JSON_ARRAY, "data_offsets", &token, err);

    for (size_t i = 0; st == TENON_OK && i < 2; i++)
        st = tenon_json_expect(json, TENON_JSON_NUMBER, "a data offset", &p->offsets[i], err);
    if (st == TENON_OK)
        st = tenon_json_expect(json, TENON_JSON_ARRAY_END, "the end of data_offsets", &token, err);
    return st;
}

static enum tenon_status parse_member(const struct tenon_model *model, struct tenon_json *json,
                                      const struct tenon_json_token *key,
                                      struct tenon_like_parsed *p, struct tenon_error *err)
{
    if (tenon_json_token_is(key, "dtype"))
        return parse_dtype(model, json, p, err);
    if (tenon_json_token_is(key, "shape"))
        return parse_shape(json, p, err);
    if (tenon_json_token_is(key, "data_offsets"))
        return parse_offsets(json, p, err);
    return tenon_json_skip(json, key, err);
}

static enum tenon_status parse_value(const struct tenon_model *model, struct tenon_json *json,
                                     struct tenon_like_parsed *p, struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_next(json, &token, err);

    if (st == TENON_OK && token.type == TENON_JSON_ARRAY) { /* read in lenient mode */
        st = parse_dtype(model, json, p, err);
        if (st == TENON_OK)
            st = parse_shape(json, p, err);
        return st == TENON_OK ? parse_offsets(json, p, err) : st;
    }
    while (st == TENON_OK) {
        st = tenon_json_next(json, &token, err);
        if (st != TENON_OK || token.type != TENON_JSON_KEY)
            break;
        st = parse_member(model, json, &token, p, err);
    }
    return st;
}

enum tenon_status tenon_like_parse(const struct tenon_model *model, const char *text, size_t len,
                                   struct tenon_like_parsed *out, struct tenon_error *err)
{
    struct tenon_json json;
    uint64_t end = 0;
    enum tenon_status st;

    memset(&out->tensor, 0, sizeof(out->tensor));
    memset(out->offsets, 0, sizeof(out->offsets));
    out->tensor.dims = out->dims;
    tenon_json_init(&json, text, len, TENON_JSON_MAX_DEPTH);
    st = parse_value(model, &json, out, err);
    if (st != TENON_OK)
        return st;
    if (!tenon_json_token_u64(&out->offsets[0], &out->begin) ||
        !tenon_json_token_u64(&out->offsets[1], &end) || out->begin > end)
        return tenon_like_fail_changed(err);
    out->tensor.bytes = end - out->begin;
    return TENON_OK;
}
