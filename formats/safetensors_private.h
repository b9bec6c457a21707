/* What the parts of the safetensors reader share. */
#ifndef TENON_SAFETENSORS_PRIVATE_H
#define TENON_SAFETENSORS_PRIVATE_H

#include "json_pull.h"
#include "safetensors.h"
#include "scroll.h"

/* The reserved key of the header. */
#define TENON_SAFETENSORS_META "__metadata__"

/* Bytes of the length field, in front of the header. */
#define TENON_SAFETENSORS_PREFIX 8

/* The payload range of one entry, relative to the first payload byte, its name, and where its key
 * stands. */
struct tenon_safetensors_span {
    uint64_t begin, end;
    struct tenon_str name;
    uint64_t offset; /* absolute */
};

/* An observation that many entries may share: how many, and where the key of the first of them
 * stands. */
struct tenon_safetensors_tally {
    uint64_t n;
    uint64_t offset;
};

struct tenon_safetensors_reader {
    struct tenon_model *model;
    uint32_t file;
    tenon_safetensors_keep_fn keep;
    void *user;
    bool lenient;

    /* The text goes away while it is read: nothing may point into it once its entry is done. Names
     * are unescaped in place. */
    struct tenon_scroll header;
    bool starts_with_brace;
    uint64_t data_start; /* absolute */
    uint64_t data_bytes;

    /* The entries: tensors of the model from this number on, and those that are not kept. */
    size_t first_tensor;
    struct tenon_safetensors_span *passed;
    size_t n_passed, passed_room;
    struct tenon_arena arena; /* names of those */
    uint64_t *superseded; /* sorted offsets of keys that a later equal key replaces; lenient only */
    size_t n_superseded;

    struct tenon_safetensors_tally misaligned, unknown_dtype, unknown_field, array_form, nul_name;
    struct tenon_safetensors_tally alias;
};

/* Parses the header text, using it up: adds metadata and tensors to the model and fills `passed`.
 */
enum tenon_status tenon_safetensors_parse(struct tenon_safetensors_reader *r,
                                          struct tenon_error *err);

/* The number of entries, and what is known of number `i` below that: those that are kept come
 * first. */
size_t tenon_safetensors_n_entries(const struct tenon_safetensors_reader *r);
struct tenon_safetensors_span tenon_safetensors_entry(const struct tenon_safetensors_reader *r,
                                                      size_t i);

/* Checks that the payloads cover the data exactly: no hole, no overlap but for two names on one
 * range, nothing after the last. */
enum tenon_status tenon_safetensors_cover(struct tenon_safetensors_reader *r,
                                          struct tenon_error *err);

/* For the lenient mode, where the last of several equal keys counts as for the reference reader:
 * finds the keys of the header and of its metadata that a later one replaces. */
enum tenon_status tenon_safetensors_supersede(struct tenon_safetensors_reader *r,
                                              struct tenon_error *err);

/* Whether the key at absolute `offset` is one of those. */
bool tenon_safetensors_is_superseded(const struct tenon_safetensors_reader *r, uint64_t offset);

#endif
