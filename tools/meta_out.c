#include "meta_out.h"

#include <string.h>

#include "meta_json.h"

void tenon_meta_out_scalar(struct tenon_out *out, const struct tenon_meta_value *v, bool safe)
{
    char number[32];

    switch (v->type) {
    case TENON_META_U8:
    case TENON_META_U16:
    case TENON_META_U32:
    case TENON_META_U64:
        tenon_out_printf(out, "%llu", (unsigned long long)v->as.u64);
        break;
    case TENON_META_I8:
    case TENON_META_I16:
    case TENON_META_I32:
    case TENON_META_I64:
        tenon_out_printf(out, "%lld", (long long)v->as.i64);
        break;
    case TENON_META_F32:
    case TENON_META_F64:
        tenon_out_text(out, tenon_out_number(number, v->as.f64, v->type == TENON_META_F32));
        break;
    case TENON_META_BOOL:
        tenon_out_text(out, v->as.boolean ? "true" : "false");
        break;
    case TENON_META_STRING:
        if (safe)
            tenon_out_safe(out, v->as.str.data, v->as.str.len);
        else
            tenon_out_write(out, v->as.str.data, v->as.str.len);
        break;
    case TENON_META_ARRAY:
        break;
    }
}

/* Like tenon_meta_out_scalar, but short, and strings in quotes inside arrays. */
static void write_short(struct tenon_out *out, const struct tenon_meta_value *v, size_t most,
                        bool quoted)
{
    struct tenon_str text = v->as.str;

    if (v->type != TENON_META_STRING) {
        tenon_meta_out_scalar(out, v, true);
        return;
    }
    tenon_out_text(out, quoted ? "\"" : "");
    if (text.len <= most) {
        tenon_out_safe(out, text.data, text.len);
    } else {
        tenon_out_safe(out, text.data, most);
        tenon_out_printf(out, "... (%zu bytes)", text.len);
    }
    tenon_out_text(out, quoted ? "\"" : "");
}

static void write_array(struct tenon_out *out, const struct tenon_meta_entry *e,
                        const struct tenon_meta_shown *shown)
{
    struct tenon_meta_iter its[TENON_META_JSON_DEPTH];
    uint64_t most = shown->elements;
    struct tenon_meta_value v;
    struct tenon_meta_entry inner;
    int depth = 0;

    tenon_meta_iter_init(&its[0], e);
    tenon_out_text(out, "[");
    while (depth >= 0) {
        struct tenon_meta_iter *it = &its[depth];
        bool more = it->index < it->array.count && it->index < most;

        if (more && it->index > 0)
            tenon_out_text(out, ", ");
        if (!more || !tenon_meta_iter_next(it, &v, &inner)) {
            if (it->index < it->array.count)
                tenon_out_printf(out, ", ... (%llu)", (unsigned long long)it->array.count);
            tenon_out_text(out, "]");
            depth--;
        } else if (v.type == TENON_META_ARRAY && depth + 1 < TENON_META_JSON_DEPTH) {
            tenon_meta_iter_init(&its[++depth], &inner);
            tenon_out_text(out, "[");
        } else {
            write_short(out, &v, shown->bytes, true);
        }
    }
}

void tenon_meta_out_value(struct tenon_out *out, const struct tenon_meta_entry *entry,
                          const struct tenon_meta_shown *shown)
{
    if (entry->type == TENON_META_ARRAY)
        write_array(out, entry, shown);
    else
        write_short(out, &entry->value, shown->bytes, false);
}

/* Elements before the first that the arrays do not share; both iterators then stand behind it. */
static uint64_t skip_equal(struct tenon_meta_iter *a, struct tenon_meta_iter *b,
                           struct tenon_meta_value *va, struct tenon_meta_value *vb)
{
    uint64_t n = 0;

    while (tenon_meta_iter_next(a, va, NULL) && tenon_meta_iter_next(b, vb, NULL)) {
        bool same = va->type != TENON_META_STRING
                        ? memcmp(&va->as, &vb->as, sizeof(va->as.u64)) == 0
                        : va->as.str.len == vb->as.str.len &&
                              memcmp(va->as.str.data, vb->as.str.data, va->as.str.len) == 0;

        if (!same)
            return n;
        n++;
    }
    return n;
}

/* Arrays of as many scalars of one type: their first difference says more than their beginnings. */
static bool write_first_difference(struct tenon_out *out, const struct tenon_meta_entry *a,
                                   const struct tenon_meta_entry *b,
                                   const struct tenon_meta_shown *shown)
{
    struct tenon_meta_iter ia, ib;
    struct tenon_meta_value va = {0}, vb = {0};
    uint64_t at;

    if (a->type != TENON_META_ARRAY || b->type != TENON_META_ARRAY || a->item != b->item ||
        a->item == TENON_META_ARRAY || a->item == TENON_META_BOOL || a->count != b->count)
        return false;
    tenon_meta_iter_init(&ia, a);
    tenon_meta_iter_init(&ib, b);
    at = skip_equal(&ia, &ib, &va, &vb);
    if (at == a->count)
        return false;
    tenon_out_printf(out, "element %llu of %llu: ", (unsigned long long)at,
                     (unsigned long long)a->count);
    write_short(out, &va, shown->bytes, true);
    tenon_out_text(out, " -> ");
    write_short(out, &vb, shown->bytes, true);
    return true;
}

/* Bytes that long texts have in common at their beginnings, but for a few and to a character. */
static size_t common_head(const struct tenon_meta_entry *a, const struct tenon_meta_entry *b)
{
    enum { KEPT = 16 };
    struct tenon_str s = a->value.as.str, t = b->value.as.str;
    size_t n = 0;

    while (n < s.len && n < t.len && s.data[n] == t.data[n])
        n++;
    n = n > KEPT ? n - KEPT : 0;
    while (n > 0 && ((unsigned char)s.data[n] & 0xc0) == 0x80)
        n--;
    return n;
}

static void write_tail(struct tenon_out *out, const struct tenon_meta_entry *entry, size_t skipped,
                       const struct tenon_meta_shown *shown)
{
    struct tenon_meta_value value = entry->value;

    value.as.str.data += skipped;
    value.as.str.len -= skipped;
    tenon_out_text(out, skipped > 0 ? "..." : "");
    write_short(out, &value, shown->bytes, false);
}

void tenon_meta_out_change(struct tenon_out *out, const struct tenon_meta_entry *a,
                           const struct tenon_meta_entry *b, const struct tenon_meta_shown *shown)
{
    char type[32];
    size_t skipped = 0;

    if (a->type != b->type || a->item != b->item) {
        tenon_meta_out_value(out, a, shown);
        tenon_out_printf(out, " (%s) -> ", tenon_meta_type_text(a, type, sizeof(type)));
        tenon_meta_out_value(out, b, shown);
        tenon_out_printf(out, " (%s)", tenon_meta_type_text(b, type, sizeof(type)));
        return;
    }
    if (write_first_difference(out, a, b, shown))
        return;
    if (a->type != TENON_META_STRING) {
        tenon_meta_out_value(out, a, shown);
        tenon_out_text(out, " -> ");
        tenon_meta_out_value(out, b, shown);
        return;
    }
    if (a->value.as.str.len > shown->bytes || b->value.as.str.len > shown->bytes)
        skipped = common_head(a, b);
    write_tail(out, a, skipped, shown);
    tenon_out_text(out, " -> ");
    write_tail(out, b, skipped, shown);
}
