/* Making text from files harmless. */
#ifndef TENON_TEXT_H
#define TENON_TEXT_H

#include "tenon/api.h"

/* Decodes one code point at `text[*pos]`; advances `*pos`. Returns -1 for a byte that is not
 * part of valid UTF-8 (overlong forms, surrogates and values above U+10FFFF are not), then
 * advancing by one byte. `*pos` must be below `len`. */
int32_t tenon_utf8_next(const char *text, size_t len, size_t *pos);

bool tenon_utf8_valid(const char *text, size_t len);

/* Whether a code point may reach a terminal as it is: no control, bidirectional, zero-width,
 * tag, line-separator or non-character code point. */
bool tenon_codepoint_safe(int32_t codepoint);

/* Copies `text` into `buf` (terminated, at most `size` bytes), with everything unsafe written as
 * \n, \t, \xHH (a bad byte) or \u{HEX}, and "..." at the end when it did not fit. Returns the
 * length written. `size` must be at least 4. */
size_t tenon_text_sanitise(char *buf, size_t size, const char *text, size_t len);

/* The value of a hexadecimal digit, -1 for anything else. */
int tenon_hex_digit(int c);

bool tenon_str_equal(struct tenon_str s, const char *text);

#endif
