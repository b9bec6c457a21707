/* Do the tokenizer arrays of a GGUF file fit together, and the tensors?
 *
 * Loaders index one array by positions in another and trust element types: each of these checks
 * stands for a crash or for nonsense that somebody met. All walk the arrays where they stand. */
#include <inttypes.h>
#include <string.h>

#include "fail.h"
#include "gguf.h"
#include "text.h"

/* Strings of an array, one after the other, without a call for each. */
struct walk {
    const unsigned char *at, *end;
    size_t length_bytes;
    bool swapped;
};

static void walk_init(struct walk *w, const struct tenon_meta_entry *entry)
{
    w->at = entry->raw;
    w->end = entry->raw + entry->raw_bytes; /* fits: one buffer */
    w->length_bytes = entry->short_lengths ? 4 : 8;
    w->swapped = entry->swapped;
}

/* False after the last. The reader has checked every length; this still stays inside. */
static bool walk_next(struct walk *w, struct tenon_str *out)
{
    uint64_t len;

    if ((size_t)(w->end - w->at) < w->length_bytes)
        return false;
    len = w->length_bytes == 4 ? tenon_load_u32(w->at, w->swapped)
                               : tenon_load_u64(w->at, w->swapped);
    w->at += w->length_bytes;
    if (len > (size_t)(w->end - w->at))
        return false;
    *out = (struct tenon_str){(const char *)w->at, (size_t)len};
    w->at += len;
    return true;
}

/* An array that goes with the tokens, and the element type that loaders read it as. */
struct array_row {
    const char *key;
    enum tenon_meta_type item;
    bool per_token; /* one element for each token */
};

static const struct array_row array_rows[] = {
    {"tokenizer.ggml.tokens", TENON_META_STRING, true},
    {"tokenizer.ggml.scores", TENON_META_F32, true},
    {"tokenizer.ggml.token_type", TENON_META_I32, true},
    {"tokenizer.ggml.merges", TENON_META_STRING, false},
    {"tokenizer.ggml.suppress_tokens", TENON_META_I32, false},
};

static bool is_integer(enum tenon_meta_type type)
{
    return type != TENON_META_F32 && type != TENON_META_F64 && type != TENON_META_BOOL &&
           type != TENON_META_STRING && type != TENON_META_ARRAY;
}

static enum tenon_status check_array(struct tenon_model *model, const struct array_row *row,
                                     struct tenon_error *err)
{
    const struct tenon_meta_entry *entry = tenon_model_find_meta(model, row->key);
    int64_t tokens = tenon_model_tokenizer(model)->tokens;

    if (entry == NULL)
        return TENON_OK;
    if (entry->type != TENON_META_ARRAY || entry->item != row->item) {
        bool width =
            entry->type == TENON_META_ARRAY && is_integer(row->item) && is_integer(entry->item);

        if (row->item == TENON_META_STRING)
            return TENON_OK; /* said when it was counted */
        return tenon_gguf_blame_entry(model, entry, err, width ? "key_width" : "key_kind",
                                      "is %s%s, an array of %s is needed",
                                      entry->type == TENON_META_ARRAY ? "an array of " : "of type ",
                                      tenon_meta_type_name(entry->item),
                                      tenon_meta_type_name(row->item));
    }
    if (row->per_token && tokens >= 0 && entry->count != (uint64_t)tokens)
        return tenon_gguf_blame_entry(model, entry, err, "vocab_lengths",
                                      "has %" PRIu64 " elements for %" PRId64 " tokens",
                                      entry->count, tokens);
    return TENON_OK;
}

/* Judges one string; bytes up to `end` may be looked at. */
typedef bool (*is_bad_fn)(struct tenon_str s, const unsigned char *end);

/* "<0x0A>" is how a token says that it stands for one byte. True for texts that look so and are
 * not: a loader that trusts them reads outside its table. */
