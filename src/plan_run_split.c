/* A file of a plan, cut into parts. */
#include <string.h>

#include "fail.h"
#include "plan_run.h"

/* What is smaller is mixed with what is beside it, up to so many bytes and spans. */
#define SMALL_BYTES TENON_MAKE_BYTES
#define MIXED_SPANS 4096

static uint64_t count_copies(uint64_t n_bytes)
{
    return n_bytes / TENON_RUN_COPY_BYTES + (n_bytes % TENON_RUN_COPY_BYTES != 0);
}

/* Adds a part, and its pieces. NULL when memory is gone. */
static struct tenon_run_part *add_part(struct tenon_run_parts *parts,
                                       const struct tenon_run_part *part, uint64_t n_pieces,
                                       struct tenon_error *err)
{
    struct tenon_run_part *grown =
        tenon_mem_grow(parts->parts, &parts->room, parts->n, sizeof(*grown));

    if (grown == NULL) {
        tenon_fail_memory(err);
        return NULL;
    }
    parts->parts = grown;
    grown[parts->n] = *part;
    grown[parts->n].first_piece = parts->n_pieces;
    parts->n_pieces += n_pieces;
    return &grown[parts->n++];
}

/* Bytes that are as they are, or zeros. */
static enum tenon_status add_bytes(struct tenon_run_parts *parts, const struct tenon_run_part *part,
                                   struct tenon_error *err)
{
    if (part->n_bytes == 0 || add_part(parts, part, count_copies(part->n_bytes), err) != NULL)
        return TENON_OK;
    return TENON_ERR_NO_MEMORY;
}

/* Adds a small span, before which the walk was at `place`, to those before it. */
static enum tenon_status mix(struct tenon_run_parts *parts, const struct tenon_run_span *span,
                             struct tenon_run_place place, struct tenon_error *err)
{
    struct tenon_run_part *last = parts->n > 0 ? &parts->parts[parts->n - 1] : NULL;
    struct tenon_run_part part = {
        .kind = TENON_RUN_MIXED, .offset = span->offset, .of.place = place};

    if (last == NULL || last->kind != TENON_RUN_MIXED || last->n_spans >= MIXED_SPANS ||
        last->n_bytes >= SMALL_BYTES)
        last = add_part(parts, &part, 1, err);
    if (last == NULL)
        return TENON_ERR_NO_MEMORY;
    last->n_spans++;
    last->n_bytes += span->n_bytes;
    return TENON_OK;
}

/* A tensor that is more than bytes of a file. It is looked into, and forgotten. */
static enum tenon_status add_tensor(const struct tenon_run *run, struct tenon_run_parts *parts,
                                    const struct tenon_run_span *span, struct tenon_run_place place,
                                    struct tenon_error *err)
{
    struct tenon_run_part part = {.kind = TENON_RUN_TENSOR,
                                  .offset = span->offset,
                                  .n_bytes = span->n_bytes,
                                  .of.tensor.number = span->tensor};
    struct tenon_run_cut cut;
    enum tenon_status st = tenon_run_cut_init(&cut, run, span->tensor, err);

    part.of.tensor.left = cut.n_pieces;
    if (st == TENON_OK && cut.kind == TENON_CUT_RANGE && cut.n_pieces == 1)
        st = mix(parts, span, place, err);
    else if (st == TENON_OK && add_part(parts, &part, cut.n_pieces, err) == NULL)
        st = TENON_ERR_NO_MEMORY;
    tenon_run_cut_release(&cut);
    return st;
}

static enum tenon_status add_span(const struct tenon_run *run, struct tenon_run_parts *parts,
                                  const struct tenon_run_span *span, struct tenon_run_place place,
                                  struct tenon_error *err)
{
    struct tenon_run_part part = {
        .kind = span->kind, .offset = span->offset, .n_bytes = span->n_bytes};

    if (span->kind == TENON_RUN_TENSOR)
        return add_tensor(run, parts, span, place, err);
    if (span->n_bytes < SMALL_BYTES)
        return mix(parts, span, place, err);
    part.of.copy.source = span->source;
    part.of.copy.from = span->from;
    return add_bytes(parts, &part, err);
}

static enum tenon_status split_model(const struct tenon_run *run, uint32_t file,
                                     struct tenon_run_parts *parts, struct tenon_error *err)
{
    enum tenon_status st = tenon_run_walk_init(&parts->walk, run->plan, file, err);
    struct tenon_run_walk walk = parts->walk;
    struct tenon_run_span span = {.n_bytes = 1};

    while (st == TENON_OK && span.n_bytes > 0) {
        struct tenon_run_place place = walk.place;

        st = tenon_run_walk_next(&walk, &span, err);
        if (st == TENON_OK && span.n_bytes > 0)
            st = add_span(run, parts, &span, place, err);
    }
    return st;
}

static enum tenon_status split_copy(const struct tenon_plan_file *file,
                                    struct tenon_run_parts *parts, struct tenon_error *err)
{
    struct tenon_run_part part = {.kind = TENON_RUN_SOURCE, .n_bytes = file->bytes};
    enum tenon_status st = tenon_source_open_file(file->copy_of, &parts->opened, err);

    if (st == TENON_OK && tenon_source_size(parts->opened) != file->bytes) {
        st = tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                        "was changed after it was looked at");
        tenon_fail_path(err, file->copy_of);
    }
    part.of.copy.source = parts->opened;
    return st == TENON_OK ? add_bytes(parts, &part, err) : st;
}

enum tenon_status tenon_run_split(const struct tenon_run *run, uint32_t file_number,
                                  struct tenon_run_parts *parts, struct tenon_error *err)
{
    const struct tenon_plan_file *file = &run->plan->files[file_number];
    struct tenon_run_part head = {.kind = TENON_RUN_HEAD, .n_bytes = file->head_bytes};

    if (file->kind == TENON_PLAN_COPY)
        return split_copy(file, parts, err);
    if (head.n_bytes > 0 && add_part(parts, &head, 1, err) == NULL)
        return TENON_ERR_NO_MEMORY;
    return split_model(run, file_number, parts, err);
}

uint64_t tenon_run_part_pieces(const struct tenon_run_parts *parts,
                               const struct tenon_run_part *part)
{
    bool last = part == &parts->parts[parts->n - 1];

    return (last ? parts->n_pieces : part[1].first_piece) - part->first_piece;
}

void tenon_run_parts_release(struct tenon_run_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++) {
        struct tenon_run_part *part = &parts->parts[i];

        if (part->kind != TENON_RUN_TENSOR || part->of.tensor.cut == NULL)
            continue;
        tenon_run_cut_release(part->of.tensor.cut);
        tenon_mem_free(part->of.tensor.cut);
    }
    tenon_mem_free(parts->parts);
    tenon_run_walk_release(&parts->walk);
    tenon_source_free(parts->opened);
    *parts = (struct tenon_run_parts){0};
}
