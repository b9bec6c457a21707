/* Tokenizer files. They reach 30 MB, so each is read token by token. Two rounds: first the ids of
 * added tokens from wherever they are listed, then the vocabulary, which tells those that lie
 * outside of it from those that only repeat what it has. */
#include "hf_tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "hf_side.h"
#include "json_pull.h"
#include "sentencepiece.h"

/* The longest list of pre-tokenizer steps that is shown. */
#define MOST_PRE_BYTES 120

/* An added token: is its id one of the vocabulary's own? */
struct added {
    uint64_t id;
    bool in_vocab;
};

struct reading {
    struct tenon_model *model;
    const char *prefix;  /* of the folder */
    struct added *added; /* sorted and distinct after the first round */
    size_t n_added, room;
    uint64_t tokens, merges;
    bool has_vocab, has_merges;
    uint64_t max_id; /* of the vocabulary; has_id says whether there is one */
    bool has_id;
    const char *type; /* of the model, NULL until it is known */
    char pre[MOST_PRE_BYTES];
};

/* --- first round: added tokens --- */

static enum tenon_status add_id(struct reading *r, uint64_t id, uint64_t offset,
                                struct tenon_error *err)
{
    struct added *added;

    if (id > INT64_MAX)
        return tenon_fail(err, TENON_ERR_LIMIT, offset, "token id %llu is beyond 2^63 - 1",
                          (unsigned long long)id);
    added = tenon_mem_grow(r->added, &r->room, r->n_added, sizeof(*added));
    if (added == NULL)
        return tenon_fail_memory(err);
    r->added = added;
    added[r->n_added++] = (struct added){.id = id};
    return TENON_OK;
}

static enum tenon_status start(struct tenon_json *json, const struct reading *r, const char *text,
                               size_t len, struct tenon_error *err)
{
    struct tenon_json_token token;

    tenon_json_init(json, text, len, tenon_model_options(r->model)->limits.json_depth);
    return tenon_json_expect(json, TENON_JSON_OBJECT, "the file", &token, err);
}

/* The next member's key; false at the end of the object or on failure. */
static bool next_member(struct tenon_json *json, struct tenon_json_token *key,
                        enum tenon_status *st, struct tenon_error *err)
{
    if (*st == TENON_OK)
        *st = tenon_json_next(json, key, err);
    return *st == TENON_OK && key->type == TENON_JSON_KEY;
}

/* The id of one object of the list, whose brace has been read. */
static enum tenon_status read_added_token(struct reading *r, struct tenon_json *json,
                                          struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    struct tenon_json_token key, value;
    uint64_t id;

    while (next_member(json, &key, &st, err)) {
        st = tenon_json_next(json, &value, err);
        if (st == TENON_OK && tenon_json_token_is(&key, "id")) {
            if (!tenon_json_token_u64(&value, &id))
                st = tenon_fail(err, TENON_ERR_CORRUPT, value.offset,
                                "the id of an added token must be an unsigned integer");
            else
                st = add_id(r, id, value.offset, err);
        }
        if (st == TENON_OK)
            st = tenon_json_skip(json, &value, err);
    }
    return st;
}

static enum tenon_status read_added_list(struct reading *r, struct tenon_json *json,
                                         struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_next(json, &token, err);

    if (st != TENON_OK || token.type != TENON_JSON_ARRAY)
        return st == TENON_OK ? tenon_json_skip(json, &token, err) : st;
    while (st == TENON_OK) {
        st = tenon_json_next(json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_ARRAY_END)
            break;
        st = token.type == TENON_JSON_OBJECT ? read_added_token(r, json, err)
                                             : tenon_json_skip(json, &token, err);
    }
    return st;
}

/* tokenizer.json: "added_tokens": [{"id": ...}, ...]. Reads the whole text, so that the second
 * round knows that it is sound. */
static enum tenon_status find_added(void *user, const char *text, size_t len,
                                    struct tenon_error *err)
{
    struct reading *r = user;
    struct tenon_json_token key;
    struct tenon_json json;
    enum tenon_status st = start(&json, r, text, len, err);

