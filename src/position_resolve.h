/* The parts of resolving positions; for position_resolve*.c only. */
#ifndef TENON_POSITION_RESOLVE_H
#define TENON_POSITION_RESOLVE_H

#include "mem.h"
#include "tenon/position.h"

/* The description with what owns it. */
struct tenon_positions_owned {
    struct tenon_positions p; /* first: the caller's pointer is this one's */
    struct tenon_arena arena;
    struct tenon_arch facts;
};

struct resolving {
    const struct tenon_model *model;
    const struct tenon_arch *arch; /* may be NULL */
    const struct tenon_hparams *h;
    const struct tenon_position_overrides *over;
    struct tenon_positions *p;
    struct tenon_arena *arena;
    struct tenon_rope_use *ropes; /* what p->ropes will be */
    size_t rope_room;
    struct resolved_list *lists; /* lists of factors that were read already */
    const char *config; /* what messages call the place of keys: "config.json", "metadata" */
};

/* Whether facts about GGUF files hold: by the names of its tensors, or of its format where these
 * are of no known convention. */
bool tenon_resolve_is_gguf(const struct tenon_model *model);

/* The first number that one of `keys` (separated by blanks) has; false when there is none. */
bool tenon_resolve_number(const struct tenon_model *model, const char *keys, double *out);
bool tenon_resolve_int(const struct tenon_model *model, const char *keys, int64_t *out);

/* Fails because of the key, with the key as subject; with MISUSE and no file where the caller
 * states what the model would. */
TENON_PRINTF(5, 6)
enum tenon_status tenon_resolve_fail(const struct resolving *r, enum tenon_status status,
                                     const char *key, struct tenon_error *err, const char *format,
                                     ...);

/* The layer's rotations from a config, or from GGUF metadata; `p` has heads and widths already. */
enum tenon_status tenon_resolve_rope_hf(struct resolving *r, struct tenon_error *err);
enum tenon_status tenon_resolve_rope_gguf(struct resolving *r, struct tenon_error *err);

/* Adds `rope` unless an equal one is there; `*out_i` is its index. NO_MEMORY. */
enum tenon_status tenon_resolve_add_rope(struct resolving *r, const struct tenon_rope *rope,
                                         const char *layer_type, uint32_t *out_i,
                                         struct tenon_error *err);

/* One table for each layer, to be filled in. NO_MEMORY, LIMIT. */
enum tenon_status tenon_resolve_layers(struct resolving *r, uint32_t **out_map,
                                       struct tenon_error *err);

/* Whether layer `i` of `n` attends to everything by the rule, with that period (0: all do). */
bool tenon_resolve_is_full(enum tenon_layer_rule rule, size_t period, size_t i, size_t n);

/* Everything that must hold of a rotation before tables are made of it. */
enum tenon_status tenon_resolve_check_rope(const struct resolving *r, const struct tenon_rope *rope,
                                           struct tenon_error *err);

/* The numbers of a list, one for each pair, which layers share. */
struct resolved_list {
    struct resolved_list *next;
    const struct tenon_setting_node *node;
    const double *numbers;
};

/* Whether that says all about the stretching: it names a way, or is null or empty, which is none.
 */
bool tenon_resolve_names_scaling(const struct tenon_setting *given);

/* The stretching that the caller states (r->over->rope_scaling), into a rotation whose base, widths
 * and lengths are there already, and its own stretching where the caller names none. Fails as
 * resolving does. */
enum tenon_status tenon_resolve_scaling(struct resolving *r, struct tenon_rope *rope,
                                        struct tenon_error *err);

#endif
