/* How readers attach a configuration to a model: a tree in the model's arena. */
#ifndef TENON_SETTINGS_PRIVATE_H
#define TENON_SETTINGS_PRIVATE_H

#include "mem.h"
#include "tenon/settings.h"

/* A value of a tree. The children of a list or object stand one after the other. */
struct tenon_setting_node {
    struct tenon_str key; /* of an object's member, else empty */
    struct tenon_str text;
    const struct tenon_setting_node *children;
    const struct tenon_setting_node *const *order; /* children by key, as
                                                    * tenon_setting_key_compare has it; NULL where
                                                    * they are few */
    uint32_t n_children;
    uint8_t kind; /* enum tenon_setting_kind */
    bool boolean;
    double number;
};

struct tenon_settings {
    struct tenon_arena arena;
    const struct tenon_setting_node *root;
};

enum { TENON_MOST_SETTING_LEVELS = 8 };

/* Where a model's settings are looked up, in that order: the sections of the language model, then
 * the top level. */
struct tenon_setting_levels {
    const struct tenon_setting_node *level[TENON_MOST_SETTING_LEVELS];
    size_t n;
};

/* Negative, 0 or positive: shorter keys come first, keys of one length as memcmp has them. */
int tenon_setting_key_compare(struct tenon_str a, struct tenon_str b);

/* The member at `path` below `node`, or NULL; `node` may be NULL. */
const struct tenon_setting_node *tenon_setting_node_find(const struct tenon_setting_node *node,
                                                         const char *path);

/* Adds a level, which lives as long as the model; levels beyond the last are ignored. */
void tenon_model_add_setting_level(struct tenon_model *model,
                                   const struct tenon_setting_node *level);

#endif
