/* How safetensors headers are spelled and sorted, and what they cannot hold. */
#include "safetensors_write.h"

#include <string.h>

#include "fail.h"
#include "safetensors_private.h"
#include "sort.h"
#include "text.h"

/* The order in which payloads lie. Types that are only known by the text of a file come last. */
static const enum tenon_dtype dtype_order[] = {
    TENON_DTYPE_U64,         TENON_DTYPE_I64,     TENON_DTYPE_F64,     TENON_DTYPE_C64,
    TENON_DTYPE_F32,         TENON_DTYPE_U32,     TENON_DTYPE_I32,     TENON_DTYPE_BF16,
    TENON_DTYPE_F16,         TENON_DTYPE_U16,     TENON_DTYPE_I16,     TENON_DTYPE_F8_E5M2FNUZ,
    TENON_DTYPE_F8_E4M3FNUZ, TENON_DTYPE_F8_E8M0, TENON_DTYPE_F8_E4M3, TENON_DTYPE_F8_E5M2,
    TENON_DTYPE_I8,          TENON_DTYPE_U8,      TENON_DTYPE_F6_E3M2, TENON_DTYPE_F6_E2M3,
    TENON_DTYPE_F4,          TENON_DTYPE_BOOL,
};

#define N_ORDERED (sizeof(dtype_order) / sizeof(dtype_order[0]))

uint32_t tenon_safetensors_rank(enum tenon_dtype dtype)
{
    uint32_t rank = 0;

    while (rank < N_ORDERED && dtype_order[rank] != dtype)
        rank++;
    return rank;
}

/* Tensors of a plan, of which the first has number 0 here. */
struct tensors {
    const struct tenon_plan *plan;
    size_t first;
};

static int compare_tensors(const void *owner, uint32_t a, uint32_t b)
{
    const struct tensors *t = owner;
    size_t x = t->first + a, y = t->first + b;
    enum tenon_dtype left = (enum tenon_dtype)t->plan->tensors[x].dtype;
    enum tenon_dtype right = (enum tenon_dtype)t->plan->tensors[y].dtype;

    if (left != right) {
        uint32_t p = tenon_safetensors_rank(left), q = tenon_safetensors_rank(right);

        if (p != q)
            return p < q ? -1 : 1;
    }
    return tenon_str_compare(tenon_plan_name(t->plan, x), tenon_plan_name(t->plan, y));
}

enum tenon_status tenon_safetensors_sort(struct tenon_plan *plan, size_t first, size_t n,
                                         struct tenon_error *err)
{
    const struct tensors tensors = {plan, first};
    uint32_t *order;
    enum tenon_status st = TENON_OK;

    if (n < 2)
        return TENON_OK;
    order = tenon_mem_alloc(n, sizeof(*order));
    if (order == NULL)
        return tenon_fail_memory(err);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    if (tenon_sort(order, n, &tensors, compare_tensors))
        tenon_plan_reorder(plan, first, n, order);
    else
        st = tenon_fail_memory(err);
    tenon_mem_free(order);
    return st;
}

/* --- what the format cannot hold --- */

enum tenon_status tenon_safetensors_refuse(const char *kind, struct tenon_str subject,
                                           const char *what, struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "%s", what);
    tenon_fail_subject(err, kind, subject.data, subject.len);
    return TENON_ERR_CANNOT_REPRESENT;
}

/* The dtype's spelling, empty when the format has none. */
static struct tenon_str dtype_text(const struct tenon_plan_tensor *t)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(t->dtype);

    if (info != NULL)
        return (struct tenon_str){info->safetensors_id, strlen(info->safetensors_id)};
    if (t->n_sources == 1 && tenon_plan_sources(t)->model != NULL)
        return tenon_tensor_dtype_text(tenon_plan_sources(t)->model, tenon_plan_sources(t)->tensor);
    return (struct tenon_str){"", 0};
}

enum tenon_status tenon_safetensors_check_tensor(const struct tenon_plan_tensor *t,
                                                 struct tenon_error *err)
{
    if (tenon_str_equal(t->name, TENON_SAFETENSORS_META))
        return tenon_safetensors_refuse("tensor", t->name,
                                        "the name is reserved in safetensors files", err);
    if (!tenon_utf8_valid(t->name.data, t->name.len))
        return tenon_safetensors_refuse("tensor", t->name, "its name is not valid UTF-8", err);
    if (memchr(t->name.data, '\0', t->name.len) != NULL)
        return tenon_safetensors_refuse("tensor", t->name, "a NUL character in its name", err);
    if (dtype_text(t).len != 0)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "safetensors files have no %s",
               t->dtype != TENON_DTYPE_UNKNOWN ? tenon_dtype_name(t->dtype)
                                               : "element type for its codes");
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_hint(err, "store its values in another type, with --dtype BF16 for example");
    return TENON_ERR_CANNOT_REPRESENT;
}

enum tenon_status tenon_safetensors_check_meta(const struct tenon_meta_entry *meta,
                                               struct tenon_error *err)
{
    if (meta->type != TENON_META_STRING) {
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                   "metadata of safetensors files is text, not %s",
                   tenon_meta_type_name(meta->type));
        tenon_fail_subject(err, "key", meta->key.data, meta->key.len);
        return TENON_ERR_CANNOT_REPRESENT;
    }
    if (!tenon_utf8_valid(meta->key.data, meta->key.len) ||
        !tenon_utf8_valid(meta->value.as.str.data, meta->value.as.str.len))
        return tenon_safetensors_refuse("key", meta->key, "key or value is not valid UTF-8", err);
    return TENON_OK;
}

/* --- spelling --- */

void tenon_safetensors_put_tensor(struct tenon_json_out *out, const struct tenon_plan_tensor *t,
                                  uint64_t begin, uint64_t end)
{
    tenon_json_put_string(out, t->name);
    tenon_json_put_text(out, ":{\"dtype\":");
    tenon_json_put_string(out, dtype_text(t));
    tenon_json_put_text(out, ",\"shape\":[");
    for (uint32_t d = 0; d < t->n_dims; d++) {
        if (d > 0)
            tenon_json_put_text(out, ",");
        tenon_json_put_u64(out, t->dims[d]);
    }
    tenon_json_put_text(out, "],\"data_offsets\":[");
    tenon_json_put_u64(out, begin);
    tenon_json_put_text(out, ",");
    tenon_json_put_u64(out, end);
    tenon_json_put_text(out, "]}");
}