    while (next_member(&json, &key, &st, err))
        st = tenon_json_token_is(&key, "added_tokens") ? read_added_list(r, &json, err)
                                                       : tenon_json_skip(&json, &key, err);
    return st == TENON_OK ? tenon_json_next(&json, &key, err) : st;
}

/* The digits of a key such as "32000". */
static bool key_number(const struct tenon_json_token *key, uint64_t *out)
{
    struct tenon_json_token number = *key;

    number.type = TENON_JSON_NUMBER;
    return key->raw.len != 0 && tenon_json_token_u64(&number, out);
}

/* tokenizer_config.json: "added_tokens_decoder": {"32000": {...}, ...}. */
static enum tenon_status find_decoder(void *user, const char *text, size_t len,
                                      struct tenon_error *err)
{
    struct reading *r = user;
    struct tenon_json_token key, value;
    struct tenon_json json;
    enum tenon_status st = start(&json, r, text, len, err);
    uint64_t id;

    while (next_member(&json, &key, &st, err)) {
        bool decoder = tenon_json_token_is(&key, "added_tokens_decoder");

        st = tenon_json_next(&json, &value, err);
        if (st == TENON_OK && (!decoder || value.type != TENON_JSON_OBJECT)) {
            st = tenon_json_skip(&json, &value, err);
            continue;
        }
        while (next_member(&json, &key, &st, err)) {
            if (key_number(&key, &id))
                st = add_id(r, id, key.offset, err);
            if (st == TENON_OK)
                st = tenon_json_skip(&json, &key, err);
        }
    }
    return st == TENON_OK ? tenon_json_next(&json, &key, err) : st;
}

/* added_tokens.json: {"<token>": 32000, ...}. */
static enum tenon_status find_added_map(void *user, const char *text, size_t len,
                                        struct tenon_error *err)
{
    struct reading *r = user;
    struct tenon_json_token key, value;
    struct tenon_json json;
    enum tenon_status st = start(&json, r, text, len, err);
    uint64_t id;

    while (next_member(&json, &key, &st, err)) {
        st = tenon_json_next(&json, &value, err);
        if (st == TENON_OK && !tenon_json_token_u64(&value, &id))
            st = tenon_fail(err, TENON_ERR_CORRUPT, value.offset,
                            "a token id must be an unsigned integer, not %s",
                            tenon_json_type_name(value.type));
        if (st == TENON_OK)
            st = add_id(r, id, value.offset, err);
    }
    return st == TENON_OK ? tenon_json_next(&json, &key, err) : st;
}

