/* Choosing how a tensor is made, and its dimensions from move to move. */
#include "plan_make.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"

#define INTEGER_TYPES                                                                              \
    (1u << TENON_DTYPE_I64 | 1u << TENON_DTYPE_I32 | 1u << TENON_DTYPE_I16 |                       \
     1u << TENON_DTYPE_I8 | 1u << TENON_DTYPE_U64 | 1u << TENON_DTYPE_U32 |                        \
     1u << TENON_DTYPE_U16 | 1u << TENON_DTYPE_U8 | 1u << TENON_DTYPE_BOOL)

static bool is_integer(enum tenon_dtype dtype)
{
    return (unsigned)dtype < 32 && (INTEGER_TYPES >> (unsigned)dtype & 1) != 0;
}

enum tenon_status tenon_make_fail(const struct tenon_make *make, enum tenon_status st,
                                  struct tenon_error *err)
{
    if (st != TENON_OK)
        tenon_fail_subject(err, "tensor", make->tensor.name.data, make->tensor.name.len);
    return st;
}

/* --- the representation --- */

static bool has_step(const struct tenon_plan_tensor *tensor, enum tenon_step_kind kind)
{
    for (size_t i = 0; i < tensor->n_steps; i++)
        if (tensor->steps[i].kind == kind)
            return true;
    return false;
}

/* The type that all sources have, as they are stored; UNKNOWN_MIX when they differ or scales lie
 * beside them. */
#define UNKNOWN_MIX TENON_DTYPE_END
static enum tenon_dtype common_type(const struct tenon_plan_tensor *tensor)
{
    enum tenon_dtype type = UNKNOWN_MIX;

    for (size_t i = 0; i < tensor->n_sources; i++) {
        const struct tenon_plan_source *source = &tenon_plan_sources(tensor)[i];
        enum tenon_dtype mine =
            source->model == NULL ? tensor->dtype : (enum tenon_dtype)source->tensor->dtype;

        if ((source->model != NULL && source->logical) || (i > 0 && mine != type))
            return UNKNOWN_MIX;
        type = mine;
    }
    return type;
}

/* Elements of one row (of the outermost dimension) of a source. */
static uint64_t row_elements(const struct tenon_plan_source *source, uint64_t n_elements)
{
    uint64_t rows = source->tensor->n_dims != 0 ? source->tensor->dims[0] : 1;

    return rows != 0 ? n_elements / rows : 0;
}

/* Whether blocks can be moved whole: rows begin at blocks, and no move takes one apart. */
static bool moves_blocks(const struct tenon_plan_tensor *tensor, size_t block)
{
    uint64_t per_row = 1;

    if (block == 1)
        return true;
    if (has_step(tensor, TENON_STEP_TRANSPOSE))
        return false;
    for (uint32_t d = 1; d < tensor->n_dims; d++)
        if (!tenon_u64_mul(&per_row, per_row, tensor->dims[d]))
            return false;
    if (tensor->n_steps > 0 && per_row % block != 0)
        return false;
    for (size_t i = 0; i < tensor->n_sources; i++) {
        const struct tenon_plan_source *source = &tenon_plan_sources(tensor)[i];
        bool part = source->first_row != 0 || source->n_rows != UINT64_MAX || i > 0;

        if (source->model != NULL && part &&
            row_elements(source, source->tensor->n_elements) % block != 0)
            return false;
    }
    return true;
}

/* Integers of 32 bits and more, and F64, are not float32. */
static bool needs_double(const struct tenon_plan_tensor *tensor, const struct tenon_quant_ops *ops)
{
    for (size_t i = 0; i < tensor->n_sources; i++)
        if (tenon_plan_sources(tensor)[i].model != NULL && !tenon_plan_sources(tensor)[i].logical &&
            ops->decode_f64[tenon_plan_sources(tensor)[i].tensor->dtype] != NULL)
            return true;
    return false;
}

static void choose_kind(struct tenon_make *make)
{
    const struct tenon_plan_tensor *tensor = &make->tensor;
    const struct tenon_dtype_info *info = tenon_dtype_info(tensor->dtype);
    enum tenon_dtype common = common_type(tensor);
    bool computes = make->mean || has_step(tensor, TENON_STEP_ADD);

    make->from = common;
    if (!computes && common == tensor->dtype &&
        (info == NULL || info->block_elements == 0 || moves_blocks(tensor, info->block_elements))) {
        make->kind = TENON_MAKE_BLOCKS;
        make->block = info != NULL && info->block_elements != 0 ? info->block_elements : 1;
        make->unit_bytes = info != NULL && info->block_bytes != 0 ? info->block_bytes : 1;
        return;
    }
    make->block = 1;
    if (!computes && common != UNKNOWN_MIX && is_integer(common)) {
        make->kind = TENON_MAKE_INTEGER;
        make->unit_bytes = sizeof(int64_t);
    } else if (computes || needs_double(tensor, make->ops)) {
        make->kind = TENON_MAKE_DOUBLE;
        make->unit_bytes = sizeof(double);
    } else {
        make->kind = TENON_MAKE_SINGLE;
        make->unit_bytes = sizeof(float);
    }
}

