/* Key-value pairs on their way into a GGUF header.
 *
 *   | key str | type u32 | value |   str: length u64, bytes; array: type u32, count u64, elements
 *
 * What a file said is written as that file had it: numbers are not taken through a double and back,
 * and an array whose packing fits already is copied as one piece. */
#include <string.h>

#include "bytes.h"
#include "fail.h"
#include "gguf.h"
#include "gguf_write.h"
#include "meta_packed.h"

static bool is_signed(enum tenon_meta_type type)
{
    return type == TENON_META_I8 || type == TENON_META_I16 || type == TENON_META_I32 ||
           type == TENON_META_I64;
}

/* A number as it stands in a file: the low bytes of the result. */
static uint64_t bits_of(const struct tenon_meta_value *value)
{
    uint64_t bits = value->as.u64;

    if (value->type == TENON_META_F32) {
        float narrow = (float)value->as.f64;
        uint32_t narrow_bits;

        memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
        return narrow_bits;
    }
    if (value->type == TENON_META_F64)
        memcpy(&bits, &value->as.f64, sizeof(bits));
    else if (value->type == TENON_META_BOOL)
        bits = value->as.boolean;
    else if (is_signed(value->type))
        bits = (uint64_t)value->as.i64;
    return bits;
}

/* Whether the bytes that the entry brought along still are its value. They tell more than it: a
 * NaN's payload, a boolean of 2. */
static bool has_bytes(const struct tenon_meta_entry *entry, uint32_t width)
{
    struct tenon_meta_value was;

    if (entry->raw == NULL || entry->raw_bytes != width || entry->value.type != entry->type)
        return false;
    tenon_meta_decode(&was, entry->type, entry->raw, entry->swapped);
    return bits_of(&was) == bits_of(&entry->value);
}

/* Whether the elements of an array are packed as in the file that is written. */
static bool same_packing(const struct tenon_gguf_out *out, const struct tenon_meta_entry *array)
{
    return array->swapped == out->swapped && !array->short_lengths;
}

/* `n` numbers of `width` bytes at `p`, in the other byte order if `swap`. */
static void put_items(struct tenon_gguf_out *out, const unsigned char *p, uint64_t n,
                      uint32_t width, bool swap)
{
    unsigned char item[8];

    if (!swap || width == 1) {
        tenon_gguf_put(out, p, n * width); /* fits: so many bytes are at `p` */
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < width; k++)
            item[k] = p[i * width + width - 1 - k];
        tenon_gguf_put(out, item, width);
    }
}

static void put_array_head(struct tenon_gguf_out *out, const struct tenon_meta_entry *array)
{
    tenon_gguf_put_int(out, array->item, 4);
    tenon_gguf_put_int(out, array->count, 8);
}

/* Puts the strings of an array. False at an array inside, which is then in `inner`. */
static bool put_strings(struct tenon_gguf_out *out, struct tenon_meta_iter *it,
                        struct tenon_meta_entry *inner)
{
    struct tenon_meta_value value;

    while (tenon_meta_iter_next(it, &value, inner)) {
        if (value.type == TENON_META_ARRAY)
            return false;
        tenon_gguf_put_string(out, value.as.str);
    }
    return true;
}

/* Arrays in arrays, packed anew; deeper than readers allow is checked before. */
static void put_array(struct tenon_gguf_out *out, const struct tenon_meta_entry *array)
{
    struct tenon_meta_iter stack[TENON_GGUF_MAX_NESTING];
    struct tenon_meta_entry inner = *array;
    size_t depth = 0;

    for (;;) {
        uint32_t width = tenon_meta_type_bytes(inner.item);

        put_array_head(out, &inner);
        if (same_packing(out, &inner))
            tenon_gguf_put(out, inner.raw, inner.raw_bytes);
        else if (width != 0)
            put_items(out, inner.raw, inner.count, width, inner.swapped != out->swapped);
        else
            tenon_meta_iter_init(&stack[depth++], &inner);
        while (depth > 0 && put_strings(out, &stack[depth - 1], &inner))
            depth--;
        if (depth == 0)
            return;
    }
}

static void put_scalar(struct tenon_gguf_out *out, const struct tenon_meta_entry *entry)
{
    uint32_t width = tenon_meta_type_bytes(entry->type);

    if (has_bytes(entry, width))
        put_items(out, entry->raw, 1, width, entry->swapped != out->swapped);
    else
        tenon_gguf_put_int(out, bits_of(&entry->value), width);
}

void tenon_gguf_put_pair(struct tenon_gguf_out *out, const struct tenon_meta_entry *entry)
{
    tenon_gguf_put_string(out, entry->key);
    tenon_gguf_put_int(out, entry->type, 4);
    if (entry->type == TENON_META_ARRAY)
        put_array(out, entry);
    else if (entry->type == TENON_META_STRING)
        tenon_gguf_put_string(out, entry->value.as.str);
    else
        put_scalar(out, entry);
}

/* --- what can be written --- */

/* Whether a number fits its type. */
static bool fits(const struct tenon_meta_value *value)
{
    unsigned bits = 8 * tenon_meta_type_bytes(value->type);

    if (value->type == TENON_META_F32)
        return !(value->as.f64 - value->as.f64 == 0) ||
               (value->as.f64 < 0x1.ffffffp127 && value->as.f64 > -0x1.ffffffp127);
    if (value->type == TENON_META_F64 || value->type == TENON_META_BOOL || bits == 64)
        return true;
    if (is_signed(value->type))
        return value->as.i64 >= -(INT64_C(1) << (bits - 1)) && value->as.i64 < INT64_C(1)
                                                                                   << (bits - 1);
    return value->as.u64 >> bits == 0;
}

/* Passes over an array and those in it; false when the bytes are not what they should be. Gives up
 * at what is nested too deep. */
static bool check_elements(const struct tenon_meta_entry *array)
{
    struct tenon_meta_iter stack[TENON_GGUF_MAX_NESTING];
    struct tenon_meta_value value;
    struct tenon_meta_entry inner;
    size_t depth = 1;

    tenon_meta_iter_init(&stack[0], array);
    while (depth > 0) {
        struct tenon_meta_iter *it = &stack[depth - 1];

        if (!tenon_meta_iter_next(it, &value, &inner)) {
            if (it->index != it->array.count || it->pos != it->array.raw_bytes)
                return false;
            depth--;
        } else if (value.type == TENON_META_ARRAY) {
            if (depth == TENON_GGUF_MAX_NESTING)
                return false;
            tenon_meta_iter_init(&stack[depth++], &inner);
        }
    }
    return true;
}

static bool check_array(const struct tenon_meta_entry *array)
{
    uint32_t width = tenon_meta_type_bytes(array->item);
    uint64_t bytes;

    if (width != 0)
        return tenon_u64_mul(&bytes, array->count, width) && bytes == array->raw_bytes;
    return array->item <= TENON_META_F64 && check_elements(array);
}

enum tenon_status tenon_gguf_check_pair(const struct tenon_meta_entry *entry,
                                        struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (entry->type > TENON_META_F64)
        st = tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "value type %d is not known",
                        (int)entry->type);
    else if (entry->type == TENON_META_ARRAY && !check_array(entry))
        st = tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                        "the array's bytes are not its elements");
    else if (tenon_meta_type_bytes(entry->type) != 0 && !fits(&entry->value))
        st = tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                        "its value does not fit the type %s", tenon_meta_type_name(entry->type));
    if (st != TENON_OK)
        tenon_fail_subject(err, "key", entry->key.data, entry->key.len);
    return st;
}
