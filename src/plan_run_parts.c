/* Doing the pieces of a file: each is written where it belongs, or compared with what lies there.
 */
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "parallel.h"
#include "plan_run.h"

/* As in plan_run_split.c: bytes of a piece that is copied. */
#define COPY_BYTES ((uint64_t)16 << 20)

/* What the pieces of one file share. */
struct work {
    struct tenon_run *run;
    const struct tenon_run_parts *parts;
};

static const struct tenon_run_part *find_part(const struct tenon_run_parts *parts, uint64_t piece)
{
    size_t low = 0, high = parts->n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (parts->parts[middle].first_piece <= piece)
            low = middle;
        else
            high = middle;
    }
    return &parts->parts[low];
}

/* An error about the place of the first byte that differs. */
static enum tenon_status fail_differs(const unsigned char *a, const unsigned char *b, uint64_t off,
                                      struct tenon_error *err)
{
    while (*a == *b) {
        a++;
        b++;
        off++;
    }
    return tenon_fail(err, TENON_ERR_MISMATCH, off, "what was written is not what was planned");
}

/* Writes `n` bytes at `off`, or reads them back (in pieces that fit `own`) and compares. */
static enum tenon_status put(struct tenon_run *run, uint64_t off, const unsigned char *bytes,
                             size_t n, unsigned char *own, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (!run->comparing)
        return tenon_sink_write(run->sink, off, bytes, n, err);
    while (st == TENON_OK && n > 0) {
        size_t part = n < TENON_MAKE_BYTES ? n : TENON_MAKE_BYTES;

        st = tenon_sink_read(run->sink, off, own, part, err);
        if (st == TENON_OK && memcmp(own, bytes, part) != 0)
            st = fail_differs(own, bytes, off, err);
        bytes += part;
        off += part;
        n -= part;
    }
    return st;
}

static enum tenon_status put_zeros(struct tenon_run *run, uint64_t off, uint64_t n,
                                   const struct tenon_make_buffers *buffers,
                                   struct tenon_error *err)
{
    size_t most = n < TENON_MAKE_BYTES ? (size_t)n : TENON_MAKE_BYTES;
    enum tenon_status st = TENON_OK;

    memset(buffers->stored, 0, most);
    while (st == TENON_OK && n > 0) {
        size_t part = n < most ? (size_t)n : most;

        st = put(run, off, buffers->stored, part, buffers->values, err);
        off += part;
        n -= part;
    }
    return st;
}

/* Bytes of a file to `to`: by the system as far as it goes, the rest by hand. */
static enum tenon_status put_source(struct tenon_run *run, struct tenon_sink_copy copy,
                                    const struct tenon_make_buffers *buffers,
                                    struct tenon_error *err)
{
    uint64_t done = run->comparing || run->stream ? 0 : tenon_sink_copy(run->sink, &copy);
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && done < copy.n) {
        uint64_t left = copy.n - done;
        size_t part = left < TENON_MAKE_BYTES ? (size_t)left : TENON_MAKE_BYTES;

        st = tenon_source_read(copy.source, copy.from + done, buffers->stored, part, err);
        if (st == TENON_OK)
            st = put(run, copy.to + done, buffers->stored, part, buffers->values, err);
        done += part;
    }
    return st;
}

/* Bytes [at, at + n) of a tensor whose sources are copied. */
static enum tenon_status put_copies(struct tenon_run *run, const struct tenon_run_part *part,
                                    uint64_t at, uint64_t n,
                                    const struct tenon_make_buffers *buffers,
                                    struct tenon_error *err)
{
    const struct tenon_make *make = &part->make;
    size_t unit = make->unit_bytes;
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && n > 0) {
        uint64_t left, skip;
        const struct tenon_make_source *source = tenon_make_find(make, at / unit, &left);
        struct tenon_sink_copy copy = {.source = source->bytes, .to = part->offset + at};

        skip = (source->first - source->begin) * unit + at; /* may wrap: taken back at once */
        copy.n = left * unit - at % unit;
        if (copy.n > n)
            copy.n = n;
        if (source->plan.model == NULL) {
            st = put(run, copy.to, (const unsigned char *)source->plan.bytes + skip, (size_t)copy.n,
                     buffers->values, err);
        } else {
            copy.from = source->plan.tensor->offset + skip;
            st = put_source(run, copy, buffers, err);
        }
        at += copy.n;
        n -= copy.n;
    }
    return tenon_make_fail(make, st, err);
}

