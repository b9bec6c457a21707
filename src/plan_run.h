/* A run of a plan, for plan_run*.c and plan_scan.c. */
#ifndef TENON_PLAN_RUN_H
#define TENON_PLAN_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "plan_make.h"
#include "sink.h"

/* Workers, whatever the caller asks for: each has three buffers, which bounds the memory. */
#define TENON_RUN_WORKERS 16u

struct tenon_run {
    const struct tenon_plan *plan;
    const struct tenon_run_options *options;
    struct tenon_sink *sink; /* NULL: nothing is written (a scan) */
    struct tenon_quant_ops ops;
    unsigned threads;
    unsigned char *buffers; /* three for each worker */
    bool comparing;         /* what was written is read and compared */
    uint32_t file;          /* the file that is being written */
    bool stream;            /* the file that is being written takes bytes in order only */
    pthread_mutex_t lock;   /* of what follows */
    uint64_t done, total;
};

enum tenon_status tenon_run_init(struct tenon_run *run, const struct tenon_plan *plan,
                                 const struct tenon_run_options *options, struct tenon_error *err);
void tenon_run_release(struct tenon_run *run);

/* Adds to the progress. CANCELLED when the caller wants to stop. */
enum tenon_status tenon_run_report(struct tenon_run *run, uint64_t bytes, struct tenon_error *err);

/* The buffers of a worker. */
struct tenon_make_buffers tenon_run_buffers(const struct tenon_run *run, unsigned worker);

/* A piece of a file: bytes, zeros, or what a tensor is made of. */
enum tenon_part_kind {
    TENON_RUN_HEAD = 0,   /* the header, or all of a text */
    TENON_RUN_ZEROS = 1,  /* between payloads */
    TENON_RUN_SOURCE = 2, /* bytes of a file */
    TENON_RUN_COPY = 3,   /* a tensor, bytes as they are */
    TENON_RUN_RANGE = 4,  /* a tensor, made range by range */
    TENON_RUN_TILE = 5    /* a tensor, made tile by tile */
};
struct tenon_run_part {
    enum tenon_part_kind kind;
    uint64_t offset, n_bytes; /* in the file */
    const struct tenon_source *source;
    uint64_t from; /* in `source` */
    struct tenon_make make;
    uint64_t n_pieces, first_piece;
    /* RANGE: units of a piece. TILE: units across and down, and tiles across and down. */
    size_t units, tile_rows, tile_cols;
    uint64_t tiles_down, tiles_across;
    bool overflow_allowed;
};

/* The parts of a file, in order, without a gap. */
struct tenon_run_parts {
    struct tenon_run_part *parts;
    size_t n, room;
    uint64_t n_pieces;
    struct tenon_source *opened; /* of a COPY file */
};

/* Fails with MISUSE when the layout is none. To be released also after a failure. */
enum tenon_status tenon_run_split(const struct tenon_run *run, uint32_t file,
                                  struct tenon_run_parts *parts, struct tenon_error *err);
void tenon_run_parts_release(struct tenon_run_parts *parts);

/* One tensor alone, as tenon_run_split splits it. */
enum tenon_status tenon_run_split_tensor(const struct tenon_run *run,
                                         const struct tenon_plan_tensor *tensor,
                                         struct tenon_run_part *part, struct tenon_error *err);

/* Makes piece `i` of a RANGE or TILE part. */
enum tenon_status tenon_run_make(const struct tenon_run_part *part, uint64_t i,
                                 const struct tenon_make_buffers *buffers,
                                 struct tenon_make_result *result, struct tenon_error *err);

/* Writes all parts, or compares them with what was written. */
enum tenon_status tenon_run_parts(struct tenon_run *run, const struct tenon_run_parts *parts,
                                  struct tenon_error *err);

#endif
