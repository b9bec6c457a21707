/* Spelling typed values. */
#include "meta_text_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* The longest number: a float64 in 17 digits, or 64 bits. */
#define NUMBER_BYTES 40

void tenon_meta_put(struct tenon_meta_buffer *b, const void *bytes, size_t n)
{
    size_t need, room = b->room != 0 ? b->room : 64;
    char *grown;

    if (b->failed)
        return;
    if (!tenon_size_add(&need, b->n, n)) {
        b->failed = true;
        return;
    }
    while (room < need)
        if (!tenon_size_mul(&room, room, 2))
            room = need;
    if (room != b->room) {
        grown = tenon_mem_resize(b->data, room, 1);
        if (grown == NULL) {
            b->failed = true;
            return;
        }
        b->data = grown;
        b->room = room;
    }
    if (n != 0)
        memcpy(b->data + b->n, bytes, n);
    b->n = need;
}

static void put_text(struct tenon_meta_buffer *b, const char *text)
{
    tenon_meta_put(b, text, strlen(text));
}

static void put_hex(struct tenon_meta_buffer *b, struct tenon_str text)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        char pair[2] = {digits[byte >> 4], digits[byte & 15]};

        tenon_meta_put(b, pair, sizeof(pair));
    }
}

static void put_quoted(struct tenon_meta_buffer *b, struct tenon_str text)
{
    static const char specials[] = TENON_META_SPECIALS;
    size_t run = 0; /* where the part begins that is as it is */
    char escape[8];

    put_text(b, "\"");
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        const char *special = c != '\0' ? strchr(specials, c) : NULL;

        if (special == NULL && (unsigned char)c >= 0x20)
            continue;
        tenon_meta_put(b, text.data + run, i - run);
        run = i + 1;
        if (special != NULL)
            snprintf(escape, sizeof(escape), "\\%c", TENON_META_LETTERS[special - specials]);
        else
            snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)(unsigned char)c);
        put_text(b, escape);
    }
    tenon_meta_put(b, text.data + run, text.len - run);
    put_text(b, "\"");
}

/* snprintf and strtod speak the locale of the program; a number in a file has a dot. */
static void point_to_dot(char *number)
{
    char *to = number;

    for (const char *from = number; *from != '\0'; from++) {
        if (strchr("0123456789+-e", *from) != NULL)
            *to++ = *from;
        else if (to == number || to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
}

static bool same_bits(double a, double b)
{
    uint64_t x, y;

    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    return x == y;
}

/* The shortest form of a finite number. */
static void format_finite(char buf[NUMBER_BYTES], double value, bool single)
{
    int most = single ? 9 : 17;

    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(buf, NUMBER_BYTES, "%.0f", value);
        return;
    }
    for (int digits = 1; digits <= most; digits++) {
        double back;

        snprintf(buf, NUMBER_BYTES, "%.*g", digits, value);
        back = single ? (double)strtof(buf, NULL) : strtod(buf, NULL);
        if (same_bits(back, value))
            break;
    }
    point_to_dot(buf);
}

/* The bits of a NaN, which may say more than that it is one. */
static void format_nan(char buf[NUMBER_BYTES], double value, bool single)
{
    float narrow = (float)value;
    uint64_t wide_bits;
    uint32_t narrow_bits;

    memcpy(&wide_bits, &value, sizeof(wide_bits));
    memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
    if (single && narrow_bits != UINT32_C(0x7fc00000))
        snprintf(buf, NUMBER_BYTES, "0x%08lx", (unsigned long)narrow_bits);
    else if (!single && wide_bits != UINT64_C(0x7ff8000000000000))
        snprintf(buf, NUMBER_BYTES, "0x%016llx", (unsigned long long)wide_bits);
    else
        snprintf(buf, NUMBER_BYTES, "NaN");
}

static void put_float(struct tenon_meta_buffer *b, double value, bool single, bool quoted)
{
    char text[NUMBER_BYTES];
    bool plain = isfinite(value);

    if (plain)
        format_finite(text, value, single);
    else if (isnan(value))
        format_nan(text, value, single);
    else
        snprintf(text, sizeof(text), "%s", value > 0 ? "Infinity" : "-Infinity");
    put_text(b, quoted && !plain ? "\"" : "");
    put_text(b, text);
    put_text(b, quoted && !plain ? "\"" : "");
}

/* One value; in an array as JSON. */
static void put_value(struct tenon_meta_buffer *b, const struct tenon_meta_value *value, bool hex,
                      bool json)
{
    char text[NUMBER_BYTES] = "";

    switch (value->type) {
    case TENON_META_U8:
    case TENON_META_U16:
    case TENON_META_U32:
    case TENON_META_U64:
        snprintf(text, sizeof(text), "%llu", (unsigned long long)value->as.u64);
        break;
    case TENON_META_I8:
    case TENON_META_I16:
    case TENON_META_I32:
    case TENON_META_I64:
        snprintf(text, sizeof(text), "%lld", (long long)value->as.i64);
        break;
    case TENON_META_F32:
    case TENON_META_F64:
        put_float(b, value->as.f64, value->type == TENON_META_F32, json);
        break;
    case TENON_META_BOOL:
        put_text(b, value->as.boolean ? "true" : "false");
        break;
    case TENON_META_STRING:
        put_text(b, hex && json ? "\"" : "");
        if (hex)
            put_hex(b, value->as.str);
        else if (json)
            put_quoted(b, value->as.str);
        else
            tenon_meta_put(b, value->as.str.data, value->as.str.len);
        put_text(b, hex && json ? "\"" : "");
        break;
    case TENON_META_ARRAY:
        break;
    }
    put_text(b, text);
}

static bool is_utf8(const struct tenon_meta_value *value)
{
    return value->type != TENON_META_STRING ||
           tenon_utf8_valid(value->as.str.data, value->as.str.len);
}

bool tenon_meta_needs_hex(const struct tenon_meta_entry *entry)
{
    struct tenon_meta_value value;
    struct tenon_meta_iter it;

    if (entry->type != TENON_META_ARRAY)
        return !is_utf8(&entry->value);
    if (entry->item != TENON_META_STRING)
        return false;
    tenon_meta_iter_init(&it, entry);
    while (tenon_meta_iter_next(&it, &value, NULL))
        if (!is_utf8(&value))
            return true;
    return false;
}

static void put_key(struct tenon_meta_buffer *b, const struct tenon_meta_entry *entry, bool hex)
{
    bool array = entry->type == TENON_META_ARRAY;

    tenon_meta_put(b, entry->key.data, entry->key.len);
    put_text(b, array ? ":array<" : ":");
    put_text(b, hex ? "hex" : tenon_meta_type_name(entry->item));
    put_text(b, array ? ">" : "");
}

static void put_whole_value(struct tenon_meta_buffer *b, const struct tenon_meta_entry *entry,
                            bool hex)
{
    struct tenon_meta_value value;
    struct tenon_meta_iter it;

    if (entry->type != TENON_META_ARRAY) {
        put_value(b, &entry->value, hex, false);
        return;
    }
    put_text(b, "[");
    tenon_meta_iter_init(&it, entry);
    for (bool first = true; tenon_meta_iter_next(&it, &value, NULL); first = false) {
        put_text(b, first ? "" : ",");
        put_value(b, &value, hex, true);
    }
    put_text(b, "]");
}

void tenon_meta_spell(const struct tenon_meta_entry *typed, bool hex, struct tenon_meta_buffer *key,
                      struct tenon_meta_buffer *value)
{
    put_key(key, typed, hex);
    put_whole_value(value, typed, hex);
}
