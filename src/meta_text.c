#include "meta_text.h"

#include <string.h>

#include "fail.h"
#include "meta_text_private.h"
#include "text.h"

/* The end of the key of a string whose pair would read as something else without it. */
static const char string_end[] = ":string";

static bool equals(const struct tenon_meta_buffer *b, struct tenon_str text)
{
    return b->n == text.len && (text.len == 0 || memcmp(b->data, text.data, text.len) == 0);
}

/* Whether a pair of texts is exactly what some typed pair that is no string in UTF-8 is written
 * as; that pair is `*out`, with what it needs in `b`. */
static bool reads_as_typed(const struct tenon_meta_entry *text, struct tenon_meta_buffer *b,
                           struct tenon_meta_entry *out)
{
    struct tenon_meta_buffer key = {0}, value = {0};
    bool same, hex;

    if (!tenon_meta_parse(b, text, out))
        return false;
    hex = !b->failed && tenon_meta_needs_hex(out);
    if (b->failed || (out->type == TENON_META_STRING && !hex))
        return false;
    tenon_meta_spell(out, hex, &key, &value);
    b->failed = key.failed || value.failed;
    same = !b->failed && equals(&key, text->key) && equals(&value, text->value.as.str);
    tenon_mem_free(key.data);
    tenon_mem_free(value.data);
    return same;
}

/* A string's key without all of its ends ":string". With one more or less of them a pair reads as
 * a string as well, if without any it reads as something else: so the answer for the bare key is
 * the answer for all. */
static struct tenon_meta_entry bare(const struct tenon_meta_entry *text)
{
    size_t n = sizeof(string_end) - 1;
    struct tenon_meta_entry out = *text;

    while (out.key.len > n && memcmp(out.key.data + out.key.len - n, string_end, n) == 0)
        out.key.len -= n;
    return out;
}

static enum tenon_status check_spelled(const struct tenon_meta_entry *typed,
                                       struct tenon_error *err)
{
    const char *why = NULL;

    if (!tenon_utf8_valid(typed->key.data, typed->key.len))
        why = "a key that is not UTF-8 has no form as text";
    else if (typed->type == TENON_META_ARRAY && typed->item == TENON_META_ARRAY)
        why = "an array of arrays has no form as text";
    if (why == NULL)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, typed->offset, "%s", why);
    tenon_fail_subject(err, "key", typed->key.data, typed->key.len);
    return TENON_ERR_CANNOT_REPRESENT;
}

enum tenon_status tenon_meta_to_text(struct tenon_arena *arena,
                                     const struct tenon_meta_entry *typed,
                                     struct tenon_meta_entry *out, struct tenon_error *err)
{
    struct tenon_meta_buffer key = {0}, value = {0};
    struct tenon_meta_entry text = {.type = TENON_META_STRING,
                                    .item = TENON_META_STRING,
                                    .count = 1,
                                    .offset = typed->offset,
                                    .file = typed->file};
    enum tenon_status st = check_spelled(typed, err);
    bool hex;

    if (st != TENON_OK)
        return st;
    hex = tenon_meta_needs_hex(typed);
    if (typed->type != TENON_META_STRING || hex) {
        tenon_meta_spell(typed, hex, &key, &value);
    } else {
        struct tenon_meta_entry stem = bare(typed), read;
        struct tenon_meta_buffer scratch = {0};
        bool marked = reads_as_typed(&stem, &scratch, &read);

        key.failed = scratch.failed;
        tenon_mem_free(scratch.data);
        tenon_meta_put(&key, typed->key.data, typed->key.len);
        if (marked)
            tenon_meta_put(&key, string_end, sizeof(string_end) - 1);
        tenon_meta_put(&value, typed->value.as.str.data, typed->value.as.str.len);
    }
    text.key = (struct tenon_str){NULL, key.n};
    text.value = (struct tenon_meta_value){.type = TENON_META_STRING};
    if (!key.failed && !value.failed) {
        text.key.data = tenon_arena_text(arena, key.data != NULL ? key.data : "", key.n);
        text.value.as.str.len = value.n;
        text.value.as.str.data =
            tenon_arena_text(arena, value.data != NULL ? value.data : "", value.n);
    }
    tenon_mem_free(key.data);
    tenon_mem_free(value.data);
    if (text.key.data == NULL || text.value.as.str.data == NULL)
        return tenon_fail_memory(err);
    *out = text;
    return TENON_OK;
}

/* Moves what a pair has in a buffer to the arena. */
static bool keep(struct tenon_arena *arena, struct tenon_meta_entry *entry,
                 const struct tenon_meta_buffer *b)
{
    char *copy = tenon_arena_text(arena, b->data != NULL ? b->data : "", b->n);

    if (entry->type == TENON_META_ARRAY)
        entry->raw = (const unsigned char *)copy;
    else if (entry->type == TENON_META_STRING)
        entry->value.as.str.data = copy;
    return copy != NULL;
}

enum tenon_status tenon_meta_from_text(struct tenon_arena *arena,
                                       const struct tenon_meta_entry *text,
                                       struct tenon_meta_entry *out, struct tenon_error *err)
{
    struct tenon_meta_entry stem = bare(text), typed = {0};
    struct tenon_meta_buffer b = {0};
    bool marked = reads_as_typed(&stem, &b, &typed), kept = !b.failed;

    if (!marked) {
        typed = *text;
    } else if (stem.key.len != text->key.len) {
        typed = *text;
        typed.key.len -= sizeof(string_end) - 1;
    } else if (kept) {
        kept = keep(arena, &typed, &b);
    }
    tenon_mem_free(b.data);
    if (!kept)
        return tenon_fail_memory(err);
    *out = typed;
    return TENON_OK;
}
