/* Metadata pairs as JSON. */
#ifndef TENON_TOOLS_META_JSON_H
#define TENON_TOOLS_META_JSON_H

#include "out_json.h"
#include "tenon/meta.h"

/* Arrays can nest as deep as the reader's limit allows; this is more. */
#define TENON_META_JSON_DEPTH 12

/* "u32", "array<string>"; `buf` holds `size` bytes, 32 are enough. Returns `buf`. */
const char *tenon_meta_type_text(const struct tenon_meta_entry *entry, char *buf, size_t size);

/* A pair as an object, the member `name` (NULL in an array); of a metadata array at most `most`
 * elements. */
void tenon_meta_json(struct tenon_json *json, const char *name,
                     const struct tenon_meta_entry *entry, uint64_t most);

#endif
