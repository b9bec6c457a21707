/* A run of a plan, for plan_run*.c and plan_scan.c.
 *
 * A file is cut into parts, and these into pieces that workers do, none of which needs more than
 * the worker's buffers. What is large is a part of its own; what is small, up to thousands of
 * tensors, is one part together and one piece, so that parts are few whatever a plan has. A tensor
 * that is not copied is looked into when a piece of it is done, and only then. */
#ifndef TENON_PLAN_RUN_H
#define TENON_PLAN_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "names.h"
#include "plan_make.h"
#include "sink.h"

/* Workers, whatever the caller asks for: each has its own buffers, which bounds the memory. */
#define TENON_RUN_WORKERS 16u

/* Bytes that are copied in one piece of work: few enough that threads share them evenly and that
 * progress moves, many enough that a file system can share whole extents. */
#define TENON_RUN_COPY_BYTES ((uint64_t)16 << 20)

struct tenon_run {
    const struct tenon_plan *plan;
    const struct tenon_run_options *options;
    struct tenon_sink *sink; /* NULL: nothing is written (a scan) */
    struct tenon_quant_ops ops;
    unsigned threads;
    unsigned char *buffers;     /* those of all workers */
    struct tenon_names allowed; /* losses of the plan by subject: overflows that are allowed */
    bool comparing;             /* what was written is read and compared */
    uint32_t file;              /* the file that is being written */
    bool stream;                /* the file that is being written takes bytes in order only */
    pthread_mutex_t lock;       /* of what follows, and of the cuts that parts share */
    uint64_t done, total;
};

enum tenon_status tenon_run_init(struct tenon_run *run, const struct tenon_plan *plan,
                                 const struct tenon_run_options *options, struct tenon_error *err);
void tenon_run_release(struct tenon_run *run);

/* Whether the plan lists, and allows, the loss of values of that tensor that become infinite. */
bool tenon_run_allows(const struct tenon_run *run, struct tenon_str name);

/* Adds to the progress. CANCELLED when the caller wants to stop. */
enum tenon_status tenon_run_report(struct tenon_run *run, uint64_t bytes, struct tenon_error *err);

/* The buffers of a worker, of TENON_MAKE_BYTES each: those in which tensors are made, and one in
 * which what is small is gathered. */
struct tenon_run_buffers {
    struct tenon_make_buffers make;
    unsigned char *gathered;
};
struct tenon_run_buffers tenon_run_buffers(const struct tenon_run *run, unsigned worker);

/* --- one tensor, cut into pieces (plan_run_cut.c) --- */

enum tenon_cut_kind {
    TENON_CUT_COPY = 0,  /* bytes as they are, TENON_RUN_COPY_BYTES a piece; large ones only */
    TENON_CUT_RANGE = 1, /* range by range; all that fits the buffers is one */
    TENON_CUT_TILE = 2   /* tile by tile */
};
struct tenon_run_cut {
    enum tenon_cut_kind kind;
    struct tenon_make make;
    uint64_t n_pieces;
    /* RANGE: units of a piece. TILE: units across and down, and tiles across and down. */
    size_t units, tile_rows, tile_cols;
    uint64_t tiles_down, tiles_across;
    bool overflow_allowed;
};

/* Cuts tensor `i` of the plan. To be released also after a failure, and not to be moved. Fails as
 * tenon_make_init does. */
enum tenon_status tenon_run_cut_init(struct tenon_run_cut *cut, const struct tenon_run *run,
                                     size_t i, struct tenon_error *err);
void tenon_run_cut_release(struct tenon_run_cut *cut);

/* Makes piece `i` of a RANGE or TILE. What is lost without leave is no failure here. */
enum tenon_status tenon_run_cut_make(const struct tenon_run_cut *cut, uint64_t i,
                                     const struct tenon_make_buffers *buffers,
                                     struct tenon_make_result *result, struct tenon_error *err);

/* The same, but CANNOT_REPRESENT when values are lost without leave. */
enum tenon_status tenon_run_cut_make_allowed(const struct tenon_run_cut *cut, uint64_t i,
                                             const struct tenon_make_buffers *buffers,
                                             struct tenon_make_result *result,
                                             struct tenon_error *err);

/* --- what stands in a file (plan_run_walk.c) --- */

enum tenon_part_kind {
    TENON_RUN_HEAD = 0,   /* the header, or all of a text */
    TENON_RUN_ZEROS = 1,  /* between payloads */
    TENON_RUN_SOURCE = 2, /* bytes of a file: those of tensors and rests that are copied */
    TENON_RUN_TENSOR = 3, /* one that is more than bytes of a file */
    TENON_RUN_MIXED = 4   /* many small ones of these */
};

