/* A strict JSON reader that hands out one token at a time: RFC 8259 and nothing more, valid UTF-8
 * only, exact integers. Linear time, constant memory, no recursion, no allocation. It serves the
 * files that may be large (safetensors headers, index files, tokenizers) and checks the text of
 * the small ones before a tree is made of them. */
#ifndef TENON_JSON_PULL_H
#define TENON_JSON_PULL_H

#include "tenon/error.h"

/* The deepest nesting that can be asked for: cJSON stops at 1000. */
#define TENON_JSON_MAX_DEPTH 1000

enum tenon_json_type {
    TENON_JSON_END = 0, /* the value is complete and nothing follows */
    TENON_JSON_OBJECT,  /* { */
    TENON_JSON_OBJECT_END,
    TENON_JSON_ARRAY, /* [ */
    TENON_JSON_ARRAY_END,
    TENON_JSON_KEY, /* with its colon; the value follows */
    TENON_JSON_STRING,
    TENON_JSON_NUMBER,
    TENON_JSON_TRUE,
    TENON_JSON_FALSE,
    TENON_JSON_NULL
};

struct tenon_json_token {
    enum tenon_json_type type;
    bool escaped;         /* a key or string with backslashes in it: unescape before use */
    bool has_nul;         /* one of them is \u0000 */
    uint64_t offset;      /* absolute, of the token's first byte */
    struct tenon_str raw; /* a key or string between its quotes, a number's digits */
};

/* Caller's storage, nothing to release. The members are private. */
struct tenon_json {
    const char *text;
    size_t len, pos;
    uint64_t base;                                   /* what text[0] has as absolute offset */
    enum tenon_status short_status;                  /* reported where the text ends too early */
    uint32_t depth;                                  /* open containers */
    uint32_t max_depth;                              /* levels that are read; one more is LIMIT */
    uint64_t objects[TENON_JSON_MAX_DEPTH / 64 + 1]; /* bit d: level d is an object */
    int state;
    bool nonfinite; /* NaN, Infinity and -Infinity are numbers */
};

/* Starts on `len` bytes of text, borrowed and never changed, of a whole file: text[0] stands at
 * offset 0, and a text that ends too early is TRUNCATED. `max_depth` levels of nesting are read
 * (at most TENON_JSON_MAX_DEPTH). */
void tenon_json_init(struct tenon_json *json, const char *text, size_t len, uint32_t max_depth);

/* Says that the text is a part of a file, from offset `base` on, whose length stands elsewhere:
 * a text that ends too early is then CORRUPT. */
void tenon_json_set_base(struct tenon_json *json, uint64_t base);

/* Takes NaN, Infinity and -Infinity for numbers, too: Python writes them, and configs have them. */
void tenon_json_allow_nonfinite(struct tenon_json *json);

/* The next token. Fails with CORRUPT, LIMIT (nesting) or the short status, with the absolute
 * offset of the offending byte; the reader must not be used after that. */
enum tenon_status tenon_json_next(struct tenon_json *json, struct tenon_json_token *out,
                                  struct tenon_error *err);

/* The next token, which must be of `type`; CORRUPT "WHAT must be TYPE, not ..." otherwise. */
enum tenon_status tenon_json_expect(struct tenon_json *json, enum tenon_json_type type,
                                    const char *what, struct tenon_json_token *out,
                                    struct tenon_error *err);

/* Passes over the rest of the value that `first` (the token just read) starts. */
enum tenon_status tenon_json_skip(struct tenon_json *json, const struct tenon_json_token *first,
                                  struct tenon_error *err);

/* The absolute offset just after the token that was read last, which of a key is that after its
 * colon; after tenon_json_skip that of the value's end. */
uint64_t tenon_json_place(const struct tenon_json *json);

/* Writes what a key or string stands for to `out`, which has room for raw.len bytes and may be
 * the place of the raw text itself. Returns the number of bytes, never more than raw.len. */
size_t tenon_json_unescape(const struct tenon_json_token *token, char *out);

/* Whether a key or string stands for `text`. */
bool tenon_json_token_is(const struct tenon_json_token *token, const char *text);

/* A number that is written as a plain unsigned integer (no sign, point or exponent) and fits
 * 64 bits. */
bool tenon_json_token_u64(const struct tenon_json_token *token, uint64_t *out);

/* "an object", "a string" ... for messages. */
const char *tenon_json_type_name(enum tenon_json_type type);

#endif
