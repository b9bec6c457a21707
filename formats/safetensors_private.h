/* What the parts of the safetensors reader share. */
#ifndef TENON_SAFETENSORS_PRIVATE_H
#define TENON_SAFETENSORS_PRIVATE_H

#include "json_pull.h"
#include "safetensors.h"

/* The reserved key of the header. */
#define TENON_SAFETENSORS_META "__metadata__"

/* Bytes of the length field, in front of the header. */
#define TENON_SAFETENSORS_PREFIX 8

/* The payload range of one entry, relative to the first payload byte, and its name: offset and
 * length in the header. 24 bytes, one for each tensor while a header is read. */
struct tenon_safetensors_span {
    uint64_t begin, end;
    uint32_t name_pos, name_len;
};

/* An observation that many entries may share: how many, and the first of them. */
struct tenon_safetensors_tally {
    uint64_t n;
    struct tenon_str name;
    uint64_t offset;
};

struct tenon_safetensors_reader {
    struct tenon_model *model;
    uint32_t file;
    tenon_safetensors_keep_fn keep;
    void *user;
    bool lenient;

    char *header; /* owned by the model; names are unescaped in place */
    size_t header_len;
    uint64_t data_start; /* absolute */
    uint64_t data_bytes;

    struct tenon_safetensors_span *spans;
    size_t n_spans, span_room;
    uint64_t *superseded; /* sorted offsets of keys that a later equal key replaces; lenient only */
    size_t n_superseded;

    struct tenon_safetensors_tally misaligned, unknown_dtype, unknown_field, array_form, nul_name;
    struct tenon_safetensors_tally alias;
};

/* Parses the header text: adds metadata and tensors to the model and fills `spans`. */
enum tenon_status tenon_safetensors_parse(struct tenon_safetensors_reader *r,
                                          struct tenon_error *err);

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
