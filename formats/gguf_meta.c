/* The key-value pairs of a GGUF header.
 *
 * Values are checked and passed over once, then described where they stand: an array of 150,000
 * strings costs one look at each length and no memory of its own. */
#include "gguf.h"

#include <inttypes.h>
#include <string.h>

#include "fail.h"
#include "meta_packed.h"
#include "text.h"

/* Keys beyond this are against the specification. */
#define SPEC_KEY_BYTES 65535

#define N_TYPES (TENON_META_F64 + 1)

/* An array that is being passed over. */
struct level {
    enum tenon_meta_type item;
    uint64_t left; /* elements */
};

static enum tenon_status fail_type(uint64_t off, uint32_t type, struct tenon_error *err)
{
    return tenon_fail(err, TENON_ERR_CORRUPT, off, "value type %u, at most %d is known",
                      (unsigned)type, N_TYPES - 1);
}

/* The head of an array: what it holds, and whether that many can follow at all. */
static enum tenon_status read_array_head(struct tenon_gguf *g, struct level *out,
                                         struct tenon_error *err)
{
    uint64_t off = tenon_cursor_offset(&g->cursor);
    uint32_t item = tenon_cursor_u32(&g->cursor);
    uint64_t count_off = tenon_cursor_offset(&g->cursor);
    uint64_t count = tenon_gguf_length(g);
    uint64_t least;

    if (item >= N_TYPES)
        return fail_type(off, item, err);
    if (!tenon_cursor_ok(&g->cursor))
        return tenon_cursor_fail(&g->cursor, err);
    if (count > g->limits->array_elements)
        return tenon_fail(err, TENON_ERR_LIMIT, count_off,
                          "an array of %" PRIu64 " elements, at most %" PRIu64 " are allowed",
                          count, g->limits->array_elements);
    out->item = (enum tenon_meta_type)item;
    out->left = count;
    least = tenon_meta_type_bytes(out->item);
    if (out->item == TENON_META_STRING)
        least = g->length_bytes;
    if (out->item == TENON_META_ARRAY)
        least = sizeof(item) + g->length_bytes;
    return tenon_gguf_check_count(g, count, least, count_off, "array elements", err);
}

/* Passes over as many of `count` strings as are loaded already; returns how many that were. Each
 * length says where the next one stands, so this takes what a load and two additions take: the
 * usual kind of file has a loop of its own, without a choice inside. */
static uint64_t pass_loaded_strings(struct tenon_gguf *g, uint64_t count)
{
    struct tenon_cursor *c = &g->cursor;
    const unsigned char *start = tenon_cursor_at(c, c->pos), *p = start;
    const unsigned char *end = tenon_cursor_at(c, c->loaded);
    uint64_t done = 0, len, limit = g->limits->string_bytes;

    if (g->length_bytes == 8 && !c->swapped) {
        for (; done < count && (size_t)(end - p) >= 8; done++) {
            len = tenon_load_u64(p, false);
            if (len > (size_t)(end - p) - 8 || len > limit)
                break;
            p += 8 + len;
        }
    } else {
        for (; done < count && (size_t)(end - p) >= g->length_bytes; done++) {
            len = g->length_bytes == 4 ? tenon_load_u32(p, c->swapped)
                                       : tenon_load_u64(p, c->swapped);
            if (len > (size_t)(end - p) - g->length_bytes || len > limit)
                break;
            p += g->length_bytes + len;
        }
    }
    tenon_cursor_skip(c, (uint64_t)(p - start));
    return done;
}

static enum tenon_status pass_strings(struct tenon_gguf *g, uint64_t count, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    uint64_t off, len;

    while (st == TENON_OK && count > 0) {
        count -= pass_loaded_strings(g, count);
        if (count == 0)
            break;
        st = tenon_gguf_pass_string(g, &off, &len, err);
        count--;
    }
    return st;
}

/* Passes over the elements of an array, whatever is nested in it. */
static enum tenon_status pass_elements(struct tenon_gguf *g, struct level outer,
                                       struct tenon_error *err)
{
    struct level stack[TENON_GGUF_MAX_NESTING] = {outer};
    uint32_t allowed =
        g->limits->nesting < TENON_GGUF_MAX_NESTING ? g->limits->nesting : TENON_GGUF_MAX_NESTING;
    enum tenon_status st = TENON_OK;
    uint32_t depth = 1;

