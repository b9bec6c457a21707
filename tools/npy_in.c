/* NumPy's format: magic, version, length of the header (2 bytes in version 1, else 4), the header
 * as a Python dictionary of descr, fortran_order and shape, then the elements. */
#include "npy_in.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report.h"

/* Bytes of a header, as NumPy's own reader allows; values, 1 GiB of them. */
#define MOST_HEADER 10000
#define MOST_VALUES (UINT64_C(1) << 28)

struct header {
    const char *at; /* what is left of the text */
    char kind;      /* '2', '4' or '8': bytes of an element */
    bool fortran, has_descr, has_order, has_shape;
};

static void skip_blanks(struct header *h)
{
    while (*h->at == ' ' || *h->at == '\n' || *h->at == '\t')
        h->at++;
}

/* Takes `text`, if it comes next. */
static bool take(struct header *h, const char *text)
{
    size_t n = strlen(text);

    skip_blanks(h);
    if (strncmp(h->at, text, n) != 0)
        return false;
    h->at += n;
    return true;
}

static bool take_descr(struct header *h)
{
    static const char kinds[] = "248";

    for (size_t i = 0; i + 1 < sizeof(kinds); i++) {
        const char text[] = {'\'', '<', 'f', kinds[i], '\'', '\0'};

        if (take(h, text)) {
            h->kind = kinds[i];
            return true;
        }
    }
    return false;
}

/* "(3, 224, 224)" */
static bool take_shape(struct header *h, struct tenon_npy *out)
{
    if (!take(h, "("))
        return false;
    out->n = 1;
    while (!take(h, ")")) {
        char *end;
        uint64_t value;

        skip_blanks(h);
        if (out->n_dims == TENON_NPY_DIMS || *h->at < '0' || *h->at > '9')
            return false;
        errno = 0;
        value = strtoull(h->at, &end, 10);
        h->at = end;
        if (errno != 0 || value == 0 || value > MOST_VALUES / out->n)
            return false;
        out->dims[out->n_dims++] = value;
        out->n *= value;
        if (!take(h, ",") && *h->at != ')')
            return false;
    }
    return out->n_dims > 0;
}

/* One pair of the dictionary; false when it is none that is understood. */
static bool take_pair(struct header *h, struct tenon_npy *out)
{
    if (!h->has_descr && take(h, "'descr'"))
        return h->has_descr = take(h, ":") && take_descr(h);
    if (!h->has_shape && take(h, "'shape'"))
        return h->has_shape = take(h, ":") && take_shape(h, out);
    if (h->has_order || !take(h, "'fortran_order'") || !take(h, ":"))
        return false;
    h->fortran = take(h, "True");
    return h->has_order = h->fortran || take(h, "False");
}

static enum tenon_status parse_header(const char *text, struct tenon_npy *out, char *kind,
                                      struct tenon_error *err)
{
    struct header h = {.at = text};
    bool ok = take(&h, "{");

    while (ok && !take(&h, "}")) {
        ok = take_pair(&h, out);
        skip_blanks(&h);
        ok = ok && (take(&h, ",") || *h.at == '}');
    }
    if (!ok || !h.has_descr || !h.has_shape || !h.has_order)
        return tenon_report_fail(
            err, TENON_ERR_UNSUPPORTED_FEATURE,
            "its header is none of an array of '<f2', '<f4' or '<f8' with 1 to "
            "%d dimensions and at most 2^28 values",
            TENON_NPY_DIMS);
    if (h.fortran && out->n_dims > 1)
        return tenon_report_fail(err, TENON_ERR_UNSUPPORTED_FEATURE,
                                 "its elements are in Fortran order, C order is needed");
    *kind = h.kind;
    return TENON_OK;
}

/* The header's text, terminated. */
static enum tenon_status read_header(FILE *file, char text[MOST_HEADER + 1],
                                     struct tenon_error *err)
{
    unsigned char start[12];
    size_t n, width;

