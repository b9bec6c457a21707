/* Texts that end up under the name of a model: pointers, web pages, error messages. */
#include <inttypes.h>
#include <string.h>

#include "fail.h"
#include "mem.h"
#include "probe.h"
#include "text.h"

/* A Git LFS pointer, of less than 1024 bytes:
 *   version https://git-lfs.github.com/spec/v1
 *   oid sha256:<64 hex digits>
 *   size <decimal> */
static int probe_lfs(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 0, "version https://git-lfs.github.com/spec/") ? TENON_PROBE_MAGIC
                                                                                 : TENON_PROBE_NO;
}

/* The number behind "\nsize ", false when there is none. */
static bool read_lfs_size(const struct tenon_probe *probe, uint64_t *out)
{
    size_t off = tenon_probe_find(probe, "\nsize ", 6);
    uint64_t size = 0;
    bool any = false;

    if (off == probe->n)
        return false;
    for (off += 6; off < probe->n && probe->bytes[off] >= '0' && probe->bytes[off] <= '9'; off++) {
        if (!tenon_u64_mul(&size, size, 10) ||
            !tenon_u64_add(&size, size, (uint64_t)(probe->bytes[off] - '0')))
            return false;
        any = true;
    }
    *out = size;
    return any;
}

/* The digits behind "oid sha256:" into `oid`; false unless there are exactly 64. */
static bool read_lfs_oid(const struct tenon_probe *probe, char oid[65])
{
    size_t off = tenon_probe_find(probe, "\noid sha256:", 12);
    size_t n = 0;

    if (off == probe->n)
        return false;
    off += 12;
    while (n < 64 && off + n < probe->n && tenon_hex_digit(probe->bytes[off + n]) >= 0) {
        oid[n] = (char)probe->bytes[off + n];
        n++;
    }
    oid[n] = '\0';
    return n == 64;
}

static enum tenon_status explain_lfs(const struct tenon_probe *probe, struct tenon_error *err)
{
    uint64_t size = 0;
    char oid[65] = "";

    if (read_lfs_size(probe, &size) && read_lfs_oid(probe, oid))
        tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0,
                   "a Git LFS pointer of %" PRIu64 " bytes, not the model: the real file has "
                   "%" PRIu64 " bytes, sha256 %s",
                   probe->size, size, oid);
    else
        tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0,
                   "a damaged Git LFS pointer of %" PRIu64 " bytes, not the model", probe->size);
    tenon_fail_hint(err, "fetch the real file with 'git lfs pull', or download it again");
    return TENON_ERR_NOT_RECOGNISED;
}

const struct tenon_format tenon_format_lfs_pointer = {
    .info = {"lfs-pointer", "Git LFS pointer in place of the file", "", TENON_FORMAT_NAMED},
    .probe = probe_lfs,
    .explain = explain_lfs,
};

static int probe_web_page(const struct tenon_probe *probe)
{
    static const char *const openings[] = {"<!doctype", "<html", "<head", "<body",
                                           "<?xml",     "<!--",  "<error"};
    size_t start = tenon_probe_text_start(probe);

    for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
        if (tenon_probe_has_nocase(probe, start, openings[i]))
            return TENON_PROBE_MAGIC;
    }
    return TENON_PROBE_NO;
}

/* What stands between <title> and the next tag, up to `n` bytes of it. */
static size_t find_title(const struct tenon_probe *probe, const char **out)
{
    size_t off = 0, n = 0;

    while (off < probe->n && !tenon_probe_has_nocase(probe, off, "<title>"))
        off++;
    if (off == probe->n)
        return 0;
    off += 7;
    while (off + n < probe->n && probe->bytes[off + n] != '<')
        n++;
    *out = (const char *)probe->bytes + off;
    return n;
}

static enum tenon_status explain_web_page(const struct tenon_probe *probe, struct tenon_error *err)
{
    const char *title = "";
    size_t n = find_title(probe, &title);
    char clean[128];

    tenon_text_sanitise(clean, sizeof(clean), title, n);
    if (n != 0)
        tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0, "an HTML page titled '%s', not a model",
                   clean);
    else
        tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0, "an HTML or XML page, not a model");
    tenon_fail_hint(err, "the server answered with a page: check the address and log in if needed");
    return TENON_ERR_NOT_RECOGNISED;
}

const struct tenon_format tenon_format_web_page = {
    .info = {"web-page", "HTML or XML page in place of the file", ".html .htm .xml",
             TENON_FORMAT_NAMED},
    .probe = probe_web_page,
    .explain = explain_web_page,
};

/* An object or array; what follows the bracket keeps binary headers apart. */
static int probe_json(const struct tenon_probe *probe)
{
    size_t off = tenon_probe_text_start(probe);
    const char *allowed;

    if (off == probe->n || (probe->bytes[off] != '{' && probe->bytes[off] != '['))
        return TENON_PROBE_NO;
    allowed = probe->bytes[off] == '{' ? "\"}" : "\"{}[]-0123456789tfn";
    off++;
    while (off < probe->n && strchr(" \t\r\n", probe->bytes[off]) != NULL && probe->bytes[off] != 0)
        off++;
    if (off == probe->n || probe->bytes[off] == 0 || strchr(allowed, probe->bytes[off]) == NULL)
        return TENON_PROBE_NO;
    return TENON_PROBE_SHAPE;
}

static bool is_error_body(const struct tenon_probe *probe)
{
    return tenon_probe_find(probe, "\"error\"", 7) < probe->n ||
           tenon_probe_find(probe, "\"message\"", 9) < probe->n;
}

static enum tenon_status explain_json(const struct tenon_probe *probe, struct tenon_error *err)
{
    enum { SHOWN = 200 };
    char clean[256];

    if (is_error_body(probe) && probe->size < TENON_PROBE_BYTES) {
        tenon_text_sanitise(clean, sizeof(clean), (const char *)probe->bytes,
                            probe->n < SHOWN ? probe->n : SHOWN);
        tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0, "a JSON error message, not a model: %s",
                   clean);
        tenon_fail_hint(err, "the server refused: check the address and log in if needed");
    } else {
        tenon_fail(err, TENON_ERR_NOT_RECOGNISED, 0, "a JSON text, not a model file");
        tenon_fail_hint(err, "to open a Hugging Face folder, name the folder");
    }
    return TENON_ERR_NOT_RECOGNISED;
}

const struct tenon_format tenon_format_json = {
    .info = {"json", "JSON text, or a server's error message", ".json", TENON_FORMAT_NAMED},
    .probe = probe_json,
    .explain = explain_json,
};
