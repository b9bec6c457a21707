/* The plan of a conversion: another container, other element types, other shards. */
#ifndef TENON_CONVERT_H
#define TENON_CONVERT_H

#include "tenon/plan.h"

TENON_BEGIN_DECLS

/* "Tensors whose name fits `pattern` are written as `dtype`." */
struct tenon_dtype_rule {
    const char *pattern; /* as for tenon_text_glob */
    enum tenon_dtype dtype;
};

struct tenon_convert_options {
    const char *format;     /* "gguf" or "safetensors"; NULL: by how `target` ends, and for a folder
                             * safetensors */
    enum tenon_dtype dtype; /* of matrices of floats: tensors of two dimensions and more but for
                             * norms and biases; UNKNOWN: as they are */
    const struct tenon_dtype_rule *rules; /* the last that fits a tensor decides, whatever kind of
                                           * tensor it is */
    size_t n_rules;
    uint64_t max_shard_bytes; /* of safetensors; 0: one file */
    const char *arch;         /* general.architecture of a GGUF file where the model does not tell;
                               * NULL: none */
    bool other_arch;    /* `arch` may be none of the names that the model's family has in GGUF */
    bool drop_metadata; /* go on without what the target cannot hold of it, and without values that
                           a key has in later files of a set */
};

/* Fills in the defaults. */
TENON_API void tenon_convert_options_init(struct tenon_convert_options *options);

/* Builds the plan that writes `model` to `target` (the path as the user gave it): a file, or a
 * folder where `model` is one. Names, order and shapes are kept; what stays in its element type is
 * copied. Codes with scales beside them become numbers where they get another element type, and
 * their scales go. `options` may be NULL. `*out_plan` is to be freed with tenon_plan_free before
 * `model` is, and untouched on failure.
 *
 * Fails with MISUSE for options that contradict each other or change nothing (a rule that fits no
 * tensor, another
 * architecture than the model's), CANNOT_REPRESENT for tensors that the target cannot hold,
 * NOT_FOUND where the architecture must be known and is not, or NO_MEMORY. What would be lost of
 * the metadata, as the container has no form for it or files of a set contradict each other, is a
 * loss of the plan. Whether numbers overflow is not known before tenon_plan_scan. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_plan_convert(const struct tenon_model *model, const char *target,
                   const struct tenon_convert_options *options, struct tenon_plan **out_plan,
                   struct tenon_error *err);

TENON_END_DECLS

#endif