/* --- sources --- */

static enum tenon_status fail_shape(struct tenon_error *err, const char *what)
{
    return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "the plan's %s do not fit", what);
}

/* Bytes in memory: all of the tensor, or rows of it. */
static enum tenon_status init_memory(const struct tenon_make *make,
                                     struct tenon_make_source *source, struct tenon_error *err)
{
    const struct tenon_plan_tensor *tensor = &make->tensor;
    uint64_t rows = tensor->n_dims != 0 ? tensor->dims[0] : 1;

    if (make->kind != TENON_MAKE_BLOCKS)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          "bytes in memory cannot be computed with");
    source->n = make->n_units;
    if (source->plan.n_rows != UINT64_MAX && rows != 0 &&
        !tenon_u64_mul(&source->n, make->n_units / rows, source->plan.n_rows))
        return fail_shape(err, "rows");
    source->swap = false;
    return TENON_OK;
}

/* A type whose values cannot be had is only copied. */
static enum tenon_status check_decoder(const struct tenon_make *make,
                                       struct tenon_make_source *source, struct tenon_error *err)
{
    const struct tenon_plan_source *plan = &source->plan;
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)plan->tensor->dtype);

    if (plan->logical) {
        if (!tenon_logical_init(&source->logical, plan->model, plan->tensor))
            return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                              "the scales beside its codes do not fit them");
        if (source->logical.values == 1)
            return TENON_OK;
    } else if (info != NULL && make->ops->decode[info->dtype] != NULL && info->values == 1) {
        return TENON_OK;
    }
    return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                      "%s cannot become %s: its elements are no real numbers that are known",
                      tenon_dtype_name((enum tenon_dtype)plan->tensor->dtype),
                      tenon_dtype_name(make->tensor.dtype));
}

/* Counts the units that a source has and that are taken of it. */
static enum tenon_status count_units(const struct tenon_make *make,
                                     struct tenon_make_source *source, struct tenon_error *err)
{
    const struct tenon_plan_source *plan = &source->plan;
    uint64_t n = plan->logical && make->kind != TENON_MAKE_BLOCKS ? source->logical.n_elements
                                                                  : plan->tensor->n_elements;
    uint64_t rows = plan->tensor->n_dims != 0 ? plan->tensor->dims[0] : 1;
    uint64_t per_row = row_elements(plan, n);
    uint64_t left = plan->first_row <= rows ? rows - plan->first_row : 0;
    uint64_t taken = plan->n_rows != UINT64_MAX ? plan->n_rows : left;
    bool sized = tenon_dtype_info((enum tenon_dtype)plan->tensor->dtype) != NULL &&
                 (plan->tensor->flags & TENON_TENSOR_SIZE_UNKNOWN) == 0;

    if (plan->first_row > rows || taken > left)
        return fail_shape(err, "rows");
    if (!sized) {
        if (plan->first_row != 0 || taken != rows || make->tensor.n_sources != 1)
            return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                              "rows of an element type that is not known cannot be taken");
        source->n = make->tensor.bytes;
        return TENON_OK;
    }
    if (plan->first_row == 0 && taken == rows) {
        source->n = n / make->block;
        return TENON_OK;
    }
    source->first = plan->first_row * per_row / make->block; /* within the tensor's elements */
    source->n = taken * per_row / make->block;
    return TENON_OK;
}

static enum tenon_status init_source(const struct tenon_make *make,
                                     struct tenon_make_source *source, bool big_endian,
                                     struct tenon_error *err)
{
    const struct tenon_plan_source *plan = &source->plan;
    bool known = plan->model != NULL && plan->tensor->dtype != TENON_DTYPE_UNKNOWN;
    bool big = plan->model != NULL && (plan->tensor->flags & TENON_TENSOR_BIG_ENDIAN) != 0;
    enum tenon_status st = TENON_OK;

