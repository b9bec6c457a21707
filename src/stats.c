/* Statistics of tensors, in pieces of fixed size that are merged in order: the result does not
 * depend on the number of threads. */
#include "tenon/stats.h"

#include <math.h>

#include "cpu.h"
#include "fail.h"
#include "mem.h"
#include "model_private.h"
#include "parallel.h"
#include "stats_scan.h"
#include "sweep.h"
#include "tenon/logical.h"

/* Elements a piece has at least, and pieces a tensor has at most: memory stays bounded. */
#define PIECE_ELEMENTS UINT64_C(1048576)
#define MOST_PIECES    UINT64_C(4096)

/* Elements decoded at a time, and values scanned with one pivot. */
#define DECODE_ELEMENTS ((size_t)8192)
#define SCAN_VALUES     ((size_t)4096)

/* Part of one tensor. */
struct stats_piece {
    const struct tenon_tensor *tensor;
    uint64_t first, n;
    struct tenon_scan scan;
};

struct stats_job {
    const struct tenon_model *model;
    tenon_scan_f32_fn scan_f32;
    struct stats_piece *pieces;
};

/* Elements of a piece: a power of two above the least, so that blocks are never divided. */
static uint64_t choose_piece(uint64_t n_elements)
{
    uint64_t piece = PIECE_ELEMENTS;

    while (n_elements / piece >= MOST_PIECES)
        piece *= 2;
    return piece;
}

static uint64_t count_pieces(const struct tenon_model *model, const struct tenon_tensor *t)
{
    struct tenon_logical logical;
    uint64_t piece;

    if (!tenon_logical_init(&logical, model, t))
        return 0;
    piece = choose_piece(logical.n_elements);
    return logical.n_elements / piece + (logical.n_elements % piece != 0);
}

static void scan_values(const struct stats_job *job, bool wide, const void *values, size_t n,
                        struct tenon_scan *total)
{
    struct tenon_scan part;

    for (size_t i = 0; i < n; i += SCAN_VALUES) {
        size_t take = n - i < SCAN_VALUES ? n - i : SCAN_VALUES;

        if (wide)
            tenon_scan_f64(&part, (const double *)values + i, take);
        else
            job->scan_f32(&part, (const float *)values + i, take);
        tenon_scan_merge(total, &part);
    }
}

static enum tenon_status scan_piece(void *user, size_t i, unsigned char *buffer,
                                    uint64_t *done_bytes, struct tenon_error *err)
{
    const struct stats_job *job = user;
    struct stats_piece *piece = &job->pieces[i];
    const struct tenon_tensor *t = piece->tensor;
    struct tenon_logical logical;
    bool wide = job->model->ops.decode_f64[t->dtype] != NULL;

    tenon_scan_init(&piece->scan);
    if (!tenon_logical_init(&logical, job->model, t))
        return TENON_OK;
    for (uint64_t at = 0; at < piece->n; at += DECODE_ELEMENTS) {
        uint64_t left = piece->n - at;
        size_t n = left < DECODE_ELEMENTS ? (size_t)left : DECODE_ELEMENTS;
        enum tenon_status st;

        if (wide)
            st = tenon_tensor_decode_f64(job->model, t, piece->first + at, n,
                                         (double *)(void *)buffer, err);
        else
            st = tenon_logical_decode(&logical, piece->first + at, n, (float *)(void *)buffer, err);
        if (st != TENON_OK)
            return st;
        scan_values(job, wide, buffer, n * logical.values, &piece->scan);
    }
    /* Share of the payload, for progress. */
    *done_bytes = (uint64_t)((double)t->bytes * ((double)piece->n / (double)logical.n_elements));
    return TENON_OK;
}

static void finish_stats(struct tenon_stats *out, const struct tenon_scan *scan)
{
    bool any = scan->finite != 0;

    out->min = any ? scan->min : (double)NAN;
    out->max = any ? scan->max : (double)NAN;
    out->mean = any ? scan->mean : (double)NAN;
    out->std = any ? sqrt(scan->m2 / (double)scan->finite) : (double)NAN;
    out->nan = scan->nan;
    out->inf = scan->inf;
    out->zero = scan->zero;
    out->count = scan->finite + scan->nan + scan->inf;
    out->valid = true;
}

/* Cuts the tensors into pieces. The counts are bounded by MOST_PIECES times the tensors. */
static void make_pieces(struct stats_job *job, const uint32_t *indices, size_t n_tensors)
{
    struct stats_piece *next = job->pieces;

    for (size_t i = 0; i < n_tensors; i++) {
        const struct tenon_tensor *t = &job->model->tensors[indices != NULL ? indices[i] : i];
        struct tenon_logical logical;
        uint64_t piece;

        if (!tenon_logical_init(&logical, job->model, t))
            continue;
        piece = choose_piece(logical.n_elements);
        for (uint64_t first = 0; first < logical.n_elements; first += piece) {
            uint64_t left = logical.n_elements - first;

            *next++ =
                (struct stats_piece){.tensor = t, .first = first, .n = left < piece ? left : piece};
        }
    }
}

static void collect(const struct stats_job *job, const uint32_t *indices, size_t n_tensors,
                    struct tenon_stats *out)
{
    const struct stats_piece *next = job->pieces;

    for (size_t i = 0; i < n_tensors; i++) {
        const struct tenon_tensor *t = &job->model->tensors[indices != NULL ? indices[i] : i];
        uint64_t n = count_pieces(job->model, t);
        struct tenon_logical logical;
        struct tenon_scan total;

        out[i] = (struct tenon_stats){0};
        tenon_scan_init(&total);
        for (uint64_t k = 0; k < n; k++)
            tenon_scan_merge(&total, &(next++)->scan);
        if (tenon_logical_init(&logical, job->model, t))
            finish_stats(&out[i], &total);
    }
}

enum tenon_status tenon_stats_tensors(const struct tenon_model *model, const uint32_t *indices,
                                      size_t n, const struct tenon_hash_options *options,
                                      struct tenon_stats *out, struct tenon_error *err)
{
    static const struct tenon_hash_options defaults;
    unsigned cpu = tenon_cpu_detect() & ~model->options.cpu_mask_out;
    struct stats_job job = {.model = model, .scan_f32 = tenon_scan_choose(cpu)};
    struct tenon_sweep sweep = {.model = model, .options = options ? options : &defaults};
    size_t n_tensors = indices != NULL ? n : model->n_tensors;
    uint64_t total = 0;
    enum tenon_status st;

    sweep.threads = tenon_threads(sweep.options->threads);
    for (size_t i = 0; i < n_tensors; i++) {
        const struct tenon_tensor *t = &model->tensors[indices != NULL ? indices[i] : i];

        sweep.n += (size_t)count_pieces(model, t);
        total += t->bytes;
    }
    job.pieces = tenon_mem_alloc(sweep.n, sizeof(*job.pieces));
    if (job.pieces == NULL)
        return tenon_fail_memory(err);
    make_pieces(&job, indices, n_tensors);
    st =
        tenon_sweep_run(&sweep, DECODE_ELEMENTS * 2 * sizeof(double), total, scan_piece, &job, err);
    if (st == TENON_OK)
        collect(&job, indices, n_tensors, out);
    tenon_mem_free(job.pieces);
    return st;
}
