/* GGUF, versions 1 to 3, in either byte order.
 *
 *   | "GGUF" | version u32 | tensors u64 | pairs u64 |                      u32, u32 in version 1
 *   | key str | type u32 | value |               x pairs
 *   | name str | n_dims u32 | dims u64 x n_dims | type u32 | offset u64 |   x tensors
 *   | zeros up to general.alignment (32 by default) | payloads ... |
 *
 * str: length u64 and bytes. An array is an element type u32, a count u64 and its elements. In
 * version 1 lengths, counts and dims have 32 bits. Dims are stored innermost first, tensor offsets
 * relative to the first payload. A file whose version word has its low half empty is big-endian
 * throughout, payloads included; the magic is not.
 *
 * Reference: the GGUF specification of the ggml project, and what its loader accepts; where the
 * two differ, findings say whose rule is broken. Refused here as by the loader: a key or a tensor
 * name that stands twice (NAME_CLASH), since readers disagree about which one counts. */
#include "gguf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "gguf_hparams.h"
#include "gguf_write.h"
#include "probe.h"

#define NEWEST_VERSION 3

uint64_t tenon_gguf_length(struct tenon_gguf *g)
{
    return g->length_bytes == 4 ? tenon_cursor_u32(&g->cursor) : tenon_cursor_u64(&g->cursor);
}

enum tenon_status tenon_gguf_pass_string(struct tenon_gguf *g, uint64_t *out_off, uint64_t *out_len,
                                         struct tenon_error *err)
{
    uint64_t off = tenon_cursor_offset(&g->cursor);
    uint64_t len = tenon_gguf_length(g);

    if (tenon_cursor_ok(&g->cursor) && len > g->limits->string_bytes)
        return tenon_fail(err, TENON_ERR_LIMIT, off,
                          "a string of %" PRIu64 " bytes, at most %" PRIu64 " are allowed", len,
                          g->limits->string_bytes);
    *out_off = tenon_cursor_skip(&g->cursor, len);
    if (!tenon_cursor_ok(&g->cursor))
        return tenon_cursor_fail(&g->cursor, err);
    *out_len = len;
    return TENON_OK;
}

enum tenon_status tenon_gguf_check_count(const struct tenon_gguf *g, uint64_t n,
                                         uint64_t least_bytes, uint64_t off, const char *what,
                                         struct tenon_error *err)
{
    uint64_t left = tenon_cursor_left(&g->cursor);
    uint64_t bytes;

    if (!tenon_u64_mul(&bytes, n, least_bytes) || bytes > g->limits->header_bytes)
        return tenon_fail(err, TENON_ERR_LIMIT, off,
                          "%" PRIu64 " %s take more than the %" PRIu64
                          " bytes that a header may have",
                          n, what, g->limits->header_bytes);
    if (bytes <= left)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_TRUNCATED, off,
               "%" PRIu64 " %s take at least %" PRIu64 " bytes, but the file ends after %" PRIu64,
               n, what, bytes, left);
    tenon_fail_hint(err, "the download may be incomplete");
    return TENON_ERR_TRUNCATED;
}

/* Records a finding whose text is made already about what stands at `where`. */
static enum tenon_status record(struct tenon_model *model, const struct tenon_meta_entry *where,
                                const char *code, const char *text, struct tenon_error *err)
{
    enum tenon_status st = tenon_model_find_fault(model, code, where->file, where->offset,
                                                  where->key.data, where->key.len, "%s", text);

    return st == TENON_ERR_NO_MEMORY ? tenon_fail_memory(err) : st;
}

