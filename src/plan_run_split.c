/* A file of a plan, cut into parts, and these into pieces of bounded size. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "plan_run.h"
#include "tenon/text.h"

/* Bytes that are copied in one piece of work: few enough that threads share them evenly and that
 * progress moves, many enough that a file system can share whole extents. */
#define COPY_BYTES ((uint64_t)16 << 20)

/* Every block of every type is a divisor of this many elements. */
#define WHOLE_BLOCKS 256

static uint64_t divide_up(uint64_t n, uint64_t by)
{
    return n / by + (n % by != 0);
}

static struct tenon_run_part *add_part(struct tenon_run_parts *parts, struct tenon_error *err)
{
    struct tenon_run_part *grown =
        tenon_mem_grow(parts->parts, &parts->room, parts->n, sizeof(*grown));

    if (grown == NULL) {
        tenon_fail_memory(err);
        return NULL;
    }
    parts->parts = grown;
    memset(&grown[parts->n], 0, sizeof(*grown));
    return &grown[parts->n++];
}

/* --- tensors --- */

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
static void split_tiles(const struct tenon_run *run, struct tenon_run_part *part)
{
    const struct tenon_make_step *move = &part->make.moves[part->make.n_moves - 1];
    size_t units = piece_units(&part->make);
    size_t side = WHOLE_BLOCKS;

    while (side * 2 * side * 2 <= units)
        side *= 2;
    part->tile_cols = move->cols < units && (run->stream || move->cols < side) ? (size_t)move->cols
                      : run->stream                                            ? units
                                                                               : side;
    part->tile_rows = part->tile_cols != 0 ? units / part->tile_cols : 0;
    if (run->stream && part->tile_cols < move->cols)
        part->tile_rows = 1;
    if (part->tile_rows > move->rows)
        part->tile_rows = (size_t)move->rows;
    part->kind = TENON_RUN_TILE;
    if (part->make.n_units == 0)
        return;
    part->tiles_across = divide_up(move->cols, part->tile_cols);
    part->tiles_down = divide_up(move->rows, part->tile_rows);
    part->n_pieces = move->outer * part->tiles_down * part->tiles_across;
}

static bool is_transposed(const struct tenon_make *make)
{
    return make->n_moves > 0 && make->moves[make->n_moves - 1].step.kind == TENON_STEP_TRANSPOSE;
}

/* Whether the plan lists, and allows, the loss of values that become infinite here. */
static bool allows_overflow(const struct tenon_plan *plan, const struct tenon_plan_tensor *tensor)
{
    char name[TENON_ERROR_SUBJECT_BYTES];

    tenon_text_sanitise(name, sizeof(name), tensor->name.data, tensor->name.len);
    for (size_t i = 0; i < plan->n_losses; i++)
        if (strcmp(plan->losses[i].code, "overflow") == 0 && plan->losses[i].allowed &&
            strcmp(plan->losses[i].subject, name) == 0)
            return true;
    return false;
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

enum tenon_status tenon_run_split_tensor(const struct tenon_run *run,
                                         const struct tenon_plan_tensor *tensor,
                                         struct tenon_run_part *part, struct tenon_error *err)
{
    enum tenon_status st = tenon_make_init(&part->make, run->plan, tensor, &run->ops, err);

    part->offset = tensor->offset;
    part->n_bytes = tensor->bytes;
    if (st != TENON_OK)
        return st;
    part->overflow_allowed = part->make.may_overflow && allows_overflow(run->plan, tensor);
    if (tenon_make_is_copy(&part->make)) {
        part->kind = TENON_RUN_COPY;
        part->n_pieces = divide_up(part->n_bytes, COPY_BYTES);
        return TENON_OK;
    }
    if (is_transposed(&part->make)) {
        st = check_tiles(&part->make, err);
        split_tiles(run, part);
        return st;
    }
    part->kind = TENON_RUN_RANGE;
    part->units = piece_units(&part->make);
    part->n_pieces = divide_up(part->make.n_units, part->units);
    return TENON_OK;
}

/* --- files --- */

/* What stands somewhere in the file: a tensor, or a rest. */
struct span {
    uint64_t offset, n_bytes;
    size_t tensor;                      /* its number */
    const struct tenon_plan_rest *rest; /* NULL: it is a tensor */
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->n_bytes > y->n_bytes) - (x->n_bytes < y->n_bytes);
}

