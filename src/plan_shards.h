/* Sets of files: how many there are, and which tensor goes to which. */
#ifndef TENON_PLAN_SHARDS_H
#define TENON_PLAN_SHARDS_H

#include "plan_like.h"

/* How full a file of a set may be; 0: as full as it gets. */
struct tenon_shard_limit {
    uint64_t bytes, tensors;
};

/* Gives each of `n` payloads the number of its file, as huggingface_hub does for transformers: in
 * order; a file is closed when the next payload would exceed the limit; a payload that exceeds it
 * on its own becomes a file at once, which goes before the one that is being filled. A limit of
 * tensors closes a file, too. NO_MEMORY only. */
enum tenon_status tenon_shards_assign(const uint64_t *bytes, size_t n,
                                      struct tenon_shard_limit limit, uint32_t *out_file,
                                      uint32_t *out_n_files, struct tenon_error *err);

/* The same as llama.cpp's split tool does it: strictly in order. What exceeds the limit on its own
 * becomes a file, where that tool gives up. `bytes` include the padding. */
void tenon_shards_assign_in_order(const uint64_t *bytes, size_t n, struct tenon_shard_limit limit,
                                  uint32_t *out_file, uint32_t *out_n_files);

/* "PREFIX-00001-of-00003.gguf", file `i` from 0 on, in the plan's arena; NULL when memory is gone.
 * `prefix` has `len` bytes. */
const char *tenon_shard_path(struct tenon_plan *plan, struct tenon_str prefix, uint32_t i,
                             uint32_t n_files, const char *extension);

/* Adds files like `file` to a plan that has tensors and no file, and spreads the tensors over them:
 * one file PREFIX.safetensors, or a set with its index. */
enum tenon_status tenon_plan_add_shards(struct tenon_plan *plan, const struct tenon_plan_file *file,
                                        struct tenon_str prefix, struct tenon_shard_limit limit,
                                        struct tenon_error *err);

#endif
