/* Walking through what stands in a file of a plan: tensors and rests in the order of their offsets,
 * and the zeros between them. Nothing is kept of them but, where they are not in order, 4 bytes a
 * tensor. */
#include "fail.h"
#include "model_private.h"
#include "plan_run.h"
#include "sort.h"

/* --- the order --- */

/* The number in the plan of the file's tensor at place `i`. */
static size_t tensor_at(const struct tenon_run_walk *walk, size_t i)
{
    return walk->first + (walk->order != NULL ? walk->order[i] : i);
}

/* By offset; of those at one place, which share bytes, the shorter goes first. */
static int compare_tensors(const void *owner, uint32_t a, uint32_t b)
{
    const struct tenon_run_walk *walk = owner;
    uint64_t x = walk->plan->tensors[walk->first + a].offset;
    uint64_t y = walk->plan->tensors[walk->first + b].offset;

    if (x == y) {
        x = tenon_plan_tensor_bytes(walk->plan, walk->first + a);
        y = tenon_plan_tensor_bytes(walk->plan, walk->first + b);
    }
    return (x > y) - (x < y);
}

static bool is_ordered(const struct tenon_run_walk *walk)
{
    for (size_t i = 1; i < walk->n; i++)
        if (compare_tensors(walk, (uint32_t)(i - 1), (uint32_t)i) > 0)
            return false;
    return true;
}

enum tenon_status tenon_run_walk_init(struct tenon_run_walk *walk, const struct tenon_plan *plan,
                                      uint32_t file, struct tenon_error *err)
{
    *walk = (struct tenon_run_walk){.plan = plan, .file = file};
    walk->place.at = plan->files[file].head_bytes;
    tenon_plan_tensors_of(plan, file, &walk->first, &walk->n);
    if (walk->n > UINT32_MAX)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many tensors");
    if (is_ordered(walk))
        return TENON_OK;
    walk->order = tenon_mem_alloc(walk->n, sizeof(*walk->order));
    if (walk->order == NULL)
        return tenon_fail_memory(err);
    for (uint32_t i = 0; i < walk->n; i++)
        walk->order[i] = i;
    return tenon_sort(walk->order, walk->n, walk, compare_tensors) ? TENON_OK
                                                                   : tenon_fail_memory(err);
}

void tenon_run_walk_release(struct tenon_run_walk *walk)
{
    tenon_mem_free(walk->order);
    walk->order = NULL;
}

/* --- one thing after the other --- */

static enum tenon_status fail_layout(const struct tenon_run_walk *walk, struct tenon_error *err)
{
    return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "the layout of '%s' does not hold",
                      walk->plan->files[walk->file].path);
}

/* Empty tensors need nothing, and may lie behind the end of a file. False when there are no more.
 */
static bool find_tensor(struct tenon_run_walk *walk)
{
    struct tenon_run_place *place = &walk->place;

    while (place->tensor < walk->n &&
           tenon_plan_tensor_bytes(walk->plan, tensor_at(walk, place->tensor)) == 0)
        place->tensor++;
    return place->tensor < walk->n;
}

static bool find_rest(struct tenon_run_walk *walk)
{
    const struct tenon_plan *plan = walk->plan;
    struct tenon_run_place *place = &walk->place;

    while (place->rest < plan->n_rests && plan->rests[place->rest].file != walk->file)
        place->rest++;
    return place->rest < plan->n_rests;
}

/* A copy of a tensor that shares bytes with others, in the input as here: those of its bytes that
 * are not there yet. */
static enum tenon_status share(struct tenon_run_walk *walk, const struct tenon_plan_tensor *tensor,
                               struct tenon_run_span *span, struct tenon_error *err)
{
    const struct tenon_plan_source *source = tenon_plan_sources(tensor);
    uint64_t there = walk->place.at - tensor->offset;

    if (tensor->n_sources != 1 || source->model == NULL || source->first_row != 0 ||
        source->tensor->bytes != tensor->bytes || !tenon_plan_tensor_is_copy(walk->plan, tensor))
        return fail_layout(walk, err);
    if (there > tensor->bytes)
        there = tensor->bytes;
    *span = (struct tenon_run_span){.kind = TENON_RUN_SOURCE,
                                    .offset = tensor->offset + there,
                                    .n_bytes = tensor->bytes - there,
                                    .source = source->model->sources[source->tensor->file],
                                    .from = source->tensor->offset + there};
    return TENON_OK;
}

