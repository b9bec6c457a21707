/* Reading units of a tensor to be made: from the sources, through the moves. */
#include "plan_make.h"

#include <string.h>

#include "fail.h"
#include "model_private.h"

/* Units moved at a time where a run is scattered, and averaged at a time. */
#define MOST_SCATTERED 2048
#define MOST_AVERAGED  4096

/* --- one source --- */

enum tenon_status tenon_make_read_stored(const struct tenon_make_source *source,
                                         const struct tenon_dtype_info *info,
                                         struct tenon_make_range range, unsigned char *out,
                                         struct tenon_error *err)
{
    size_t bytes = range.n * info->block_bytes;
    enum tenon_status st = tenon_tensor_read(source->plan.model, source->plan.tensor,
                                             range.first * info->block_bytes, out, bytes, err);

    if (st == TENON_OK && source->swap && !tenon_quant_swap(info->dtype, out, range.n))
        st = tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, source->plan.tensor->offset,
                        "%s blocks have no defined big-endian form", info->name);
    return st;
}

static enum tenon_status fetch_blocks(const struct tenon_make *make,
                                      const struct tenon_make_source *source,
                                      struct tenon_make_range range, unsigned char *out,
                                      struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->from);

    if (source->plan.model == NULL) {
        memcpy(out, (const unsigned char *)source->plan.bytes + range.first * make->unit_bytes,
               range.n * make->unit_bytes);
        return TENON_OK;
    }
    if (info == NULL || info->block_bytes == 0)
        return tenon_tensor_read(source->plan.model, source->plan.tensor, range.first, out, range.n,
                                 err);
    return tenon_make_read_stored(source, info, range, out, err);
}

/* One stored integer as 64 bits. */
static int64_t load_integer(const unsigned char *p, enum tenon_dtype dtype, size_t bytes)
{
    uint64_t bits = 0;

    for (size_t k = bytes; k > 0; k--)
        bits = bits << 8 | p[k - 1];
    if (dtype == TENON_DTYPE_BOOL)
        return bits != 0;
    if (bytes > 0 && bytes < 8 && dtype >= TENON_DTYPE_I64 && dtype <= TENON_DTYPE_I8 &&
        (bits >> (8 * bytes - 1)) != 0)
        bits |= ~UINT64_C(0) << 8 * bytes;
    return (int64_t)bits;
}

static enum tenon_status fetch_integers(const struct tenon_make *make,
                                        const struct tenon_make_source *source,
                                        struct tenon_make_range range,
                                        const struct tenon_make_buffers *buffers,
                                        unsigned char *out, struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->from);
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && range.n > 0) {
        size_t most = TENON_MAKE_BYTES / info->block_bytes;
        struct tenon_make_range part = {range.first, range.n < most ? range.n : most};

        st = tenon_make_read_stored(source, info, part, buffers->stored, err);
        for (size_t i = 0; st == TENON_OK && i < part.n; i++) {
            int64_t value = load_integer(buffers->stored + i * info->block_bytes, info->dtype,
                                         info->block_bytes);

            memcpy(out + i * sizeof(value), &value, sizeof(value));
        }
        out += part.n * sizeof(int64_t);
        range.first += part.n;
        range.n -= part.n;
    }
    return st;
}

/* Whole blocks in large reads; what begins or ends within a block takes the general way. */
static enum tenon_status fetch_floats(const struct tenon_make *make,
                                      const struct tenon_make_source *source,
                                      struct tenon_make_range range,
                                      const struct tenon_make_buffers *buffers, float *out,
                                      struct tenon_error *err)
{
    const struct tenon_plan_source *plan = &source->plan;
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)plan->tensor->dtype);
    size_t most = TENON_MAKE_BYTES / info->block_bytes;
    enum tenon_status st = TENON_OK;

    if (plan->logical)
        return tenon_logical_decode(&source->logical, range.first, range.n, out, err);
    if (range.first % info->block_elements != 0 || range.n % info->block_elements != 0)
        return tenon_tensor_decode(plan->model, plan->tensor, range.first, range.n, out, err);
    range.first /= info->block_elements;
    range.n /= info->block_elements;
    while (st == TENON_OK && range.n > 0) {
        struct tenon_make_range part = {range.first, range.n < most ? range.n : most};

        st = tenon_make_read_stored(source, info, part, buffers->stored, err);
        if (st == TENON_OK)
            make->ops->decode[info->dtype](out, buffers->stored, part.n);
        out += part.n * info->block_elements;
        range.first += part.n;
        range.n -= part.n;
    }
    return st;
}

static enum tenon_status fetch_doubles(const struct tenon_make_source *source,
                                       struct tenon_make_range range, double *out,
                                       struct tenon_error *err)
{
    const struct tenon_plan_source *plan = &source->plan;
    float narrow[1024];
    enum tenon_status st = TENON_OK;

