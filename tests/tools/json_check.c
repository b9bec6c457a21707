#include "json_check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64, OBJECT_KEYS = 128 };

struct reader {
    struct json_check *check;
    const unsigned char *text;
    size_t len, at;
};

static void fail(struct reader *r, const char *problem)
{
    if (r->check->problem == NULL) {
        r->check->problem = problem;
        r->check->at = r->at;
    }
}

static int peek(const struct reader *r)
{
    return r->at < r->len ? r->text[r->at] : -1;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->len && strchr(" \t\r\n", r->text[r->at]) != NULL && r->text[r->at] != 0)
        r->at++;
}

static bool take(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    if (r->len - r->at < n || memcmp(r->text + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static long take_hex4(struct reader *r)
{
    long value = 0;

    for (int i = 0; i < 4; i++, r->at++) {
        int c = peek(r);

        if (c >= '0' && c <= '9')
            value = value * 16 + c - '0';
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + c - 'a' + 10;
        else if (c >= 'A' && c <= 'F')
            value = value * 16 + c - 'A' + 10;
        else
            return -1;
    }
    return value;
}

static void read_escape(struct reader *r)
{
    int c = peek(r);
    long unit;

    r->at++;
    if (c >= 0 && strchr("\"\\/bfnrt", c) != NULL && c != 0)
        return;
    if (c != 'u') {
        fail(r, "unknown escape");
        return;
    }
    unit = take_hex4(r);
    if (unit >= 0xd800 && unit < 0xdc00) {
        long low = take(r, "\\u") ? take_hex4(r) : -1;

        if (low < 0xdc00 || low > 0xdfff)
            fail(r, "lone surrogate");
    } else if (unit < 0 || (unit >= 0xdc00 && unit < 0xe000)) {
        fail(r, "bad \\u escape");
    }
}

/* One sequence of UTF-8 at `text`; 0 when it is none. */
static size_t sequence(const unsigned char *text, size_t len, uint32_t *codepoint)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = text[0];
    size_t n = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

    if (n == 0 || n > len || lead > 0xf4)
        return 0;
    *codepoint = n == 1 ? lead : lead & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *codepoint = *codepoint << 6 | (text[i] & 0x3f);
    }
    if (*codepoint < least[n] || *codepoint > 0x10ffff ||
        (*codepoint >= 0xd800 && *codepoint < 0xe000))
        return 0;
    return n;
}

static void read_string(struct reader *r)
{
    if (!take(r, "\"")) {
        fail(r, "a string expected");
        return;
    }
    while (r->check->problem == NULL) {
        uint32_t codepoint;
        size_t n;

        if (r->at == r->len) {
            fail(r, "string without an end");
        } else if (take(r, "\"")) {
            return;
        } else if (take(r, "\\")) {
            read_escape(r);
        } else {
            n = sequence(r->text + r->at, r->len - r->at, &codepoint);
            if (n == 0)
                fail(r, "not UTF-8");
            else if (codepoint < 0x20)
                fail(r, "control character in a string");
            r->at += n;
        }
    }
}

static void skip_digits(struct reader *r)
{
    if (peek(r) < '0' || peek(r) > '9')
        fail(r, "a digit expected");
    while (peek(r) >= '0' && peek(r) <= '9')
        r->at++;
}

static void read_number(struct reader *r)
{
    (void)take(r, "-");
    if (!take(r, "0"))
        skip_digits(r);
    else if (peek(r) >= '0' && peek(r) <= '9')
        fail(r, "leading zero");
    if (take(r, "."))
        skip_digits(r);
    if (peek(r) == 'e' || peek(r) == 'E') {
        r->at++;
        if (peek(r) == '+' || peek(r) == '-')
            r->at++;
        skip_digits(r);
    }
}

static void remember_key(struct json_check *check, const char *key, size_t len)
{
    for (size_t i = 0; i < check->n_keys; i++)
        if (strlen(check->keys[i]) == len && memcmp(check->keys[i], key, len) == 0)
            return;
    if (check->n_keys < JSON_CHECK_KEYS)
        check->keys[check->n_keys++] = strndup(key, len);
}

/* A key and its colon. `seen` are the keys of this object so far. */
static void read_key(struct reader *r, size_t seen[OBJECT_KEYS][2], size_t *n_seen)
{
    size_t start = r->at + 1, len;

    read_string(r);
    if (r->check->problem != NULL)
        return;
    len = r->at - 1 - start;
    for (size_t i = 0; i < *n_seen; i++)
        if (seen[i][1] == len && memcmp(r->text + seen[i][0], r->text + start, len) == 0)
            fail(r, "duplicate key");
    if (*n_seen < OBJECT_KEYS) {
        seen[*n_seen][0] = start;
        seen[(*n_seen)++][1] = len;
    }
    remember_key(r->check, (const char *)r->text + start, len);
    skip_space(r);
    if (!take(r, ":"))
        fail(r, "a colon expected");
    skip_space(r);
}

static void read_scalar(struct reader *r)
{
    if (peek(r) == '"')
        read_string(r);
    else if (!take(r, "true") && !take(r, "false") && !take(r, "null"))
        read_number(r);
}

/* One value, nested values on a stack. */
static void read_value(struct reader *r)
{
    static size_t seen[DEPTH][OBJECT_KEYS][2];
    size_t n_seen[DEPTH];
    char close[DEPTH];
    size_t depth = 0;

    do {
        skip_space(r);
        if (peek(r) == '{' || peek(r) == '[') {
            bool object = r->text[r->at++] == '{';

            if (depth == DEPTH) {
                fail(r, "too deep");
                return;
            }
            close[depth] = object ? '}' : ']';
            n_seen[depth++] = 0;
            skip_space(r);
            if (peek(r) != close[depth - 1]) {
                if (object)
                    read_key(r, seen[depth - 1], &n_seen[depth - 1]);
                continue;
            }
        } else {
            read_scalar(r);
        }
        skip_space(r);
        while (depth > 0 && peek(r) == close[depth - 1]) {
            r->at++;
            depth--;
            skip_space(r);
        }
        if (depth > 0 && !take(r, ",")) {
            fail(r, "a comma or an end expected");
        } else if (depth > 0 && close[depth - 1] == '}') {
            skip_space(r);
            read_key(r, seen[depth - 1], &n_seen[depth - 1]);
        }
    } while (depth > 0 && r->check->problem == NULL);
}

void json_check(struct json_check *check, const char *text, size_t len, size_t n_documents)
{
    struct reader r = {.check = check, .text = (const unsigned char *)text, .len = len};

    memset(check, 0, sizeof(*check));
    for (size_t i = 0; i < n_documents && check->problem == NULL; i++)
        read_value(&r);
    skip_space(&r);
    if (r.at != r.len)
        fail(&r, "text behind the document");
}

void json_check_release(struct json_check *check)
{
    for (size_t i = 0; i < check->n_keys; i++)
        free(check->keys[i]);
}

bool text_is_safe(const char *text, size_t len, size_t *at)
{
    static const struct {
        uint32_t first, last;
    } unsafe[] = {
        {0x00, 0x08},     {0x0b, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},
        {0x61c, 0x61c},   {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
        {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };

    for (*at = 0; *at < len;) {
        uint32_t c;
        size_t n = sequence((const unsigned char *)text + *at, len - *at, &c);

        if (n == 0)
            return false;
        for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
            if (c >= unsafe[i].first && c <= unsafe[i].last)
                return false;
        *at += n;
    }
    return true;
}
