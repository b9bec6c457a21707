#include "out.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tenon/text.h"

enum { FLUSH_AT = 64 * 1024 };

void tenon_out_init(struct tenon_out *out, int fd)
{
    *out = (struct tenon_out){.fd = fd};
}

void tenon_out_release(struct tenon_out *out)
{
    free(out->buf);
    out->buf = NULL;
    out->used = out->capacity = 0;
}

/* Gives `n` bytes to the system, all of them unless it fails. */
static void hand_over(struct tenon_out *out, const char *bytes, size_t n)
{
    size_t done = 0;

    while (out->error == 0 && done < n) {
        ssize_t written = write(out->fd, bytes + done, n - done);

        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            out->error = errno;
    }
}

bool tenon_out_flush(struct tenon_out *out)
{
    if (out->fd >= 0) {
        hand_over(out, out->buf, out->used);
        out->used = 0;
    }
    return out->error == 0;
}

/* Room for `n` more bytes. */
static bool reserve(struct tenon_out *out, size_t n)
{
    size_t capacity = out->capacity != 0 ? out->capacity : 4096;
    char *buf;

    if (out->fd >= 0 && out->used + n > FLUSH_AT)
        tenon_out_flush(out);
    if (out->error != 0)
        return false;
    if (n <= out->capacity - out->used)
        return true;
    while (capacity - out->used < n) {
        if (capacity > SIZE_MAX / 2) {
            out->error = ENOMEM;
            return false;
        }
        capacity *= 2;
    }
    buf = realloc(out->buf, capacity);
    if (buf == NULL) {
        out->error = ENOMEM;
        return false;
    }
    out->buf = buf;
    out->capacity = capacity;
    return true;
}

/* The CRC-32 of zip and gzip (polynomial 0x04c11db7, bits reversed, begun and ended inverted) of
 * eight bytes at a time: what a byte becomes when k more follow it stands in table k. */
enum { SUM_BYTES = 8 };
static uint32_t sum_tables[SUM_BYTES][256];

static void make_sum_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t rest = i;

        for (int bit = 0; bit < 8; bit++)
            rest = rest >> 1 ^ ((rest & 1) != 0 ? 0xedb88320 : 0);
        sum_tables[0][i] = rest;
    }
    for (size_t k = 1; k < SUM_BYTES; k++)
        for (size_t i = 0; i < 256; i++) {
            uint32_t before = sum_tables[k - 1][i];

            sum_tables[k][i] = before >> 8 ^ sum_tables[0][before & 255];
        }
}

static uint32_t add_sum(uint32_t sum, const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;

    if (sum_tables[0][1] == 0)
        make_sum_tables();
    sum = ~sum;
    for (; n >= SUM_BYTES; n -= SUM_BYTES, p += SUM_BYTES) {
        uint32_t next = 0;

        for (size_t k = 0; k < 4; k++)
            next ^= sum_tables[7 - k][p[k] ^ (sum >> (8 * k) & 255)];
        for (size_t k = 4; k < SUM_BYTES; k++)
            next ^= sum_tables[7 - k][p[k]];
        sum = next;
    }
    for (; n > 0; n--)
        sum = sum >> 8 ^ sum_tables[0][(sum ^ *p++) & 255];
    return ~sum;
}

/* `n` bytes more are in the buffer, or with the system. */
static void count(struct tenon_out *out, const char *bytes, size_t n)
{
    if (out->sums)
        out->sum = add_sum(out->sum, bytes, n);
    out->total += n;
}

/* `n` bytes more stand at the end of the buffer. */
static void accept(struct tenon_out *out, size_t n)
{
    if (n == 0) /* there may be no buffer yet */
        return;
    count(out, out->buf + out->used, n);
    out->used += n;
}

void tenon_out_write(struct tenon_out *out, const void *bytes, size_t n)
{
    if (out->fd >= 0 && n >= FLUSH_AT) { /* too much to be worth a copy */
        if (!tenon_out_flush(out))
            return;
        count(out, bytes, n);
        hand_over(out, bytes, n);
        return;
    }
    if (!reserve(out, n))
        return;
    if (n > 0)
        memcpy(out->buf + out->used, bytes, n);
    accept(out, n);
}

void tenon_out_text(struct tenon_out *out, const char *text)
{
    tenon_out_write(out, text, strlen(text));
}

void tenon_out_printf(struct tenon_out *out, const char *format, ...)
{
    char piece[1024];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(piece, sizeof(piece), format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n < sizeof(piece)) {
        tenon_out_write(out, piece, (size_t)n);
        return;
    }
    if (!reserve(out, (size_t)n + 1))
        return;
    va_start(args, format);
    vsnprintf(out->buf + out->used, (size_t)n + 1, format, args);
    va_end(args);
    accept(out, (size_t)n);
}

void tenon_out_safe(struct tenon_out *out, const char *text, size_t len)
{
    char piece[2048]; /* no byte needs more than 10 of them */
    size_t pos = 0;

    while (pos < len) {
        size_t start = pos;

        while (pos < len && pos - start < 200)
            tenon_utf8_next(text, len, &pos);
        tenon_out_write(out, piece,
                        tenon_text_sanitise(piece, sizeof(piece), text + start, pos - start));
    }
}

void tenon_out_wrapped(struct tenon_out *out, const char *text, unsigned column, unsigned indent,
                       unsigned width)
{
    while (*text != '\0') {
        size_t n = strcspn(text, " \n");

        if (width != 0 && column > indent && column + 1 + n > width) {
            tenon_out_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            tenon_out_text(out, " ");
            column++;
        }
        tenon_out_write(out, text, n);
        column += (unsigned)n;
        text += n;
        text += strspn(text, " \n");
    }
    tenon_out_text(out, "\n");
}

void tenon_out_hash(struct tenon_out *out, uint64_t high, uint64_t low)
{
    tenon_out_printf(out, "%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
}

double tenon_out_real(double value)
{
    return isnan(value) ? (double)NAN : value;
}

char *tenon_out_number(char *buf, double value, bool single)
{
    int digits = single ? 6 : 15;
    int most = single ? 9 : 17;

    if (isnan(value))
        return strcpy(buf, "NaN");
    if (isinf(value))
        return strcpy(buf, value < 0 ? "-Infinity" : "Infinity");
    for (; digits <= most; digits++) {
        double back;

        snprintf(buf, 32, "%.*g", digits, value);
        back = strtod(buf, NULL);
        if (single ? (float)back == (float)value : back == value)
            break;
    }
    return buf;
}

char *tenon_out_grouped(char *buf, uint64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    char *p = buf;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *p++ = ',';
        *p++ = digits[i];
    }
    *p = '\0';
    return buf;
}

/* Three significant digits and the largest prefix that fits. */
static char *scale(char *buf, uint64_t value, const char *const *units, size_t n_units)
{
    double scaled = (double)value;
    size_t unit = 0;
    int decimals;

    while (unit + 1 < n_units && scaled >= 999.5) {
        scaled /= 1000;
        unit++;
    }
    decimals = unit == 0 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
    snprintf(buf, 32, "%.*f%s", decimals, scaled, units[unit]);
    return buf;
}

char *tenon_out_bytes(char *buf, uint64_t bytes)
{
    static const char *const units[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};

    return scale(buf, bytes, units, sizeof(units) / sizeof(units[0]));
}

char *tenon_out_count(char *buf, uint64_t count)
{
    static const char *const units[] = {"", " K", " M", " B", " T"};

    return scale(buf, count, units, sizeof(units) / sizeof(units[0]));
}
