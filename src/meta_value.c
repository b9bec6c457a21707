#include "meta_value.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "meta_packed.h"
#include "meta_text_private.h"
#include "text.h"

/* No number that means anything is longer. */
enum { MOST_DIGITS = 36 };

static bool find_scalar(struct tenon_str text, enum tenon_meta_type *out)
{
    for (unsigned type = 0; type <= TENON_META_F64; type++) {
        *out = (enum tenon_meta_type)type;
        if (type != TENON_META_ARRAY && tenon_str_equal(text, tenon_meta_type_name(*out)))
            return true;
    }
    return false;
}

bool tenon_meta_type_parse(struct tenon_str text, enum tenon_meta_type *out_type,
                           enum tenon_meta_type *out_item)
{
    static const char head[] = "array<";
    const size_t n = sizeof(head) - 1;
    bool array =
        text.len > n + 1 && memcmp(text.data, head, n) == 0 && text.data[text.len - 1] == '>';
    struct tenon_str item = array ? (struct tenon_str){text.data + n, text.len - n - 1} : text;

    if (!find_scalar(item, out_item))
        return false;
    *out_type = array ? TENON_META_ARRAY : *out_item;
    return true;
}

/* --- numbers --- */

static const struct {
    enum tenon_meta_type type;
    uint64_t most, least; /* the largest value, and how far below zero it goes */
} ranges[] = {
    {TENON_META_U8, UINT8_MAX, 0},   {TENON_META_I8, INT8_MAX, UINT64_C(1) << 7},
    {TENON_META_U16, UINT16_MAX, 0}, {TENON_META_I16, INT16_MAX, UINT64_C(1) << 15},
    {TENON_META_U32, UINT32_MAX, 0}, {TENON_META_I32, INT32_MAX, UINT64_C(1) << 31},
    {TENON_META_U64, UINT64_MAX, 0}, {TENON_META_I64, INT64_MAX, UINT64_C(1) << 63},
};

/* Digits of a base into 64 bits; false when there is none, or another character, or too many. */
static bool read_digits(struct tenon_str text, unsigned base, uint64_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.len; i++) {
        int digit = tenon_hex_digit(text.data[i]);

        if (digit < 0 || (unsigned)digit >= base || !tenon_u64_mul(&value, value, base) ||
            !tenon_u64_add(&value, value, (uint64_t)digit))
            return false;
    }
    *out = value;
    return text.len > 0;
}

static bool read_integer(struct tenon_str text, enum tenon_meta_type type,
                         struct tenon_meta_value *out)
{
    bool negative = text.len > 0 && text.data[0] == '-';
    uint64_t value;
    unsigned base = 10;

    text.data += negative;
    text.len -= negative;
    if (text.len > 2 && text.data[0] == '0' && (text.data[1] == 'x' || text.data[1] == 'X')) {
        base = 16;
        text.data += 2;
        text.len -= 2;
    }
    if (!read_digits(text, base, &value))
        return false;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (ranges[i].type != type)
            continue;
        if (value > (negative ? ranges[i].least : ranges[i].most))
            return false;
        if (ranges[i].least == 0)
            out->as.u64 = value;
        else
            out->as.i64 = negative ? (int64_t)(0 - value) : (int64_t)value;
        return true;
    }
    return false;
}

