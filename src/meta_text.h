/* Typed metadata as pairs of texts, and back: how containers that know nothing but texts
 * (safetensors) keep what GGUF says.
 *
 *   a string           KEY              the text itself
 *   not UTF-8          KEY:hex          two lower-case hexadecimal digits a byte
 *   an integer         KEY:u32          decimal; the type words are those of tenon_meta_type_name
 *   a boolean          KEY:bool         true or false
 *   a float            KEY:f32          the shortest decimal form that reads back as the same; NaN,
 *                                       Infinity, -Infinity, other NaNs by their bits, 0x7fc00001
 *   an array           KEY:array<u32>   JSON without blanks; floats that are not finite in quotes
 *   ... of strings     KEY:array<string>, or KEY:array<hex> where one is not UTF-8
 *
 * A string whose pair would be read back as one of these has the key KEY:string. Texts of any
 * other spelling are strings. So each typed pair has exactly one pair of texts, and the other way
 * round: going there and back, from either side, changes nothing. */
#ifndef TENON_META_TEXT_H
#define TENON_META_TEXT_H

#include "mem.h"
#include "tenon/error.h"
#include "tenon/meta.h"

/* Writes `typed` as a pair of texts into `*out`, both in `arena`. CANNOT_REPRESENT, the key as
 * subject, for arrays of arrays and keys that are not UTF-8; NO_MEMORY. */
enum tenon_status tenon_meta_to_text(struct tenon_arena *arena,
                                     const struct tenon_meta_entry *typed,
                                     struct tenon_meta_entry *out, struct tenon_error *err);

/* Reads a pair of texts into `*out`; key and array elements then are in `arena` or those of `text`.
 * NO_MEMORY only. */
enum tenon_status tenon_meta_from_text(struct tenon_arena *arena,
                                       const struct tenon_meta_entry *text,
                                       struct tenon_meta_entry *out, struct tenon_error *err);

/* The number that `text` spells in decimal, rounded to float32 first if `single`; what is no such
 * text, or is absurdly long, gives some number. The program's locale does not matter. */
double tenon_meta_decimal(struct tenon_str text, bool single);

#endif