static bool fakes_byte(struct tenon_str s, const unsigned char *end)
{
    (void)end;
    if (s.len < 4 || memcmp(s.data, "<0x", 3) != 0 || s.data[s.len - 1] != '>')
        return false;
    return s.len != 6 || tenon_hex_digit(s.data[3]) < 0 || tenon_hex_digit(s.data[4]) < 0;
}

/* Whether one of the 8 bytes of `word`, at most its lowest `n`, is a space. */
static bool word_has_space(uint64_t word, size_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t x = word ^ (ones * ' '); /* a space becomes zero */
    uint64_t found = (x - ones) & ~x & tops;

    return (n < 8 ? found & ((UINT64_C(1) << (8 * n)) - 1) : found) != 0;
}

/* A merge is two parts with a space between; the parts themselves never hold one. Eight bytes at
 * once where the buffer, up to `end`, has them: most merges are that short. */
static bool lacks_space(struct tenon_str s, const unsigned char *end)
{
    const unsigned char *p = (const unsigned char *)s.data + 1;
    size_t n = s.len != 0 ? s.len - 1 : 0;

    while (n > 0 && end - p >= 8) {
        if (word_has_space(tenon_load_u64(p, false), n))
            return false;
        if (n <= 8)
            return true;
        p += 8;
        n -= 8;
    }
    return n == 0 || memchr(p, ' ', n) == NULL;
}

/* Whether "<0x" stands anywhere in the array: most vocabularies are done with that. */
static bool may_name_bytes(const struct tenon_meta_entry *entry)
{
    const unsigned char *p = entry->raw,
                        *end = entry->raw + entry->raw_bytes; /* fits: one buffer */

    while (p != end && (p = memchr(p, '<', (size_t)(end - p))) != NULL) {
        if (end - p > 2 && p[1] == '0' && p[2] == 'x')
            return true;
        p++;
    }
    return false;
}

/* Counts the strings of the array `key` that `is_bad`, and reports them as one finding. */
static enum tenon_status check_strings(struct tenon_model *model, const char *key, const char *code,
                                       is_bad_fn is_bad, struct tenon_error *err)
{
    const struct tenon_meta_entry *entry = tenon_model_find_meta(model, key);
    struct tenon_str s, first = {"", 0};
    uint64_t n = 0, i = 0, first_i = 0;
    char clean[64];
    struct walk w;

    if (entry == NULL || entry->type != TENON_META_ARRAY || entry->item != TENON_META_STRING ||
        (is_bad == fakes_byte && !may_name_bytes(entry)))
        return TENON_OK;
    walk_init(&w, entry);
    for (; walk_next(&w, &s); i++) {
        if (is_bad(s, w.end) && n++ == 0) {
            first = s;
            first_i = i;
        }
    }
    if (n == 0)
        return TENON_OK;
    tenon_text_sanitise(clean, sizeof(clean), first.data, first.len);
    return tenon_gguf_blame_entry(
        model, entry, err, code,
        "%" PRIu64 " of its elements, the first is number %" PRIu64 ", '%s'", n, first_i, clean);
}

/* Ids must name tokens. */
static enum tenon_status check_ids(struct tenon_model *model, struct tenon_error *err)
{
    static const char *const keys[] = {
        "tokenizer.ggml.bos_token_id",     "tokenizer.ggml.eos_token_id",
        "tokenizer.ggml.eot_token_id",     "tokenizer.ggml.eom_token_id",
        "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.seperator_token_id",
        "tokenizer.ggml.padding_token_id", "tokenizer.ggml.mask_token_id",
        "tokenizer.ggml.cls_token_id",     "tokenizer.ggml.fim_pre_token_id",
        "tokenizer.ggml.fim_suf_token_id", "tokenizer.ggml.fim_mid_token_id",
        "tokenizer.ggml.fim_pad_token_id", "tokenizer.ggml.fim_rep_token_id",
        "tokenizer.ggml.fim_sep_token_id",
    };
    int64_t tokens = tenon_model_tokenizer(model)->tokens;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && tokens >= 0 && i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct tenon_meta_entry *entry = tenon_model_find_meta(model, keys[i]);
        int64_t id;

