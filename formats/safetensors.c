/* safetensors
 *
 *   | N: u64 | header: N bytes of JSON, padded with blanks | payloads, packed, little-endian |
 *
 * The header maps names to {"dtype": text, "shape": [u64 ...], "data_offsets": [begin, end]}, the
 * offsets counting from the end of the header; the reserved name __metadata__ maps to an object of
 * strings. Payloads must cover the data exactly: no hole, no overlap, nothing after the last.
 * (Two names on one range are read, and reported: the reference reader refuses them.)
 *
 * Source: the format's specification and the behaviour of the reference reader, 0.8.0. Stricter
 * than that reader: a name that stands twice, \u0000 in a name, and an entry written as an array
 * are errors (observations in lenient mode). Shapes: whether one is legal does not depend on the
 * order of its dimensions, so zeros do not excuse an overflow. */
#include "safetensors_private.h"

#include <string.h>

#include "bytes.h"
#include "fail.h"
#include "hf.h"
#include "hf_check.h"
#include "probe.h"
#include "safetensors_write.h"

/* A header that starts with an object holding something that looks like a key, or nothing. */
static bool looks_like_header(const unsigned char *text, size_t n)
{
    size_t pos = 0;

    while (pos < n && (text[pos] == ' ' || (text[pos] >= '\t' && text[pos] <= '\r')))
        pos++;
    if (pos == n || text[pos] != '{')
        return false;
    pos++;
    while (pos < n && (text[pos] == ' ' || (text[pos] >= '\t' && text[pos] <= '\r')))
        pos++;
    return pos == n || text[pos] == '"' || text[pos] == '}';
}

static int probe_safetensors(const struct tenon_probe *probe)
{
    int by_name = tenon_text_ends_with(probe->name, strlen(probe->name), ".safetensors")
                      ? TENON_PROBE_NAME
                      : TENON_PROBE_NO;
    uint64_t n;

    if (probe->n <= TENON_SAFETENSORS_PREFIX)
        return by_name;
    n = tenon_load_u64(probe->bytes, false);
    if (n < 2 || n > UINT32_MAX ||
        !looks_like_header(probe->bytes + TENON_SAFETENSORS_PREFIX,
                           probe->n - TENON_SAFETENSORS_PREFIX))
        return by_name;
    return TENON_PROBE_SHAPE + by_name;
}

static enum tenon_status check_length(const struct tenon_model *model, uint64_t n, uint64_t size,
                                      struct tenon_error *err)
{
    uint64_t limit = tenon_model_options(model)->limits.safetensors_header;
    uint64_t left = size - TENON_SAFETENSORS_PREFIX;

    if (limit > UINT32_MAX)
        limit = UINT32_MAX; /* places in the header are kept in 32 bits */
    if (n > limit) {
        tenon_fail(err, TENON_ERR_LIMIT, 0, "a header of %llu bytes, at most %llu allowed",
                   (unsigned long long)n, (unsigned long long)limit);
        if (n > left)
            tenon_fail_hint(err, "the first 8 bytes are no header length: this is not a "
                                 "safetensors file, or its start is missing");
        return TENON_ERR_LIMIT;
    }
    if (n > left) {
        tenon_fail(err, TENON_ERR_TRUNCATED, size,
                   "the header takes %llu bytes, but the file ends %llu bytes before its end",
                   (unsigned long long)n, (unsigned long long)(n - left));
        tenon_fail_hint(err, "the download may be incomplete");
        return TENON_ERR_TRUNCATED;
    }
    return TENON_OK;
}

/* Reads length and header. */
static enum tenon_status load_header(struct tenon_safetensors_reader *r, struct tenon_error *err)
{
    const struct tenon_source *source = tenon_model_source(r->model, r->file);
    uint64_t size = tenon_source_size(source), n;
    unsigned char prefix[TENON_SAFETENSORS_PREFIX];
    enum tenon_status st;

    if (size < TENON_SAFETENSORS_PREFIX)
        return tenon_fail(err, TENON_ERR_TRUNCATED, size,
                          "%llu bytes, but a safetensors file starts with a length of 8 bytes",
                          (unsigned long long)size);
    st = tenon_source_read(source, 0, prefix, sizeof(prefix), err);
    if (st != TENON_OK)
        return st;
    n = tenon_load_u64(prefix, false);
    st = check_length(r->model, n, size, err);
    if (st != TENON_OK)
        return st;
    if (!tenon_scroll_new(&r->header, (size_t)n))
        return tenon_fail_memory(err);
    r->data_start = TENON_SAFETENSORS_PREFIX + n; /* at most the file's size */
    r->data_bytes = size - r->data_start;
    st = tenon_source_read(source, TENON_SAFETENSORS_PREFIX, r->header.data, (size_t)n, err);
    r->starts_with_brace = st == TENON_OK && (n == 0 || r->header.data[0] == '{');
    return st;
}

size_t tenon_safetensors_n_entries(const struct tenon_safetensors_reader *r)
{
    size_t kept = tenon_model_n_tensors(r->model) - r->first_tensor;

    return kept + r->n_passed; /* cannot overflow: each has its bytes in the header */
}

