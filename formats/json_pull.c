/* The grammar of RFC 8259 as a state machine over a text in memory. */
#include "json_pull.h"

#include <string.h>

#include "fail.h"
#include "mem.h"
#include "text.h"

/* What may come next. */
enum state {
    WANT_VALUE,
    WANT_VALUE_OR_CLOSE, /* just after [ */
    WANT_KEY,
    WANT_KEY_OR_CLOSE, /* just after { */
    AFTER_VALUE
};

void tenon_json_init(struct tenon_json *json, const char *text, size_t len, uint32_t max_depth)
{
    memset(json, 0, sizeof(*json));
    json->text = text;
    json->len = len;
    json->max_depth = max_depth < TENON_JSON_MAX_DEPTH ? max_depth : TENON_JSON_MAX_DEPTH;
    json->short_status = TENON_ERR_TRUNCATED;
    json->state = WANT_VALUE;
}

void tenon_json_set_base(struct tenon_json *json, uint64_t base)
{
    json->base = base;
    json->short_status = TENON_ERR_CORRUPT;
}

void tenon_json_allow_nonfinite(struct tenon_json *json)
{
    json->nonfinite = true;
}

const char *tenon_json_type_name(enum tenon_json_type type)
{
    static const char *const names[] = {"the end",  "an object", "}",    "an array", "]",   "a key",
                                        "a string", "a number",  "true", "false",    "null"};

    return (size_t)type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}

static uint64_t offset_at(const struct tenon_json *json, size_t pos)
{
    return json->base + pos;
}

static enum tenon_status fail_short(const struct tenon_json *json, const char *where,
                                    struct tenon_error *err)
{
    return tenon_fail(err, json->short_status, offset_at(json, json->len),
                      "the JSON text ends too early, %s", where);
}

/* `wanted` was due at `pos`, and something else stands there. */
static enum tenon_status fail_unexpected(const struct tenon_json *json, size_t pos,
                                         const char *wanted, struct tenon_error *err)
{
    unsigned char c;

    if (pos >= json->len)
        return tenon_fail(err, json->short_status, offset_at(json, pos),
                          "the JSON text ends where %s is due", wanted);
    c = (unsigned char)json->text[pos];
    if (pos == 0 && c == 0xef)
        return tenon_fail(err, TENON_ERR_CORRUPT, offset_at(json, pos),
                          "the JSON text starts with a byte order mark or other non-ASCII text");
    if (c > 0x20 && c < 0x7f)
        return tenon_fail(err, TENON_ERR_CORRUPT, offset_at(json, pos),
                          "found '%c' where %s is due", c, wanted);
    return tenon_fail(err, TENON_ERR_CORRUPT, offset_at(json, pos),
                      "found byte 0x%02x where %s is due", c, wanted);
}

static void skip_space(struct tenon_json *json)
{
    size_t pos = json->pos;

    while (pos < json->len) {
        char c = json->text[pos];

        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            break;
        pos++;
    }
    json->pos = pos;
}

static bool in_object(const struct tenon_json *json)
{
    uint32_t level = json->depth - 1;

    return (json->objects[level / 64] >> (level % 64) & 1) != 0;
}

static enum tenon_status open_container(struct tenon_json *json, bool object,
                                        struct tenon_json_token *out, struct tenon_error *err)
{
    uint32_t level = json->depth;
    uint64_t bit = UINT64_C(1) << (level % 64);

    if (level >= json->max_depth)
        return tenon_fail(err, TENON_ERR_LIMIT, offset_at(json, json->pos),
                          "JSON nested more than %u levels deep", json->max_depth);
    if (object)
        json->objects[level / 64] |= bit;
    else
        json->objects[level / 64] &= ~bit;
    json->depth++;
    json->pos++;
    json->state = object ? WANT_KEY_OR_CLOSE : WANT_VALUE_OR_CLOSE;
    out->type = object ? TENON_JSON_OBJECT : TENON_JSON_ARRAY;
    return TENON_OK;
}

static enum tenon_status close_container(struct tenon_json *json, struct tenon_json_token *out)
{
    out->type = in_object(json) ? TENON_JSON_OBJECT_END : TENON_JSON_ARRAY_END;
    json->depth--;
    json->pos++;
    json->state = AFTER_VALUE;
    return TENON_OK;
}

