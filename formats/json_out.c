#include "json_out.h"

#include <string.h>

#include "tenon/text.h"

/* Digits of the largest 64-bit number. */
#define MOST_DIGITS 20

void tenon_json_put(struct tenon_json_out *out, const char *text, size_t len)
{
    if (out->window != NULL)
        tenon_window_put(out->window, text, len);
    else if (out->data != NULL)
        memcpy(out->data + out->len, text, len);
    out->len += len;
}

void tenon_json_put_text(struct tenon_json_out *out, const char *text)
{
    tenon_json_put(out, text, strlen(text));
}

void tenon_json_put_fill(struct tenon_json_out *out, char c, size_t n)
{
    if (out->window != NULL)
        tenon_window_fill(out->window, (unsigned char)c, n);
    else if (out->data != NULL)
        memset(out->data + out->len, c, n);
    out->len += n;
}

void tenon_json_put_u64(struct tenon_json_out *out, uint64_t value)
{
    char digits[MOST_DIGITS];
    size_t pos = MOST_DIGITS;

    do {
        digits[--pos] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    tenon_json_put(out, digits + pos, MOST_DIGITS - pos);
}

/* \uxxxx for a code unit. */
static void put_unit(struct tenon_json_out *out, uint32_t unit)
{
    static const char hex[] = "0123456789abcdef";
    const char text[6] = {
        '\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]};

    tenon_json_put(out, text, sizeof(text));
}

/* The letter that stands for `c` after a backslash, '\0' when there is none. */
static char short_escape(unsigned char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = c != '\0' ? strchr(plain, c) : NULL;

    return found != NULL ? letters[found - plain] : '\0';
}

static void put_escaped(struct tenon_json_out *out, unsigned char c)
{
    const char pair[2] = {'\\', short_escape(c)};

    if (pair[1] != '\0')
        tenon_json_put(out, pair, sizeof(pair));
    else
        put_unit(out, c);
}

void tenon_json_put_string(struct tenon_json_out *out, struct tenon_str text)
{
    size_t start = 0;

    tenon_json_put(out, "\"", 1);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];

        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        tenon_json_put(out, text.data + start, i - start);
        put_escaped(out, c);
        start = i + 1;
    }
    tenon_json_put(out, text.data + start, text.len - start);
    tenon_json_put(out, "\"", 1);
}

static void put_codepoint(struct tenon_json_out *out, uint32_t c)
{
    if (c < 0x80 && short_escape((unsigned char)c) != '\0') {
        put_escaped(out, (unsigned char)c);
    } else if (c < 0x10000) {
        put_unit(out, c);
    } else {
        put_unit(out, 0xd800 + ((c - 0x10000) >> 10));
        put_unit(out, 0xdc00 + ((c - 0x10000) & 0x3ff));
    }
}

void tenon_json_put_ascii(struct tenon_json_out *out, struct tenon_str text)
{
    size_t pos = 0;

    tenon_json_put(out, "\"", 1);
    while (pos < text.len) {
        size_t start = pos;
        int32_t c = tenon_utf8_next(text.data, text.len, &pos);

        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\')
            tenon_json_put(out, text.data + start, 1);
        else
            put_codepoint(out, (uint32_t)(c >= 0 ? c : 0xfffd));
    }
    tenon_json_put(out, "\"", 1);
}
