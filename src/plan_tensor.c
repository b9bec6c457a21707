/* The tensors of a plan, and how little of each is kept. */
#include <string.h>

#include "fail.h"
#include "plan_build.h"

/* --- what it holds --- */

static struct tenon_str read_name(const unsigned char *stored)
{
    uint32_t len;

    memcpy(&len, stored, sizeof(len));
    return (struct tenon_str){(const char *)stored + sizeof(len), len};
}

struct tenon_str tenon_plan_name(const struct tenon_plan *plan, size_t i)
{
    const struct tenon_plan_record *record = &plan->tensors[i];

    if (record->name != NULL)
        return read_name(record->name);
    return record->model == TENON_PLAN_FULL ? record->of.full->name : record->of.source->name;
}

/* The bytes of a whole tensor as `dtype`, which were found to fit when it was added. */
static uint64_t count_bytes(const struct tenon_tensor *source, enum tenon_dtype dtype)
{
    uint64_t bytes = source->bytes;

    if (dtype != (enum tenon_dtype)source->dtype &&
        !tenon_dtype_bytes(dtype, source->n_elements, &bytes))
        return 0;
    return bytes;
}

uint64_t tenon_plan_tensor_bytes(const struct tenon_plan *plan, size_t i)
{
    const struct tenon_plan_record *record = &plan->tensors[i];

    return record->model == TENON_PLAN_FULL
               ? record->of.full->bytes
               : count_bytes(record->of.source, (enum tenon_dtype)record->dtype);
}

struct tenon_plan_tensor tenon_plan_tensor(const struct tenon_plan *plan, size_t i)
{
    const struct tenon_plan_record *record = &plan->tensors[i];
    const struct tenon_tensor *source = record->of.source;
    struct tenon_plan_tensor t;

    if (record->model == TENON_PLAN_FULL) {
        t = *record->of.full;
    } else {
        t = (struct tenon_plan_tensor){
            .name = source->name,
            .dtype = (enum tenon_dtype)record->dtype,
            .dtype_raw = source->dtype_raw,
            .n_dims = source->n_dims,
            .dims = source->dims,
            .bytes = count_bytes(source, (enum tenon_dtype)record->dtype),
            .source = {.model = plan->models[record->model],
                       .tensor = source,
                       .n_rows = UINT64_MAX,
                       .logical = record->logical},
            .n_sources = 1,
        };
    }
    if (record->name != NULL)
        t.name = read_name(record->name);
    t.offset = record->offset;
    t.file = record->file;
    t.apart = record->apart;
    return t;
}

const struct tenon_plan_source *tenon_plan_sources(const struct tenon_plan_tensor *tensor)
{
    return tensor->sources != NULL ? tensor->sources : &tensor->source;
}

/* --- adding --- */

uint64_t tenon_plan_tensor_elements(const struct tenon_plan_tensor *tensor)
{
    uint64_t n = 1;

    for (uint32_t d = 0; d < tensor->n_dims; d++)
        if (!tenon_u64_mul(&n, n, tensor->dims[d]))
            return UINT64_MAX;
    return n;
}

static enum tenon_status size_tensor(struct tenon_plan_tensor *tensor, struct tenon_error *err)
{
    uint64_t n = tenon_plan_tensor_elements(tensor);
    const struct tenon_dtype_info *info = tenon_dtype_info(tensor->dtype);
    enum tenon_status st = TENON_OK;

    if (info == NULL || info->block_bytes == 0) {
        tensor->bytes = tensor->n_sources == 1 ? tenon_plan_sources(tensor)->tensor->bytes : 0;
        return TENON_OK;
    }
    if (n == UINT64_MAX || !tenon_dtype_bytes(tensor->dtype, n, &tensor->bytes)) {
        st = tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                        "its shape is not whole blocks of %s", info->name);
        tenon_fail_subject(err, "tensor", tensor->name.data, tensor->name.len);
    }
    return st;
}

/* Length and text in the plan's arena; NULL when memory is gone. */
static const unsigned char *keep_name(struct tenon_plan *plan, struct tenon_str name)
{
    uint32_t len = (uint32_t)name.len;
    size_t room;
    unsigned char *stored;

    if (name.len > UINT32_MAX || !tenon_size_add(&room, name.len, sizeof(len)))
        return NULL;
    stored = tenon_arena_alloc(&plan->arena, room, 1);
    if (stored == NULL)
        return NULL;
    memcpy(stored, &len, sizeof(len));
    if (len != 0)
        memcpy(stored + sizeof(len), name.data, len);
    return stored;
}

static bool same_dims(const struct tenon_plan_tensor *tensor, const struct tenon_tensor *source)
{
    if (tensor->n_dims != source->n_dims)
        return false;
    if (tensor->dims == source->dims || tensor->n_dims == 0)
        return true;
    return memcmp(tensor->dims, source->dims, tensor->n_dims * sizeof(*tensor->dims)) == 0;
}

/* Whether a record can say it all: one whole tensor, in its shape. */
static bool is_simple(const struct tenon_plan_tensor *tensor)
{
    const struct tenon_plan_source *source = tenon_plan_sources(tensor);

    return tensor->n_sources == 1 && tensor->n_steps == 0 && source->model != NULL &&
           source->first_row == 0 && source->n_rows == UINT64_MAX &&
           same_dims(tensor, source->tensor) &&
           (tensor->dtype != TENON_DTYPE_UNKNOWN ||
            tensor->dtype_raw == source->tensor->dtype_raw) &&
           tensor->bytes == count_bytes(source->tensor, tensor->dtype);
}

