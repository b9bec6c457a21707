/* UTF-8 checking and terminal-safe copies. */
#include "text.h"

#include <stdio.h>
#include <string.h>

/* Smallest code point that needs 2, 3 or 4 bytes: anything below is an overlong form. */
static const int32_t least_of[] = {0, 0, 0x80, 0x800, 0x10000};

static size_t sequence_length(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    if (lead >= 0xf0 && lead < 0xf5)
        return 4;
    return 0;
}

int32_t tenon_utf8_next(const char *text, size_t len, size_t *pos)
{
    size_t start = *pos;
    unsigned char lead = (unsigned char)text[start];
    size_t n = sequence_length(lead);
    int32_t codepoint;

    *pos = start + 1;
    if (n == 1)
        return lead;
    if (n == 0 || n > len - start)
        return -1;
    codepoint = lead & (0xff >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        unsigned char c = (unsigned char)text[start + i];

        if ((c & 0xc0) != 0x80)
            return -1;
        codepoint = codepoint << 6 | (c & 0x3f);
    }
    if (codepoint < least_of[n] || codepoint > 0x10ffff ||
        (codepoint >= 0xd800 && codepoint < 0xe000))
        return -1;
    *pos = start + n;
    return codepoint;
}

bool tenon_utf8_valid(const char *text, size_t len)
{
    size_t pos = 0;

    while (pos < len) {
        uint64_t word;

        /* Eight ASCII bytes at once: headers are nearly all ASCII. */
        while (len - pos >= sizeof(word)) {
            memcpy(&word, text + pos, sizeof(word));
            if ((word & UINT64_C(0x8080808080808080)) != 0)
                break;
            pos += sizeof(word);
        }
        if (pos < len && tenon_utf8_next(text, len, &pos) < 0)
            return false;
    }
    return true;
}

/* Ranges that must not reach a terminal: controls, soft hyphen, marks that hide or turn text
 * around, line separators, fillers, surrogates, non-characters, tags. Sorted. */
static const struct {
    int32_t first, last;
} unsafe_ranges[] = {
    {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},    {0x034f, 0x034f},
    {0x061c, 0x061c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},    {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},    {0x3164, 0x3164},
    {0xd800, 0xdfff},   {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},    {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},    {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}, {0xf0000, 0x10ffff},
};

bool tenon_codepoint_safe(int32_t codepoint)
{
    if (codepoint < 0)
        return false;
    for (size_t i = 0; i < sizeof(unsafe_ranges) / sizeof(unsafe_ranges[0]); i++) {
        if (codepoint < unsafe_ranges[i].first)
            return true;
        if (codepoint <= unsafe_ranges[i].last)
            return false;
    }
    return true;
}

/* One code point (or bad byte) of `text` as it may be printed, into `out` of 16 bytes. */
static size_t escape_one(char *out, const char *text, size_t start, size_t end, int32_t codepoint)
{
    size_t n = end - start;

    if (codepoint < 0)
        return (size_t)snprintf(out, 16, "\\x%02x", (unsigned char)text[start]);
    if (codepoint == '\n' || codepoint == '\t' || codepoint == '\r') {
        out[0] = '\\';
        out[1] = codepoint == '\n' ? 'n' : codepoint == '\t' ? 't' : 'r';
        return 2;
    }
    if (!tenon_codepoint_safe(codepoint))
        return (size_t)snprintf(out, 16, "\\u{%x}", (unsigned)codepoint);
    memcpy(out, text + start, n);
    return n;
}

size_t tenon_text_sanitise(char *buf, size_t size, const char *text, size_t len)
{
    size_t pos = 0, used = 0, fits = 0; /* fits: the last length that leaves room for "..." */

    while (pos < len) {
        char piece[16];
        size_t start = pos;
        int32_t codepoint = tenon_utf8_next(text, len, &pos);
        size_t n = escape_one(piece, text, start, pos, codepoint);

        if (n >= size - used) {
            memcpy(buf + fits, "...", 3);
            used = fits + 3;
            break;
        }
        memcpy(buf + used, piece, n);
        used += n;
        if (used + 3 < size)
            fits = used;
    }
    buf[used] = '\0';
    return used;
}

int tenon_hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool tenon_str_equal(struct tenon_str s, const char *text)
{
    size_t n = strlen(text);

    return s.len == n && memcmp(s.data, text, n) == 0;
}

int tenon_str_compare(struct tenon_str a, struct tenon_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n != 0 ? memcmp(a.data, b.data, n) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}