struct tenon_safetensors_span tenon_safetensors_entry(const struct tenon_safetensors_reader *r,
                                                      size_t i)
{
    size_t n = tenon_model_n_tensors(r->model) - r->first_tensor;
    const struct tenon_tensor *t;

    if (i >= n)
        return r->passed[i - n];
    t = tenon_model_tensor(r->model, r->first_tensor + i);
    return (struct tenon_safetensors_span){.begin = t->offset - r->data_start,
                                           .end = t->offset - r->data_start + t->bytes,
                                           .name = t->name,
                                           .offset = t->record_offset};
}

/* The name of the entry whose key stands at `offset`. Once a tally. */
static struct tenon_str find_name(const struct tenon_safetensors_reader *r, uint64_t offset)
{
    size_t n = tenon_safetensors_n_entries(r);

    for (size_t i = 0; i < n; i++) {
        struct tenon_safetensors_span span = tenon_safetensors_entry(r, i);

        if (span.offset == offset)
            return span.name;
    }
    return (struct tenon_str){"", 0};
}

/* Records one finding for all entries of a tally. */
static enum tenon_status report_tally(const struct tenon_safetensors_reader *r, const char *code,
                                      const struct tenon_safetensors_tally *tally, const char *what)
{
    struct tenon_str name;

    if (tally->n == 0)
        return TENON_OK;
    name = find_name(r, tally->offset);
    return tenon_model_find_fault(r->model, code, r->file, tally->offset, name.data, name.len,
                                  "%llu of %zu tensors %s", (unsigned long long)tally->n,
                                  tenon_safetensors_n_entries(r), what);
}

static enum tenon_status report_findings(const struct tenon_safetensors_reader *r)
{
    enum tenon_status st = TENON_OK;

    if (!r->starts_with_brace)
        st = tenon_model_find_fault(r->model, "header_not_at_brace", r->file,
                                    TENON_SAFETENSORS_PREFIX, NULL, 0,
                                    "white space stands before the header's opening brace");
    if (st == TENON_OK)
        st = report_tally(r, "unknown_dtype", &r->unknown_dtype,
                          "have a dtype that safetensors does not define");
    if (st == TENON_OK)
        st = report_tally(r, "unknown_field", &r->unknown_field,
                          "have a field that safetensors does not define");
    if (st == TENON_OK)
        st = report_tally(r, "misaligned", &r->misaligned,
                          "do not start at a multiple of their element size");
    if (st == TENON_OK)
        st = report_tally(r, "alias_refused", &r->alias,
                          "use bytes that another name uses, which the reference reader refuses");
    if (st == TENON_OK)
        st = report_tally(r, "array_entry", &r->array_form,
                          "are described by an array where an object is due");
    if (st == TENON_OK)
        st = report_tally(r, "nul_in_name", &r->nul_name, "have a NUL character in their name");
    if (st == TENON_OK && r->n_superseded != 0)
        st = tenon_model_find_fault(r->model, "duplicate_key", r->file, r->superseded[0], NULL, 0,
                                    "%zu keys stand twice; the last of them counts",
                                    r->n_superseded);
    return st;
}

enum tenon_status tenon_safetensors_read(struct tenon_model *model, uint32_t file,
                                         tenon_safetensors_keep_fn keep, void *user,
                                         struct tenon_error *err)
{
    struct tenon_safetensors_reader r = {.model = model, .file = file, .keep = keep, .user = user};
    struct tenon_file *info = tenon_model_edit_file(model, file);
    enum tenon_status st;

    r.lenient = tenon_model_options(model)->lenient;
    r.first_tensor = tenon_model_n_tensors(model);
    info->format = tenon_format_safetensors.info.name;
    st = load_header(&r, err);
    if (st == TENON_OK)
        info->header_bytes = r.data_start;
    if (st == TENON_OK && r.lenient)
        st = tenon_safetensors_supersede(&r, err);
    if (st == TENON_OK)
        st = tenon_safetensors_parse(&r, err);
    tenon_scroll_release(&r.header);
    if (st == TENON_OK)
        st = tenon_safetensors_cover(&r, err);
    if (st == TENON_OK && report_findings(&r) != TENON_OK)
        st = tenon_fail_memory(err);
    tenon_mem_free(r.superseded);
    tenon_mem_free(r.passed);
    tenon_arena_release(&r.arena);
    return st;
}

static enum tenon_status read_all(struct tenon_model *model, uint32_t file, struct tenon_error *err)
{
    return tenon_safetensors_read(model, file, NULL, NULL, err);
}

const struct tenon_format tenon_format_safetensors = {
    .info = {.name = "safetensors",
             .summary = "safetensors: JSON header and packed tensors",
             .extensions = ".safetensors",
             .flags = TENON_FORMAT_READ | TENON_FORMAT_WRITE},
    .probe = probe_safetensors,
    .read = read_all,
    .open = tenon_hf_open_file,
    .check = tenon_hf_check,
    .layout = tenon_safetensors_layout,
};