/* A whole tensor of an input that is copied is bytes of a file. */
static enum tenon_status take_tensor(struct tenon_run_walk *walk, struct tenon_run_span *span,
                                     struct tenon_error *err)
{
    const struct tenon_plan *plan = walk->plan;
    size_t i = tensor_at(walk, walk->place.tensor++);
    const struct tenon_plan_tensor tensor = tenon_plan_tensor(plan, i);

    if (tensor.offset < walk->place.at)
        return share(walk, &tensor, span, err);
    *span = (struct tenon_run_span){
        .kind = TENON_RUN_TENSOR, .offset = tensor.offset, .n_bytes = tensor.bytes, .tensor = i};
    if (plan->tensors[i].model != TENON_PLAN_FULL && tenon_plan_tensor_is_copy(plan, &tensor)) {
        span->kind = TENON_RUN_SOURCE;
        span->source = tensor.source.model->sources[tensor.source.tensor->file];
        span->from = tensor.source.tensor->offset;
    }
    return TENON_OK;
}

static enum tenon_status take_rest(struct tenon_run_walk *walk, struct tenon_run_span *span,
                                   struct tenon_error *err)
{
    const struct tenon_plan_rest *rest = &walk->plan->rests[walk->place.rest++];

    if (rest->offset < walk->place.at)
        return fail_layout(walk, err);
    *span = (struct tenon_run_span){.kind = TENON_RUN_SOURCE,
                                    .offset = rest->offset,
                                    .n_bytes = rest->bytes,
                                    .source = rest->model->sources[rest->from],
                                    .from = rest->from_offset};
    return TENON_OK;
}

static void take_zeros(const struct tenon_run_walk *walk, uint64_t end, struct tenon_run_span *span)
{
    *span = (struct tenon_run_span){
        .kind = TENON_RUN_ZEROS, .offset = walk->place.at, .n_bytes = end - walk->place.at};
}

/* A tensor or a rest, or the zeros before it. Nothing: its bytes are there already. */
static enum tenon_status take(struct tenon_run_walk *walk, struct tenon_run_span *span,
                              struct tenon_error *err)
{
    const struct tenon_plan *plan = walk->plan;
    const struct tenon_plan_file *file = &plan->files[walk->file];
    bool tensors = find_tensor(walk), rests = find_rest(walk);
    size_t i = tensors ? tensor_at(walk, walk->place.tensor) : 0;
    uint64_t offset = file->bytes, n_bytes = 0;

    if (tensors && rests && plan->rests[walk->place.rest].offset <= plan->tensors[i].offset)
        tensors = false;
    if (tensors) {
        offset = plan->tensors[i].offset;
        n_bytes = tenon_plan_tensor_bytes(plan, i);
    } else if (rests) {
        offset = plan->rests[walk->place.rest].offset;
        n_bytes = plan->rests[walk->place.rest].bytes;
    }
    if (offset > file->bytes || n_bytes > file->bytes - offset || offset < file->head_bytes ||
        walk->place.at > file->bytes)
        return fail_layout(walk, err);
    if (offset > walk->place.at || n_bytes == 0) {
        take_zeros(walk, offset, span);
        return TENON_OK;
    }
    return tensors ? take_tensor(walk, span, err) : take_rest(walk, span, err);
}

static enum tenon_status take_some(struct tenon_run_walk *walk, struct tenon_run_span *span,
                                   struct tenon_error *err)
{
    enum tenon_status st;

    do
        st = take(walk, span, err);
    while (st == TENON_OK && span->n_bytes == 0 && span->kind != TENON_RUN_ZEROS);
    if (st == TENON_OK)
        walk->place.at = span->offset + span->n_bytes;
    return st;
}

enum tenon_status tenon_run_walk_next(struct tenon_run_walk *walk, struct tenon_run_span *span,
                                      struct tenon_error *err)
{
    enum tenon_status st = take_some(walk, span, err);

    while (st == TENON_OK && span->kind == TENON_RUN_SOURCE) {
        struct tenon_run_place here = walk->place;
        struct tenon_run_span next = {0};

        if (take_some(walk, &next, NULL) != TENON_OK || next.kind != TENON_RUN_SOURCE ||
            next.source != span->source || next.from != span->from + span->n_bytes) {
            walk->place = here;
            break;
        }
        span->n_bytes += next.n_bytes;
    }
    return st;
}
