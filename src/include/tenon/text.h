/* Text from files: walking UTF-8, and making it safe to show. */
#ifndef TENON_TEXT_PUBLIC_H
#define TENON_TEXT_PUBLIC_H

#include "tenon/api.h"

TENON_BEGIN_DECLS

/* Decodes one code point at `text[*pos]`; advances `*pos`. Returns -1 for a byte that is not
 * part of valid UTF-8 (overlong forms, surrogates and values above U+10FFFF are not), then
 * advancing by one byte. `*pos` must be below `len`. */
TENON_API int32_t tenon_utf8_next(const char *text, size_t len, size_t *pos);

/* Whether a code point may reach a terminal as it is: no control, bidirectional, zero-width,
 * tag, line-separator or non-character code point. */
TENON_API bool tenon_codepoint_safe(int32_t codepoint);

/* Copies `text` into `buf` (terminated, at most `size` bytes), with everything unsafe written as
 * \n, \t, \xHH (a bad byte) or \u{HEX}, and "..." at the end when it did not fit. Returns the
 * length written. `size` must be at least 4. */
TENON_API size_t tenon_text_sanitise(char *buf, size_t size, const char *text, size_t len);

/* Whether all of `text` fits a shell pattern of *, ?, [sets] and backslashes; a dot or slash is no
 * special character. In linear time for any pattern without sets that repeat. `text` is not
 * terminated. */
TENON_API bool tenon_text_glob(const char *pattern, const char *text, size_t len);

TENON_END_DECLS

#endif