enum tenon_status tenon_run_make(const struct tenon_run_part *part, uint64_t i,
                                 const struct tenon_make_buffers *buffers,
                                 struct tenon_make_result *result, struct tenon_error *err)
{
    const struct tenon_make *make = &part->make;
    struct tenon_make_range range = {.first = i * part->units};
    struct tenon_make_tile tile;
    const struct tenon_make_step *move;

    if (part->kind == TENON_RUN_RANGE) {
        uint64_t left = make->n_units - range.first;

        range.n = left < part->units ? (size_t)left : part->units;
        return tenon_make_run(make, range, buffers, result, err);
    }
    move = &make->moves[make->n_moves - 1];
    tile.col = i % part->tiles_across * part->tile_cols;
    tile.row = i / part->tiles_across % part->tiles_down * part->tile_rows;
    tile.outer = i / part->tiles_across / part->tiles_down;
    tile.n_cols =
        move->cols - tile.col < part->tile_cols ? (size_t)(move->cols - tile.col) : part->tile_cols;
    tile.n_rows =
        move->rows - tile.row < part->tile_rows ? (size_t)(move->rows - tile.row) : part->tile_rows;
    return tenon_make_run_tile(make, &tile, buffers, result, err);
}

/* Values that are lost without leave. */
static enum tenon_status refuse_overflow(const struct tenon_run_part *part,
                                         const struct tenon_make_overflow *overflow,
                                         struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
               "%s has no finite value for %.9g, element number %llu",
               tenon_dtype_name(part->make.tensor.dtype), overflow->value,
               (unsigned long long)overflow->first);
    return tenon_make_fail(&part->make, TENON_ERR_CANNOT_REPRESENT, err);
}

/* Bytes before unit `at` of the target. */
static uint64_t target_offset(const struct tenon_make *make, uint64_t at)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);

    if (make->kind == TENON_MAKE_BLOCKS)
        return at * make->unit_bytes;
    return at / info->block_elements * info->block_bytes;
}

/* Puts a made piece where it belongs: one run of bytes, or one for each row of a tile. */
static enum tenon_status put_made(struct tenon_run *run, const struct tenon_run_part *part,
                                  uint64_t i, const struct tenon_make_result *result,
                                  const struct tenon_make_buffers *buffers, struct tenon_error *err)
{
    const struct tenon_make *make = &part->make;
    const struct tenon_make_step *move;
    uint64_t first, row, col, n_cols;
    enum tenon_status st = TENON_OK;
    size_t run_bytes;

    if (part->kind == TENON_RUN_RANGE)
        return put(run, part->offset + target_offset(make, i * part->units), result->bytes,
                   result->n_bytes, buffers->stored, err);
    move = &make->moves[make->n_moves - 1];
    col = i % part->tiles_across * part->tile_cols;
    n_cols = move->cols - col < part->tile_cols ? move->cols - col : part->tile_cols;
    row = i / part->tiles_across / part->tiles_down * move->rows +
          i / part->tiles_across % part->tiles_down * part->tile_rows;
    first = row * move->cols + col;
    run_bytes = n_cols == move->cols ? result->n_bytes : (size_t)target_offset(make, n_cols);
    for (size_t done = 0; st == TENON_OK && done < result->n_bytes; done += run_bytes) {
        st = put(run, part->offset + target_offset(make, first), result->bytes + done, run_bytes,
                 buffers->stored, err);
        first += move->cols;
    }
    return st;
}