static enum tenon_status fill_full(struct tenon_plan *plan, const struct tenon_plan_tensor *tensor,
                                   struct tenon_plan_record *record, struct tenon_error *err)
{
    struct tenon_plan_tensor *full = tenon_arena_alloc(&plan->arena, 1, sizeof(*full));

    if (full == NULL)
        return tenon_fail_memory(err);
    *full = *tensor;
    full->name.data = tenon_arena_text(&plan->arena, full->name.data, full->name.len);
    full->dims = tenon_arena_copy(&plan->arena, full->dims, full->n_dims, sizeof(*full->dims));
    full->sources = tenon_arena_copy(&plan->arena, tenon_plan_sources(tensor), full->n_sources,
                                     sizeof(*full->sources));
    full->steps = tenon_arena_copy(&plan->arena, full->steps, full->n_steps, sizeof(*full->steps));
    if (full->name.data == NULL || full->dims == NULL || full->sources == NULL ||
        full->steps == NULL)
        return tenon_fail_memory(err);
    record->of.full = full;
    record->model = TENON_PLAN_FULL;
    return TENON_OK;
}

static enum tenon_status fill_simple(struct tenon_plan *plan,
                                     const struct tenon_plan_tensor *tensor, size_t model,
                                     struct tenon_plan_record *record, struct tenon_error *err)
{
    const struct tenon_plan_source *source = tenon_plan_sources(tensor);
    struct tenon_str old = source->tensor->name;

    record->of.source = source->tensor;
    record->model = (uint16_t)model;
    record->logical = source->logical;
    if (tensor->name.len == old.len &&
        (old.len == 0 || memcmp(tensor->name.data, old.data, old.len) == 0))
        return TENON_OK;
    record->name = keep_name(plan, tensor->name);
    return record->name != NULL ? TENON_OK : tenon_fail_memory(err);
}

static enum tenon_status add_sources(struct tenon_plan *plan,
                                     const struct tenon_plan_tensor *tensor,
                                     struct tenon_error *err)
{
    const struct tenon_plan_source *sources = tenon_plan_sources(tensor);
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < tensor->n_sources; i++)
        if (sources[i].model != NULL)
            st = tenon_plan_add_model(plan, sources[i].model, err);
    return st;
}

/* The number of a model that was added. Most plans have one. */
static size_t find_model(const struct tenon_plan *plan, const struct tenon_model *model)
{
    size_t i = 0;

    while (plan->models[i] != model)
        i++;
    return i;
}

enum tenon_status tenon_plan_add_tensor(struct tenon_plan *plan,
                                        const struct tenon_plan_tensor *tensor,
                                        struct tenon_error *err)
{
    struct tenon_plan_tensor sized = *tensor;
    struct tenon_plan_record record = {.file = tensor->file, .offset = tensor->offset};
    struct tenon_plan_record *tensors =
        tenon_mem_grow(plan->tensors, &plan->tensor_room, plan->n_tensors, sizeof(*tensors));
    size_t model = SIZE_MAX;
    enum tenon_status st = TENON_OK;

    if (tensors == NULL)
        return tenon_fail_memory(err);
    plan->tensors = tensors;
    record.dtype = (unsigned)tensor->dtype & 0x3fff;
    record.apart = tensor->apart;
    st = size_tensor(&sized, err);
    if (st == TENON_OK)
        st = add_sources(plan, &sized, err);
    if (st == TENON_OK && is_simple(&sized))
        model = find_model(plan, tenon_plan_sources(&sized)->model);
    if (st == TENON_OK)
        st = model < TENON_PLAN_FULL ? fill_simple(plan, &sized, model, &record, err)
                                     : fill_full(plan, &sized, &record, err);
    if (st == TENON_OK)
        tensors[plan->n_tensors++] = record;
    return st;
}

enum tenon_status tenon_plan_add_tensor_of(struct tenon_plan *plan, const struct tenon_model *model,
                                           const struct tenon_tensor *tensor, uint32_t file,
                                           struct tenon_error *err)
{
    struct tenon_plan_tensor copy = {
        .name = tensor->name,
        .dtype = (enum tenon_dtype)tensor->dtype,
        .dtype_raw = tensor->dtype_raw,
        .n_dims = tensor->n_dims,
        .dims = tensor->dims,
        .file = file,
        .source = {.model = model, .tensor = tensor, .n_rows = UINT64_MAX},
        .n_sources = 1,
    };

    return tenon_plan_add_tensor(plan, &copy, err);
}

/* --- copies --- */

/* Whether byte order decides nothing here, or is the same on both sides. */
static bool same_order(const struct tenon_plan_file *file, const struct tenon_plan_source *source)
{
    return source->model == NULL || source->tensor->dtype == TENON_DTYPE_UNKNOWN ||
           ((source->tensor->flags & TENON_TENSOR_BIG_ENDIAN) != 0) == file->big_endian;
}

bool tenon_plan_tensor_is_copy(const struct tenon_plan *plan,
                               const struct tenon_plan_tensor *tensor)
{
    const struct tenon_plan_file *file = &plan->files[tensor->file];
    const struct tenon_plan_source *sources = tenon_plan_sources(tensor);

    if (tensor->n_steps > 0 || (tensor->combine == TENON_COMBINE_MEAN && tensor->n_sources > 1))
        return false;
    for (size_t i = 0; i < tensor->n_sources; i++) {
        const struct tenon_plan_source *source = &sources[i];

        if (source->model != NULL && (source->logical || source->tensor->dtype != tensor->dtype))
            return false;
        if (!same_order(file, source))
            return false;
    }
    return true;
}
