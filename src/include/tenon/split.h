/* Plans that cut a model into a set of files, and that make one file of a set. */
#ifndef TENON_SPLIT_H
#define TENON_SPLIT_H

#include "tenon/plan.h"

TENON_BEGIN_DECLS

/* Exactly one of the first two is not 0. */
struct tenon_split_options {
    uint64_t max_bytes;   /* of the payloads of a file, their padding included; a tensor that is
                           * larger has a file of its own */
    uint64_t max_tensors; /* of a file */
    bool drop_metadata;   /* go on without values of keys that have another in an earlier file */
};

struct tenon_merge_options {
    bool drop_metadata; /* the same */
};

/* Builds the plan that writes the tensors of `model`, in their order and as they are, to files
 * PREFIX-00001-of-0000N.gguf as llama.cpp's split tool names and fills them, or
 * PREFIX-00001-of-0000N.safetensors and an index as transformers does (a set of one file has
 * neither number nor index then). prefix    path as the user gave it out_plan  to be freed with
 * tenon_plan_free before `model` is; untouched on failure Fails with MISUSE for options that are
 * not as said above, LIMIT for more files than a set can have, or NO_MEMORY. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_plan_split(const struct tenon_model *model, const char *prefix,
                 const struct tenon_split_options *options, struct tenon_plan **out_plan,
                 struct tenon_error *err);

/* Builds the plan that writes all tensors of a set to the file `target`; of the metadata of GGUF
 * the keys that describe a set go. So the file that was split comes back, byte for byte if a writer
 * of its format would write it so. No input can be an output. Where files have different values for
 * one key, that of the first is kept, and the others are losses of the plan. `options` may be NULL.
 *One file is
 * copied. Fails with MISUSE where `target` is named like another format, or with NO_MEMORY. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_plan_merge(const struct tenon_model *model, const char *target,
                 const struct tenon_merge_options *options, struct tenon_plan **out_plan,
                 struct tenon_error *err);

TENON_END_DECLS

#endif