    if (!plan->logical)
        return tenon_tensor_decode_f64(plan->model, plan->tensor, range.first, range.n, out, err);
    while (st == TENON_OK && range.n > 0) {
        size_t n = range.n < 1024 ? range.n : 1024;

        st = tenon_logical_decode(&source->logical, range.first, n, narrow, err);
        for (size_t i = 0; st == TENON_OK && i < n; i++)
            out[i] = (double)narrow[i];
        out += n;
        range.first += n;
        range.n -= n;
    }
    return st;
}

/* `range` counts within the source's tensor. */
static enum tenon_status fetch_source(const struct tenon_make *make,
                                      const struct tenon_make_source *source,
                                      struct tenon_make_range range,
                                      const struct tenon_make_buffers *buffers, void *out,
                                      struct tenon_error *err)
{
    if (range.n == 0)
        return TENON_OK;
    if (make->kind == TENON_MAKE_BLOCKS)
        return fetch_blocks(make, source, range, out, err);
    if (make->kind == TENON_MAKE_INTEGER)
        return fetch_integers(make, source, range, buffers, out, err);
    if (make->kind == TENON_MAKE_SINGLE)
        return fetch_floats(make, source, range, buffers, out, err);
    return fetch_doubles(source, range, out, err);
}

/* --- all sources --- */

static enum tenon_status fetch_mean(const struct tenon_make *make, struct tenon_make_range range,
                                    double *out, struct tenon_error *err)
{
    double part[MOST_AVERAGED];
    size_t n_sources = make->tensor.n_sources;
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && range.n > 0) {
        size_t n = range.n < MOST_AVERAGED ? range.n : MOST_AVERAGED;

        memset(out, 0, n * sizeof(*out));
        for (size_t k = 0; st == TENON_OK && k < n_sources; k++) {
            const struct tenon_make_source *source = &make->sources[k];

            st = fetch_doubles(source, (struct tenon_make_range){source->first + range.first, n},
                               part, err);
            for (size_t i = 0; st == TENON_OK && i < n; i++)
                out[i] += part[i];
        }
        for (size_t i = 0; i < n; i++)
            out[i] /= (double)n_sources;
        out += n;
        range.first += n;
        range.n -= n;
    }
    return st;
}

static enum tenon_status fetch_stack(const struct tenon_make *make, struct tenon_make_range range,
                                     const struct tenon_make_buffers *buffers, unsigned char *out,
                                     struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && range.n > 0) {
        uint64_t left;
        const struct tenon_make_source *source = tenon_make_find(make, range.first, &left);
        size_t n = left < range.n ? (size_t)left : range.n;
        uint64_t at = source->first + (range.first - source->begin);

        st = fetch_source(make, source, (struct tenon_make_range){at, n}, buffers, out, err);
        out += n * make->unit_bytes;
        range.first += n;
        range.n -= n;
    }
    return st;
}

/* --- moves --- */

/* A fetch on its way: what comes out of the first `n_moves` moves. */
struct fetch {
    const struct tenon_make *make;
    const struct tenon_make_buffers *buffers;
    size_t n_moves;
};

static enum tenon_status fetch_run(struct fetch fetch, struct tenon_make_range range,
                                   unsigned char *out, struct tenon_error *err);

/* The row that comes to lie at `row`. Half-split pairs (j, j + r/2) of the r leading rows of a head
 * become neighbours (2j, 2j + 1), or the other way round. */
static uint64_t permuted_row(const struct tenon_make_step *move, uint64_t row)
{
    uint64_t per_head = move->rows / move->step.heads, half = move->step.rotary / 2;
    uint64_t local = row % per_head, base = row - local;

    if (local >= move->step.rotary)
        return row;
    return base + (move->step.to_interleaved ? (local % 2) * half + local / 2
                                             : (local % half) * 2 + local / half);
}

static enum tenon_status fetch_permuted(struct fetch fetch, struct tenon_make_range range,
                                        unsigned char *out, struct tenon_error *err)
{
    const struct tenon_make_step *move = &fetch.make->moves[fetch.n_moves - 1];
    enum tenon_status st = TENON_OK;

    fetch.n_moves--;
    while (st == TENON_OK && range.n > 0) {
        uint64_t row = range.first / move->cols, col = range.first % move->cols;
        size_t n = move->cols - col < range.n ? (size_t)(move->cols - col) : range.n;
        uint64_t at = permuted_row(move, row) * move->cols + col;

        st = fetch_run(fetch, (struct tenon_make_range){at, n}, out, err);
        out += n * fetch.make->unit_bytes;
        range.first += n;
        range.n -= n;
    }
    return st;
}