static enum tenon_status make_and_put(struct tenon_run *run, const struct tenon_run_part *part,
                                      uint64_t i, const struct tenon_make_buffers *buffers,
                                      uint64_t *out_bytes, struct tenon_error *err)
{
    struct tenon_make_result result = {0};
    enum tenon_status st = tenon_run_make(part, i, buffers, &result, err);

    if (st == TENON_OK && result.overflow.n > 0 && !part->overflow_allowed)
        st = refuse_overflow(part, &result.overflow, err);
    if (st == TENON_OK)
        st = put_made(run, part, i, &result, buffers, err);
    *out_bytes = result.n_bytes;
    return tenon_make_fail(&part->make, st, err);
}

/* Bytes of a file, which may be those of many tensors: an error names the one that failed. */
static enum tenon_status put_range(struct tenon_run *run, const struct tenon_run_part *part,
                                   struct tenon_sink_copy copy,
                                   const struct tenon_make_buffers *buffers,
                                   struct tenon_error *err)
{
    enum tenon_status st = put_source(run, copy, buffers, err);
    const struct tenon_plan *plan = run->plan;
    uint64_t at = copy.to;

    if (st == TENON_OK || err == NULL)
        return st;
    if (err->offset != TENON_NO_OFFSET)
        at = st == TENON_ERR_MISMATCH ? err->offset : err->offset - part->from + part->offset;
    for (size_t i = 0; i < plan->n_tensors; i++) {
        const struct tenon_plan_record *t = &plan->tensors[i];

        if (t->file == run->file && t->offset <= at &&
            at - t->offset < tenon_plan_tensor_bytes(plan, i)) {
            struct tenon_str name = tenon_plan_name(plan, i);

            tenon_fail_subject(err, "tensor", name.data, name.len);
            break;
        }
    }
    return st;
}

struct head {
    struct tenon_run *run;
    unsigned char *own; /* buffer for what is read back */
    uint64_t at;
};

static enum tenon_status put_part(void *user, const void *bytes, size_t n, struct tenon_error *err)
{
    struct head *head = user;
    enum tenon_status st = put(head->run, head->at, bytes, n, head->own, err);

    head->at += n;
    return st;
}

static enum tenon_status put_head(struct tenon_run *run, const struct tenon_make_buffers *buffers,
                                  struct tenon_error *err)
{
    struct head head = {run, buffers->values, 0};
    struct tenon_window window = {.put = put_part,
                                  .user = &head,
                                  .bytes = buffers->encoded,
                                  .room = TENON_MAKE_BYTES,
                                  .err = err};

    return tenon_plan_make_head(run->plan, run->file, &window);
}

static enum tenon_status do_piece(void *user, size_t number, unsigned worker,
                                  struct tenon_error *err)
{
    const struct work *work = user;
    struct tenon_run *run = work->run;
    const struct tenon_run_part *part = find_part(work->parts, number);
    struct tenon_make_buffers buffers = tenon_run_buffers(run, worker);
    uint64_t i = number - part->first_piece, at = i * COPY_BYTES, n = 0;
    enum tenon_status st = TENON_OK;

    if (part->kind == TENON_RUN_HEAD)
        n = part->n_bytes;
    else if (part->kind < TENON_RUN_RANGE)
        n = part->n_bytes - at < COPY_BYTES ? part->n_bytes - at : COPY_BYTES;
    if (part->kind == TENON_RUN_HEAD)
        st = put_head(run, &buffers, err);
    else if (part->kind == TENON_RUN_ZEROS)
        st = put_zeros(run, part->offset + at, n, &buffers, err);
    else if (part->kind == TENON_RUN_SOURCE)
        st =
            put_range(run, part,
                      (struct tenon_sink_copy){part->source, part->from + at, part->offset + at, n},
                      &buffers, err);
    else if (part->kind == TENON_RUN_COPY)
        st = put_copies(run, part, at, n, &buffers, err);
    else
        st = make_and_put(run, part, i, &buffers, &n, err);
    return st == TENON_OK ? tenon_run_report(run, n, err) : st;
}

enum tenon_status tenon_run_parts(struct tenon_run *run, const struct tenon_run_parts *parts,
                                  struct tenon_error *err)
{
    struct work work = {run, parts};

    if (parts->n_pieces > SIZE_MAX)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "more pieces than can be counted");
    return tenon_parallel(run->stream ? 1 : run->threads, (size_t)parts->n_pieces, do_piece, &work,
                          err);
}