static int compare_added(const void *a, const void *b)
{
    const struct added *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static void sort_added(struct reading *r)
{
    size_t kept = 0;

    if (r->n_added == 0)
        return;
    qsort(r->added, r->n_added, sizeof(*r->added), compare_added);
    for (size_t i = 1; i < r->n_added; i++)
        if (r->added[i].id != r->added[kept].id)
            r->added[++kept] = r->added[i];
    r->n_added = kept + 1;
}

/* --- second round: the vocabulary --- */

static void see_token(struct reading *r, uint64_t id)
{
    struct added wanted = {.id = id}, *found = NULL;

    r->tokens++;
    if (!r->has_id || id > r->max_id)
        r->max_id = id;
    r->has_id = true;
    if (r->n_added != 0)
        found = bsearch(&wanted, r->added, r->n_added, sizeof(wanted), compare_added);
    if (found != NULL)
        found->in_vocab = true;
}

/* {"token": id, ...}, whose brace has been read. */
static enum tenon_status read_vocab_map(struct reading *r, struct tenon_json *json,
                                        struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    struct tenon_json_token key, value;
    uint64_t id;

    while (next_member(json, &key, &st, err)) {
        st = tenon_json_next(json, &value, err);
        if (st == TENON_OK && (!tenon_json_token_u64(&value, &id) || id > INT64_MAX))
            st = tenon_fail(err, TENON_ERR_CORRUPT, value.offset,
                            "a token id must be an unsigned integer below 2^63");
        if (st == TENON_OK)
            see_token(r, id);
    }
    return st;
}

/* Counts the items of an array whose bracket has been read. */
static enum tenon_status count_items(struct tenon_json *json, uint64_t *out,
                                     struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    struct tenon_json_token token;

    while (st == TENON_OK) {
        st = tenon_json_next(json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_ARRAY_END)
            break;
        (*out)++;
        st = tenon_json_skip(json, &token, err);
    }
    return st;
}

/* A map (BPE, WordPiece, WordLevel), or a list of pairs whose place is the id (Unigram). */
static enum tenon_status read_vocab(struct reading *r, struct tenon_json *json,
                                    struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_next(json, &token, err);
    uint64_t n = 0;

    if (st != TENON_OK)
        return st;
    r->has_vocab = true;
    if (token.type == TENON_JSON_OBJECT)
        return read_vocab_map(r, json, err);
    if (token.type != TENON_JSON_ARRAY)
        return tenon_fail(err, TENON_ERR_CORRUPT, token.offset,
                          "the vocabulary must be an object or an array, not %s",
                          tenon_json_type_name(token.type));
    st = count_items(json, &n, err);
    for (uint64_t id = 0; st == TENON_OK && id < n; id++)
        see_token(r, id);
    return st;
}

/* The type of the model, copied into the arena. */
static enum tenon_status keep_type(struct reading *r, const struct tenon_json_token *token,
                                   struct tenon_error *err)
{
    struct tenon_arena *arena = tenon_model_arena(r->model);
    char *copy;

    if (token->type != TENON_JSON_STRING)
        return TENON_OK;
    copy = tenon_arena_text(arena, token->raw.data, token->raw.len);
    if (copy == NULL)
        return tenon_fail_memory(err);
    copy[tenon_json_unescape(token, copy)] = '\0';
    r->type = copy;
    return TENON_OK;
}

static enum tenon_status read_model(struct reading *r, struct tenon_json *json,
                                    struct tenon_error *err)
{
    struct tenon_json_token key, value;
    enum tenon_status st = tenon_json_next(json, &value, err);

    if (st != TENON_OK || value.type != TENON_JSON_OBJECT)
        return st == TENON_OK ? tenon_json_skip(json, &value, err) : st;
    while (next_member(json, &key, &st, err)) {
        if (tenon_json_token_is(&key, "vocab")) {
            st = read_vocab(r, json, err);
            continue;
        }
        st = tenon_json_next(json, &value, err);
        if (st == TENON_OK && tenon_json_token_is(&key, "merges") &&
            value.type == TENON_JSON_ARRAY) {
            r->has_merges = true;
            st = count_items(json, &r->merges, err);
            continue;
        }
        if (st == TENON_OK && tenon_json_token_is(&key, "type"))
            st = keep_type(r, &value, err);
        if (st == TENON_OK)
            st = tenon_json_skip(json, &value, err);
    }
    return st;
}

/* One more step of the pre-tokenizer: "Split+ByteLevel". */
static void add_step(struct reading *r, const struct tenon_json_token *type)
{
    size_t used = strlen(r->pre);

    if (type->type != TENON_JSON_STRING || tenon_json_token_is(type, "Sequence") ||
        type->raw.len + 2 > sizeof(r->pre) - used)
        return;
    if (used != 0)
        r->pre[used++] = '+';
    used += tenon_json_unescape(type, r->pre + used);
    r->pre[used] = '\0';
}

/* Collects every "type" one or two levels down: of the pre-tokenizer, or of its steps. */
static enum tenon_status read_pre(struct reading *r, struct tenon_json *json,
                                  struct tenon_error *err)
{
    struct tenon_json_token token;
    enum tenon_status st = tenon_json_next(json, &token, err);
    uint32_t outside = json->depth - 1;

    if (st != TENON_OK || token.type != TENON_JSON_OBJECT)
        return st == TENON_OK ? tenon_json_skip(json, &token, err) : st;
    while (st == TENON_OK && json->depth > outside) {
        uint32_t inside = json->depth - outside;

        st = tenon_json_next(json, &token, err);
        if (st == TENON_OK && token.type == TENON_JSON_KEY && tenon_json_token_is(&token, "type") &&
            (inside == 1 || inside == 3)) {
            st = tenon_json_next(json, &token, err);
            if (st == TENON_OK)
                add_step(r, &token);
        }
    }
    return st;
}

static enum tenon_status read_tokenizer_json(void *user, const char *text, size_t len,
                                             struct tenon_error *err)
{
    struct reading *r = user;
    struct tenon_json_token key;
    struct tenon_json json;
    enum tenon_status st = start(&json, r, text, len, err);

    while (next_member(&json, &key, &st, err)) {
        if (tenon_json_token_is(&key, "model"))
            st = read_model(r, &json, err);
        else if (tenon_json_token_is(&key, "pre_tokenizer"))
            st = read_pre(r, &json, err);
        else
            st = tenon_json_skip(&json, &key, err);
    }
    if (st == TENON_OK && r->type == NULL)
        r->type = r->has_merges ? "BPE" : "unknown";
    return st;
}

static enum tenon_status read_vocab_json(void *user, const char *text, size_t len,
                                         struct tenon_error *err)
{
    struct reading *r = user;
    struct tenon_json_token end;
    struct tenon_json json;
    enum tenon_status st = start(&json, r, text, len, err);

    if (st == TENON_OK)
        st = read_vocab_map(r, &json, err);
    if (st == TENON_OK)
        st = tenon_json_next(&json, &end, err);
    r->has_vocab = true;
    r->type = "BPE";
    return st;
}

/* --- vocabularies of other kinds --- */

/* Lines that are not empty and do not start with `comment`. */
static uint64_t count_lines(const char *text, size_t len, const char *comment)
{
    const char *const end = text + len;
    size_t comment_len = strlen(comment);
    uint64_t n = 0;

    while (text < end) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        size_t line_len = (size_t)((next != NULL ? next : end) - text);
        bool is_comment =
            comment_len != 0 && line_len >= comment_len && memcmp(text, comment, comment_len) == 0;

        if (line_len != 0 && !is_comment)
            n++;
        text = next != NULL ? next + 1 : end;
    }
    return n;
}

