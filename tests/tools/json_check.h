/* Judges a JSON document without the code that writes it. */
#ifndef TENON_TESTS_JSON_CHECK_H
#define TENON_TESTS_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_CHECK_KEYS 256

/* What was found: the distinct keys of all objects, and why the text is not JSON. */
struct json_check {
    char *keys[JSON_CHECK_KEYS]; /* from malloc */
    size_t n_keys;
    const char *problem; /* NULL: valid */
    size_t at;           /* where the problem is */
};

/* Reads exactly `n_documents` values separated by white space, and nothing else. Strict: UTF-8, no
 * control characters in strings, no lone surrogates, no duplicate keys in one object. */
void json_check(struct json_check *check, const char *text, size_t len, size_t n_documents);
void json_check_release(struct json_check *check);

/* Whether every character may reach a terminal: no control but tab and newline, no C1, no
 * bidirectional, zero-width or tag character, all valid UTF-8. `*at` is the first that may not. */
bool text_is_safe(const char *text, size_t len, size_t *at);

#endif
