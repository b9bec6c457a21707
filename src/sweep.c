/* Worker buffers and progress for sweeps over payloads. */
#include "sweep.h"

#include <pthread.h>

#include "fail.h"
#include "mem.h"
#include "parallel.h"

struct sweep_state {
    const struct tenon_sweep *sweep;
    tenon_sweep_fn piece;
    void *user;
    unsigned char *buffers;
    size_t buffer_bytes;
    uint64_t total;
    pthread_mutex_t lock; /* of `done` and the progress function */
    uint64_t done;
};

/* Adds to the progress; false when the caller wants to stop. */
static bool report(struct sweep_state *state, uint64_t bytes)
{
    const struct tenon_hash_options *options = state->sweep->options;
    bool go_on = true;

    if (options == NULL || options->progress == NULL)
        return true;
    pthread_mutex_lock(&state->lock);
    state->done += bytes;
    go_on = options->progress(state->done, state->total, options->user);
    pthread_mutex_unlock(&state->lock);
    return go_on;
}

static enum tenon_status do_piece(void *user, size_t i, unsigned worker, struct tenon_error *err)
{
    struct sweep_state *state = user;
    uint64_t bytes = 0;
    enum tenon_status st = state->piece(
        state->user, i, state->buffers + (size_t)worker * state->buffer_bytes, &bytes, err);

    if (st == TENON_OK && !report(state, bytes))
        st = tenon_fail(err, TENON_ERR_CANCELLED, TENON_NO_OFFSET, "stopped on request");
    return st;
}

enum tenon_status tenon_sweep_run(const struct tenon_sweep *sweep, size_t buffer_bytes,
                                  uint64_t total_bytes, tenon_sweep_fn piece, void *user,
                                  struct tenon_error *err)
{
    struct sweep_state state = {.sweep = sweep,
                                .piece = piece,
                                .user = user,
                                .buffer_bytes = buffer_bytes,
                                .total = total_bytes};
    enum tenon_status st;

    if (sweep->n == 0)
        return TENON_OK;
    state.buffers = tenon_mem_alloc(sweep->threads, buffer_bytes);
    if (state.buffers == NULL)
        return tenon_fail_memory(err);
    if (pthread_mutex_init(&state.lock, NULL) != 0) {
        tenon_mem_free(state.buffers);
        return tenon_fail_memory(err);
    }
    st = tenon_parallel(sweep->threads, sweep->n, do_piece, &state, err);
    pthread_mutex_destroy(&state.lock);
    tenon_mem_free(state.buffers);
    return st;
}
