/* Assertions that show the error object when they fail. */
#ifndef TENON_TESTS_CHECK_ERROR_H
#define TENON_TESTS_CHECK_ERROR_H

#include <check.h>

#include "tenon/error.h"

#define ck_ok(call, error)                                                                         \
    do {                                                                                           \
        enum tenon_status ck_st_ = (call);                                                         \
        ck_assert_msg(ck_st_ == TENON_OK, "%s: %s (subject '%s', offset %llu)",                    \
                      tenon_status_id(ck_st_), (error).message, (error).subject,                   \
                      (unsigned long long)(error).offset);                                         \
    } while (0)

#define ck_fails(call, wanted, error)                                                              \
    do {                                                                                           \
        enum tenon_status ck_st_ = (call);                                                         \
        ck_assert_msg(ck_st_ == (wanted), "%s instead of %s: %s", tenon_status_id(ck_st_),         \
                      tenon_status_id(wanted), (error).message);                                   \
    } while (0)

/* Runs one suite, returns the exit status of a test program. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
