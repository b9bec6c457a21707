/* The order of a plan's tensors. */
#include "fail.h"
#include "plan_build.h"

static bool is_grouped(const struct tenon_plan *plan)
{
    for (size_t i = 1; i < plan->n_tensors; i++)
        if (plan->tensors[i].file < plan->tensors[i - 1].file)
            return false;
    return true;
}

/* Every place is visited once: a cycle of the permutation is moved along as a whole. */
void tenon_plan_reorder(struct tenon_plan *plan, size_t first, size_t n, uint32_t *order)
{
    struct tenon_plan_record *tensors = n > 0 ? plan->tensors + first : NULL;

    for (uint32_t start = 0; start < n; start++) {
        struct tenon_plan_record saved = tensors[start];
        uint32_t to = start;

        while (order[to] != start) {
            uint32_t from = order[to];

            tensors[to] = tensors[from];
            order[to] = to;
            to = from;
        }
        tensors[to] = saved;
        order[to] = to;
    }
}

/* Counting: where the tensors of each file begin, then one place after the other. */
static void find_order(const struct tenon_plan *plan, size_t *next, uint32_t *order)
{
    for (size_t i = 0; i < plan->n_tensors; i++)
        next[plan->tensors[i].file + 1]++;
    for (size_t f = 0; f < plan->n_files; f++)
        next[f + 1] += next[f];
    for (uint32_t i = 0; i < plan->n_tensors; i++)
        order[next[plan->tensors[i].file]++] = i;
}

enum tenon_status tenon_plan_group(struct tenon_plan *plan, struct tenon_error *err)
{
    uint32_t *order;
    size_t *next;
    enum tenon_status st = TENON_OK;

    if (is_grouped(plan))
        return TENON_OK;
    order = tenon_mem_alloc(plan->n_tensors, sizeof(*order));
    next = tenon_mem_alloc(plan->n_files + 1, sizeof(*next));
    if (order == NULL || next == NULL) {
        st = tenon_fail_memory(err);
    } else {
        find_order(plan, next, order);
        tenon_plan_reorder(plan, 0, plan->n_tensors, order);
    }
    tenon_mem_free(order);
    tenon_mem_free(next);
    return st;
}

/* The first tensor of file `file` or a later one. */
static size_t find_first(const struct tenon_plan *plan, uint64_t file)
{
    size_t first = 0, last = plan->n_tensors;

    while (first < last) {
        size_t middle = first + (last - first) / 2;

        if (plan->tensors[middle].file < file)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

void tenon_plan_tensors_of(const struct tenon_plan *plan, uint32_t file, size_t *out_first,
                           size_t *out_n)
{
    *out_first = find_first(plan, file);
    *out_n = find_first(plan, (uint64_t)file + 1) - *out_first;
}
