/* The header of a file of a laid out plan, in memory. */
#ifndef TENON_TESTS_PUT_HEAD_H
#define TENON_TESTS_PUT_HEAD_H

#include "../src/check_error.h"
#include "gen.h"
#include "tenon/plan.h"

static inline enum tenon_status put_head_bytes(void *user, const void *bytes, size_t n,
                                               struct tenon_error *err)
{
    (void)err;
    gen_raw(user, bytes, n);
    return TENON_OK;
}

/* Adds it to `out`. */
static inline void put_head(const struct tenon_plan *plan, size_t file, struct gen_bytes *out)
{
    struct tenon_error err = {0};

    ck_ok(tenon_plan_put_head(plan, file, put_head_bytes, out, &err), err);
}

#endif