static void see_tokens(struct reading *r, uint64_t n, const char *type)
{
    for (uint64_t id = 0; id < n; id++)
        see_token(r, id);
    r->has_vocab = true;
    r->type = type;
}

static enum tenon_status read_vocab_txt(void *user, const char *text, size_t len,
                                        struct tenon_error *err)
{
    (void)err;
    see_tokens(user, count_lines(text, len, ""), "WordPiece");
    return TENON_OK;
}

static enum tenon_status read_merges_txt(void *user, const char *text, size_t len,
                                         struct tenon_error *err)
{
    struct reading *r = user;

    (void)err;
    r->merges = count_lines(text, len, "#version");
    r->has_merges = true;
    return TENON_OK;
}

/* A line of base64, a blank and a number: the first byte of a SentencePiece model is a line feed.
 */
static bool looks_like_tiktoken(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && n < 200 && text[n] > ' ' && text[n] < 0x7f)
        n++;
    return n != 0 && n + 1 < len && text[n] == ' ' && text[n + 1] >= '0' && text[n + 1] <= '9';
}

static enum tenon_status read_model_file(void *user, const char *text, size_t len,
                                         struct tenon_error *err)
{
    static const char *const kinds[] = {"unknown", "Unigram", "BPE", "Word", "Char"};
    struct tenon_sentencepiece model;
    enum tenon_status st;

    if (looks_like_tiktoken(text, len)) {
        see_tokens(user, count_lines(text, len, ""), "tiktoken");
        return TENON_OK;
    }
    st = tenon_sentencepiece_read((const unsigned char *)text, len, &model, err);
    if (st != TENON_OK)
        return st;
    see_tokens(user, model.pieces,
               kinds[model.kind < sizeof(kinds) / sizeof(kinds[0]) ? model.kind : 0]);
    return TENON_OK;
}

/* --- all --- */

/* What a file counted before it turned out to be damaged must not be mixed with another's. */
static void forget_vocab(struct reading *r)
{
    r->tokens = r->merges = r->max_id = 0;
    r->has_vocab = r->has_merges = r->has_id = false;
    r->type = NULL;
    r->pre[0] = '\0';
    for (size_t i = 0; i < r->n_added; i++)
        r->added[i].in_vocab = false;
}

