/* Plans that change metadata and names, and nothing else. */
#ifndef TENON_EDIT_H
#define TENON_EDIT_H

#include "tenon/plan.h"

TENON_BEGIN_DECLS

enum tenon_edit_kind {
    TENON_EDIT_SET = 0,    /* metadata key `name` gets `value` */
    TENON_EDIT_UNSET = 1,  /* metadata key `name` goes away */
    TENON_EDIT_RENAME = 2, /* tensor `name` is called `value` */
    TENON_EDIT_DROP = 3    /* tensors whose names fit the pattern `name` go away */
};

/* One change. The strings are copied. */
struct tenon_edit {
    enum tenon_edit_kind kind;
    struct tenon_str name;
    struct tenon_str value;
    struct tenon_str type; /* of SET: "u32", "string", "array<f32>"; empty: that of the key as it
                            * is; for a new key it must be there (but in safetensors files, where
                            * all is text) */
};

struct tenon_edit_options {
    const struct tenon_edit *edits; /* carried out in order */
    size_t n_edits;
};

/* Plans to write `model`, changed, to `target`, which is as for tenon_plan_tie. Everything that no
 * edit names stays as it is, byte for byte: types and order of keys, arrays, payloads. Safetensors
 * files know only texts: there KEY also means "KEY:TYPE", as `tenon convert` writes what has a
 * type, where there is no KEY; the value must be one of that type, and another type replaces it.
 *
 * Values of numbers and booleans are written as usual ("4096", "0x1000", "-1", "1e-5", "nan",
 * "true"); those of arrays as JSON, or with the brackets left away ("1,2,3"; text that holds a
 * comma or begins with a blank or quote must then be quoted as in JSON). A key that exists keeps
 * its place, a new one comes last. Keys of a set are those of all its files; new ones go into the
 * first. In a folder, metadata is that of the model files (`__metadata__`), not of its config.
 *
 * Fails with NOT_FOUND for a key, tensor or pattern that names nothing, NAME_CLASH for a new name
 * that is taken, MISUSE for a value that its type does not have, CANNOT_REPRESENT for what the
 * format does not have. Keys that say which part of a set a file is (`split.*`) cannot be edited
 * (MISUSE). A new `general.alignment` moves all payloads. */
TENON_API TENON_MUST_USE enum tenon_status tenon_plan_edit(const struct tenon_model *model,
                                                           const char *target,
                                                           const struct tenon_edit_options *options,
                                                           struct tenon_plan **out_plan,
                                                           struct tenon_error *err);

TENON_END_DECLS

#endif
