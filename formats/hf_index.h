/* The index file of a set of shards: {"metadata": {...}, "weight_map": {tensor: file}}. */
#ifndef TENON_FORMATS_HF_INDEX_H
#define TENON_FORMATS_HF_INDEX_H

#include "mem.h"
#include "names.h"
#include "source.h"
#include "tenon/model.h"

/* One pair of the weight map: 16 bytes and the name for each tensor. */
struct tenon_hf_index_entry {
    const char *name;
    uint32_t name_len;
    uint32_t shard : 31;
    uint32_t seen : 1; /* the tensor was met in its shard */
};

struct tenon_hf_index_shard {
    struct tenon_str name;
    uint32_t n_tensors;
};

/* A text pair of "metadata": the aliases that a writer dropped, and notes. */
struct tenon_hf_index_note {
    struct tenon_str key, value;
};

struct tenon_hf_index {
    struct tenon_arena *arena; /* of names, shards and notes */
    struct tenon_hf_index_entry *entries;
    size_t n_entries, entry_room;
    struct tenon_names entry_names;
    struct tenon_hf_index_shard *shards;
    size_t n_shards, shard_room;
    struct tenon_names shard_names;
    struct tenon_hf_index_note *notes;
    size_t n_notes, note_room;
    bool has_total; /* metadata.total_size is there and is an unsigned integer */
    bool bad_total; /* it is there and is something else */
    uint64_t total, total_offset;
    size_t n_superseded; /* equal keys; only in lenient mode, where the last counts */
};

/* Reads the file behind `source` into `index` (zero-initialised but for `arena`, which must outlive
 * it; tenon_hf_index_release also after a failure). Its text goes while it is read. Fails with
 * CORRUPT, NAME_CLASH, LIMIT, TRUNCATED, NOT_RECOGNISED (a Git LFS pointer, a web page ...), IO or
 * NO_MEMORY; `err` gets offset and subject. */
enum tenon_status tenon_hf_index_read(struct tenon_hf_index *index,
                                      const struct tenon_source *source,
                                      const struct tenon_open_options *options,
                                      struct tenon_error *err);
void tenon_hf_index_release(struct tenon_hf_index *index);

/* The entry of a tensor, or NULL. */
struct tenon_hf_index_entry *tenon_hf_index_find(struct tenon_hf_index *index,
                                                 struct tenon_str name);

/* Whether `name` is one of the shards. */
bool tenon_hf_index_has_shard(const struct tenon_hf_index *index, const char *name);

/* In the arena. */
struct tenon_str tenon_hf_index_name(const struct tenon_hf_index_entry *entry);

#endif