static enum tenon_status add_bytes(struct tenon_run_parts *parts, enum tenon_part_kind kind,
                                   uint64_t offset, uint64_t n_bytes, struct tenon_error *err)
{
    struct tenon_run_part *part;

    if (n_bytes == 0)
        return TENON_OK;
    part = add_part(parts, err);
    if (part == NULL)
        return TENON_ERR_NO_MEMORY;
    part->kind = kind;
    part->offset = offset;
    part->n_bytes = n_bytes;
    part->n_pieces = divide_up(n_bytes, COPY_BYTES);
    return TENON_OK;
}

static enum tenon_status fail_layout(const struct tenon_plan_file *file, struct tenon_error *err)
{
    return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "the layout of '%s' does not hold",
                      file->path);
}

/* Bytes of a file of a model. */
static enum tenon_status add_range(struct tenon_run_parts *parts, uint64_t offset, uint64_t n_bytes,
                                   const struct tenon_source *source, uint64_t from,
                                   struct tenon_error *err)
{
    enum tenon_status st = add_bytes(parts, TENON_RUN_SOURCE, offset, n_bytes, err);

    if (st == TENON_OK && n_bytes > 0) {
        parts->parts[parts->n - 1].source = source;
        parts->parts[parts->n - 1].from = from;
    }
    return st;
}

/* A copy of a tensor that shares bytes with others, in the input as here: those of its bytes that
 * are not there yet. */
static enum tenon_status add_shared(const struct tenon_run *run,
                                    const struct tenon_plan_tensor *tensor,
                                    struct tenon_run_parts *parts, uint64_t *at,
                                    struct tenon_error *err)
{
    const struct tenon_plan_source *source = tenon_plan_sources(tensor);
    uint64_t end = tensor->offset + tensor->bytes, there = *at - tensor->offset;

    if (tensor->n_sources != 1 || source->model == NULL || source->first_row != 0 ||
        source->tensor->bytes != tensor->bytes || !tenon_plan_tensor_is_copy(run->plan, tensor))
        return fail_layout(&run->plan->files[tensor->file], err);
    if (end <= *at)
        return TENON_OK;
    *at = end;
    return add_range(parts, tensor->offset + there, tensor->bytes - there,
                     source->model->sources[source->tensor->file], source->tensor->offset + there,
                     err);
}

/* What was added last, the copy of one source, becomes bytes of a file: appended to those before
 * it where they follow each other there as here. Files of many small tensors are few parts then. */
static void join_copy(struct tenon_run_parts *parts)
{
    struct tenon_run_part *part = &parts->parts[parts->n - 1], *before = part - 1;
    const struct tenon_make_source *source = part->make.sources;
    const struct tenon_source *bytes;
    uint64_t from;

    if (part->kind != TENON_RUN_COPY || part->make.tensor.n_sources != 1 || source->bytes == NULL)
        return;
    bytes = source->bytes;
    from = source->plan.tensor->offset + source->first * part->make.unit_bytes;
    tenon_make_release(&part->make);
    if (parts->n > 1 && before->kind == TENON_RUN_SOURCE && before->source == bytes &&
        before->offset + before->n_bytes == part->offset &&
        before->from + before->n_bytes == from) {
        before->n_bytes += part->n_bytes;
        before->n_pieces = divide_up(before->n_bytes, COPY_BYTES);
        parts->n--;
        return;
    }
    part->kind = TENON_RUN_SOURCE;
    part->source = bytes;
    part->from = from;
}

/* A tensor or a rest, and the zeros before it. `*at` is how far the file is. */
static enum tenon_status add_span(const struct tenon_run *run, const struct tenon_plan_file *file,
                                  const struct span *span, struct tenon_run_parts *parts,
                                  uint64_t *at, struct tenon_error *err)
{
    const struct tenon_plan_rest *rest = span->rest;
    struct tenon_plan_tensor tensor;
    struct tenon_run_part *part;
    enum tenon_status st;

    if (span->offset > file->bytes || span->n_bytes > file->bytes - span->offset ||
        span->offset < file->head_bytes || (span->offset < *at && rest != NULL))
        return fail_layout(file, err);
    if (rest == NULL)
        tensor = tenon_plan_tensor(run->plan, span->tensor);
    if (span->offset < *at)
        return add_shared(run, &tensor, parts, at, err);
    st = add_bytes(parts, TENON_RUN_ZEROS, *at, span->offset - *at, err);
    if (st != TENON_OK)
        return st;
    *at = span->offset + span->n_bytes;
    if (rest != NULL)
        return add_range(parts, span->offset, span->n_bytes, rest->model->sources[rest->from],
                         rest->from_offset, err);
    part = add_part(parts, err);
    if (part == NULL)
        return TENON_ERR_NO_MEMORY;
    st = tenon_run_split_tensor(run, &tensor, part, err);
    if (st == TENON_OK)
        join_copy(parts);
    return st;
}

