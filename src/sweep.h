/* Passing over whole payloads in bounded memory, on several threads, with progress. */
#ifndef TENON_SWEEP_H
#define TENON_SWEEP_H

#include "tenon/hash.h"

/* One sweep over some tensors of a model. */
struct tenon_sweep {
    const struct tenon_model *model;
    const struct tenon_hash_options *options;
    unsigned threads; /* resolved: at least 1 */
    size_t n;         /* pieces */
};

/* Does piece `i`, using `buffer` (buffer_bytes of it, this worker's own). Adds the payload bytes
 * it has passed to `*done_bytes`. */
typedef enum tenon_status (*tenon_sweep_fn)(void *user, size_t i, unsigned char *buffer,
                                            uint64_t *done_bytes, struct tenon_error *err);

/* Runs all pieces. `total_bytes` is what progress counts up to. CANCELLED when the progress
 * function of the options says so. */
enum tenon_status tenon_sweep_run(const struct tenon_sweep *sweep, size_t buffer_bytes,
                                  uint64_t total_bytes, tenon_sweep_fn piece, void *user,
                                  struct tenon_error *err);

#endif
