/* Members are found by their quotes and brackets alone: that the text is JSON was seen when the
 * model was opened, and what the text says is read by the strict reader (safetensors_like_entry.c).
 * A file that changed since may say anything: no place is believed without a look. */
#include "safetensors_like_text.h"

#include <string.h>

#include "fail.h"
#include "mem.h"
#include "model_build.h"
#include "safetensors_private.h"

/* What is read at a time, and while it is copied. */
#define WINDOW_BYTES ((size_t)256 * 1024)
#define COPY_BYTES   ((size_t)4 * 1024)

/* Where something ends that does not end in this window. */
#define NOT_HERE SIZE_MAX

enum tenon_status tenon_like_fail_changed(struct tenon_error *err)
{
    return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                      "the header is another one than when the file was opened");
}

/* --- one item of a text in memory --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static size_t pass_blanks(const char *s, size_t n, size_t pos)
{
    while (pos < n && is_blank(s[pos]))
        pos++;
    return pos < n ? pos : NOT_HERE;
}

/* Just behind the string whose quote stands at `pos`. */
static size_t pass_string(const char *s, size_t n, size_t pos)
{
    for (pos++; pos < n && s[pos] != '"'; pos++)
        if (s[pos] == '\\')
            pos++;
    return pos < n ? pos + 1 : NOT_HERE;
}

/* Just behind the number or word at `pos`. */
static size_t pass_word(const char *s, size_t n, size_t pos)
{
    while (pos < n && !is_blank(s[pos]) && memchr(",]}", s[pos], 3) == NULL)
        pos++;
    return pos;
}

/* Just behind the value at `pos`. */
static size_t pass_value(const char *s, size_t n, size_t pos)
{
    size_t depth = 0;

    if (s[pos] != '{' && s[pos] != '[')
        return s[pos] == '"' ? pass_string(s, n, pos) : pass_word(s, n, pos);
    while (pos < n) {
        char c = s[pos];

        if (c == '"') {
            pos = pass_string(s, n, pos);
            continue;
        }
        pos++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            break;
    }
    return pos;
}

enum found { FOUND, FOUND_SHORT, FOUND_OTHER };

/* Finds the item at the beginning of `n` bytes. A byte behind it is in the window, too: without
 * one, it might go on. */
static enum found find_item(const char *s, size_t n, struct tenon_like_item *out)
{
    size_t pos = 0;

    while (pos < n && (s[pos] == ',' || is_blank(s[pos])))
        pos++;
    if (pos == n)
        return FOUND_SHORT;
    out->key = out->key_end = out->value = out->value_end = pos;
    out->end = s[pos] == '}';
    if (out->end || s[pos] != '"')
        return out->end ? FOUND : FOUND_OTHER;
    out->key_end = pass_string(s, n, pos);
    pos = out->key_end < n ? pass_blanks(s, n, out->key_end) : NOT_HERE;
    if (pos < n && s[pos] != ':')
        return FOUND_OTHER;
    out->value = pos < n ? pass_blanks(s, n, pos + 1) : NOT_HERE;
    out->value_end = out->value < n ? pass_value(s, n, out->value) : NOT_HERE;
    return out->value_end < n ? FOUND : FOUND_SHORT;
}

/* --- the window --- */

static bool make_room(struct tenon_like_walk *walk)
{
    size_t room = walk->len < WINDOW_BYTES ? (size_t)walk->len : WINDOW_BYTES;
    char *bytes;

    if (walk->room > 0 && !tenon_size_mul(&room, walk->room, 2))
        return false;
    bytes = tenon_mem_resize(walk->bytes, room, 1);
    if (bytes == NULL)
        return false;
    walk->bytes = bytes;
    walk->room = room;
    return true;
}

/* Lets go of what was handed out, and reads on. */
static enum tenon_status read_on(struct tenon_like_walk *walk, struct tenon_error *err)
{
    size_t kept = walk->n - walk->next, n;
    uint64_t left;
    enum tenon_status st;

    if (kept > 0 && walk->next > 0)
        memmove(walk->bytes, walk->bytes + walk->next, kept);
    walk->at += walk->next;
    walk->next = 0;
    walk->n = kept;
    left = walk->len - walk->at - kept;
    if (left == 0)
        return tenon_like_fail_changed(err);
    if (kept == walk->room && !make_room(walk))
        return tenon_fail_memory(err);
    n = walk->room - kept;
    if (n > left)
        n = (size_t)left;
    st = tenon_source_read(walk->source, TENON_SAFETENSORS_PREFIX + walk->at + kept,
                           walk->bytes + kept, n, err);
    if (st == TENON_OK)
        walk->n = kept + n;
    return st;
}

/* --- walking --- */

enum tenon_status tenon_like_walk_begin(struct tenon_like_walk *walk,
                                        const struct tenon_model *model, uint32_t file,
                                        struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    walk->source = tenon_model_source(model, file);
    walk->len = tenon_model_file(model, file)->header_bytes - TENON_SAFETENSORS_PREFIX;
    while (st == TENON_OK && (walk->next == walk->n || walk->bytes[walk->next] != '{')) {
        if (walk->next == walk->n)
            st = read_on(walk, err);
        else
            walk->next++;
    }
    if (st != TENON_OK)
        return st;
    walk->next++;
    walk->open = walk->at + walk->next;
    return TENON_OK;
}

enum tenon_status tenon_like_walk_next(struct tenon_like_walk *walk, struct tenon_like_item *out,
                                       struct tenon_error *err)
{
    enum found found;

    while ((found = find_item(walk->bytes + walk->next, walk->n - walk->next, out)) ==
           FOUND_SHORT) {
        enum tenon_status st = read_on(walk, err);

        if (st != TENON_OK)
            return st;
    }
    if (found != FOUND)
        return tenon_like_fail_changed(err);
    out->text = walk->bytes + walk->next;
    out->at = walk->at + walk->next;
    walk->next += out->end ? out->key + 1 : out->value_end;
    return TENON_OK;
}

enum tenon_status tenon_like_walk_tail(struct tenon_like_walk *walk, uint64_t *out_blanks,
                                       struct tenon_error *err)
{
    uint64_t blanks = 0;
    enum tenon_status st = TENON_OK;

    for (;;) {
        for (; walk->next < walk->n; walk->next++)
            blanks = walk->bytes[walk->next] == ' ' ? blanks + 1 : 0;
        if (st != TENON_OK || walk->at + walk->n == walk->len)
            break;
        st = read_on(walk, err);
    }
    *out_blanks = blanks;
    return st;
}

void tenon_like_walk_release(struct tenon_like_walk *walk)
{
    tenon_mem_free(walk->bytes);
    walk->bytes = NULL;
}

enum tenon_status tenon_like_put_range(const struct tenon_model *model, uint32_t file,
                                       uint64_t from, uint64_t to, struct tenon_window *window)
{
    const struct tenon_source *source = tenon_model_source(model, file);
    char bytes[COPY_BYTES];

    while (from < to) {
        size_t n = to - from < sizeof(bytes) ? (size_t)(to - from) : sizeof(bytes);
        enum tenon_status st =
            tenon_source_read(source, TENON_SAFETENSORS_PREFIX + from, bytes, n, window->err);

        if (st != TENON_OK)
            return st;
        tenon_window_put(window, bytes, n);
        from += n;
    }
    return window->st;
}