/* Puts a run of units `stride` apart. */
static void scatter(unsigned char *out, const unsigned char *run, size_t n, size_t stride,
                    size_t unit)
{
    if (unit == 2)
        for (size_t i = 0; i < n; i++)
            memcpy(out + i * stride * 2, run + i * 2, 2);
    else if (unit == 4)
        for (size_t i = 0; i < n; i++)
            memcpy(out + i * stride * 4, run + i * 4, 4);
    else
        for (size_t i = 0; i < n; i++)
            memcpy(out + i * stride * unit, run + i * unit, unit);
}

/* A tile of what the transposition gives; each of its columns is a run of what it takes. */
static enum tenon_status fetch_transposed(struct fetch fetch, const struct tenon_make_tile *tile,
                                          unsigned char *out, struct tenon_error *err)
{
    const struct tenon_make_step *move = &fetch.make->moves[fetch.n_moves - 1];
    size_t unit = fetch.make->unit_bytes;
    _Alignas(32) unsigned char run[MOST_SCATTERED * 8];
    enum tenon_status st = TENON_OK;

    fetch.n_moves--;
    for (size_t c = 0; st == TENON_OK && c < tile->n_cols; c++) {
        uint64_t begin = (tile->outer * move->cols + tile->col + c) * move->rows + tile->row;

        for (size_t r = 0; st == TENON_OK && r < tile->n_rows; r += MOST_SCATTERED) {
            size_t n = tile->n_rows - r < MOST_SCATTERED ? tile->n_rows - r : MOST_SCATTERED;

            st = fetch_run(fetch, (struct tenon_make_range){begin + r, n}, run, err);
            if (st == TENON_OK)
                scatter(out + (r * tile->n_cols + c) * unit, run, n, tile->n_cols, unit);
        }
    }
    return st;
}

/* A run as tiles: the rest of a row, whole rows, the beginning of one. */
static enum tenon_status fetch_through_tiles(struct fetch fetch, struct tenon_make_range range,
                                             unsigned char *out, struct tenon_error *err)
{
    const struct tenon_make_step *move = &fetch.make->moves[fetch.n_moves - 1];
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && range.n > 0) {
        uint64_t row = range.first / move->cols, left = move->rows - row % move->rows;
        struct tenon_make_tile tile = {.outer = row / move->rows,
                                       .row = row % move->rows,
                                       .col = range.first % move->cols,
                                       .n_rows = 1};

        tile.n_cols = move->cols - tile.col < range.n ? (size_t)(move->cols - tile.col) : range.n;
        if (tile.n_cols == move->cols) {
            uint64_t rows = range.n / move->cols;

            tile.n_rows = (size_t)(rows < left ? rows : left);
        }
        st = fetch_transposed(fetch, &tile, out, err);
        out += tile.n_rows * tile.n_cols * fetch.make->unit_bytes;
        range.first += tile.n_rows * tile.n_cols;
        range.n -= tile.n_rows * tile.n_cols;
    }
    return st;
}

/* The depth is at most the number of moves. */
static enum tenon_status fetch_run(struct fetch fetch, struct tenon_make_range range,
                                   unsigned char *out, struct tenon_error *err)
{
    if (fetch.n_moves > 0 && fetch.make->moves[fetch.n_moves - 1].step.kind == TENON_STEP_PERMUTE)
        return fetch_permuted(fetch, range, out, err);
    if (fetch.n_moves > 0)
        return fetch_through_tiles(fetch, range, out, err);
    if (fetch.make->mean)
        return fetch_mean(fetch.make, range, (double *)(void *)out, err);
    return fetch_stack(fetch.make, range, fetch.buffers, out, err);
}

enum tenon_status tenon_make_fetch(const struct tenon_make *make, struct tenon_make_range range,
                                   const struct tenon_make_buffers *buffers, unsigned char *out,
                                   struct tenon_error *err)
{
    struct fetch fetch = {make, buffers, make->n_moves};

    return fetch_run(fetch, range, out, err);
}

enum tenon_status tenon_make_fetch_tile(const struct tenon_make *make,
                                        const struct tenon_make_tile *tile,
                                        const struct tenon_make_buffers *buffers,
                                        unsigned char *out, struct tenon_error *err)
{
    struct fetch fetch = {make, buffers, make->n_moves};
    const struct tenon_make_step *move = &make->moves[make->n_moves - 1];
    enum tenon_status st = TENON_OK;

    if (move->step.kind == TENON_STEP_TRANSPOSE)
        return fetch_transposed(fetch, tile, out, err);
    for (size_t r = 0; st == TENON_OK && r < tile->n_rows; r++) {
        uint64_t at = (tile->outer * move->rows + tile->row + r) * move->cols + tile->col;

        st = fetch_run(fetch, (struct tenon_make_range){at, tile->n_cols}, out, err);
        out += tile->n_cols * make->unit_bytes;
    }
    return st;
}
