/* Reading texts as typed values. Nothing here judges: whoever reads spells the value again, and
 * only the same texts count. */
#include "meta_text_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "meta_packed.h"
#include "text.h"

/* No number is longer: a float64 in 17 digits, or 64 bits. */
#define NUMBER_BYTES 40

/* What the end of a key says about the value. */
struct spelling {
    size_t key_len; /* of the key without it */
    bool array, hex;
    enum tenon_meta_type item;
};

/* Takes `end` off the word at `*word`. */
static bool take_end(struct tenon_str *word, const char *end)
{
    size_t n = strlen(end);

    if (word->len < n || memcmp(word->data + word->len - n, end, n) != 0)
        return false;
    word->len -= n;
    return true;
}

static bool parse_key(struct tenon_str key, struct spelling *out)
{
    static const char head[] = "array<";
    size_t colon = key.len;
    struct tenon_str word;

    while (colon > 0 && key.data[colon - 1] != ':')
        colon--;
    if (colon < 2)
        return false;
    word = (struct tenon_str){key.data + colon, key.len - colon};
    *out = (struct spelling){.key_len = colon - 1};
    if (word.len > sizeof(head) - 1 && memcmp(word.data, head, sizeof(head) - 1) == 0) {
        word.data += sizeof(head) - 1;
        word.len -= sizeof(head) - 1;
        out->array = take_end(&word, ">");
        if (!out->array)
            return false;
    }
    out->hex = tenon_str_equal(word, "hex");
    out->item = TENON_META_STRING;
    if (out->hex)
        return true;
    for (unsigned type = 0; type <= TENON_META_F64; type++) {
        out->item = (enum tenon_meta_type)type;
        if (type != TENON_META_ARRAY && tenon_str_equal(word, tenon_meta_type_name(out->item)))
            return true;
    }
    return false;
}

/* The 64 bits of an integer; which of them count depends on the type. Whether it was spelled as
 * it must be is seen later. */
static uint64_t parse_integer(struct tenon_str text)
{
    bool negative = text.len != 0 && text.data[0] == '-';
    uint64_t value = 0;

    for (size_t i = negative; i < text.len; i++)
        value = value * 10 + (uint64_t)(text.data[i] - '0'); /* fits: modulo 2^64 is meant */
    return negative ? 0 - value : value;
}

static uint64_t parse_bits(struct tenon_str text)
{
    uint64_t bits = 0;

    for (size_t i = 2; i < text.len; i++)
        bits = bits << 4 | (uint64_t)(tenon_hex_digit(text.data[i]) & 15);
    return bits;
}

/* The decimal point that strtod expects, of at most 8 bytes. */
static void find_point(char point[16])
{
    char half[16];
    size_t n;

    snprintf(half, sizeof(half), "%.1f", 0.5);
    n = strlen(half) - 2;
    memcpy(point, half + 1, n);
    point[n] = '\0';
}

double tenon_meta_decimal(struct tenon_str text, bool single)
{
    char number[2 * NUMBER_BYTES], point[16];
    size_t used = 0;

    find_point(point);
    if (text.len >= NUMBER_BYTES)
        return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '.')
            used += (size_t)snprintf(number + used, sizeof(number) - used, "%s", point);
        else
            number[used++] = text.data[i];
        if (used > NUMBER_BYTES)
            return 0;
    }
    number[used] = '\0';
    return single ? (double)strtof(number, NULL) : strtod(number, NULL);
}

static double parse_float(struct tenon_str text, bool single)
{
    if (text.len > 2 && text.data[1] == 'x')
        return single ? (double)tenon_float_from_bits((uint32_t)parse_bits(text))
                      : tenon_double_from_bits(parse_bits(text));
    if (tenon_str_equal(text, "NaN"))
        return single ? (double)tenon_float_from_bits(UINT32_C(0x7fc00000))
                      : tenon_double_from_bits(UINT64_C(0x7ff8000000000000));
    if (tenon_str_equal(text, "Infinity"))
        return (double)INFINITY;
    if (tenon_str_equal(text, "-Infinity"))
        return (double)-INFINITY;
    return tenon_meta_decimal(text, single);
}

/* A number or boolean into the low bytes of `*out`, as GGUF packs it. */
static uint64_t parse_packed(struct tenon_str text, enum tenon_meta_type type)
{
    uint64_t bits = 0;

    if (type == TENON_META_F32) {
        float value = (float)parse_float(text, true);
        uint32_t narrow;

        memcpy(&narrow, &value, sizeof(narrow));
        bits = narrow;
    } else if (type == TENON_META_F64) {
        double value = parse_float(text, false);

        memcpy(&bits, &value, sizeof(bits));
    } else if (type == TENON_META_BOOL) {
        bits = tenon_str_equal(text, "true");
    } else {
        bits = parse_integer(text);
    }
    return bits;
}

