#include "hf_write_index.h"

#include <string.h>

#include "fail.h"
#include "json_out.h"
#include "sort.h"

struct index {
    const struct tenon_plan *plan;
    uint32_t *tensors; /* numbers, sorted by name */
    uint64_t parameters, bytes;
};

static int compare_tensors(const void *plan, uint32_t a, uint32_t b)
{
    struct tenon_str x = tenon_plan_name(plan, a), y = tenon_plan_name(plan, b);
    int order = memcmp(x.data, y.data, x.len < y.len ? x.len : y.len);

    if (order != 0)
        return order;
    return x.len < y.len ? -1 : x.len > y.len;
}

/* The elements of a tensor, saturated: of a matrix that is too large to be counted the layout of
 * its file has complained. */
static uint64_t count_elements(const struct tenon_plan_tensor *t)
{
    uint64_t n = 1;

    for (uint32_t d = 0; d < t->n_dims; d++)
        if (!tenon_u64_mul(&n, n, t->dims[d]))
            return UINT64_MAX;
    return n;
}

static enum tenon_status measure(struct index *index, struct tenon_error *err)
{
    const struct tenon_plan *plan = index->plan;

    for (size_t i = 0; i < plan->n_tensors; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);

        index->tensors[i] = (uint32_t)i;
        if (!tenon_u64_add(&index->bytes, index->bytes, t.bytes) ||
            !tenon_u64_add(&index->parameters, index->parameters, count_elements(&t)))
            return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                              "the sum of all sizes does not fit 64 bits");
    }
    return tenon_sort(index->tensors, plan->n_tensors, plan, compare_tensors)
               ? TENON_OK
               : tenon_fail_memory(err);
}

/* The last component of the path of a tensor's file. */
static struct tenon_str file_name(const struct index *index, uint32_t tensor)
{
    const char *path = index->plan->files[index->plan->tensors[tensor].file].path;
    const char *slash = strrchr(path, '/');

    return (struct tenon_str){slash != NULL ? slash + 1 : path,
                              strlen(slash != NULL ? slash + 1 : path)};
}

static void put(const struct index *index, struct tenon_json_out *out)
{
    tenon_json_put_text(out, "{\n  \"metadata\": {\n    \"total_parameters\": ");
    tenon_json_put_u64(out, index->parameters);
    tenon_json_put_text(out, ",\n    \"total_size\": ");
    tenon_json_put_u64(out, index->bytes);
    tenon_json_put_text(out, "\n  },\n  \"weight_map\": {");
    for (size_t i = 0; i < index->plan->n_tensors; i++) {
        tenon_json_put_text(out, i != 0 ? ",\n    " : "\n    ");
        tenon_json_put_ascii(out, tenon_plan_name(index->plan, index->tensors[i]));
        tenon_json_put_text(out, ": ");
        tenon_json_put_ascii(out, file_name(index, index->tensors[i]));
    }
    tenon_json_put_text(out, index->plan->n_tensors != 0 ? "\n  }\n}\n" : "}\n}\n");
}

enum tenon_status tenon_hf_write_index(struct tenon_plan *plan, const char *path,
                                       struct tenon_error *err)
{
    struct index index = {.plan = plan};
    struct tenon_json_out out = {0};
    enum tenon_status st = TENON_OK;

    index.tensors = tenon_mem_alloc(plan->n_tensors, sizeof(*index.tensors));
    if (index.tensors == NULL)
        return tenon_fail_memory(err);
    st = measure(&index, err);
    if (st != TENON_OK)
        goto out;
    put(&index, &out);
    out.data = tenon_arena_alloc(&plan->arena, out.len + 1, 1);
    if (out.data == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    out.len = 0;
    put(&index, &out);
    st = tenon_plan_take_text(plan, path, out.data, out.len, true, err);
out:
    tenon_mem_free(index.tensors);
    return st;
}