/* Digits with a point and an exponent, as JSON and C have them. */
static bool is_decimal(struct tenon_str text)
{
    size_t i = 0, digits = 0, exponent = 0;

    if (i < text.len && (text.data[i] == '-' || text.data[i] == '+'))
        i++;
    for (; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        digits++;
    if (i < text.len && text.data[i] == '.')
        i++;
    for (; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        digits++;
    if (digits == 0 || i == text.len)
        return digits > 0;
    if (text.data[i] != 'e' && text.data[i] != 'E')
        return false;
    i++;
    if (i < text.len && (text.data[i] == '-' || text.data[i] == '+'))
        i++;
    for (; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        exponent++;
    return exponent > 0 && i == text.len;
}

static bool same_word(struct tenon_str text, const char *word)
{
    size_t n = strlen(word);

    if (text.len != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((text.data[i] | 0x20) != (word[i] | 0x20))
            return false;
    return true;
}

/* NaN and the infinities by their usual names. */
static const struct {
    const char *word, *canonical;
} float_words[] = {
    {"nan", "NaN"},        {"infinity", "Infinity"},   {"inf", "Infinity"},
    {"-inf", "-Infinity"}, {"-infinity", "-Infinity"},
};

static bool read_float(struct tenon_str text, enum tenon_meta_type type,
                       struct tenon_meta_value *out)
{
    struct tenon_meta_buffer b = {0};
    struct tenon_meta_entry read = {0},
                            pair = {
                                .key = type == TENON_META_F32 ? (struct tenon_str){"x:f32", 5}
                                                              : (struct tenon_str){"x:f64", 5},
                                .type = TENON_META_STRING,
                                .value = {.type = TENON_META_STRING, .as.str = text},
                            };
    bool decimal = text.len <= MOST_DIGITS && is_decimal(text), word = false, done;

    for (size_t i = 0; i < sizeof(float_words) / sizeof(float_words[0]); i++)
        if (same_word(text, float_words[i].word)) {
            const char *canonical = float_words[i].canonical;

            pair.value.as.str = (struct tenon_str){canonical, strlen(canonical)};
            word = true;
        }
    if (!decimal && !word)
        return false;
    done = tenon_meta_parse(&b, &pair, &read) && !b.failed;
    tenon_mem_free(b.data);
    if (!done || (decimal && !isfinite(read.value.as.f64)))
        return false;
    out->as.f64 = read.value.as.f64;
    return true;
}

static bool read_scalar(struct tenon_str text, enum tenon_meta_type type,
                        struct tenon_meta_value *out)
{
    *out = (struct tenon_meta_value){.type = type};
    switch (type) {
    case TENON_META_STRING:
        out->as.str = text;
        return true;
    case TENON_META_BOOL:
        out->as.boolean = same_word(text, "true") || tenon_str_equal(text, "1");
        return out->as.boolean || same_word(text, "false") || tenon_str_equal(text, "0");
    case TENON_META_F32:
    case TENON_META_F64:
        return read_float(text, type, out);
    case TENON_META_ARRAY:
        return false;
    case TENON_META_U8:
    case TENON_META_I8:
    case TENON_META_U16:
    case TENON_META_I16:
    case TENON_META_U32:
    case TENON_META_I32:
    case TENON_META_U64:
    case TENON_META_I64:
        break;
    }
    return read_integer(text, type, out);
}

static enum tenon_status fail_value(struct tenon_str text, enum tenon_meta_type type,
                                    struct tenon_error *err)
{
    char clean[96];

    tenon_text_sanitise(clean, sizeof(clean), text.data, text.len);
    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "'%s' is no value of type %s", clean,
               tenon_meta_type_name(type));
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (ranges[i].type == type)
            tenon_fail_hint(err, "%s%llu to %llu are allowed", ranges[i].least > 0 ? "-" : "",
                            (unsigned long long)ranges[i].least,
                            (unsigned long long)ranges[i].most);
    if (type == TENON_META_BOOL)
        tenon_fail_hint(err, "true and false are allowed");
    return TENON_ERR_MISUSE;
}

/* --- arrays --- */

static struct tenon_str trim(struct tenon_str text)
{
    while (text.len > 0 && strchr(" \t\n\r", text.data[0]) != NULL) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && strchr(" \t\n\r", text.data[text.len - 1]) != NULL)
        text.len--;
    return text;
}

static void put_codepoint(struct tenon_meta_buffer *b, uint32_t c)
{
    unsigned char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = n; i-- > 1; c >>= 6)
        bytes[i] = (unsigned char)(0x80 | (c & 0x3f));
    bytes[0] = (unsigned char)(marks[n] | c);
    tenon_meta_put(b, bytes, n);
}

/* Four hexadecimal digits at `*at`; false when they are not there. */
static bool read_hex4(struct tenon_str text, size_t *at, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, ++*at) {
        int digit = *at < text.len ? tenon_hex_digit(text.data[*at]) : -1;

        if (digit < 0)
            return false;
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

static bool read_escape(struct tenon_meta_buffer *b, struct tenon_str text, size_t *at)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter =
        *at < text.len && text.data[*at] != '\0' ? strchr(letters, text.data[*at]) : NULL;
    uint32_t c, low;

    if (letter != NULL) {
        tenon_meta_put(b, &meanings[letter - letters], 1);
        ++*at;
        return true;
    }
    if (*at >= text.len || text.data[(*at)++] != 'u' || !read_hex4(text, at, &c))
        return false;
    if (c >= 0xd800 && c < 0xdc00) {
        if (text.len - *at < 6 || text.data[*at] != '\\' || text.data[*at + 1] != 'u')
            return false;
        *at += 2;
        if (!read_hex4(text, at, &low) || low < 0xdc00 || low > 0xdfff)
            return false;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
        return false;
    }
    put_codepoint(b, c);
    return true;
}

/* The text behind a quote, up to the closing one, which `*at` passes. */
static bool read_quoted(struct tenon_meta_buffer *b, struct tenon_str text, size_t *at)
{
    while (*at < text.len && text.data[*at] != '"') {
        if (text.data[*at] != '\\')
            tenon_meta_put(b, text.data + (*at)++, 1);
        else if (++*at, !read_escape(b, text, at))
            return false;
    }
    return *at < text.len && text.data[(*at)++] == '"';
}

static void put_little(struct tenon_meta_buffer *b, uint64_t value, size_t n)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    tenon_meta_put(b, bytes, n);
}

