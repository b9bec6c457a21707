/* Writing JSON text into memory of the exact size: the same calls are made twice, first to measure
 * (`data` NULL, nothing is stored) and then into room for what was measured. Or into a window,
 * which hands it on. No allocation. */
#ifndef TENON_JSON_OUT_H
#define TENON_JSON_OUT_H

#include "window.h"

/* Zero-initialise to measure; then set `data` to at least `len` bytes and `len` to 0. */
struct tenon_json_out {
    char *data;
    size_t len;                  /* bytes written, or that would have been */
    struct tenon_window *window; /* not NULL: the bytes go there, `data` is not used */
};

void tenon_json_put(struct tenon_json_out *out, const char *text, size_t len);
void tenon_json_put_text(struct tenon_json_out *out, const char *text); /* terminated */
void tenon_json_put_fill(struct tenon_json_out *out, char c, size_t n);
void tenon_json_put_u64(struct tenon_json_out *out, uint64_t value);

/* A string in quotes as serde_json spells it: \" \\ \b \f \n \r \t, \u00xx for other bytes below
 * 0x20, all else raw. `text` must be valid UTF-8. */
void tenon_json_put_string(struct tenon_json_out *out, struct tenon_str text);

/* The same as Python's json module spells it: everything outside of printable ASCII as \uxxxx, by
 * surrogate pairs beyond U+FFFF. `text` must be valid UTF-8. */
void tenon_json_put_ascii(struct tenon_json_out *out, struct tenon_str text);

#endif
