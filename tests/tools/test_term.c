/* Terminal facts: colour decisions, width, bars, the progress line. */
#include "term.h"

#include <stdlib.h>
#include <unistd.h>

#include "check_error.h"

START_TEST(color_follows_the_option_where_there_is_no_terminal)
{
    struct tenon_term term;
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    tenon_term_init(&term, fds[1], TENON_COLOR_AUTO);
    ck_assert(!term.tty && !term.color);
    ck_assert_str_eq(tenon_term_style(&term, TENON_STYLE_BAD), "");
    tenon_term_init(&term, fds[1], TENON_COLOR_ALWAYS);
    ck_assert_str_eq(tenon_term_style(&term, TENON_STYLE_BAD), "\033[31m");
    close(fds[0]);
    close(fds[1]);
}
END_TEST

START_TEST(columns_gives_the_width)
{
    struct tenon_term term;

    setenv("COLUMNS", "43", 1);
    tenon_term_init(&term, 0, TENON_COLOR_NEVER);
    ck_assert_uint_eq(term.width, 43);
    setenv("COLUMNS", "nonsense", 1);
    tenon_term_init(&term, 1000, TENON_COLOR_NEVER);
    ck_assert_uint_eq(term.width, 80);
    unsetenv("COLUMNS");
}
END_TEST

START_TEST(bars_show_every_part)
{
    struct tenon_term term = {0};
    char buf[64];

    ck_assert_str_eq(tenon_term_bar(&term, buf, 1, 2, 8), "####....");
    ck_assert_str_eq(tenon_term_bar(&term, buf, 1, 1000000, 8), "#.......");
    ck_assert_str_eq(tenon_term_bar(&term, buf, 0, 0, 4), "....");
    ck_assert_str_eq(tenon_term_bar(&term, buf, UINT64_MAX, UINT64_MAX, 4), "####");
    term.utf8 = true;
    ck_assert_str_eq(tenon_term_bar(&term, buf, 1, 2, 2), "\u2588\u2591");
}
END_TEST

START_TEST(the_progress_line_has_bytes_rate_and_time)
{
    char buf[128];

    ck_assert_str_eq(tenon_progress_line(buf, "hashing", 1200000000, 2400000000, 2),
                     "hashing 1.20 GB of 2.40 GB (50%), 600 MB/s, 0:02 left");
    ck_assert_str_eq(tenon_progress_line(buf, "x", 0, 0, 0),
                     "x 0 B of 0 B (100%), 0 B/s, 0:00 left");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("term");
    TCase *tc = tcase_create("term");

    tcase_add_test(tc, color_follows_the_option_where_there_is_no_terminal);
    tcase_add_test(tc, columns_gives_the_width);
    tcase_add_test(tc, bars_show_every_part);
    tcase_add_test(tc, the_progress_line_has_bytes_rate_and_time);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
