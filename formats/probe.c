/* What probes share. */
#include "probe.h"

#include <string.h>

bool tenon_probe_has(const struct tenon_probe *probe, size_t off, const void *magic, size_t n)
{
    return off <= probe->n && n <= probe->n - off && memcmp(probe->bytes + off, magic, n) == 0;
}

size_t tenon_probe_find(const struct tenon_probe *probe, const void *needle, size_t n)
{
    for (size_t off = 0; off < probe->n; off++) {
        if (tenon_probe_has(probe, off, needle, n))
            return off;
    }
    return probe->n;
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t tenon_probe_text_start(const struct tenon_probe *probe)
{
    size_t off = TENON_PROBE_HAS(probe, 0, "\xef\xbb\xbf") ? 3 : 0;

    while (off < probe->n && is_blank(probe->bytes[off]))
        off++;
    return off;
}

bool tenon_probe_has_nocase(const struct tenon_probe *probe, size_t off, const char *text)
{
    size_t n = strlen(text);

    if (off > probe->n || n > probe->n - off)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = probe->bytes[off + i];

        if (c >= 'A' && c <= 'Z')
            c = (unsigned char)(c - 'A' + 'a');
        if (c != (unsigned char)text[i])
            return false;
    }
    return true;
}

uint16_t tenon_probe_u16(const struct tenon_probe *probe, size_t off)
{
    const unsigned char *p = probe->bytes + off;

    if (off > probe->n || probe->n - off < 2)
        return 0;
    return (uint16_t)(p[0] | p[1] << 8);
}

uint32_t tenon_probe_u32(const struct tenon_probe *probe, size_t off)
{
    const unsigned char *p = probe->bytes + off;

    if (off > probe->n || probe->n - off < 4)
        return 0;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* A local file header: PK 03 04, ... name length at 26, name at 30. */
size_t tenon_probe_zip_member(const struct tenon_probe *probe, const char **out_name)
{
    enum { NAME_LENGTH = 26, NAME = 30 };
    size_t n = tenon_probe_u16(probe, NAME_LENGTH);

    if (!TENON_PROBE_HAS(probe, 0, "PK\x03\x04") || probe->n < NAME || n > probe->n - NAME)
        return 0;
    *out_name = (const char *)probe->bytes + NAME;
    return n;
}

bool tenon_text_ends_with(const char *text, size_t n, const char *suffix)
{
    size_t len = strlen(suffix);

    return len <= n && memcmp(text + n - len, suffix, len) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

/* What may follow ".part": "1of2", "03", "-aa", "_1" or one letter. */
static bool is_part_number(const char *p)
{
    const char *end;

    if (*p == '-' || *p == '_' || *p == '.')
        p++;
    end = skip_digits(p);
    if (end == p) {
        while (*end >= 'a' && *end <= 'z')
            end++;
        return end != p && end - p <= 2 && *end == '\0';
    }
    if (strncmp(end, "-of-", 4) == 0)
        return is_digit(end[4]) && *skip_digits(end + 4) == '\0';
    if (strncmp(end, "of", 2) == 0)
        return is_digit(end[2]) && *skip_digits(end + 2) == '\0';
    return *end == '\0';
}

bool tenon_name_is_raw_part(const char *name)
{
    static const char *const suffixes[] = {".gguf", ".safetensors", ".bin", ".pt", ".pth"};
    const char *part = strstr(name, ".part");

    if (part != NULL && is_part_number(part + 5))
        return true;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        const char *p = strstr(name, suffixes[i]);

        if (p == NULL)
            continue;
        p += strlen(suffixes[i]);
        if (strncmp(p, "-split-", 7) == 0 && p[7] >= 'a' && p[7] <= 'z')
            return true;
        if (p[0] == '.' && is_digit(p[1]) && *skip_digits(p + 1) == '\0')
            return true;
    }
    return false;
}