static void put_little(struct tenon_meta_buffer *b, uint64_t value, size_t n)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    tenon_meta_put(b, bytes, n);
}

static void put_unhexed(struct tenon_meta_buffer *b, struct tenon_str text)
{
    for (size_t i = 0; i + 1 < text.len; i += 2) {
        int high = tenon_hex_digit(text.data[i]), low = tenon_hex_digit(text.data[i + 1]);

        put_little(b, (uint64_t)((high & 15) << 4 | (low & 15)), 1);
    }
}

/* The text between two quotes, its escapes taken away: only those that put_quoted writes. */
static void put_unquoted(struct tenon_meta_buffer *b, struct tenon_str text)
{
    static const char letters[] = TENON_META_LETTERS;

    for (size_t i = 0; i < text.len; i++) {
        const char *letter;
        size_t left = text.len - i;

        if (text.data[i] != '\\' || left < 2) {
            tenon_meta_put(b, text.data + i, 1);
            continue;
        }
        letter = text.data[i + 1] != '\0' ? strchr(letters, text.data[i + 1]) : NULL;
        if (letter != NULL) {
            tenon_meta_put(b, &TENON_META_SPECIALS[letter - letters], 1);
            i++;
        } else if (left >= 6) {
            put_unhexed(b, (struct tenon_str){text.data + i + 4, 2});
            i += 5;
        }
    }
}

/* The next element of a list, and where the rest begins (behind its comma or bracket). */
static struct tenon_str next_item(struct tenon_str *rest)
{
    const char *text = rest->data;
    size_t n = 0;
    bool quoted = rest->len != 0 && text[0] == '"';
    struct tenon_str item;

    for (n = quoted; n < rest->len; n++) {
        if (quoted && text[n] == '\\')
            n++;
        else if (quoted ? text[n] == '"' : text[n] == ',' || text[n] == ']')
            break;
    }
    if (n > rest->len)
        n = rest->len;
    item = (struct tenon_str){text + quoted, n - quoted};
    n += quoted; /* the quote */
    n += 1;      /* the comma or bracket */
    if (n > rest->len)
        n = rest->len;
    *rest = (struct tenon_str){text + n, rest->len - n};
    return item;
}

/* Packs the elements as a little-endian GGUF file has them. */
static void pack_array(struct tenon_meta_buffer *b, struct tenon_str text,
                       const struct spelling *spelling, uint64_t *out_count)
{
    struct tenon_str rest = {text.data + 1, text.len - 1};

    for (*out_count = 0; rest.len > 0 && !(*out_count == 0 && rest.data[0] == ']'); ++*out_count) {
        struct tenon_str item = next_item(&rest);
        size_t start = b->n;

        if (spelling->item != TENON_META_STRING) {
            put_little(b, parse_packed(item, spelling->item),
                       tenon_meta_type_bytes(spelling->item));
            continue;
        }
        put_little(b, 0, 8);
        if (spelling->hex)
            put_unhexed(b, item);
        else
            put_unquoted(b, item);
        for (size_t i = 0; !b->failed && i < 8; i++)
            b->data[start + i] = (char)((b->n - start - 8) >> (8 * i));
    }
}

bool tenon_meta_parse(struct tenon_meta_buffer *b, const struct tenon_meta_entry *text,
                      struct tenon_meta_entry *out)
{
    struct tenon_str value = text->value.as.str;
    struct spelling spelling;

    if (!parse_key(text->key, &spelling))
        return false;
    *out = *text;
    out->key.len = spelling.key_len;
    out->type = spelling.array ? TENON_META_ARRAY : spelling.item;
    out->item = spelling.item;
    if (spelling.array) {
        if (value.len != 0)
            pack_array(b, value, &spelling, &out->count);
        out->raw = (const unsigned char *)(b->data != NULL ? b->data : "");
        out->raw_bytes = b->n;
        out->swapped = out->short_lengths = false;
        out->value = (struct tenon_meta_value){.type = TENON_META_ARRAY};
    } else if (spelling.item == TENON_META_STRING) {
        if (spelling.hex) {
            put_unhexed(b, value);
            out->value.as.str =
                (struct tenon_str){b->data != NULL ? b->data : "", b->failed ? 0 : b->n};
        }
    } else {
        put_little(b, parse_packed(value, spelling.item), 8);
        if (!b->failed)
            tenon_meta_decode(&out->value, spelling.item, (const unsigned char *)b->data, false);
    }
    return true;
}
