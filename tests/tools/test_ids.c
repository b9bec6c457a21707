/* Lists of token ids as people write them. */
#include "ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check_error.h"

static struct tenon_error err;

static void set_up(void)
{
    memset(&err, 0, sizeof(err));
}

START_TEST(ids_are_numbers_and_ranges)
{
    struct tenon_ids ids = {.rows = 100};

    ck_ok(tenon_ids_add(&ids, "1,2 5-7\t99\n", 0, &err), err);
    ck_ok(tenon_ids_add(&ids, " , ", 0, &err), err);
    ck_ok(tenon_ids_add(&ids, "0", 0, &err), err);
    ck_assert_uint_eq(ids.n_sequences, 2);
    ck_assert_uint_eq(ids.n, 7);
    ck_assert_uint_eq(ids.ids[3], 6);
    ck_assert_uint_eq(ids.ends[0], 6);
    tenon_ids_release(&ids);
}
END_TEST

static const struct {
    const char *text, *message;
} bad_ids[] = {
    {"1,x", "ids: 'x' is not a token id"},
    {"-1", "ids: '-1' is not a token id"},
    {"3-", "ids: '3-' is not a range of token ids"},
    {"7-3", "ids: '7-3' runs backwards"},
    {"5;6", "ids: '5;6' is not a token id"},
    {"0-100", "id 100 is outside the matrix, which has 100 rows"},
    {"100-18446744073709551615", "id 100 is outside the matrix, which has 100 rows"},
    {"18446744073709551616", "ids: '18446744073709551616' is not a token id"},
};

START_TEST(bad_ids_are_named)
{
    struct tenon_ids ids = {.rows = 100};

    ck_fails(tenon_ids_add(&ids, bad_ids[_i].text, 0, &err), TENON_ERR_MISUSE, err);
    ck_assert_str_eq(err.message, bad_ids[_i].message);
    tenon_ids_release(&ids);
}
END_TEST

/* Sanitizers reserve more addresses than any limit leaves. */
#if defined(__SANITIZE_ADDRESS__)
#define HAVE_LIMIT false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAVE_LIMIT false
#endif
#endif
#ifndef HAVE_LIMIT
#define HAVE_LIMIT true
#endif

/* A line without end must not look like the end of the file: the ids before it are not all. */
START_TEST(a_line_too_long_for_memory_is_an_error)
{
    char path[] = "ids-XXXXXX";
    int fd = mkstemp(path);
    struct rlimit before, limit;
    struct tenon_ids ids = {.rows = 10};
    enum tenon_status st;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "1\n", 2), 2);
    ck_assert_int_eq(ftruncate(fd, 256 << 20), 0);
    close(fd);
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = 64 << 20;
    if (HAVE_LIMIT)
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    st = tenon_ids_read(&ids, path, &err);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    remove(path);
    ck_assert_int_ne(st, TENON_OK);
    ck_assert(!HAVE_LIMIT || st == TENON_ERR_NO_MEMORY || st == TENON_ERR_IO);
    tenon_ids_release(&ids);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ids");
    TCase *tc = tcase_create("ids");

    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, ids_are_numbers_and_ranges);
    tcase_add_test(tc, a_line_too_long_for_memory_is_an_error);
    tcase_add_loop_test(tc, bad_ids_are_named, 0, (int)(sizeof(bad_ids) / sizeof(bad_ids[0])));
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