static void put_scalar(struct tenon_meta_buffer *b, const struct tenon_meta_value *v)
{
    uint64_t bits = v->as.u64;
    float narrow = v->type == TENON_META_F32 ? (float)v->as.f64 : 0;
    uint32_t narrow_bits;

    if (v->type == TENON_META_F32) {
        memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
        bits = narrow_bits;
    } else if (v->type == TENON_META_F64) {
        memcpy(&bits, &v->as.f64, sizeof(bits));
    } else if (v->type == TENON_META_BOOL) {
        bits = v->as.boolean;
    }
    put_little(b, bits, tenon_meta_type_bytes(v->type));
}

/* One element, in quotes or not, that begins at `*at`; leaves what follows it. */
static bool read_item(struct tenon_meta_buffer *b, struct tenon_str text, size_t *at,
                      enum tenon_meta_type item)
{
    struct tenon_meta_buffer scratch = {0};
    struct tenon_meta_value value;
    bool quoted = *at < text.len && text.data[*at] == '"', fine = true;
    size_t start = *at;
    struct tenon_str word;

    if (quoted) {
        ++*at;
        fine = read_quoted(&scratch, text, at);
        word = (struct tenon_str){scratch.data != NULL ? scratch.data : "", scratch.n};
    } else {
        while (*at < text.len && text.data[*at] != ',')
            ++*at;
        word = trim((struct tenon_str){text.data + start, *at - start});
    }
    fine = fine && read_scalar(word, item, &value);
    if (fine && item == TENON_META_STRING) {
        put_little(b, word.len, 8);
        tenon_meta_put(b, word.data, word.len);
    } else if (fine) {
        put_scalar(b, &value);
    }
    b->failed = b->failed || scratch.failed;
    tenon_mem_free(scratch.data);
    return fine;
}

/* All elements; false when the text is no such list. */
static bool read_items(struct tenon_meta_buffer *b, struct tenon_str text,
                       enum tenon_meta_type item, uint64_t *out_count)
{
    size_t at = 0;

    *out_count = 0;
    text = trim(text);
    if (text.len >= 2 && text.data[0] == '[' && text.data[text.len - 1] == ']')
        text = trim((struct tenon_str){text.data + 1, text.len - 2});
    while (text.len > 0) {
        while (at < text.len && strchr(" \t\n\r", text.data[at]) != NULL)
            at++;
        if (!read_item(b, text, &at, item))
            return false;
        ++*out_count;
        while (at < text.len && strchr(" \t\n\r", text.data[at]) != NULL)
            at++;
        if (at == text.len)
            return true;
        if (text.data[at++] != ',')
            return false;
    }
    return true;
}

static enum tenon_status parse_array(struct tenon_arena *arena, struct tenon_str text,
                                     struct tenon_meta_entry *entry, struct tenon_error *err)
{
    struct tenon_meta_buffer b = {0};
    char clean[96];
    const char *raw = NULL;
    bool fine = read_items(&b, text, entry->item, &entry->count);

    if (fine && !b.failed)
        raw = tenon_arena_text(arena, b.data != NULL ? b.data : "", b.n);
    tenon_mem_free(b.data);
    tenon_text_sanitise(clean, sizeof(clean), text.data, text.len);
    if (!fine)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          "'%s' is no list of values of type %s", clean,
                          tenon_meta_type_name(entry->item));
    if (raw == NULL)
        return tenon_fail_memory(err);
    entry->value = (struct tenon_meta_value){.type = TENON_META_ARRAY};
    entry->raw = (const unsigned char *)raw;
    entry->raw_bytes = b.n;
    entry->swapped = entry->short_lengths = false;
    return TENON_OK;
}

enum tenon_status tenon_meta_value_parse(struct tenon_arena *arena, struct tenon_str text,
                                         struct tenon_meta_entry *entry, struct tenon_error *err)
{
    if (entry->type == TENON_META_ARRAY && entry->item == TENON_META_ARRAY)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          "arrays of arrays cannot be written as text");
    if (entry->type == TENON_META_ARRAY)
        return parse_array(arena, text, entry, err);
    entry->item = entry->type;
    entry->count = 1;
    entry->raw = NULL;
    entry->raw_bytes = 0;
    if (entry->type != TENON_META_STRING)
        return read_scalar(trim(text), entry->type, &entry->value)
                   ? TENON_OK
                   : fail_value(text, entry->type, err);
    text.data = tenon_arena_text(arena, text.data, text.len);
    if (text.data == NULL)
        return tenon_fail_memory(err);
    entry->value = (struct tenon_meta_value){.type = TENON_META_STRING, .as.str = text};
    return TENON_OK;
}