    if (plan->model == NULL)
        return init_memory(make, source, err);
    source->bytes = plan->model->sources[plan->tensor->file];
    source->swap = known && (make->kind == TENON_MAKE_BLOCKS ? big != big_endian : big);
    if (make->kind != TENON_MAKE_BLOCKS)
        st = check_decoder(make, source, err);
    return st == TENON_OK ? count_units(make, source, err) : st;
}

/* Units of all sources must be those of the tensor: together, or each when they are averaged. */
static enum tenon_status init_sources(struct tenon_make *make, bool big_endian,
                                      struct tenon_error *err)
{
    const struct tenon_plan_tensor *tensor = &make->tensor;
    enum tenon_status st = TENON_OK;
    uint64_t at = 0;

    make->sources = tensor->n_sources == 1
                        ? &make->only
                        : tenon_mem_alloc(tensor->n_sources, sizeof(*make->sources));
    if (make->sources == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; st == TENON_OK && i < tensor->n_sources; i++) {
        struct tenon_make_source *source = &make->sources[i];

        source->plan = tenon_plan_sources(tensor)[i];
        st = init_source(make, source, big_endian, err);
        if (st != TENON_OK)
            break;
        source->begin = make->mean ? 0 : at;
        if (make->mean)
            at = source->n;
        if (make->mean ? source->n != make->n_units : !tenon_u64_add(&at, at, source->n))
            st = fail_shape(err, "sources");
    }
    if (st == TENON_OK && at != make->n_units)
        st = fail_shape(err, "sources");
    return st;
}

/* --- moves --- */

/* Splits dimensions into those before the last two, and these; in units. */
static bool split_dims(const struct tenon_make *make, const uint64_t *dims,
                       struct tenon_make_step *move)
{
    uint32_t n = make->tensor.n_dims;
    uint64_t cols = n > 0 ? dims[n - 1] : 1;

    if (move->step.kind == TENON_STEP_PERMUTE) { /* rows of the outermost dimension */
        move->outer = 1;
        move->rows = n > 0 ? dims[0] : 1;
        move->cols = move->rows != 0 ? make->n_units / move->rows : 0;
        return true;
    }
    move->rows = n > 1 ? dims[n - 2] : 1;
    move->cols = cols;
    move->outer = 1;
    for (uint32_t d = 0; d + 2 < n; d++)
        if (!tenon_u64_mul(&move->outer, move->outer, dims[d]))
            return false;
    return true;
}

static enum tenon_status check_permutation(const struct tenon_make_step *move,
                                           struct tenon_error *err)
{
    const struct tenon_step *step = &move->step;

    if (step->heads == 0 || move->rows % step->heads != 0 || step->rotary % 2 != 0 ||
        step->rotary > move->rows / step->heads)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          "%llu rows are not %u heads with %u rows that move each",
                          (unsigned long long)move->rows, step->heads, step->rotary);
    return TENON_OK;
}

/* From the last step to the first: the dimensions are known at the end. */
static enum tenon_status init_moves(struct tenon_make *make, struct tenon_error *err)
{
    const struct tenon_plan_tensor *tensor = &make->tensor;
    uint64_t dims[TENON_LOGICAL_DIMS];
    uint32_t n = tensor->n_dims;
    enum tenon_status st = TENON_OK;

    if (tensor->n_steps > TENON_MAKE_STEPS || n > TENON_LOGICAL_DIMS)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                          "%zu steps and %u dimensions, at most %d and %d allowed", tensor->n_steps,
                          n, TENON_MAKE_STEPS, TENON_LOGICAL_DIMS);
    if (tensor->n_steps == 0)
        return TENON_OK;
    make->moves = tenon_mem_alloc(tensor->n_steps, sizeof(*make->moves));
    if (make->moves == NULL)
        return tenon_fail_memory(err);
    memcpy(dims, tensor->dims, n * sizeof(*dims));
    for (size_t i = tensor->n_steps; st == TENON_OK && i > 0; i--) {
        const struct tenon_step *step = &tensor->steps[i - 1];
        struct tenon_make_step *move = &make->moves[tensor->n_steps - 1 - make->n_moves];

        if (step->kind == TENON_STEP_ADD) {
            make->constant += step->constant;
            continue;
        }
        *move = (struct tenon_make_step){.step = *step};
        if (!split_dims(make, dims, move))
            return fail_shape(err, "dimensions");
        make->n_moves++;
        if (step->kind == TENON_STEP_PERMUTE) {
            st = check_permutation(move, err);
        } else if (n < 2) {
            st = fail_shape(err, "dimensions");
        } else {
            uint64_t rows = dims[n - 2];

            dims[n - 2] = dims[n - 1];
            dims[n - 1] = rows;
        }
    }
    /* They were collected from the end of the array. */
    memmove(make->moves, make->moves + tensor->n_steps - make->n_moves,
            make->n_moves * sizeof(*make->moves));
    return st;
}

