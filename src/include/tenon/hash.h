/* Content hashes of tensors and models: XXH3-128. No cryptographic strength. */
#ifndef TENON_HASH_H
#define TENON_HASH_H

#include "tenon/model.h"

TENON_BEGIN_DECLS

struct tenon_hash {
    uint64_t high, low; /* printed as 16 + 16 hexadecimal digits */
};

/* Called after each finished piece of work with the bytes done so far and in all; returning
 * false stops the work with CANCELLED. May be called from any worker thread, one at a time. */
typedef bool (*tenon_progress_fn)(uint64_t done, uint64_t total, void *user);

struct tenon_hash_options {
    unsigned threads;           /* 0: as many as the machine has processors */
    bool values;                /* hash the decoded float32 values, little-endian, row-major */
    tenon_progress_fn progress; /* may be NULL */
    void *user;
};

TENON_API void tenon_hash_options_init(struct tenon_hash_options *options);

/* Hashes the tensors named by `indices` (NULL: all), one result each into `out`. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_hash_tensors(const struct tenon_model *model, const uint32_t *indices, size_t n,
                   const struct tenon_hash_options *options, struct tenon_hash *out,
                   struct tenon_error *err);

/* One hash for a model from its tensors' hashes, whatever their order, file or container:
 * XXH3-128 over name, shape and hash (and the dtype, unless `values`) of each, sorted by name. */
TENON_API TENON_MUST_USE enum tenon_status tenon_hash_model(const struct tenon_model *model,
                                                            const struct tenon_hash *tensors,
                                                            bool values, struct tenon_hash *out,
                                                            struct tenon_error *err);

TENON_END_DECLS

#endif
