/* What people write as the value of a metadata key. */
#ifndef TENON_META_VALUE_H
#define TENON_META_VALUE_H

#include "mem.h"
#include "tenon/error.h"
#include "tenon/meta.h"

/* Reads "u32" or "array<string>"; false for any other word, and for arrays of arrays. */
bool tenon_meta_type_parse(struct tenon_str text, enum tenon_meta_type *out_type,
                           enum tenon_meta_type *out_item);

/* Reads `text` as a value of `entry->type` (of an array: elements of `entry->item`) into the rest
 * of `*entry`; what it needs besides is in `arena`. Numbers: decimal, hexadecimal after 0x for
 * integers, NaN and Infinity for floats. Arrays: as in JSON, or without the brackets and, for
 * texts that need none, without the quotes. MISUSE when it is none; NO_MEMORY. */
enum tenon_status tenon_meta_value_parse(struct tenon_arena *arena, struct tenon_str text,
                                         struct tenon_meta_entry *entry, struct tenon_error *err);

/* Whether the pairs have the same type and value, whatever their keys; every NaN of the same bits
 * is equal to itself, and -0 is not 0. */
bool tenon_meta_equal(const struct tenon_meta_entry *a, const struct tenon_meta_entry *b);

#endif