/* Four hexadecimal digits at `text`, -1 if they are not. */
static int32_t hex4(const char *text)
{
    int32_t value = 0;

    for (int i = 0; i < 4; i++) {
        int digit = tenon_hex_digit((unsigned char)text[i]);

        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* The code point of a checked or unchecked \uXXXX or surrogate pair at `text` (the backslash),
 * `left` bytes up to the end; `*used` bytes long. -1 when it is not one. */
static int32_t unicode_escape(const char *text, size_t left, size_t *used)
{
    int32_t high, low;

    if (left < 6)
        return -1;
    high = hex4(text + 2);
    *used = 6;
    if (high < 0xd800 || high > 0xdfff)
        return high;
    if (high > 0xdbff || left < 12 || text[6] != '\\' || text[7] != 'u')
        return -1;
    low = hex4(text + 8);
    if (low < 0xdc00 || low > 0xdfff)
        return -1;
    *used = 12;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* Checks the escape at `*pos` and passes it. */
static enum tenon_status check_escape(const struct tenon_json *json, size_t *pos,
                                      struct tenon_json_token *out, struct tenon_error *err)
{
    const char *text = json->text + *pos;
    size_t left = json->len - *pos, used = 2;
    int32_t codepoint;

    out->escaped = true;
    if (left < 2)
        return fail_short(json, "inside a string", err);
    if (text[1] == 'u') {
        codepoint = unicode_escape(text, left, &used);
        if (codepoint < 0)
            return tenon_fail(err, TENON_ERR_CORRUPT, offset_at(json, *pos),
                              "\\u needs four hexadecimal digits, and surrogates come in pairs");
        if (codepoint == 0)
            out->has_nul = true;
    } else if (text[1] == '\0' || strchr("\"\\/bfnrt", text[1]) == NULL) {
        return tenon_fail(err, TENON_ERR_CORRUPT, offset_at(json, *pos),
                          "a backslash followed by byte 0x%02x is no JSON escape",
                          (unsigned char)text[1]);
    }
    *pos += used;
    return TENON_OK;
}

/* Whether the byte needs no look: printable ASCII but the quote and the backslash. */
static bool is_plain(char c)
{
    unsigned char u = (unsigned char)c;

    return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

/* Reads the string whose quote is at the current position into `out->raw`. */
static enum tenon_status read_string(struct tenon_json *json, struct tenon_json_token *out,
                                     struct tenon_error *err)
{
    size_t start = json->pos + 1, pos = start, bad;
    enum tenon_status st = TENON_OK;

    for (;;) {
        while (pos < json->len && is_plain(json->text[pos]))
            pos++;
        if (pos >= json->len)
            return fail_short(json, "inside a string", err);
        if (json->text[pos] == '"')
            break;
        bad = pos;
        if (json->text[pos] == '\\')
            st = check_escape(json, &pos, out, err);
        else if ((unsigned char)json->text[pos] < 0x20)
            st = tenon_fail(err, TENON_ERR_CORRUPT, offset_at(json, bad),
                            "control character 0x%02x inside a string",
                            (unsigned char)json->text[bad]);
        else if (tenon_utf8_next(json->text, json->len, &pos) < 0)
            st = tenon_fail(err, TENON_ERR_CORRUPT, offset_at(json, bad),
                            "byte 0x%02x inside a string is not valid UTF-8",
                            (unsigned char)json->text[bad]);
        if (st != TENON_OK)
            return st;
    }
    out->raw.data = json->text + start;
    out->raw.len = pos - start;
    json->pos = pos + 1;
    return TENON_OK;
}

static enum tenon_status read_key(struct tenon_json *json, struct tenon_json_token *out,
                                  struct tenon_error *err)
{
    enum tenon_status st;

    if (json->pos >= json->len || json->text[json->pos] != '"')
        return fail_unexpected(json, json->pos, "a key in double quotes", err);
    st = read_string(json, out, err);
    if (st != TENON_OK)
        return st;
    skip_space(json);
    if (json->pos >= json->len || json->text[json->pos] != ':')
        return fail_unexpected(json, json->pos, "a colon", err);
    json->pos++;
    json->state = WANT_VALUE;
    out->type = TENON_JSON_KEY;
    return TENON_OK;
}

/* Passes digits at `*pos`; false when there is none. */
static bool pass_digits(const struct tenon_json *json, size_t *pos)
{
    size_t start = *pos;

    while (*pos < json->len && json->text[*pos] >= '0' && json->text[*pos] <= '9')
        (*pos)++;
    return *pos != start;
}

static char char_at(const struct tenon_json *json, size_t pos)
{
    return pos < json->len ? json->text[pos] : '\0';
}

static enum tenon_status read_number(struct tenon_json *json, struct tenon_json_token *out,
                                     struct tenon_error *err)
{
    size_t start = json->pos, pos = start, whole;

    if (char_at(json, pos) == '-')
        pos++;
    whole = pos;
    if (!pass_digits(json, &pos))
        return fail_unexpected(json, pos, "a digit", err);
    if (json->text[whole] == '0' && pos - whole > 1)
        return tenon_fail(err, TENON_ERR_CORRUPT, offset_at(json, start),
                          "a number starts with a superfluous zero");
    if (char_at(json, pos) == '.') {
        pos++;
        if (!pass_digits(json, &pos))
            return fail_unexpected(json, pos, "a digit", err);
    }
    if (char_at(json, pos) == 'e' || char_at(json, pos) == 'E') {
        pos++;
        if (char_at(json, pos) == '+' || char_at(json, pos) == '-')
            pos++;
        if (!pass_digits(json, &pos))
            return fail_unexpected(json, pos, "a digit", err);
    }
    out->type = TENON_JSON_NUMBER;
    out->raw.data = json->text + start;
    out->raw.len = pos - start;
    json->pos = pos;
    json->state = AFTER_VALUE;
    return TENON_OK;
}

static enum tenon_status read_word(struct tenon_json *json, const char *word,
                                   enum tenon_json_type type, struct tenon_json_token *out,
                                   struct tenon_error *err)
{
    size_t n = strlen(word);

    if (json->len - json->pos < n || memcmp(json->text + json->pos, word, n) != 0)
        return fail_unexpected(json, json->pos, "a JSON value", err);
    json->pos += n;
    json->state = AFTER_VALUE;
    out->type = type;
    return TENON_OK;
}

/* The number that is no number in JSON at the current position, or NULL. */
static const char *find_nonfinite(const struct tenon_json *json)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};

    for (size_t i = 0; json->nonfinite && i < sizeof(words) / sizeof(words[0]); i++)
        if (json->len - json->pos >= strlen(words[i]) &&
            memcmp(json->text + json->pos, words[i], strlen(words[i])) == 0)
            return words[i];
    return NULL;
}

static enum tenon_status read_value(struct tenon_json *json, struct tenon_json_token *out,
                                    struct tenon_error *err)
{
    const char *word = find_nonfinite(json);

    if (word != NULL) {
        out->raw = (struct tenon_str){json->text + json->pos, strlen(word)};
        return read_word(json, word, TENON_JSON_NUMBER, out, err);
    }
    switch (char_at(json, json->pos)) {
    case '{':
        return open_container(json, true, out, err);
    case '[':
        return open_container(json, false, out, err);
    case '"':
        json->state = AFTER_VALUE;
        out->type = TENON_JSON_STRING;
        return read_string(json, out, err);
    case 't':
        return read_word(json, "true", TENON_JSON_TRUE, out, err);
    case 'f':
        return read_word(json, "false", TENON_JSON_FALSE, out, err);
    case 'n':
        return read_word(json, "null", TENON_JSON_NULL, out, err);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return read_number(json, out, err);
    default:
        return fail_unexpected(json, json->pos, "a JSON value", err);
    }
}

/* After a value: the end of the text, the end of its container, or a comma and the next one. */
static enum tenon_status read_after_value(struct tenon_json *json, struct tenon_json_token *out,
                                          struct tenon_error *err)
{
    bool object;

    if (json->depth == 0) {
        if (json->pos < json->len)
            return fail_unexpected(json, json->pos, "the end of the JSON text", err);
        out->type = TENON_JSON_END;
        return TENON_OK;
    }
    object = in_object(json);
    if (char_at(json, json->pos) == (object ? '}' : ']'))
        return close_container(json, out);
    if (char_at(json, json->pos) != ',')
        return fail_unexpected(json, json->pos, object ? "',' or '}'" : "',' or ']'", err);
    json->pos++;
    skip_space(json);
    out->offset = offset_at(json, json->pos);
    return object ? read_key(json, out, err) : read_value(json, out, err);
}

enum tenon_status tenon_json_next(struct tenon_json *json, struct tenon_json_token *out,
                                  struct tenon_error *err)
{
    skip_space(json);
    out->escaped = false;
    out->has_nul = false;
    out->raw.data = "";
    out->raw.len = 0;
    out->offset = offset_at(json, json->pos);
    switch ((enum state)json->state) {
    case WANT_VALUE_OR_CLOSE:
        if (char_at(json, json->pos) == ']')
            return close_container(json, out);
        return read_value(json, out, err);
    case WANT_KEY_OR_CLOSE:
        if (char_at(json, json->pos) == '}')
            return close_container(json, out);
        return read_key(json, out, err);
    case WANT_KEY:
        return read_key(json, out, err);
    case AFTER_VALUE:
        return read_after_value(json, out, err);
    case WANT_VALUE:
    default:
        return read_value(json, out, err);
    }
}

enum tenon_status tenon_json_expect(struct tenon_json *json, enum tenon_json_type type,
                                    const char *what, struct tenon_json_token *out,
                                    struct tenon_error *err)
{
    enum tenon_status st = tenon_json_next(json, out, err);

    if (st == TENON_OK && out->type != type)
        st = tenon_fail(err, TENON_ERR_CORRUPT, out->offset, "%s must be %s, not %s", what,
                        tenon_json_type_name(type), tenon_json_type_name(out->type));
    return st;
}

enum tenon_status tenon_json_skip(struct tenon_json *json, const struct tenon_json_token *first,
                                  struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    struct tenon_json_token token = *first;
    uint32_t outside;

    if (token.type == TENON_JSON_KEY)
        st = tenon_json_next(json, &token, err);
    if (st != TENON_OK || (token.type != TENON_JSON_OBJECT && token.type != TENON_JSON_ARRAY))
        return st;
    outside = json->depth - 1;
    while (st == TENON_OK && json->depth > outside)
        st = tenon_json_next(json, &token, err);
    return st;
}

uint64_t tenon_json_place(const struct tenon_json *json)
{
    return offset_at(json, json->pos);
}

/* UTF-8 of a code point into `out` (4 bytes); returns its length. */
static size_t put_utf8(char *out, int32_t codepoint)
{
    uint32_t c = (uint32_t)codepoint;

    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* What the escape at `text`, checked when it was read, stands for. */
static size_t put_escape(char *out, const char *text, size_t left, size_t *used)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    const char *letter;

    *used = 2;
    if (text[1] == 'u')
        return put_utf8(out, unicode_escape(text, left, used));
    letter = strchr(letters, text[1]);
    out[0] = letter != NULL ? controls[letter - letters] : text[1];
    return 1;
}

size_t tenon_json_unescape(const struct tenon_json_token *token, char *out)
{
    const char *text = token->raw.data;
    size_t pos = 0, n = 0;

    if (!token->escaped) {
        memmove(out, text, token->raw.len);
        return token->raw.len;
    }
    while (pos < token->raw.len) {
        char piece[4];
        size_t used = 1, got = 1;

        if (text[pos] == '\\')
            got = put_escape(piece, text + pos, token->raw.len - pos, &used);
        else
            piece[0] = text[pos];
        memcpy(out + n, piece, got);
        pos += used;
        n += got;
    }
    return n;
}

bool tenon_json_token_is(const struct tenon_json_token *token, const char *text)
{
    const char *raw = token->raw.data;
    size_t n = strlen(text), pos = 0, matched = 0;

    if (!token->escaped)
        return token->raw.len == n && memcmp(raw, text, n) == 0;
    while (pos < token->raw.len) {
        char piece[4];
        size_t used = 1, got = 1;

        if (raw[pos] == '\\')
            got = put_escape(piece, raw + pos, token->raw.len - pos, &used);
        else
            piece[0] = raw[pos];
        if (n - matched < got || memcmp(text + matched, piece, got) != 0)
            return false;
        pos += used;
        matched += got;
    }
    return matched == n;
}

bool tenon_json_token_u64(const struct tenon_json_token *token, uint64_t *out)
{
    uint64_t value = 0;

    if (token->type != TENON_JSON_NUMBER)
        return false;
    for (size_t i = 0; i < token->raw.len; i++) {
        char c = token->raw.data[i];

        if (c < '0' || c > '9' || !tenon_u64_mul(&value, value, 10) ||
            !tenon_u64_add(&value, value, (uint64_t)(c - '0')))
            return false;
    }
    *out = value;
    return true;
}