static enum tenon_status read_file(struct reading *r, const char *name, tenon_hf_apply_fn apply,
                                   enum tenon_hf_side_result *out_result, struct tenon_error *err)
{
    const struct tenon_hf_side side = {.model = r->model,
                                       .prefix = r->prefix,
                                       .name = name,
                                       .limit = tenon_model_options(r->model)->limits.json_bytes,
                                       .apply = apply,
                                       .user = r};

    return tenon_hf_read_side(&side, out_result, err);
}

/* The same for a file that holds the vocabulary. */
static enum tenon_status read_vocab_file(struct reading *r, const char *name,
                                         tenon_hf_apply_fn apply, struct tenon_error *err)
{
    enum tenon_hf_side_result result = TENON_HF_SIDE_REFUSED;
    enum tenon_status st = read_file(r, name, apply, &result, err);

    if (st != TENON_OK || result == TENON_HF_SIDE_REFUSED)
        forget_vocab(r);
    return st;
}

/* The vocabularies that stand in for a tokenizer.json, best first. */
static enum tenon_status read_older(struct reading *r, struct tenon_error *err)
{
    static const struct {
        const char *name;
        tenon_hf_apply_fn apply;
    } rows[] = {{"vocab.json", read_vocab_json},
                {"tokenizer.model", read_model_file},
                {"spiece.model", read_model_file},
                {"sentencepiece.bpe.model", read_model_file},
                {"vocab.txt", read_vocab_txt}};
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && !r->has_vocab && i < sizeof(rows) / sizeof(rows[0]); i++)
        st = read_vocab_file(r, rows[i].name, rows[i].apply, err);
    if (st == TENON_OK && r->has_vocab && strcmp(r->type, "BPE") == 0)
        st = read_file(r, "merges.txt", read_merges_txt, NULL, err);
    return st;
}

/* Hands over what was found. */
static enum tenon_status store(struct reading *r, struct tenon_error *err)
{
    struct tenon_tokenizer *t = tenon_model_edit_tokenizer(r->model);
    struct tenon_arena *arena = tenon_model_arena(r->model);
    const char *pre = tenon_arena_text(arena, r->pre, strlen(r->pre));

    if (pre == NULL)
        return tenon_fail_memory(err);
    t->model = (struct tenon_str){r->type, strlen(r->type)};
    t->pre = (struct tenon_str){pre, strlen(pre)};
    t->tokens = (int64_t)r->tokens;
    t->added = 0;
    for (size_t i = 0; i < r->n_added; i++)
        t->added += !r->added[i].in_vocab;
    if (r->has_id)
        t->max_id = (int64_t)r->max_id;
    if (r->n_added != 0 && (!r->has_id || r->added[r->n_added - 1].id > r->max_id))
        t->max_id = (int64_t)r->added[r->n_added - 1].id;
    if (r->has_merges)
        t->merges = (int64_t)r->merges;
    return TENON_OK;
}

enum tenon_status tenon_hf_read_tokenizer(struct tenon_model *model, const char *prefix,
                                          struct tenon_error *err)
{
    struct reading r = {.model = model, .prefix = prefix};
    enum tenon_hf_side_result main_file = TENON_HF_SIDE_ABSENT;
    enum tenon_status st = read_file(&r, "tokenizer.json", find_added, &main_file, err);

    if (st == TENON_OK)
        st = read_file(&r, "tokenizer_config.json", find_decoder, NULL, err);
    if (st == TENON_OK)
        st = read_file(&r, "added_tokens.json", find_added_map, NULL, err);
    sort_added(&r);
    if (st == TENON_OK && main_file == TENON_HF_SIDE_USED)
        st = read_vocab_file(&r, "tokenizer.json", read_tokenizer_json, err);
    if (st == TENON_OK && !r.has_vocab)
        st = read_older(&r, err);
    if (st == TENON_OK && r.has_vocab)
        st = store(&r, err);
    tenon_mem_free(r.added);
    return st;
}