    while (st == TENON_OK && depth > 0) {
        struct level *top = &stack[depth - 1];

        if (top->item == TENON_META_ARRAY && top->left > 0) {
            top->left--;
            if (depth >= allowed)
                return tenon_fail(err, TENON_ERR_LIMIT, tenon_cursor_offset(&g->cursor),
                                  "arrays nested more than %u deep", (unsigned)allowed);
            st = read_array_head(g, &stack[depth], err);
            depth++;
            continue;
        }
        if (top->item == TENON_META_STRING)
            st = pass_strings(g, top->left, err);
        else if (top->item != TENON_META_ARRAY) /* the count was checked: no overflow */
            tenon_cursor_skip(&g->cursor, top->left * tenon_meta_type_bytes(top->item));
        if (st == TENON_OK && !tenon_cursor_ok(&g->cursor))
            st = tenon_cursor_fail(&g->cursor, err);
        depth--;
    }
    return st;
}

static enum tenon_status read_array(struct tenon_gguf *g, struct tenon_gguf_pair *pair,
                                    struct tenon_error *err)
{
    struct level outer = {TENON_META_U8, 0};
    enum tenon_status st = read_array_head(g, &outer, err);

    if (st != TENON_OK)
        return st;
    pair->item = (uint8_t)outer.item;
    pair->count = outer.left;
    pair->value_off = tenon_cursor_offset(&g->cursor);
    st = pass_elements(g, outer, err);
    pair->bytes = tenon_cursor_offset(&g->cursor) - pair->value_off;
    return st;
}

static enum tenon_status read_value(struct tenon_gguf *g, struct tenon_gguf_pair *pair,
                                    struct tenon_error *err)
{
    pair->item = pair->type;
    pair->count = 1;
    if (pair->type == TENON_META_ARRAY)
        return read_array(g, pair, err);
    if (pair->type == TENON_META_STRING)
        return tenon_gguf_pass_string(g, &pair->value_off, &pair->bytes, err);
    pair->bytes = tenon_meta_type_bytes((enum tenon_meta_type)pair->type);
    pair->value_off = tenon_cursor_skip(&g->cursor, pair->bytes);
    return tenon_cursor_ok(&g->cursor) ? TENON_OK : tenon_cursor_fail(&g->cursor, err);
}

static enum tenon_status read_pair(struct tenon_gguf *g, struct tenon_gguf_pair *pair,
                                   struct tenon_error *err)
{
    enum tenon_status st;
    uint64_t type_off;
    uint32_t type;

    pair->offset = tenon_cursor_offset(&g->cursor);
    st = tenon_gguf_pass_string(g, &pair->key_off, &pair->key_len, err);
    if (st != TENON_OK)
        return st;
    type_off = tenon_cursor_offset(&g->cursor);
    type = tenon_cursor_u32(&g->cursor);
    pair->type = (uint8_t)type;
    if (!tenon_cursor_ok(&g->cursor))
        st = tenon_cursor_fail(&g->cursor, err);
    else if (type >= N_TYPES)
        st = fail_type(type_off, type, err);
    else
        st = read_value(g, pair, err);
    if (st != TENON_OK)
        tenon_fail_subject(err, "key", (const char *)tenon_cursor_at(&g->cursor, pair->key_off),
                           (size_t)pair->key_len);
    return st;
}

enum tenon_status tenon_gguf_read_pairs(struct tenon_gguf *g, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (uint64_t i = 0; st == TENON_OK && i < g->declared_pairs; i++) {
        struct tenon_gguf_pair *grown =
            tenon_mem_grow(g->pairs, &g->pair_room, g->n_pairs, sizeof(*grown));

        if (grown == NULL)
            return tenon_fail_memory(err);
        g->pairs = grown;
        st = read_pair(g, &g->pairs[g->n_pairs], err);
        if (st == TENON_OK)
            g->n_pairs++;
    }
    return st;
}

struct tenon_str tenon_gguf_key(const struct tenon_gguf *g, const struct tenon_gguf_pair *pair)
{
    return (struct tenon_str){(const char *)tenon_gguf_at(g, pair->key_off), (size_t)pair->key_len};
}

const struct tenon_gguf_pair *tenon_gguf_find(const struct tenon_gguf *g, const char *key)
{
    size_t len = strlen(key);

    for (size_t i = 0; i < g->n_pairs; i++) {
        if (g->pairs[i].key_len == len &&
            memcmp(tenon_gguf_key(g, &g->pairs[i]).data, key, len) == 0)
            return &g->pairs[i];
    }
    return NULL;
}

