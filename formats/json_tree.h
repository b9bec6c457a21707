/* Small JSON files as a tree. This is the only user of cJSON, and its looseness never matters: the
 * text is read by the strict reader first (grammar, UTF-8, depth), which also refuses duplicate
 * keys and \u0000, so that what cJSON makes of it is what the text says. NaN, Infinity and
 * -Infinity, which Python writes and JSON does not have, are let through; they are no finite
 * number.
 *
 * cJSON takes its memory from malloc; its allocation hooks are global to the process and belong
 * to whoever embeds the library, so they stay untouched. That memory is at most 48 bytes per byte
 * of text, and a text has at most TENON_JSON_TREE_BYTES. */
#ifndef TENON_JSON_TREE_H
#define TENON_JSON_TREE_H

#include "json_pull.h"

/* The largest text that a tree is made of. */
#define TENON_JSON_TREE_BYTES ((size_t)4 * 1024 * 1024)

/* A value inside a tree; borrowed, lives as long as its root. */
struct tenon_json_node;

/* Parses `len` bytes; `*out_root` is to be freed with tenon_json_node_free. Fails as the strict
 * reader does, with NAME_CLASH for a duplicate key, CORRUPT for an escaped NUL, LIMIT for a text
 * or number that is too long, or NO_MEMORY. Offsets count from the start of the text. */
enum tenon_status tenon_json_tree_parse(const char *text, size_t len, uint32_t max_depth,
                                        struct tenon_json_node **out_root, struct tenon_error *err);

/* Frees a root with everything below it; NULL is fine. */
void tenon_json_node_free(struct tenon_json_node *root);

/* Every function below accepts NULL: it has no type (TENON_JSON_END) and no children. */
enum tenon_json_type tenon_json_node_type(const struct tenon_json_node *node);

/* The member `key` (case matters) of an object; NULL when it is none or has none. */
const struct tenon_json_node *tenon_json_node_get(const struct tenon_json_node *object,
                                                  const char *key);

/* First child of an object or array, and the next one; NULL at the end. */
const struct tenon_json_node *tenon_json_node_first(const struct tenon_json_node *node);
const struct tenon_json_node *tenon_json_node_next(const struct tenon_json_node *node);

/* The key of an object's member. */
struct tenon_str tenon_json_node_key(const struct tenon_json_node *node);

/* A whole number below 2^53 in size, a finite number, a string: false for anything else. */
bool tenon_json_node_int(const struct tenon_json_node *node, int64_t *out);
bool tenon_json_node_float(const struct tenon_json_node *node, double *out);
bool tenon_json_node_text(const struct tenon_json_node *node, struct tenon_str *out);

#endif
