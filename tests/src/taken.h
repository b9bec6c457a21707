/* All of a text file of a laid out plan, whether it is kept or made. */
#ifndef TENON_TESTS_TAKEN_H
#define TENON_TESTS_TAKEN_H

#include <string.h>

#include "check_error.h"
#include "tenon/plan.h"

struct taken {
    char text[65536];
    size_t n;
};

static inline enum tenon_status take_bytes(void *user, const void *bytes, size_t n,
                                           struct tenon_error *err)
{
    struct taken *taken = user;

    (void)err;
    ck_assert_uint_lt(n, sizeof(taken->text) - taken->n);
    memcpy(taken->text + taken->n, bytes, n);
    taken->n += n;
    return TENON_OK;
}

/* Terminated; valid until the next call. */
static inline const char *taken_text(const struct tenon_plan *plan, size_t file)
{
    static struct taken taken;
    struct tenon_error err = {0};

    taken.n = 0;
    ck_ok(tenon_plan_put_head(plan, file, take_bytes, &taken, &err), err);
    taken.text[taken.n] = '\0';
    return taken.text;
}

#endif
