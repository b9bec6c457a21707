/* Looking for what casts would lose, before anything is written. */
#include <string.h>

#include "fail.h"
#include "parallel.h"
#include "plan_run.h"

struct scan {
    struct tenon_run *run;
    const struct tenon_run_cut *cut;
    struct tenon_make_overflow found; /* under the run's lock */
};

static enum tenon_status scan_piece(void *user, size_t i, unsigned worker, struct tenon_error *err)
{
    struct scan *scan = user;
    struct tenon_run_buffers buffers = tenon_run_buffers(scan->run, worker);
    struct tenon_make_result result = {0};
    enum tenon_status st = tenon_run_cut_make(scan->cut, i, &buffers.make, &result, err);

    if (st == TENON_OK && result.overflow.n > 0) {
        pthread_mutex_lock(&scan->run->lock);
        if (scan->found.n == 0 || result.overflow.first < scan->found.first) {
            scan->found.first = result.overflow.first;
            scan->found.value = result.overflow.value;
        }
        scan->found.n += result.overflow.n;
        pthread_mutex_unlock(&scan->run->lock);
    }
    return st == TENON_OK ? tenon_run_report(scan->run, result.n_bytes, err) : st;
}

/* A float that cannot lose a finite value, and what is only copied, need no look. */
static enum tenon_status scan_tensor(struct tenon_run *run, size_t i,
                                     struct tenon_make_overflow *found, struct tenon_error *err)
{
    struct tenon_run_cut cut;
    struct scan scan = {.run = run, .cut = &cut};
    enum tenon_status st = tenon_run_cut_init(&cut, run, i, err);

    if (st == TENON_OK && cut.make.may_overflow)
        st = tenon_parallel(run->threads, (size_t)cut.n_pieces, scan_piece, &scan, err);
    tenon_run_cut_release(&cut);
    *found = scan.found;
    return st;
}

static enum tenon_status add_loss(struct tenon_plan *plan, size_t i,
                                  const struct tenon_make_overflow *found,
                                  const struct tenon_loss *like, struct tenon_error *err)
{
    const struct tenon_plan_tensor tensor = tenon_plan_tensor(plan, i);
    uint64_t n = 1;

    for (uint32_t d = 0; d < tensor.n_dims; d++)
        n *= tensor.dims[d]; /* known to fit: it was scanned */
    return tenon_plan_add_loss(plan, "overflow", tensor.name, like->option, like->allowed, err,
                               "%llu of %llu values have no finite %s, first element number %llu, "
                               "%.9g",
                               (unsigned long long)found->n, (unsigned long long)n,
                               tenon_dtype_name(tensor.dtype), (unsigned long long)found->first,
                               found->value);
}

enum tenon_status tenon_plan_scan(struct tenon_plan *plan, const struct tenon_run_options *options,
                                  const char *option, bool allowed, struct tenon_error *err)
{
    struct tenon_loss like = {.option = option, .allowed = allowed};
    struct tenon_run_options defaults;
    struct tenon_run run = {0};
    enum tenon_status st;

    tenon_run_options_init(&defaults);
    st = tenon_run_init(&run, plan, options != NULL ? options : &defaults, err);
    for (size_t i = 0; i < plan->n_tensors; i++)
        if (!tenon_u64_add(&run.total, run.total, tenon_plan_tensor_bytes(plan, i)))
            run.total = UINT64_MAX;
    for (size_t i = 0; st == TENON_OK && i < plan->n_tensors; i++) {
        struct tenon_make_overflow found = {0};

        st = scan_tensor(&run, i, &found, err);
        if (st == TENON_OK && found.n > 0)
            st = add_loss(plan, i, &found, &like, err);
    }
    tenon_run_release(&run);
    return st;
}
