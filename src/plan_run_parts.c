/* Doing the pieces of a file: each is written where it belongs, or compared with what lies there.
 */
#include "fail.h"
#include "parallel.h"
#include "plan_run.h"

/* What the pieces of one file share. */
struct work {
    struct tenon_run *run;
    struct tenon_run_parts *parts;
};

/* A piece of a part. */
struct piece {
    const struct work *work;
    struct tenon_run_part *part;
    uint64_t i;
    struct tenon_run_buffers buffers;
    uint64_t n_bytes; /* to report */
};

static struct tenon_run_part *find_part(const struct tenon_run_parts *parts, uint64_t piece)
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

/* Where piece `i` of what is copied begins; its length to `*out_n`. */
static uint64_t copy_range(uint64_t i, uint64_t n_bytes, uint64_t *out_n)
{
    uint64_t at = i * TENON_RUN_COPY_BYTES, left = n_bytes - at;

    *out_n = left < TENON_RUN_COPY_BYTES ? left : TENON_RUN_COPY_BYTES;
    return at;
}

/* --- bytes --- */

struct head {
    struct tenon_run *run;
    unsigned char *own; /* buffer for what is read back */
    uint64_t at;
};

static enum tenon_status put_head(void *user, const void *bytes, size_t n, struct tenon_error *err)
{
    struct head *head = user;
    enum tenon_status st = tenon_run_put(head->run, head->at, bytes, n, head->own, err);

    head->at += n;
    return st;
}

static enum tenon_status do_head(struct piece *piece, struct tenon_error *err)
{
    struct tenon_run *run = piece->work->run;
    struct head head = {run, piece->buffers.make.values, 0};
    struct tenon_window window = {.put = put_head,
                                  .user = &head,
                                  .bytes = piece->buffers.gathered,
                                  .room = TENON_MAKE_BYTES,
                                  .err = err};

    piece->n_bytes = piece->part->n_bytes;
    return tenon_plan_make_head(run->plan, run->file, &window);
}

static enum tenon_status do_zeros(struct piece *piece, struct tenon_error *err)
{
    const struct tenon_run_part *part = piece->part;
    uint64_t at = copy_range(piece->i, part->n_bytes, &piece->n_bytes);

    return tenon_run_put_zeros(piece->work->run, part->offset + at, piece->n_bytes,
                               &piece->buffers.make, err);
}

static enum tenon_status do_source(struct piece *piece, struct tenon_error *err)
{
    const struct tenon_run_part *part = piece->part;
    uint64_t at = copy_range(piece->i, part->n_bytes, &piece->n_bytes);
    struct tenon_sink_copy copy = {.source = part->of.copy.source,
                                   .from = part->of.copy.from + at,
                                   .to = part->offset + at,
                                   .n = piece->n_bytes};

    return tenon_run_put_source(piece->work->run, &copy, &piece->buffers.make, err);
}

/* --- a tensor --- */

/* One whose sources are copied. */
static enum tenon_status put_copies(struct piece *piece, const struct tenon_make *make,
                                    struct tenon_error *err)
{
    struct tenon_run *run = piece->work->run;
    const struct tenon_make_buffers *buffers = &piece->buffers.make;
    uint64_t n, at = copy_range(piece->i, make->tensor.bytes, &n);
    size_t unit = make->unit_bytes;
    enum tenon_status st = TENON_OK;

    piece->n_bytes = n;
    while (st == TENON_OK && n > 0) {
        uint64_t left, skip;
        const struct tenon_make_source *source = tenon_make_find(make, at / unit, &left);
        struct tenon_sink_copy copy = {.source = source->bytes, .to = make->tensor.offset + at};

        skip = (source->first - source->begin) * unit + at; /* may wrap: taken back at once */
        copy.n = left * unit - at % unit;
        if (copy.n > n)
            copy.n = n;
        if (source->plan.model == NULL) {
            st = tenon_run_put(run, copy.to, (const unsigned char *)source->plan.bytes + skip,
                               (size_t)copy.n, buffers->values, err);
        } else {
            copy.from = source->plan.tensor->offset + skip;
            st = tenon_run_put_source(run, &copy, buffers, err);
        }
        at += copy.n;
        n -= copy.n;
    }
    return tenon_make_fail(make, st, err);
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
static enum tenon_status put_made(struct piece *piece, const struct tenon_run_cut *cut,
                                  const struct tenon_make_result *result, struct tenon_error *err)
{
    const struct tenon_make *make = &cut->make;
    struct tenon_run *run = piece->work->run;
    unsigned char *own = piece->buffers.make.stored;
    uint64_t offset = make->tensor.offset, i = piece->i;
    const struct tenon_make_step *move;
    uint64_t first, row, col, n_cols;
    enum tenon_status st = TENON_OK;
    size_t run_bytes;

    if (cut->kind == TENON_CUT_RANGE)
        return tenon_run_put(run, offset + target_offset(make, i * cut->units), result->bytes,
                             result->n_bytes, own, err);
    move = &make->moves[make->n_moves - 1];
    col = i % cut->tiles_across * cut->tile_cols;
    n_cols = move->cols - col < cut->tile_cols ? move->cols - col : cut->tile_cols;
    row = i / cut->tiles_across / cut->tiles_down * move->rows +
          i / cut->tiles_across % cut->tiles_down * cut->tile_rows;
    first = row * move->cols + col;
    run_bytes = n_cols == move->cols ? result->n_bytes : (size_t)target_offset(make, n_cols);
    for (size_t done = 0; st == TENON_OK && done < result->n_bytes; done += run_bytes) {
        st = tenon_run_put(run, offset + target_offset(make, first), result->bytes + done,
                           run_bytes, own, err);
        first += move->cols;
    }
    return st;
}

/* Those that do pieces of a tensor at the same time share what was worked out about it. */
static enum tenon_status take_cut(const struct piece *piece, struct tenon_run_cut **out,
                                  struct tenon_error *err)
{
    struct tenon_run *run = piece->work->run;
    struct tenon_run_part *part = piece->part;
    enum tenon_status st = TENON_OK;

