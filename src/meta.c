/* Typed values, and walking the packed elements of arrays.
 *
 * A format reader has checked the packing before an entry gets here; the walks below still never
 * leave `raw`. */
#include "tenon/meta.h"

#include <string.h>

#include "bytes.h"
#include "mem.h"
#include "meta_packed.h"

/* Arrays in arrays deeper than this are refused by the readers' limit. */
#define MAX_NESTING 16

static const struct {
    const char *name;
    uint32_t bytes; /* of one packed element, 0 when it varies */
} types[] = {
    [TENON_META_U8] = {"u8", 1},         [TENON_META_I8] = {"i8", 1},
    [TENON_META_U16] = {"u16", 2},       [TENON_META_I16] = {"i16", 2},
    [TENON_META_U32] = {"u32", 4},       [TENON_META_I32] = {"i32", 4},
    [TENON_META_F32] = {"f32", 4},       [TENON_META_BOOL] = {"bool", 1},
    [TENON_META_STRING] = {"string", 0}, [TENON_META_ARRAY] = {"array", 0},
    [TENON_META_U64] = {"u64", 8},       [TENON_META_I64] = {"i64", 8},
    [TENON_META_F64] = {"f64", 8},
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

const char *tenon_meta_type_name(enum tenon_meta_type type)
{
    return (size_t)type < N_TYPES ? types[type].name : "unknown";
}

uint32_t tenon_meta_type_bytes(enum tenon_meta_type type)
{
    return (size_t)type < N_TYPES ? types[type].bytes : 0;
}

void tenon_meta_decode(struct tenon_meta_value *out, enum tenon_meta_type type,
                       const unsigned char *p, bool swapped)
{
    out->type = type;
    switch (type) {
    case TENON_META_U8:
        out->as.u64 = *p;
        break;
    case TENON_META_I8:
        out->as.i64 = (int8_t)*p;
        break;
    case TENON_META_U16:
        out->as.u64 = tenon_load_u16(p, swapped);
        break;
    case TENON_META_I16:
        out->as.i64 = (int16_t)tenon_load_u16(p, swapped);
        break;
    case TENON_META_U32:
        out->as.u64 = tenon_load_u32(p, swapped);
        break;
    case TENON_META_I32:
        out->as.i64 = (int32_t)tenon_load_u32(p, swapped);
        break;
    case TENON_META_F32:
        out->as.f64 = tenon_float_from_bits(tenon_load_u32(p, swapped));
        break;
    case TENON_META_BOOL:
        out->as.boolean = *p != 0;
        break;
    case TENON_META_U64:
        out->as.u64 = tenon_load_u64(p, swapped);
        break;
    case TENON_META_I64:
        out->as.i64 = (int64_t)tenon_load_u64(p, swapped);
        break;
    case TENON_META_F64:
        out->as.f64 = tenon_double_from_bits(tenon_load_u64(p, swapped));
        break;
    case TENON_META_STRING:
    case TENON_META_ARRAY:
        break;
    }
}

void tenon_meta_iter_init(struct tenon_meta_iter *it, const struct tenon_meta_entry *entry)
{
    it->array = *entry;
    it->index = 0;
    it->pos = 0;
}

/* Takes a length or count of the array's width from `*pos`. */
static bool take_length(const struct tenon_meta_entry *array, size_t *pos, uint64_t *out)
{
    size_t width = array->short_lengths ? 4 : 8;

    if (width > array->raw_bytes - *pos)
        return false;
    *out = array->short_lengths ? tenon_load_u32(array->raw + *pos, array->swapped)
                                : tenon_load_u64(array->raw + *pos, array->swapped);
    *pos += width;
    return true;
}

static bool skip_bytes(const struct tenon_meta_entry *array, size_t *pos, uint64_t n)
{
    if (n > array->raw_bytes - *pos)
        return false;
    *pos += (size_t)n;
    return true;
}

/* Takes the type and count that stand before the elements of a nested array. */
static bool take_array_head(const struct tenon_meta_entry *array, size_t *pos,
                            enum tenon_meta_type *out_item, uint64_t *out_count)
{
    uint32_t item;

    if (sizeof(item) > array->raw_bytes - *pos)
        return false;
    item = tenon_load_u32(array->raw + *pos, array->swapped);
    *pos += sizeof(item);
    *out_item = (enum tenon_meta_type)item;
    return item < N_TYPES && take_length(array, pos, out_count);
}

/* Passes over `count` elements of type `item`, whatever is nested in them. */
static bool skip_elements(const struct tenon_meta_entry *array, size_t *pos,
                          enum tenon_meta_type item, uint64_t count)
{
    struct {
        enum tenon_meta_type item;
        uint64_t left;
    } stack[MAX_NESTING] = {{item, count}};
    size_t depth = 1;

    while (depth > 0) {
        enum tenon_meta_type type = stack[depth - 1].item;
        uint64_t bytes;

        if (tenon_meta_type_bytes(type) != 0) {
            if (!tenon_u64_mul(&bytes, stack[depth - 1].left, tenon_meta_type_bytes(type)) ||
                !skip_bytes(array, pos, bytes))
                return false;
            depth--;
        } else if (stack[depth - 1].left == 0) {
            depth--;
        } else if (type == TENON_META_STRING) {
            stack[depth - 1].left--;
            if (!take_length(array, pos, &bytes) || !skip_bytes(array, pos, bytes))
                return false;
        } else {
            stack[depth - 1].left--;
            if (depth == MAX_NESTING ||
                !take_array_head(array, pos, &stack[depth].item, &stack[depth].left))
                return false;
            depth++;
        }
    }
    return true;
}

/* The nested array at the iterator's position. */
static bool next_array(struct tenon_meta_iter *it, struct tenon_meta_entry *out_array)
{
    struct tenon_meta_entry inner = it->array;
    size_t start;

    inner.type = TENON_META_ARRAY;
    if (!take_array_head(&it->array, &it->pos, &inner.item, &inner.count))
        return false;
    start = it->pos;
    if (!skip_elements(&it->array, &it->pos, inner.item, inner.count))
        return false;
    inner.raw = it->array.raw + start;
    inner.raw_bytes = it->pos - start;
    if (out_array != NULL)
        *out_array = inner;
    return true;
}

bool tenon_meta_iter_next(struct tenon_meta_iter *it, struct tenon_meta_value *out,
                          struct tenon_meta_entry *out_array)
{
    const struct tenon_meta_entry *array = &it->array;
    uint32_t bytes = tenon_meta_type_bytes(array->item);
    uint64_t len;

    if (it->index >= array->count)
        return false;
    out->type = array->item;
    if (array->item == TENON_META_ARRAY) {
        if (!next_array(it, out_array))
            return false;
    } else if (array->item == TENON_META_STRING) {
        if (!take_length(array, &it->pos, &len) || len > array->raw_bytes - it->pos)
            return false;
        out->as.str.data = (const char *)array->raw + it->pos;
        out->as.str.len = (size_t)len;
        it->pos += (size_t)len;
    } else {
        if (bytes > array->raw_bytes - it->pos)
            return false;
        tenon_meta_decode(out, array->item, array->raw + it->pos, array->swapped);
        it->pos += bytes;
    }
    it->index++;
    return true;
}

bool tenon_meta_value_int(const struct tenon_meta_value *value, int64_t *out)
{
    switch (value->type) {
    case TENON_META_U8:
    case TENON_META_U16:
    case TENON_META_U32:
    case TENON_META_U64:
        if (value->as.u64 > INT64_MAX)
            return false;
        *out = (int64_t)value->as.u64;
        return true;
    case TENON_META_I8:
    case TENON_META_I16:
    case TENON_META_I32:
    case TENON_META_I64:
        *out = value->as.i64;
        return true;
    case TENON_META_F32:
    case TENON_META_F64:
        /* Only values that int64 holds exactly; the comparison is false for NaN. */
        if (!(value->as.f64 >= -0x1p63 && value->as.f64 < 0x1p63) ||
            value->as.f64 != (double)(int64_t)value->as.f64)
            return false;
        *out = (int64_t)value->as.f64;
        return true;
    case TENON_META_BOOL:
    case TENON_META_STRING:
    case TENON_META_ARRAY:
        break;
    }
    return false;
}
