/* JSON as settings. */
#ifndef TENON_SETTINGS_JSON_H
#define TENON_SETTINGS_JSON_H

#include "json_tree.h"
#include "settings.h"

/* Copies the tree below `root` into `arena`; the depth of a tree is limited by its parser. Fails
 * with NO_MEMORY only. Memory follows the size of the text. */
enum tenon_status tenon_settings_copy(struct tenon_arena *arena, const struct tenon_json_node *root,
                                      const struct tenon_setting_node **out,
                                      struct tenon_error *err);

#endif
