/* Lists of token ids as people write them. */
#include "ids.h"

#include <string.h>

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

int main(void)
{
    Suite *suite = suite_create("ids");
    TCase *tc = tcase_create("ids");

    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, ids_are_numbers_and_ranges);
    tcase_add_loop_test(tc, bad_ids_are_named, 0, (int)(sizeof(bad_ids) / sizeof(bad_ids[0])));
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