    pthread_mutex_lock(&run->lock);
    if (part->of.tensor.cut == NULL) {
        struct tenon_run_cut *cut = tenon_mem_alloc(1, sizeof(*cut));

        st = cut == NULL ? tenon_fail_memory(err)
                         : tenon_run_cut_init(cut, run, part->of.tensor.number, err);
        if (st == TENON_OK) { /* others see it only whole */
            part->of.tensor.cut = cut;
        } else if (cut != NULL) {
            tenon_run_cut_release(cut);
            tenon_mem_free(cut);
        }
    }
    *out = part->of.tensor.cut;
    pthread_mutex_unlock(&run->lock);
    return st;
}

/* Forgets it with the last piece. Of pieces that failed it stays until the parts are released. */
static void give_back_cut(const struct piece *piece)
{
    struct tenon_run *run = piece->work->run;
    struct tenon_run_part *part = piece->part;

    pthread_mutex_lock(&run->lock);
    if (--part->of.tensor.left == 0) {
        tenon_run_cut_release(part->of.tensor.cut);
        tenon_mem_free(part->of.tensor.cut);
        part->of.tensor.cut = NULL;
        part->of.tensor.left = tenon_run_part_pieces(piece->work->parts, part);
    }
    pthread_mutex_unlock(&run->lock);
}

static enum tenon_status do_cut(struct piece *piece, const struct tenon_run_cut *cut,
                                struct tenon_error *err)
{
    struct tenon_make_result result = {0};
    enum tenon_status st;

    if (cut->kind == TENON_CUT_COPY)
        return put_copies(piece, &cut->make, err);
    st = tenon_run_cut_make_allowed(cut, piece->i, &piece->buffers.make, &result, err);
    if (st == TENON_OK)
        st = put_made(piece, cut, &result, err);
    piece->n_bytes = result.n_bytes;
    return tenon_make_fail(&cut->make, st, err);
}

static enum tenon_status do_tensor(struct piece *piece, struct tenon_error *err)
{
    struct tenon_run_cut *cut = NULL;
    enum tenon_status st = take_cut(piece, &cut, err);

    if (st == TENON_OK)
        st = do_cut(piece, cut, err);
    if (st == TENON_OK)
        give_back_cut(piece);
    return st;
}

/* --- small ones --- */

static enum tenon_status do_mixed(struct piece *piece, struct tenon_error *err)
{
    struct tenon_run_walk walk = piece->work->parts->walk;

    walk.place = piece->part->of.place;
    piece->n_bytes = piece->part->n_bytes;
    return tenon_run_gather(piece->work->run, &walk, piece->part->n_spans, &piece->buffers, err);
}

/* --- all of them --- */

static enum tenon_status do_piece(void *user, size_t number, unsigned worker,
                                  struct tenon_error *err)
{
    static enum tenon_status (*const ways[])(struct piece *, struct tenon_error *) = {
        [TENON_RUN_HEAD] = do_head,     [TENON_RUN_ZEROS] = do_zeros,
        [TENON_RUN_SOURCE] = do_source, [TENON_RUN_TENSOR] = do_tensor,
        [TENON_RUN_MIXED] = do_mixed,
    };
    const struct work *work = user;
    struct piece piece = {.work = work, .part = find_part(work->parts, number)};
    enum tenon_status st;

    piece.i = number - piece.part->first_piece;
    piece.buffers = tenon_run_buffers(work->run, worker);
    st = ways[piece.part->kind](&piece, err);
    return st == TENON_OK ? tenon_run_report(work->run, piece.n_bytes, err) : st;
}

enum tenon_status tenon_run_parts(struct tenon_run *run, struct tenon_run_parts *parts,
                                  struct tenon_error *err)
{
    struct work work = {run, parts};

    if (parts->n_pieces > SIZE_MAX)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "more pieces than can be counted");
    return tenon_parallel(run->stream ? 1 : run->threads, (size_t)parts->n_pieces, do_piece, &work,
                          err);
}
