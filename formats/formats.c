/* The table of formats, and finding out which one a file has. */
#include "format.h"

#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "probe.h"

#define X(id, file) extern const struct tenon_format tenon_format_##id;
#include "formats.def"
#undef X

const struct tenon_format *const tenon_formats[] = {
#define X(id, file) &tenon_format_##id,
#include "formats.def"
#undef X
};

const size_t tenon_n_formats = sizeof(tenon_formats) / sizeof(tenon_formats[0]);

const struct tenon_format_info *tenon_format_at(size_t i)
{
    return i < tenon_n_formats ? &tenon_formats[i]->info : NULL;
}

const struct tenon_format *tenon_format_find(const char *name)
{
    for (size_t i = 0; i < tenon_n_formats; i++) {
        if (strcmp(tenon_formats[i]->info.name, name) == 0)
            return tenon_formats[i];
    }
    return NULL;
}

/* The format whose extension `name` has, or NULL: what the file pretends to be. */
static const struct tenon_format *find_by_extension(const char *name)
{
    const char *dot = strrchr(name, '.');
    size_t n = dot != NULL ? strlen(dot) : 0;

    for (size_t i = 0; n > 1 && i < tenon_n_formats; i++) {
        const char *p = tenon_formats[i]->info.extensions;

        while ((p = strstr(p, dot)) != NULL) {
            if (p[n] == '\0' || p[n] == ' ')
                return tenon_formats[i];
            p += n;
        }
    }
    return NULL;
}

/* "47 47 55 46 03 00": the bytes that did not fit anything. */
static void write_hex(char *buf, size_t size, const struct tenon_probe *probe)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < probe->n && i < 16 && used + 4 < size; i++)
        used += (size_t)snprintf(buf + used, size - used, i > 0 ? " %02x" : "%02x",
                                 (unsigned)probe->bytes[i]);
}

static enum tenon_status explain_unknown(const struct tenon_probe *probe, struct tenon_error *err)
{
    const struct tenon_format *named = find_by_extension(probe->name);
    char hex[64];

    write_hex(hex, sizeof(hex), probe);
    tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0,
               "not a model file of a known format: begins with %s", hex);
    if (named != NULL)
        tenon_fail_hint(err, "the name says '%s' but the content does not: download it again",
                        named->info.name);
    else
        tenon_fail_hint(err, "see which formats are known with 'tenon formats'");
    return TENON_ERR_NOT_RECOGNISED;
}

enum tenon_status tenon_format_detect(const struct tenon_probe *probe,
                                      const struct tenon_format **out, struct tenon_error *err)
{
    const struct tenon_format *best = NULL, *rival = NULL;
    int best_confidence = TENON_PROBE_NO;

    for (size_t i = 0; i < tenon_n_formats; i++) {
        int confidence = tenon_formats[i]->probe(probe);

        if (confidence == TENON_PROBE_NO || confidence < best_confidence)
            continue;
        rival = confidence == best_confidence ? tenon_formats[i] : NULL;
        if (confidence > best_confidence)
            best = tenon_formats[i];
        best_confidence = confidence;
    }
    if (best == NULL)
        return explain_unknown(probe, err);
    if (rival != NULL)
        return tenon_fail(err, TENON_ERR_AMBIGUOUS, 0, "may be '%s' or '%s'", best->info.name,
                          rival->info.name);
    if (best->explain != NULL)
        return best->explain(probe, err);
    *out = best;
    return TENON_OK;
}