/* --- all of it --- */

static enum tenon_status count_target(struct tenon_make *make, struct tenon_error *err)
{
    const struct tenon_plan_tensor *tensor = &make->tensor;

    if (make->kind == TENON_MAKE_BLOCKS) {
        make->n_units = tensor->bytes / make->unit_bytes;
        return TENON_OK;
    }
    make->n_units = 1;
    for (uint32_t d = 0; d < tensor->n_dims; d++)
        if (!tenon_u64_mul(&make->n_units, make->n_units, tensor->dims[d]))
            return fail_shape(err, "dimensions");
    if (tenon_dtype_info(tensor->dtype) == NULL || make->ops->encode[tensor->dtype] == NULL ||
        tenon_dtype_info(tensor->dtype)->values != 1)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                          "%s cannot be written", tenon_dtype_name(tensor->dtype));
    return TENON_OK;
}

/* The greatest magnitude of types that are small; infinity for the others. */
static double greatest(enum tenon_dtype dtype)
{
    static const struct {
        enum tenon_dtype dtype;
        double value;
    } rows[] = {
        {TENON_DTYPE_F16, 65504},
        {TENON_DTYPE_F8_E4M3, 448},
        {TENON_DTYPE_F8_E5M2, 57344},
        {TENON_DTYPE_F8_E4M3FNUZ, 240},
        {TENON_DTYPE_F8_E5M2FNUZ, 57344},
        {TENON_DTYPE_BF16, 0x1.fep127},
        {TENON_DTYPE_I8, 128},
        {TENON_DTYPE_U8, 255},
        {TENON_DTYPE_BOOL, 1},
        {TENON_DTYPE_I16, 32768},
        {TENON_DTYPE_U16, 65535},
        {TENON_DTYPE_I32, 0x1p31},
        {TENON_DTYPE_U32, 0x1p32},
        {TENON_DTYPE_I64, 0x1p63},
        {TENON_DTYPE_U64, 0x1p64},
        {TENON_DTYPE_F32, 0x1.fffffep127},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].dtype == dtype)
            return rows[i].value;
    return (double)INFINITY;
}

static bool can_overflow(const struct tenon_make *make)
{
    double limit;

    if (make->kind == TENON_MAKE_BLOCKS)
        return false;
    limit = tenon_make_safe_limit(make->tensor.dtype);
    if (limit == (double)INFINITY)
        return false;
    return make->kind == TENON_MAKE_DOUBLE || make->from == UNKNOWN_MIX ||
           greatest(make->from) >= limit;
}

enum tenon_status tenon_make_init(struct tenon_make *make, const struct tenon_plan *plan,
                                  const struct tenon_plan_tensor *tensor,
                                  const struct tenon_quant_ops *ops, struct tenon_error *err)
{
    bool big_endian = plan->files[tensor->file].big_endian;
    enum tenon_status st;

    *make = (struct tenon_make){.tensor = *tensor, .ops = ops};
    make->mean = tensor->combine == TENON_COMBINE_MEAN && tensor->n_sources > 1;
    choose_kind(make);
    make->swap_out = big_endian && make->kind != TENON_MAKE_BLOCKS;
    st = count_target(make, err);
    if (st == TENON_OK)
        st = init_moves(make, err);
    if (st == TENON_OK)
        st = init_sources(make, big_endian, err);
    make->may_overflow = st == TENON_OK && can_overflow(make);
    return tenon_make_fail(make, st, err);
}

void tenon_make_release(struct tenon_make *make)
{
    if (make->sources != &make->only)
        tenon_mem_free(make->sources);
    make->sources = NULL;
    tenon_mem_free(make->moves);
    make->moves = NULL;
}

bool tenon_make_is_copy(const struct tenon_make *make)
{
    if (make->kind != TENON_MAKE_BLOCKS || make->n_moves > 0)
        return false;
    for (size_t i = 0; i < make->tensor.n_sources; i++)
        if (make->sources[i].swap)
            return false;
    return true;
}

const struct tenon_make_source *tenon_make_find(const struct tenon_make *make, uint64_t at,
                                                uint64_t *out_n)
{
    size_t low = 0, high = make->tensor.n_sources;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (make->sources[middle].begin <= at)
            low = middle;
        else
            high = middle;
    }
    *out_n = make->sources[low].n - (at - make->sources[low].begin);
    return &make->sources[low];
}