/* A stretch of a file, of one of the first kinds. */
struct tenon_run_span {
    enum tenon_part_kind kind;
    uint64_t offset, n_bytes;
    const struct tenon_source *source;
    uint64_t from; /* in `source` */
    size_t tensor; /* its number */
};

/* How far a walk through a file is. */
struct tenon_run_place {
    size_t tensor, rest;
    uint64_t at;
};
struct tenon_run_walk {
    const struct tenon_plan *plan;
    uint32_t file;
    uint32_t *order; /* of the file's tensors by their offsets; NULL: they are in order */
    size_t first, n; /* the file's tensors in the plan */
    struct tenon_run_place place;
};

/* Begins behind the head. Fails when memory is gone. To be released also then. */
enum tenon_status tenon_run_walk_init(struct tenon_run_walk *walk, const struct tenon_plan *plan,
                                      uint32_t file, struct tenon_error *err);
void tenon_run_walk_release(struct tenon_run_walk *walk);

/* The next span: what follows in one file as here is one. Of no bytes: the end. From the same place
 * always the same spans follow. Fails with MISUSE when the layout is none. */
enum tenon_status tenon_run_walk_next(struct tenon_run_walk *walk, struct tenon_run_span *span,
                                      struct tenon_error *err);

/* --- a file, cut into parts (plan_run_split.c) --- */

struct tenon_run_part {
    enum tenon_part_kind kind;
    uint32_t n_spans; /* of MIXED */
    uint64_t offset, n_bytes, first_piece;
    union {
        struct {
            const struct tenon_source *source;
            uint64_t from;
        } copy;                       /* of SOURCE */
        struct tenon_run_place place; /* of MIXED: where the walk begins */
        struct {
            size_t number;
            struct tenon_run_cut *cut; /* while pieces of it are done */
            uint64_t left;             /* pieces that are not done */
        } tensor;                      /* of TENSOR */
    } of;
};

/* The parts of a file, in order, without a gap. */
struct tenon_run_parts {
    struct tenon_run_part *parts;
    size_t n, room;
    uint64_t n_pieces;
    struct tenon_run_walk walk;
    struct tenon_source *opened; /* of a COPY file */
};

/* Looks at everything, so that nothing is refused later that could be refused now. Fails with
 * MISUSE when the layout is none, or as tenon_run_cut_init. To be released also after a failure. */
enum tenon_status tenon_run_split(const struct tenon_run *run, uint32_t file,
                                  struct tenon_run_parts *parts, struct tenon_error *err);
void tenon_run_parts_release(struct tenon_run_parts *parts);

/* How many pieces a part has. */
uint64_t tenon_run_part_pieces(const struct tenon_run_parts *parts,
                               const struct tenon_run_part *part);

/* Writes all parts, or compares them with what was written (plan_run_parts.c). */
enum tenon_status tenon_run_parts(struct tenon_run *run, struct tenon_run_parts *parts,
                                  struct tenon_error *err);

/* --- bytes to where they belong (plan_run_put.c); an error names the tensor, if it is one's --- */

/* Writes `n` bytes at `off`, or reads them back (in pieces that fit `own`) and compares. */
enum tenon_status tenon_run_put(struct tenon_run *run, uint64_t off, const unsigned char *bytes,
                                size_t n, unsigned char *own, struct tenon_error *err);
enum tenon_status tenon_run_put_zeros(struct tenon_run *run, uint64_t off, uint64_t n,
                                      const struct tenon_make_buffers *buffers,
                                      struct tenon_error *err);

/* Bytes of a file; or only to read them, few enough for `out`. */
enum tenon_status tenon_run_put_source(struct tenon_run *run, const struct tenon_sink_copy *copy,
                                       const struct tenon_make_buffers *buffers,
                                       struct tenon_error *err);
enum tenon_status tenon_run_read_source(const struct tenon_run *run,
                                        const struct tenon_sink_copy *copy, unsigned char *out,
                                        struct tenon_error *err);

/* The next `n_spans` spans of the walk, small ones (plan_run_gather.c). */
enum tenon_status tenon_run_gather(struct tenon_run *run, struct tenon_run_walk *walk,
                                   size_t n_spans, const struct tenon_run_buffers *buffers,
                                   struct tenon_error *err);

/* Adds to an error the tensor that has the byte at `at` of the file that is being written. */
void tenon_run_name(const struct tenon_run *run, uint64_t at, struct tenon_error *err);

#endif
