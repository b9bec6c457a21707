/* Texts that are given back while they are read. */
#include "scroll.h"

#include <string.h>

#include "check_error.h"

/* Passes through `len` bytes in steps and finds what lies ahead untouched. */
static void check_scroll(size_t len, size_t step)
{
    struct tenon_scroll scroll = {0};

    ck_assert(tenon_scroll_new(&scroll, len));
    for (size_t i = 0; i < len; i++)
        scroll.data[i] = (char)(i % 251);
    for (size_t at = 0; at <= len; at += step) {
        tenon_scroll_pass(&scroll, at);
        ck_assert_uint_le(scroll.passed, at);
        for (size_t i = at; i < at + 4096 && i < len; i++)
            ck_assert_int_eq(scroll.data[i], (char)(i % 251));
    }
    tenon_scroll_release(&scroll);
    tenon_scroll_release(&scroll); /* an empty one is fine */
}

START_TEST(what_lies_ahead_stays)
{
    check_scroll(0, 1);
    check_scroll(1000, 7);
    check_scroll((size_t)9 << 20, 1000003);
    check_scroll((size_t)8 << 20, (size_t)1 << 20);
    check_scroll((size_t)8 << 20, (size_t)8 << 20);
}
END_TEST

START_TEST(large_texts_go_while_they_are_read)
{
    struct tenon_scroll scroll = {0};
    size_t len = (size_t)16 << 20;

    ck_assert(tenon_scroll_new(&scroll, len));
    memset(scroll.data, 1, len);
    tenon_scroll_pass(&scroll, len / 2);
    ck_assert_uint_eq(scroll.passed, len / 2);
    tenon_scroll_release(&scroll);
}
END_TEST

START_TEST(a_long_part_can_be_kept_when_the_rest_goes)
{
    struct tenon_scroll scroll = {0};
    size_t len = ((size_t)16 << 20) + 100, from = 5000000, to = 12000001, bytes = 0;
    void *pages = NULL;
    char *part;

    ck_assert(tenon_scroll_new(&scroll, len));
    memset(scroll.data, 1, len);
    memset(scroll.data + from, 2, to - from);
    part = scroll.data + from;
    ck_assert(!tenon_scroll_keep(&scroll, from, from + 100, &pages, &bytes));
    ck_assert(tenon_scroll_keep(&scroll, from, to, &pages, &bytes));
    tenon_scroll_pass(&scroll, to);
    ck_assert_int_eq(scroll.data[to], 1); /* the text goes on in the last page */
    tenon_scroll_pass(&scroll, len);
    tenon_scroll_release(&scroll);
    for (size_t i = 0; i < to - from; i += 997)
        ck_assert_int_eq(part[i], 2);
    tenon_mem_unmap(pages, bytes);
}
END_TEST

START_TEST(without_memory_there_is_no_text)
{
    struct tenon_scroll scroll = {0};

    for (size_t len = 1000; len <= (size_t)8 << 20; len <<= 10) {
        tenon_mem_fail_at(1, false);
        ck_assert(!tenon_scroll_new(&scroll, len));
        ck_assert_ptr_null(scroll.data);
    }
    tenon_mem_fail_at(0, false);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scroll");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, what_lies_ahead_stays);
    tcase_add_test(tests, large_texts_go_while_they_are_read);
    tcase_add_test(tests, a_long_part_can_be_kept_when_the_rest_goes);
    tcase_add_test(tests, without_memory_there_is_no_text);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