/* Empty tensors need nothing, and may lie behind the end of a file. */
static size_t list_spans(const struct tenon_plan *plan, uint32_t file, struct span *spans)
{
    size_t n = 0;

    for (size_t i = 0; i < plan->n_tensors; i++) {
        uint64_t bytes = tenon_plan_tensor_bytes(plan, i);

        if (plan->tensors[i].file == file && bytes != 0)
            spans[n++] = (struct span){plan->tensors[i].offset, bytes, i, NULL};
    }
    for (size_t i = 0; i < plan->n_rests; i++) {
        const struct tenon_plan_rest *rest = &plan->rests[i];

        if (rest->file == file)
            spans[n++] = (struct span){rest->offset, rest->bytes, 0, rest};
    }
    return n;
}

static enum tenon_status add_spans(const struct tenon_run *run, uint32_t file,
                                   struct tenon_run_parts *parts, uint64_t *at,
                                   struct tenon_error *err)
{
    const struct tenon_plan *plan = run->plan;
    struct span *spans = NULL;
    enum tenon_status st = TENON_OK;
    size_t n = 0;

    if (tenon_size_add(&n, plan->n_tensors, plan->n_rests))
        spans = tenon_mem_alloc(n, sizeof(*spans));
    if (spans == NULL)
        return tenon_fail_memory(err);
    n = list_spans(plan, file, spans);
    qsort(spans, n, sizeof(*spans), compare_spans);
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        st = add_span(run, &plan->files[file], &spans[i], parts, at, err);
    tenon_mem_free(spans);
    return st;
}

static enum tenon_status add_source(const struct tenon_plan_file *file,
                                    struct tenon_run_parts *parts, struct tenon_error *err)
{
    enum tenon_status st = tenon_source_open_file(file->copy_of, &parts->opened, err);

    if (st == TENON_OK && tenon_source_size(parts->opened) != file->bytes) {
        st = tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                        "was changed after it was looked at");
        tenon_fail_path(err, file->copy_of);
    }
    if (st == TENON_OK)
        st = add_bytes(parts, TENON_RUN_SOURCE, 0, file->bytes, err);
    if (st == TENON_OK && parts->n > 0)
        parts->parts[0].source = parts->opened;
    return st;
}

enum tenon_status tenon_run_split(const struct tenon_run *run, uint32_t file_number,
                                  struct tenon_run_parts *parts, struct tenon_error *err)
{
    const struct tenon_plan_file *file = &run->plan->files[file_number];
    enum tenon_status st;
    uint64_t at = file->head_bytes;

    if (file->kind == TENON_PLAN_COPY)
        st = add_source(file, parts, err);
    else
        st = add_bytes(parts, TENON_RUN_HEAD, 0, file->head_bytes, err);
    if (st == TENON_OK && parts->n > 0 && file->kind != TENON_PLAN_COPY)
        parts->parts[0].n_pieces = 1;
    if (st == TENON_OK && file->kind == TENON_PLAN_MODEL)
        st = add_spans(run, file_number, parts, &at, err);
    if (st == TENON_OK && file->kind != TENON_PLAN_COPY)
        st = at <= file->bytes ? add_bytes(parts, TENON_RUN_ZEROS, at, file->bytes - at, err)
                               : fail_layout(file, err);
    for (size_t i = 0; st == TENON_OK && i < parts->n; i++) {
        parts->parts[i].first_piece = parts->n_pieces;
        parts->n_pieces += parts->parts[i].n_pieces;
    }
    return st;
}

void tenon_run_parts_release(struct tenon_run_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        tenon_make_release(&parts->parts[i].make);
    tenon_mem_free(parts->parts);
    tenon_source_free(parts->opened);
    *parts = (struct tenon_run_parts){0};
}