        if (entry == NULL || !is_integer(entry->type))
            continue;
        if (!tenon_meta_value_int(&entry->value, &id) || id < 0 || id >= tokens)
            st = tenon_gguf_blame_entry(model, entry, err, "token_id_range",
                                        "names no token, there are %" PRId64, tokens);
    }
    return st;
}

/* Tokens against rows of the embedding matrix. Rows may be more: they are padding. */
static enum tenon_status check_rows(struct tenon_model *model, struct tenon_error *err)
{
    static const char name[] = "token_embd.weight";
    const struct tenon_meta_entry *entry = tenon_model_find_meta(model, array_rows[0].key);
    const struct tenon_tensor *t = tenon_model_find(model, name, sizeof(name) - 1);
    int64_t tokens = tenon_model_tokenizer(model)->tokens;

    if (entry == NULL || t == NULL || t->n_dims != 2 || tokens < 0 ||
        t->dims[0] == (uint64_t)tokens)
        return TENON_OK;
    return tenon_gguf_blame_entry(
        model, entry, err,
        (uint64_t)tokens > t->dims[0] ? "tokens_beyond_rows" : "rows_beyond_tokens",
        "%" PRId64 " tokens, but %s has %" PRIu64 " rows", tokens, name, t->dims[0]);
}

/* A vocabulary of the "gpt2" kind is nothing without merges, and ambiguous without a
 * pre-tokenizer. */
static enum tenon_status check_bpe(struct tenon_model *model, struct tenon_error *err)
{
    const struct tenon_tokenizer *t = tenon_model_tokenizer(model);
    const struct tenon_meta_entry *entry = tenon_model_find_meta(model, "tokenizer.ggml.model");
    enum tenon_status st = TENON_OK;

    if (entry == NULL || !tenon_str_equal(t->model, "gpt2"))
        return TENON_OK;
    if (t->merges <= 0)
        st = tenon_gguf_blame_entry(model, entry, err, "merges_missing",
                                    "is 'gpt2', but there are no merges");
    if (st == TENON_OK && t->pre.len == 0)
        st = tenon_gguf_blame_entry(model, entry, err, "pre_tokenizer_missing",
                                    "is 'gpt2', but no pre-tokenizer is named");
    return st;
}

/* The table begins with the length of its first part, in 4 bytes. */
static enum tenon_status check_charsmap(struct tenon_model *model, struct tenon_error *err)
{
    const struct tenon_meta_entry *entry =
        tenon_model_find_meta(model, "tokenizer.ggml.precompiled_charsmap");

    if (entry == NULL || (entry->type == TENON_META_ARRAY && entry->raw_bytes >= 4))
        return TENON_OK;
    return tenon_gguf_blame_entry(model, entry, err, "charsmap_short",
                                  "has %zu bytes, at least 4 are needed", entry->raw_bytes);
}

/* Every token and merge: only on request, because it takes longer than reading the header. */
static enum tenon_status check_texts(struct tenon_model *model, struct tenon_error *err)
{
    enum tenon_status st =
        check_strings(model, "tokenizer.ggml.tokens", "byte_token_text", fakes_byte, err);

    if (st == TENON_OK)
        st = check_strings(model, "tokenizer.ggml.merges", "merge_without_space", lacks_space, err);
    return st;
}

enum tenon_status tenon_gguf_check_vocab(struct tenon_model *model, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < sizeof(array_rows) / sizeof(array_rows[0]); i++)
        st = check_array(model, &array_rows[i], err);
    if (st == TENON_OK && tenon_model_options(model)->thorough)
        st = check_texts(model, err);
    if (st == TENON_OK)
        st = check_ids(model, err);
    if (st == TENON_OK)
        st = check_rows(model, err);
    if (st == TENON_OK)
        st = check_bpe(model, err);
    if (st == TENON_OK)
        st = check_charsmap(model, err);
    return st;
}
