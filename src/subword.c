#include "tenon/subword.h"

#include <string.h>

#include "fail.h"
#include "mem.h"

uint32_t tenon_subword_hash(const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < len; i++) {
        uint32_t byte = p[i] < 0x80 ? p[i] : p[i] | 0xffffff00u;

        hash = (hash ^ byte) * 16777619u;
    }
    return hash;
}

/* Just behind the code point at `i`; bytes that continue one belong to what is before them. */
static size_t after_code_point(const char *text, size_t len, size_t i)
{
    do {
        i++;
    } while (i < len && ((unsigned char)text[i] & 0xc0) == 0x80);
    return i;
}

static void visit_from(const struct tenon_subwords *how, struct tenon_str marked, size_t first,
                       tenon_subword_fn visit, void *user)
{
    size_t end = first;

    for (uint32_t n = 1; n <= how->max_n && end < marked.len; n++) {
        struct tenon_str piece = {marked.data + first, 0};

        end = after_code_point(marked.data, marked.len, end);
        piece.len = end - first;
        if (n >= how->min_n && !(n == 1 && (first == 0 || end == marked.len)))
            visit(user, piece, tenon_subword_hash(piece.data, piece.len) % how->buckets);
    }
}

enum tenon_status tenon_subword_visit(const struct tenon_subwords *how, struct tenon_str word,
                                      tenon_subword_fn visit, void *user, struct tenon_error *err)
{
    struct tenon_str marked;
    size_t len;
    char *text;

    if (how->buckets == 0)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "no buckets for pieces of words");
    text = tenon_size_add(&len, word.len, 2) ? tenon_mem_alloc(len, 1) : NULL;
    if (text == NULL)
        return tenon_fail_memory(err);
    text[0] = '<';
    memcpy(text + 1, word.data, word.len);
    text[len - 1] = '>';
    marked = (struct tenon_str){text, len};
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            visit_from(how, marked, i, visit, user);
    tenon_mem_free(text);
    return TENON_OK;
}
