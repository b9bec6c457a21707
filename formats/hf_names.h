/* File names in Hugging Face folders. */
#ifndef TENON_FORMATS_HF_NAMES_H
#define TENON_FORMATS_HF_NAMES_H

#include "split_name.h"
#include "tenon/error.h"

/* The name of the index file of the set of shards that `name` belongs to, in the arena; NULL when
 * memory is gone.
 * model-00001-of-00002.safetensors: model.safetensors.index.json;
 * model.fp16-00001-of-00002.safetensors: model.safetensors.index.fp16.json. */
char *tenon_hf_name_index(struct tenon_arena *arena, const char *name,
                          const struct tenon_split_name *parts);

/* What is wrong with `name` as the name of a shard in an index file, NULL when nothing is: it must
 * be one path component, so that an index cannot reach out of its folder. */
const char *tenon_hf_fault_of_name(struct tenon_str name);

/* prefix + name, in the arena; NULL when memory is gone. */
char *tenon_hf_join(struct tenon_arena *arena, const char *prefix, const char *name);

/* The names in a folder that can matter, sorted bytewise. */
struct tenon_hf_listing {
    char **names;
    size_t n, room;
};

/* Reads the folder `prefix` ("" is the current one). The names live in the arena, the array until
 * tenon_hf_listing_release. Fails with IO or NO_MEMORY. */
enum tenon_status tenon_hf_listing_read(struct tenon_hf_listing *listing, struct tenon_arena *arena,
                                        const char *prefix, struct tenon_error *err);
void tenon_hf_listing_release(struct tenon_hf_listing *listing);
bool tenon_hf_listing_has(const struct tenon_hf_listing *listing, const char *name);

#endif
