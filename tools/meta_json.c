#include "meta_json.h"

#include <stdio.h>

const char *tenon_meta_type_text(const struct tenon_meta_entry *e, char *buf, size_t size)
{
    snprintf(buf, size, e->type == TENON_META_ARRAY ? "array<%s>" : "%s",
             tenon_meta_type_name(e->type == TENON_META_ARRAY ? e->item : e->type));
    return buf;
}

static void write_json_scalar(struct tenon_json *json, const char *key,
                              const struct tenon_meta_value *v)
{
    switch (v->type) {
    case TENON_META_U8:
    case TENON_META_U16:
    case TENON_META_U32:
    case TENON_META_U64:
        tenon_json_u64(json, key, v->as.u64);
        break;
    case TENON_META_I8:
    case TENON_META_I16:
    case TENON_META_I32:
    case TENON_META_I64:
        tenon_json_i64(json, key, v->as.i64);
        break;
    case TENON_META_F32:
        tenon_json_f32(json, key, (float)v->as.f64);
        break;
    case TENON_META_F64:
        tenon_json_f64(json, key, v->as.f64);
        break;
    case TENON_META_BOOL:
        tenon_json_bool(json, key, v->as.boolean);
        break;
    case TENON_META_STRING:
        tenon_json_str(json, key, v->as.str);
        break;
    case TENON_META_ARRAY:
        tenon_json_null(json, key);
        break;
    }
}

/* An array with what is nested in it, at most `most` elements each. No recursion: nesting is the
 * file's choice. Returns whether everything was written. */
static bool write_json_array(struct tenon_json *json, const struct tenon_meta_entry *e,
                             uint64_t most)
{
    struct tenon_meta_iter its[TENON_META_JSON_DEPTH];
    struct tenon_meta_value v;
    struct tenon_meta_entry inner;
    bool whole = true;
    int depth = 0;

    tenon_meta_iter_init(&its[0], e);
    tenon_json_array_flat(json, "value");
    while (depth >= 0) {
        bool more = its[depth].index < its[depth].array.count;

        if (more && its[depth].index >= most)
            whole = more = false;
        if (!more || !tenon_meta_iter_next(&its[depth], &v, &inner)) {
            tenon_json_end(json);
            depth--;
        } else if (v.type == TENON_META_ARRAY && depth + 1 < TENON_META_JSON_DEPTH) {
            tenon_meta_iter_init(&its[++depth], &inner);
            tenon_json_array_flat(json, NULL);
        } else {
            write_json_scalar(json, NULL, &v);
        }
    }
    return whole;
}

void tenon_meta_json(struct tenon_json *json, const char *name, const struct tenon_meta_entry *e,
                     uint64_t most)
{
    char type[32];
    bool whole = true;

    tenon_json_object(json, name);
    tenon_json_str(json, "key", e->key);
    tenon_json_text(json, "type", tenon_meta_type_text(e, type, sizeof(type)));
    if (e->type == TENON_META_ARRAY)
        whole = write_json_array(json, e, most);
    else
        write_json_scalar(json, "value", &e->value);
    tenon_json_u64(json, "count", e->count);
    tenon_json_bool(json, "truncated", !whole);
    tenon_json_end(json);
}
