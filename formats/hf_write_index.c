#include "hf_write_index.h"

#include <string.h>

#include "fail.h"
#include "json_out.h"
#include "sort.h"
#include "text.h"

/* What an index is made of; in the plan's arena. */
struct index {
    const struct tenon_plan *plan;
    uint64_t parameters, bytes;
};

static int compare_tensors(const void *plan, uint32_t a, uint32_t b)
{
    return tenon_str_compare(tenon_plan_name(plan, a), tenon_plan_name(plan, b));
}

static enum tenon_status measure(struct index *index, struct tenon_error *err)
{
    const struct tenon_plan *plan = index->plan;

    for (size_t i = 0; i < plan->n_tensors; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);

        if (!tenon_u64_add(&index->bytes, index->bytes, t.bytes) ||
            !tenon_u64_add(&index->parameters, index->parameters, tenon_plan_tensor_elements(&t)))
            return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                              "the sum of all sizes does not fit 64 bits");
    }
    return TENON_OK;
}

/* The last component of the path of a tensor's file. */
static struct tenon_str file_name(const struct index *index, uint32_t tensor)
{
    const char *path = index->plan->files[index->plan->tensors[tensor].file].path;
    const char *slash = strrchr(path, '/');

    return (struct tenon_str){slash != NULL ? slash + 1 : path,
                              strlen(slash != NULL ? slash + 1 : path)};
}

/* `order` gives the numbers of the tensors; NULL to measure: any order is as long. */
static void put(const struct index *index, const uint32_t *order, struct tenon_json_out *out)
{
    tenon_json_put_text(out, "{\n  \"metadata\": {\n    \"total_parameters\": ");
    tenon_json_put_u64(out, index->parameters);
    tenon_json_put_text(out, ",\n    \"total_size\": ");
    tenon_json_put_u64(out, index->bytes);
    tenon_json_put_text(out, "\n  },\n  \"weight_map\": {");
    for (uint32_t i = 0; i < index->plan->n_tensors; i++) {
        uint32_t tensor = order != NULL ? order[i] : i;

        tenon_json_put_text(out, i != 0 ? ",\n    " : "\n    ");
        tenon_json_put_ascii(out, tenon_plan_name(index->plan, tensor));
        tenon_json_put_text(out, ": ");
        tenon_json_put_ascii(out, file_name(index, tensor));
    }
    tenon_json_put_text(out, index->plan->n_tensors != 0 ? "\n  }\n}\n" : "}\n}\n");
}

/* Sorted when it is made: layouts change the order of tensors after the index was planned. */
static enum tenon_status put_index(const struct tenon_plan *plan, uint32_t file, const void *state,
                                   struct tenon_window *to)
{
    struct tenon_json_out out = {.window = to};
    uint32_t *order = tenon_mem_alloc(plan->n_tensors, sizeof(*order));
    enum tenon_status st = TENON_OK;

    (void)file;
    if (order == NULL)
        return tenon_fail_memory(to->err);
    for (uint32_t i = 0; i < plan->n_tensors; i++)
        order[i] = i;
    if (tenon_sort(order, plan->n_tensors, plan, compare_tensors))
        put(state, order, &out);
    else
        st = tenon_fail_memory(to->err);
    tenon_mem_free(order);
    return st == TENON_OK ? to->st : st;
}

enum tenon_status tenon_hf_write_index(struct tenon_plan *plan, const char *path,
                                       struct tenon_error *err)
{
    struct index *index = tenon_arena_alloc(&plan->arena, 1, sizeof(*index));
    struct tenon_json_out out = {0};
    enum tenon_status st;

    if (index == NULL)
        return tenon_fail_memory(err);
    index->plan = plan;
    st = measure(index, err);
    if (st != TENON_OK)
        return st;
    put(index, NULL, &out);
    return tenon_plan_add_made(plan, path, (struct tenon_plan_head){put_index, index}, out.len,
                               true, err);
}
