/* Sets of files: how many there are, and which tensor goes to which. */
#ifndef TENON_PLAN_SHARDS_H
#define TENON_PLAN_SHARDS_H

#include "plan_like.h"

/* How full a file of a set may be; 0: as full as it gets. */
struct tenon_shard_limit {
    uint64_t bytes, tensors;
};

/* Payloads that are being spread over files, one after the other. Zero-initialise but for the
 * limit.
 */
struct tenon_shards {
    struct tenon_shard_limit limit;
    uint64_t held, used; /* tensors and bytes of the file that is being filled */
    bool open;           /* whether there is one */
    uint32_t filling, begun, closed;
    uint32_t *number; /* of each file, by when it began; known at the end */
    size_t room;
};

/* Gives the next payload a file, as huggingface_hub does for transformers: in order; a file is
 * closed when the next payload would exceed the limit; a payload that exceeds it on its own becomes
 * a file at once, which goes before the one that is being filled. A limit of tensors closes a file,
 * too.
 * `*out_file` counts files as they began. NO_MEMORY only. */
enum tenon_status tenon_shards_take(struct tenon_shards *shards, uint64_t bytes, uint32_t *out_file,
                                    struct tenon_error *err);

/* When all have a file: how many there are, one for none (NO_MEMORY only). Then the file that is
 * called `f` above is number `shards->number[f]`. */
enum tenon_status tenon_shards_end(struct tenon_shards *shards, uint32_t *out_n_files,
                                   struct tenon_error *err);
void tenon_shards_release(struct tenon_shards *shards);

/* The next payload's file as llama.cpp's split tool chooses it: strictly in order. What exceeds the
 * limit on its own becomes a file, where that tool gives up. `bytes` include the padding. */
uint32_t tenon_shards_take_in_order(struct tenon_shards *shards, uint64_t bytes);

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
