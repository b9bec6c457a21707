/* Small spans of a file, one after the other: gathered in a buffer, and put where they belong
 * together. A million tensors of four bytes are not a million calls of the system. */
#include <string.h>

#include "plan_run.h"

/* Larger ones go where they belong by themselves: what is copied is then left to the system, what
 * is made need not be moved. */
#define MOST_GATHERED ((size_t)64 << 10)

struct gathering {
    struct tenon_run *run;
    const struct tenon_run_buffers *buffers;
    uint64_t offset; /* where the buffer's first byte belongs */
    size_t used;
};

static enum tenon_status put_gathered(struct gathering *g, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (g->used > 0)
        st = tenon_run_put(g->run, g->offset, g->buffers->gathered, g->used,
                           g->buffers->make.stored, err);
    g->offset += g->used;
    g->used = 0;
    return st;
}

/* Takes room for `n` bytes, at most all of the buffer, which the caller fills. */
static enum tenon_status take_room(struct gathering *g, size_t n, unsigned char **out,
                                   struct tenon_error *err)
{
    enum tenon_status st = n > TENON_MAKE_BYTES - g->used ? put_gathered(g, err) : TENON_OK;

    *out = g->buffers->gathered + g->used;
    g->used += n;
    return st;
}

static enum tenon_status gather_zeros(struct gathering *g, const struct tenon_run_span *span,
                                      struct tenon_error *err)
{
    unsigned char *room;
    enum tenon_status st = take_room(g, (size_t)span->n_bytes, &room, err);

    if (st == TENON_OK)
        memset(room, 0, (size_t)span->n_bytes);
    return st;
}

static enum tenon_status gather_source(struct gathering *g, const struct tenon_run_span *span,
                                       struct tenon_error *err)
{
    struct tenon_sink_copy copy = {span->source, span->from, span->offset, span->n_bytes};
    unsigned char *room;
    enum tenon_status st;

    if (span->n_bytes > MOST_GATHERED) {
        st = put_gathered(g, err);
        g->offset += span->n_bytes;
        return st == TENON_OK ? tenon_run_put_source(g->run, &copy, &g->buffers->make, err) : st;
    }
    st = take_room(g, (size_t)span->n_bytes, &room, err);
    return st == TENON_OK ? tenon_run_read_source(g->run, &copy, room, err) : st;
}

static enum tenon_status gather_made(struct gathering *g, const struct tenon_make_result *made,
                                     struct tenon_error *err)
{
    unsigned char *room;
    enum tenon_status st;

    if (made->n_bytes > MOST_GATHERED) {
        st = put_gathered(g, err);
        if (st == TENON_OK)
            st = tenon_run_put(g->run, g->offset, made->bytes, made->n_bytes,
                               g->buffers->make.stored, err);
        g->offset += made->n_bytes;
        return st;
    }
    st = take_room(g, made->n_bytes, &room, err);
    if (st == TENON_OK)
        memcpy(room, made->bytes, made->n_bytes);
    return st;
}

static enum tenon_status gather_tensor(struct gathering *g, const struct tenon_run_span *span,
                                       struct tenon_error *err)
{
    struct tenon_make_result made = {0};
    struct tenon_run_cut cut;
    enum tenon_status st = tenon_run_cut_init(&cut, g->run, span->tensor, err);

    if (st == TENON_OK)
        st = tenon_run_cut_make_allowed(&cut, 0, &g->buffers->make, &made, err);
    if (st == TENON_OK)
        st = gather_made(g, &made, err);
    tenon_run_cut_release(&cut);
    return st;
}

enum tenon_status tenon_run_gather(struct tenon_run *run, struct tenon_run_walk *walk,
                                   size_t n_spans, const struct tenon_run_buffers *buffers,
                                   struct tenon_error *err)
{
    struct gathering g = {.run = run, .buffers = buffers, .offset = walk->place.at};
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < n_spans; i++) {
        struct tenon_run_span span;

        st = tenon_run_walk_next(walk, &span, err);
        if (st != TENON_OK)
            break;
        if (span.kind == TENON_RUN_ZEROS)
            st = gather_zeros(&g, &span, err);
        else if (span.kind == TENON_RUN_SOURCE)
            st = gather_source(&g, &span, err);
        else
            st = gather_tensor(&g, &span, err);
    }
    return st == TENON_OK ? put_gathered(&g, err) : st;
}
