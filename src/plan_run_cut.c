/* One tensor, cut into pieces of bounded size. */
#include "fail.h"
#include "plan_run.h"

/* Every block of every type is a divisor of this many elements. */
#define WHOLE_BLOCKS 256

static uint64_t divide_up(uint64_t n, uint64_t by)
{
    return n / by + (n % by != 0);
}

/* Units of a piece: as many as fit the buffers before and after encoding, in whole blocks. */
static size_t piece_units(const struct tenon_make *make)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);
    size_t widest = make->unit_bytes, units;

    if (make->kind != TENON_MAKE_BLOCKS && info->block_bytes > widest * info->block_elements)
        widest = info->block_bytes;
    units = TENON_MAKE_BYTES / widest;
    return units > WHOLE_BLOCKS ? units / WHOLE_BLOCKS * WHOLE_BLOCKS : units;
}

/* Tiles about as high as they are wide: a run of many bytes to read, one to write. When bytes must
 * come in order, whole rows, or rows one by one. */
static void split_tiles(const struct tenon_run *run, struct tenon_run_cut *cut)
{
    const struct tenon_make_step *move = &cut->make.moves[cut->make.n_moves - 1];
    size_t units = piece_units(&cut->make);
    size_t side = WHOLE_BLOCKS;

    while (side * 2 * side * 2 <= units)
        side *= 2;
    cut->tile_cols = move->cols < units && (run->stream || move->cols < side) ? (size_t)move->cols
                     : run->stream                                            ? units
                                                                              : side;
    cut->tile_rows = cut->tile_cols != 0 ? units / cut->tile_cols : 0;
    if (run->stream && cut->tile_cols < move->cols)
        cut->tile_rows = 1;
    if (cut->tile_rows > move->rows)
        cut->tile_rows = (size_t)move->rows;
    cut->kind = TENON_CUT_TILE;
    cut->tiles_across = divide_up(move->cols, cut->tile_cols);
    cut->tiles_down = divide_up(move->rows, cut->tile_rows);
    cut->n_pieces = move->outer * cut->tiles_down * cut->tiles_across;
}

static bool is_transposed(const struct tenon_make *make)
{
    return make->n_moves > 0 && make->moves[make->n_moves - 1].step.kind == TENON_STEP_TRANSPOSE;
}

/* Rows of a tile must be whole blocks of the target. */
static enum tenon_status check_tiles(const struct tenon_make *make, struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);
    uint64_t cols = make->moves[make->n_moves - 1].cols;

    if (make->kind == TENON_MAKE_BLOCKS || cols % info->block_elements == 0)
        return TENON_OK;
    return tenon_make_fail(make,
                           tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                                      "rows of %llu elements are not whole blocks of %s",
                                      (unsigned long long)cols, info->name),
                           err);
}

enum tenon_status tenon_run_cut_init(struct tenon_run_cut *cut, const struct tenon_run *run,
                                     size_t i, struct tenon_error *err)
{
    const struct tenon_plan_tensor tensor = tenon_plan_tensor(run->plan, i);
    struct tenon_make *make = &cut->make;
    enum tenon_status st;

    *cut = (struct tenon_run_cut){.kind = TENON_CUT_RANGE};
    st = tenon_make_init(make, run->plan, &tensor, &run->ops, err);
    if (st == TENON_OK && is_transposed(make))
        st = check_tiles(make, err);
    if (st != TENON_OK)
        return st;
    cut->overflow_allowed = make->may_overflow && tenon_run_allows(run, tensor.name);
    cut->units = piece_units(make);
    cut->n_pieces = divide_up(make->n_units, cut->units);
    if (tensor.bytes > TENON_MAKE_BYTES && tenon_make_is_copy(make)) {
        cut->kind = TENON_CUT_COPY;
        cut->n_pieces = divide_up(tensor.bytes, TENON_RUN_COPY_BYTES);
    } else if (cut->n_pieces > 1 && is_transposed(make)) {
        split_tiles(run, cut);
    }
    return TENON_OK;
}

void tenon_run_cut_release(struct tenon_run_cut *cut)
{
    tenon_make_release(&cut->make);
}

enum tenon_status tenon_run_cut_make(const struct tenon_run_cut *cut, uint64_t i,
                                     const struct tenon_make_buffers *buffers,
                                     struct tenon_make_result *result, struct tenon_error *err)
{
    const struct tenon_make *make = &cut->make;
    struct tenon_make_range range = {.first = i * cut->units};
    struct tenon_make_tile tile;
    const struct tenon_make_step *move;

    if (cut->kind == TENON_CUT_RANGE) {
        uint64_t left = make->n_units - range.first;

        range.n = left < cut->units ? (size_t)left : cut->units;
        return tenon_make_run(make, range, buffers, result, err);
    }
    move = &make->moves[make->n_moves - 1];
    tile.col = i % cut->tiles_across * cut->tile_cols;
    tile.row = i / cut->tiles_across % cut->tiles_down * cut->tile_rows;
    tile.outer = i / cut->tiles_across / cut->tiles_down;
    tile.n_cols =
        move->cols - tile.col < cut->tile_cols ? (size_t)(move->cols - tile.col) : cut->tile_cols;
    tile.n_rows =
        move->rows - tile.row < cut->tile_rows ? (size_t)(move->rows - tile.row) : cut->tile_rows;
    return tenon_make_run_tile(make, &tile, buffers, result, err);
}

enum tenon_status tenon_run_cut_make_allowed(const struct tenon_run_cut *cut, uint64_t i,
                                             const struct tenon_make_buffers *buffers,
                                             struct tenon_make_result *result,
                                             struct tenon_error *err)
{
    enum tenon_status st = tenon_run_cut_make(cut, i, buffers, result, err);

    if (st != TENON_OK || result->overflow.n == 0 || cut->overflow_allowed)
        return st;
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
               "%s has no finite value for %.9g, element number %llu",
               tenon_dtype_name(cut->make.tensor.dtype), result->overflow.value,
               (unsigned long long)result->overflow.first);
    return tenon_make_fail(&cut->make, TENON_ERR_CANNOT_REPRESENT, err);
}
