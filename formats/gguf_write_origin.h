/* A GGUF file that tensors come from, as edited copies of it see it: its payloads in the order in
 * which they lie there, each by a number. Numbers go up, but not by one: empty payloads, which lie
 * anywhere, may have some, too, and are passed over. */
#ifndef TENON_FORMATS_GGUF_WRITE_ORIGIN_H
#define TENON_FORMATS_GGUF_WRITE_ORIGIN_H

#include "format.h"

struct tenon_gguf_origin {
    const struct tenon_model *model;
    uint32_t file;
    size_t first;   /* of its tensors in the model */
    size_t n;       /* numbers are below that */
    uint32_t *list; /* by place: tensors, counted from `first`; NULL: in the order of the tensors,
                     * as nearly always */
    uint64_t end;   /* of the last byte of any payload, absolute */
    size_t next;    /* up to this number ... */
    uint64_t reach; /* ... this is the end of all payloads, or of the header */
};

/* Reads what the model says about the file; model and file are set. LIMIT, NO_MEMORY. To be
 * released also then. */
enum tenon_status tenon_gguf_origin_init(struct tenon_gguf_origin *o, struct tenon_error *err);
void tenon_gguf_origin_release(struct tenon_gguf_origin *o);

const struct tenon_tensor *tenon_gguf_origin_payload(const struct tenon_gguf_origin *o, size_t k);

/* The number of the payload of a tensor of that file, which is not empty. */
size_t tenon_gguf_origin_find(const struct tenon_gguf_origin *o, const struct tenon_tensor *tensor);

/* The first number from `k` on that has a payload; o->n: there is none. */
size_t tenon_gguf_origin_next(const struct tenon_gguf_origin *o, size_t k);

/* Brings `next` to `k`: onwards, if it is behind it, else from the beginning. */
void tenon_gguf_origin_advance(struct tenon_gguf_origin *o, size_t k);

/* The end of the payload, or `reach`, whichever is further. */
uint64_t tenon_gguf_origin_reach(const struct tenon_tensor *tensor, uint64_t reach);

/* Whether a payload is loose, with `reach` the end of all before it; then also the gap before it.
 */
bool tenon_gguf_origin_is_loose(const struct tenon_gguf_origin *o,
                                const struct tenon_tensor *tensor, uint64_t reach,
                                uint64_t *out_gap);

/* For each number that has a payload, that of the loose one that it hangs on. To be freed; NULL
 * when memory is gone. */
uint32_t *tenon_gguf_origin_heads(const struct tenon_gguf_origin *o);

#endif