    if (fread(start, 1, 8, file) != 8 || memcmp(start, "\x93NUMPY", 6) != 0)
        return tenon_report_fail(err, TENON_ERR_NOT_RECOGNISED, "not an array in NumPy's format");
    if (start[6] < 1 || start[6] > 3)
        return tenon_report_fail(err, TENON_ERR_UNSUPPORTED_VERSION,
                                 "version %u of the format, 1 to 3 are read", start[6]);
    width = start[6] == 1 ? 2 : 4;
    if (fread(start, 1, width, file) != width)
        return tenon_report_fail(err, TENON_ERR_TRUNCATED, "ends inside its header");
    n = start[0] | (size_t)start[1] << 8;
    if (width == 4)
        n |= (size_t)start[2] << 16 | (size_t)start[3] << 24;
    if (n > MOST_HEADER)
        return tenon_report_fail(err, TENON_ERR_LIMIT, "a header of %zu bytes, at most %d allowed",
                                 n, MOST_HEADER);
    if (fread(text, 1, n, file) != n)
        return tenon_report_fail(err, TENON_ERR_TRUNCATED, "ends inside its header");
    text[n] = '\0';
    return TENON_OK;
}

/* IEEE half precision. */
static double half_value(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 0x1f);
    double mantissa = bits & 0x3ff, sign = bits >> 15 != 0 ? -1 : 1;

    if (exponent == 0x1f)
        return mantissa != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent == 0 ? ldexp(mantissa, -24) : ldexp(mantissa + 1024, exponent - 25));
}

static float element_value(const unsigned char *bytes, char kind)
{
    uint64_t bits = 0;
    float single;
    double twice;
    uint32_t low;

    for (int i = kind - '1'; i >= 0; i--)
        bits = bits << 8 | bytes[i];
    if (kind == '2')
        return (float)half_value((unsigned)bits);
    if (kind == '4') {
        low = (uint32_t)bits;
        memcpy(&single, &low, sizeof(single));
        return single;
    }
    memcpy(&twice, &bits, sizeof(twice));
    return (float)twice;
}

static enum tenon_status read_values(FILE *file, struct tenon_npy *out, char kind,
                                     struct tenon_error *err)
{
    size_t width = (size_t)(kind - '0');
    unsigned char bytes[8];
    struct stat info;
    long at = ftell(file);

    /* No memory for elements that cannot be there. */
    if (fstat(fileno(file), &info) != 0 || at < 0)
        return tenon_report_fail(err, TENON_ERR_IO, "cannot examine");
    if (S_ISREG(info.st_mode) && (uint64_t)(info.st_size - at) < out->n * width)
        return tenon_report_fail(
            err, TENON_ERR_TRUNCATED, "%llu bytes of elements, its shape needs %llu",
            (unsigned long long)(info.st_size - at), (unsigned long long)(out->n * width));
    out->values = malloc(out->n * sizeof(*out->values));
    if (out->values == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    for (uint64_t i = 0; i < out->n; i++) {
        if (fread(bytes, 1, width, file) != width)
            return tenon_report_fail(err, TENON_ERR_TRUNCATED, "ends after %llu of %llu elements",
                                     (unsigned long long)i, (unsigned long long)out->n);
        out->values[i] = element_value(bytes, kind);
    }
    return TENON_OK;
}

enum tenon_status tenon_npy_read(const char *path, struct tenon_npy *out, struct tenon_error *err)
{
    char text[MOST_HEADER + 1] = "", kind = 0;
    struct tenon_npy npy = {0};
    FILE *file = fopen(path, "rb");
    enum tenon_status st;

    if (file == NULL)
        return tenon_report_open(err, path, errno);
    st = read_header(file, text, err);
    if (st == TENON_OK)
        st = parse_header(text, &npy, &kind, err);
    if (st == TENON_OK)
        st = read_values(file, &npy, kind, err);
    if (st != TENON_OK && ferror(file) != 0)
        tenon_report_hint(err, "the system failed to read it");
    fclose(file);
    if (st == TENON_OK) {
        *out = npy;
    } else {
        tenon_report_path(err, path);
        tenon_npy_release(&npy);
    }
    return st;
}

void tenon_npy_release(struct tenon_npy *npy)
{
    free(npy->values);
    npy->values = NULL;
}
