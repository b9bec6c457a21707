/* A JSON writer that cannot write anything else: nesting, commas and escapes are its business.
 *
 * Strings keep every Unicode character; those that could disturb a terminal (controls, zero-width
 * and bidirectional marks, and so on) are written as \uXXXX, which any reader turns back. A byte
 * that is no part of valid UTF-8 becomes \ufffd followed by its two hexadecimal digits. */
#ifndef TENON_TOOLS_OUT_JSON_H
#define TENON_TOOLS_OUT_JSON_H

#include "out.h"

#define TENON_JSON_DEPTH 16

/* Zero-initialise, with `out` set. */
struct tenon_json {
    struct tenon_out *out;
    unsigned depth;
    struct {
        char close;
        bool filled, flat;
    } level[TENON_JSON_DEPTH];
    bool flat; /* everything on one line */
};

/* Objects and arrays. `key` is NULL inside arrays and for the outermost value; a `flat` one goes
 * on one line. The outermost end adds a newline. */
void tenon_json_object(struct tenon_json *json, const char *key);
void tenon_json_object_flat(struct tenon_json *json, const char *key);
void tenon_json_array(struct tenon_json *json, const char *key);
void tenon_json_array_flat(struct tenon_json *json, const char *key);
void tenon_json_end(struct tenon_json *json);

/* Begins the outermost object, with its member "schema". */
void tenon_json_document(struct tenon_json *json, const char *schema);

void tenon_json_null(struct tenon_json *json, const char *key);
void tenon_json_bool(struct tenon_json *json, const char *key, bool value);
void tenon_json_u64(struct tenon_json *json, const char *key, uint64_t value);
void tenon_json_i64(struct tenon_json *json, const char *key, int64_t value);

/* Shortest exact form; non-finite numbers as the strings "NaN", "Infinity", "-Infinity". */
void tenon_json_f64(struct tenon_json *json, const char *key, double value);
void tenon_json_f32(struct tenon_json *json, const char *key, float value);

/* `text` NULL gives null. */
void tenon_json_text(struct tenon_json *json, const char *key, const char *text);
void tenon_json_str(struct tenon_json *json, const char *key, struct tenon_str text);
void tenon_json_hash(struct tenon_json *json, const char *key, uint64_t high, uint64_t low);

/* null for a negative number ("unknown"), else the number. */
void tenon_json_known(struct tenon_json *json, const char *key, int64_t value);

/* An offset; null for TENON_NO_OFFSET. */
void tenon_json_offset(struct tenon_json *json, const char *key, uint64_t offset);

#endif