enum tenon_status tenon_gguf_find_fault(struct tenon_gguf *g, struct tenon_error *err,
                                        const char *code, uint64_t offset, struct tenon_str subject,
                                        const char *format, ...)
{
    struct tenon_meta_entry where = {.key = subject, .offset = offset, .file = g->file};
    char text[TENON_ERROR_TEXT_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return record(g->model, &where, code, text, err);
}

enum tenon_status tenon_gguf_blame_entry(struct tenon_model *model,
                                         const struct tenon_meta_entry *entry,
                                         struct tenon_error *err, const char *code,
                                         const char *format, ...)
{
    char text[TENON_ERROR_TEXT_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return record(model, entry, code, text, err);
}

/* The version word tells the byte order: versions fit 16 bits. */
static enum tenon_status read_version(struct tenon_gguf *g, struct tenon_error *err)
{
    static const struct tenon_str nothing = {"", 0};
    uint64_t off = tenon_cursor_skip(&g->cursor, 4);
    uint32_t word;

    off = tenon_cursor_ok(&g->cursor) ? off + 4 : off;
    word = tenon_cursor_u32(&g->cursor);
    if (!tenon_cursor_ok(&g->cursor))
        return tenon_cursor_fail(&g->cursor, err);
    if ((word & 0xffff) == 0 && word != 0) {
        g->cursor.swapped = true;
        word = __builtin_bswap32(word);
    }
    if (word == 0 || word > NEWEST_VERSION)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_VERSION, off,
                          "version %u%s, versions 1 to %d can be read", (unsigned)word,
                          g->cursor.swapped ? " (big-endian)" : "", NEWEST_VERSION);
    g->version = word;
    g->length_bytes = word == 1 ? 4 : 8;
    if (word == 1)
        return tenon_gguf_find_fault(g, err, "old_version", off, nothing,
                                     "version 1, which the loader does not read any more");
    if (g->cursor.swapped && word < 3)
        return tenon_gguf_find_fault(g, err, "big_endian_too_old", off, nothing,
                                     "big-endian, which version %u does not provide for",
                                     (unsigned)word);
    return TENON_OK;
}

static enum tenon_status read_counts(struct tenon_gguf *g, struct tenon_error *err)
{
    /* An empty name or key, no dimensions, a value of one byte. */
    uint64_t least_record = g->length_bytes + 4 + 4 + 8;
    uint64_t least_pair = g->length_bytes + 4 + 1;
    uint64_t tensors_off = tenon_cursor_offset(&g->cursor), pairs_off;
    enum tenon_status st;

    g->declared_tensors = tenon_gguf_length(g);
    pairs_off = tenon_cursor_offset(&g->cursor);
    g->declared_pairs = tenon_gguf_length(g);
    if (!tenon_cursor_ok(&g->cursor))
        return tenon_cursor_fail(&g->cursor, err);
    if (g->declared_tensors > g->limits->tensors)
        return tenon_fail(err, TENON_ERR_LIMIT, tensors_off,
                          "%" PRIu64 " tensors, at most %" PRIu64 " are allowed",
                          g->declared_tensors, g->limits->tensors);
    st = tenon_gguf_check_count(g, g->declared_tensors, least_record, tensors_off, "tensors", err);
    if (st == TENON_OK)
        st = tenon_gguf_check_count(g, g->declared_pairs, least_pair, pairs_off, "keys", err);
    return st;
}

/* The pairs stop moving: from now on keys and values are pointers into their buffer. */
static enum tenon_status keep_pairs(struct tenon_gguf *g, struct tenon_error *err)
{
    unsigned char *buf = tenon_cursor_take(&g->cursor);

    if (buf == NULL)
        return tenon_fail_memory(err);
    g->buf = buf;
    return tenon_model_own(g->model, buf, err);
}

/* general.alignment decides where every payload lies, so nothing about it may be doubtful. */
static enum tenon_status read_alignment(struct tenon_gguf *g, struct tenon_error *err)
{
    static const char name[] = TENON_GGUF_KEY_ALIGNMENT;
    const struct tenon_gguf_pair *pair = tenon_gguf_find(g, name);
    struct tenon_str key = {name, sizeof(name) - 1};
    struct tenon_meta_value value;
    int64_t alignment;

    if (pair == NULL)
        return TENON_OK;
    value = tenon_gguf_value(g, pair);
    if (value.type == TENON_META_F32 || value.type == TENON_META_F64 ||
        !tenon_meta_value_int(&value, &alignment) || alignment <= 0 ||
        (alignment & (alignment - 1)) != 0) {
        if (tenon_meta_value_int(&value, &alignment))
            tenon_fail(err, TENON_ERR_CORRUPT, pair->value_off,
                       "an alignment of %" PRId64 ", a power of two is needed", alignment);
        else
            tenon_fail(err, TENON_ERR_CORRUPT, pair->value_off,
                       "the alignment is of type %s, a power of two of type u32 is needed",
                       tenon_meta_type_name(value.type));
        tenon_fail_subject(err, "key", key.data, key.len);
        return TENON_ERR_CORRUPT;
    }
    g->alignment = (uint64_t)alignment;
    if (value.type != TENON_META_U32)
        return tenon_gguf_find_fault(g, err, "key_width", pair->offset, key,
                                     "is of type %s, the loader takes u32 only",
                                     tenon_meta_type_name(value.type));
    if (alignment % 8 != 0)
        return tenon_gguf_find_fault(g, err, "alignment_below_8", pair->offset, key,
                                     "is %" PRId64 ", the specification asks for a multiple of 8",
                                     alignment);
    return TENON_OK;
}

/* Without tensors there is no padding either. */
static enum tenon_status place_data(struct tenon_gguf *g, struct tenon_error *err)
{
    struct tenon_file *file = tenon_model_edit_file(g->model, g->file);
    enum tenon_status st;

    g->alignment = TENON_GGUF_ALIGNMENT;
    st = read_alignment(g, err);
    if (st != TENON_OK)
        return st;
    g->data_start = g->end;
    if (g->declared_tensors != 0 && !tenon_u64_align(&g->data_start, g->end, g->alignment))
        return tenon_fail(err, TENON_ERR_CORRUPT, g->end,
                          "the payloads would begin beyond 64 bits");
    file->header_bytes = g->data_start;
    file->alignment = g->alignment;
    file->version = g->version;
    file->big_endian = g->cursor.swapped;
    return TENON_OK;
}

/* Reads from the first byte to the last of the header, and keeps its pairs. */
static enum tenon_status read_header(struct tenon_gguf *g, struct tenon_error *err)
{
    enum tenon_status st = read_version(g, err);

    if (st == TENON_OK)
        st = read_counts(g, err);
    if (st == TENON_OK)
        st = tenon_gguf_read_pairs(g, err);
    if (st == TENON_OK)
        st = keep_pairs(g, err);
    if (st == TENON_OK)
        st = tenon_gguf_pass_records(g, err);
    if (st == TENON_OK)
        st = place_data(g, err);
    return st;
}

/* The integer named `key` into `*out`, and where its pair stands into `*out_off`. Another type than
 * the loader's is a finding. */
static enum tenon_status find_integer(struct tenon_gguf *g, const char *key,
                                      enum tenon_meta_type wanted, struct tenon_gguf_number *out,
                                      struct tenon_error *err)
{
    const struct tenon_gguf_pair *pair = tenon_gguf_find(g, key);
    struct tenon_meta_value value;
    bool whole;

    out->value = TENON_UNKNOWN;
    out->offset = pair != NULL ? pair->offset : TENON_NO_OFFSET;
    if (pair == NULL)
        return TENON_OK;
    value = tenon_gguf_value(g, pair);
    whole = tenon_meta_value_int(&value, &out->value) && value.type != TENON_META_F32 &&
            value.type != TENON_META_F64;
    if (!whole)
        out->value = TENON_UNKNOWN;
    if (value.type == wanted)
        return TENON_OK;
    return tenon_gguf_find_fault(g, err, whole ? "key_width" : "key_kind", pair->offset,
                                 tenon_gguf_key(g, pair), "is of type %s, the loader takes %s only",
                                 tenon_meta_type_name(value.type), tenon_meta_type_name(wanted));
}

static enum tenon_status find_split(struct tenon_gguf *g, struct tenon_gguf_split *out,
                                    struct tenon_error *err)
{
    const struct tenon_gguf_pair *arch = tenon_gguf_find(g, "general.architecture");
    enum tenon_status st = find_integer(g, TENON_GGUF_KEY_SPLIT_NO, TENON_META_U16, &out->no, err);

    if (st == TENON_OK)
        st = find_integer(g, TENON_GGUF_KEY_SPLIT_COUNT, TENON_META_U16, &out->count, err);
    if (st == TENON_OK)
        st = find_integer(g, TENON_GGUF_KEY_SPLIT_TENSORS, TENON_META_I32, &out->tensors, err);
    out->arch = (struct tenon_str){"", 0};
    out->arch_off = arch != NULL ? arch->offset : TENON_NO_OFFSET;
    if (arch != NULL && arch->type == TENON_META_STRING)
        out->arch = tenon_gguf_value(g, arch).as.str;
    return st;
}

enum tenon_status tenon_gguf_read_file(struct tenon_model *model, uint32_t file,
                                       tenon_gguf_split_fn check, void *user,
                                       struct tenon_error *err)
{
    struct tenon_gguf g = {.model = model,
                           .file = file,
                           .limits = &tenon_model_options(model)->limits,
                           .first_tensor = tenon_model_n_tensors(model)};
    struct tenon_gguf_split split;
    enum tenon_status st;

    tenon_cursor_init(&g.cursor, tenon_model_source(model, file), g.limits->header_bytes);
    st = read_header(&g, err);
    if (st == TENON_OK)
        st = find_split(&g, &split, err);
    if (st == TENON_OK)
        st = check(user, &split, err);
    if (st == TENON_OK)
        st = tenon_gguf_add_pairs(&g, err);
    if (st == TENON_OK)
        st = tenon_gguf_add_tensors(&g, err);
    if (st == TENON_OK)
        st = tenon_gguf_check_layout(&g, err);
    if (st == TENON_OK && file == 0)
        st = tenon_gguf_read_hparams(model, err);
    tenon_mem_free(g.pairs);
    tenon_cursor_release(&g.cursor);
    return st;
}

static int probe_gguf(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 0, "GGUF") ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

const struct tenon_format tenon_format_gguf = {
    .info = {"gguf", "GGUF, versions 1 to 3, either byte order", ".gguf",
             TENON_FORMAT_READ | TENON_FORMAT_WRITE},
    .probe = probe_gguf,
    .read = tenon_gguf_read,
    .open = tenon_gguf_open,
    .check = tenon_gguf_check_vocab,
    .layout = tenon_gguf_layout,
};
