/* Statuses and the error object. */
#include <string.h>

#include "check_error.h"
#include "fail.h"

START_TEST(every_status_has_an_id_a_text_and_a_documented_exit_status)
{
    static const int allowed[] = {0, 2, 3, 4};

    for (int i = 0; i <= TENON_ERR_AMBIGUOUS; i++) {
        enum tenon_status st = (enum tenon_status)i;
        bool known = false;

        ck_assert_str_ne(tenon_status_id(st), "unknown");
        ck_assert_uint_gt(strlen(tenon_status_text(st)), 0);
        for (size_t k = 0; k < 4; k++)
            known = known || tenon_status_exit(st) == allowed[k];
        ck_assert(known);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(tenon_status_id(st), tenon_status_id((enum tenon_status)j));
    }
    ck_assert_str_eq(tenon_status_id((enum tenon_status)999), "unknown");
}
END_TEST

START_TEST(the_first_cause_wins_and_later_layers_only_fill_gaps)
{
    struct tenon_error err = {0};

    tenon_fail_subject(&err, "tensor", "too early", 9);
    ck_assert_str_eq(err.subject, "");
    ck_assert_int_eq(tenon_fail(&err, TENON_ERR_CORRUPT, 12, "%d is too much", 5),
                     TENON_ERR_CORRUPT);
    tenon_fail(&err, TENON_ERR_LIMIT, 99, "second");
    tenon_fail_subject(&err, "tensor", "a\nb", 3);
    tenon_fail_subject(&err, "tensor", "other", 5);
    tenon_fail_path(&err, "file");
    tenon_fail_hint(&err, "look");
    ck_assert_int_eq(err.status, TENON_ERR_CORRUPT);
    ck_assert_uint_eq(err.offset, 12);
    ck_assert_str_eq(err.message, "5 is too much");
    ck_assert_str_eq(err.subject, "a\\nb");
    ck_assert_str_eq(err.path, "file");
    ck_assert_str_eq(err.hint, "look");
    ck_assert_int_eq(tenon_fail(NULL, TENON_ERR_IO, 0, "nobody listens"), TENON_ERR_IO);
}
END_TEST

START_TEST(messages_with_hostile_text_come_out_clean)
{
    struct tenon_error err = {0};

    tenon_fail(&err, TENON_ERR_CORRUPT, TENON_NO_OFFSET, "key '%s'", "\x1b[31m\xff");
    ck_assert_str_eq(err.message, "key '\\u{1b}[31m\\xff'");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("error");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, every_status_has_an_id_a_text_and_a_documented_exit_status);
    tcase_add_test(tests, the_first_cause_wins_and_later_layers_only_fill_gaps);
    tcase_add_test(tests, messages_with_hostile_text_come_out_clean);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