struct tenon_meta_value tenon_gguf_value(const struct tenon_gguf *g,
                                         const struct tenon_gguf_pair *pair)
{
    struct tenon_meta_value value = {.type = (enum tenon_meta_type)pair->type};

    if (value.type == TENON_META_STRING)
        value.as.str = (struct tenon_str){(const char *)tenon_gguf_at(g, pair->value_off),
                                          (size_t)pair->bytes};
    else if (value.type != TENON_META_ARRAY)
        tenon_meta_decode(&value, value.type, tenon_gguf_at(g, pair->value_off), g->cursor.swapped);
    return value;
}

static bool is_ascii(struct tenon_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.data[i] < 0x20 || (unsigned char)s.data[i] > 0x7e)
            return false;
    }
    return true;
}

static enum tenon_status check_key(struct tenon_gguf *g, const struct tenon_gguf_pair *pair,
                                   struct tenon_error *err)
{
    struct tenon_str key = tenon_gguf_key(g, pair);

    if (key.len == 0)
        return tenon_gguf_find_fault(g, err, "key_empty", pair->offset, key,
                                     "a key without a name");
    if (key.len > SPEC_KEY_BYTES)
        return tenon_gguf_find_fault(g, err, "key_too_long", pair->offset, key,
                                     "a key of %zu bytes, at most %d are allowed", key.len,
                                     SPEC_KEY_BYTES);
    if (memchr(key.data, '\0', key.len) != NULL)
        return tenon_gguf_find_fault(g, err, "nul_in_name", pair->offset, key,
                                     "the loader takes the key to end at its first NUL");
    if (!is_ascii(key))
        return tenon_gguf_find_fault(g, err, "key_not_ascii", pair->offset, key,
                                     "the key is not printable ASCII");
    return TENON_OK;
}

/* Bytes that are neither 0 nor 1: how many, and where the first is. */
static uint64_t count_odd_bools(const struct tenon_gguf *g, const struct tenon_gguf_pair *pair,
                                uint64_t *out_first)
{
    const unsigned char *p = tenon_gguf_at(g, pair->value_off);
    uint64_t n = 0;

    for (uint64_t i = 0; i < pair->bytes; i++) {
        if (p[i] > 1 && n++ == 0)
            *out_first = pair->value_off + i; /* fits: inside the header */
    }
    return n;
}

static enum tenon_status check_value(struct tenon_gguf *g, const struct tenon_gguf_pair *pair,
                                     struct tenon_error *err)
{
    struct tenon_str key = tenon_gguf_key(g, pair);
    uint64_t first = 0, n;

    if (pair->item == TENON_META_BOOL) {
        n = count_odd_bools(g, pair, &first);
        if (n != 0)
            return tenon_gguf_find_fault(g, err, "bool_not_0_or_1", first, key,
                                         "%" PRIu64
                                         " booleans are neither 0 nor 1, the first is %u",
                                         n, (unsigned)*tenon_gguf_at(g, first));
    }
    if (pair->type == TENON_META_STRING &&
        !tenon_utf8_valid((const char *)tenon_gguf_at(g, pair->value_off), (size_t)pair->bytes))
        return tenon_gguf_find_fault(g, err, "text_not_utf8", pair->value_off, key,
                                     "the text is not UTF-8");
    if (pair->type == TENON_META_ARRAY && pair->item == TENON_META_ARRAY)
        return tenon_gguf_find_fault(g, err, "nested_array", pair->offset, key,
                                     "an array of arrays, which the loader does not take");
    return TENON_OK;
}

static enum tenon_status add_pair(struct tenon_gguf *g, const struct tenon_gguf_pair *pair,
                                  struct tenon_error *err)
{
    bool text = pair->type == TENON_META_STRING;
    struct tenon_meta_entry entry = {.key = tenon_gguf_key(g, pair),
                                     .type = (enum tenon_meta_type)pair->type,
                                     .item = (enum tenon_meta_type)pair->item,
                                     .count = pair->count,
                                     .value = tenon_gguf_value(g, pair),
                                     .raw = text ? NULL : tenon_gguf_at(g, pair->value_off),
                                     .raw_bytes = text ? 0 : (size_t)pair->bytes,
                                     .offset = pair->offset,
                                     .file = g->file,
                                     .swapped = g->cursor.swapped,
                                     .short_lengths = g->length_bytes == 4};

    return tenon_model_add_meta(g->model, &entry, err);
}

enum tenon_status tenon_gguf_add_pairs(struct tenon_gguf *g, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < g->n_pairs; i++) {
        st = check_key(g, &g->pairs[i], err);
        if (st == TENON_OK)
            st = check_value(g, &g->pairs[i], err);
        if (st == TENON_OK)
            st = add_pair(g, &g->pairs[i], err);
    }
    return st;
}
