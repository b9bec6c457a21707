/* Whether two metadata pairs have the same value, however it is packed. */
#include <string.h>

#include "meta_value.h"

static bool texts_equal(struct tenon_str a, struct tenon_str b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static bool scalars_equal(const struct tenon_meta_value *a, const struct tenon_meta_value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case TENON_META_STRING:
        return texts_equal(a->as.str, b->as.str);
    case TENON_META_BOOL:
        return a->as.boolean == b->as.boolean;
    case TENON_META_F32:
    case TENON_META_F64:
        return bits_of(a->as.f64) == bits_of(b->as.f64); /* NaN is equal, -0 is not 0 */
    case TENON_META_U8:
    case TENON_META_I8:
    case TENON_META_U16:
    case TENON_META_I16:
    case TENON_META_U32:
    case TENON_META_I32:
    case TENON_META_U64:
    case TENON_META_I64:
        return a->as.u64 == b->as.u64;
    case TENON_META_ARRAY:
        break;
    }
    return true; /* nested arrays: their elements are compared by who walks them */
}

/* Element by element, for arrays that are packed in different ways. */
static bool arrays_equal(const struct tenon_meta_entry *a, const struct tenon_meta_entry *b)
{
    enum { DEPTH = 16 };
    struct tenon_meta_iter its[DEPTH][2];
    int depth = 0;

    tenon_meta_iter_init(&its[0][0], a);
    tenon_meta_iter_init(&its[0][1], b);
    while (depth >= 0) {
        struct tenon_meta_value x, y;
        struct tenon_meta_entry inner_x, inner_y;
        bool more_x = tenon_meta_iter_next(&its[depth][0], &x, &inner_x);
        bool more_y = tenon_meta_iter_next(&its[depth][1], &y, &inner_y);

        if (more_x != more_y)
            return false;
        if (!more_x) {
            depth--;
        } else if (!scalars_equal(&x, &y)) {
            return false;
        } else if (x.type == TENON_META_ARRAY) {
            if (inner_x.item != inner_y.item || inner_x.count != inner_y.count ||
                depth + 1 == DEPTH)
                return false;
            depth++;
            tenon_meta_iter_init(&its[depth][0], &inner_x);
            tenon_meta_iter_init(&its[depth][1], &inner_y);
        }
    }
    return true;
}

bool tenon_meta_equal(const struct tenon_meta_entry *a, const struct tenon_meta_entry *b)
{
    if (a->type != b->type || a->item != b->item || a->count != b->count)
        return false;
    if (a->type != TENON_META_ARRAY)
        return scalars_equal(&a->value, &b->value);
    if (a->swapped == b->swapped && a->short_lengths == b->short_lengths)
        return a->raw_bytes == b->raw_bytes &&
               (a->raw_bytes == 0 || memcmp(a->raw, b->raw, a->raw_bytes) == 0);
    return arrays_equal(a, b);
}
