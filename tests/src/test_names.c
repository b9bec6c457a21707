/* The seeded name index. */
#include "names.h"

#include <stdio.h>
#include <string.h>

#include "check_error.h"
#include "mem.h"

enum { MOST = 3000 };

struct list {
    char text[MOST][12];
};

static struct tenon_str name_of(const void *owner, uint32_t i)
{
    const struct list *list = owner;

    return (struct tenon_str){list->text[i], strlen(list->text[i])};
}

static struct list list;

static void set_up(void)
{
    for (int i = 0; i < MOST; i++)
        snprintf(list.text[i], sizeof(list.text[i]), "n%d", i);
}

START_TEST(every_name_is_found_and_no_other)
{
    struct tenon_names names = {0};

    for (uint32_t i = 0; i < MOST; i++)
        ck_assert_uint_eq(tenon_names_add(&names, i, &list, name_of), i);
    for (uint32_t i = 0; i < MOST; i++)
        ck_assert_uint_eq(
            tenon_names_find(&names, list.text[i], strlen(list.text[i]), &list, name_of), i);
    ck_assert_uint_eq(tenon_names_find(&names, "n", 1, &list, name_of), TENON_NO_INDEX);
    ck_assert_uint_eq(tenon_names_find(&names, "n30000", 6, &list, name_of), TENON_NO_INDEX);
    tenon_names_release(&names);
}
END_TEST

START_TEST(a_second_name_gives_the_first_number)
{
    struct tenon_names names = {0};

    strcpy(list.text[9], "n4");
    for (uint32_t i = 0; i < 9; i++)
        tenon_names_add(&names, i, &list, name_of);
    ck_assert_uint_eq(tenon_names_add(&names, 9, &list, name_of), 4);
    tenon_names_release(&names);
}
END_TEST

/* Every third goes, and comes back under the number of another of the same name. */
START_TEST(what_is_removed_is_not_found_and_the_others_are)
{
    struct tenon_names names = {0};

    for (uint32_t i = 0; i < MOST; i++)
        tenon_names_add(&names, i, &list, name_of);
    for (uint32_t i = 0; i < MOST; i += 3)
        tenon_names_remove(&names, i, &list, name_of);
    ck_assert_uint_eq(names.used, MOST - MOST / 3);
    for (uint32_t i = 0; i < MOST; i++)
        ck_assert_uint_eq(
            tenon_names_find(&names, list.text[i], strlen(list.text[i]), &list, name_of),
            i % 3 == 0 ? TENON_NO_INDEX : i);
    strcpy(list.text[3], "n0");
    ck_assert_uint_eq(tenon_names_add(&names, 3, &list, name_of), 3);
    ck_assert_uint_eq(tenon_names_find(&names, "n0", 2, &list, name_of), 3);
    tenon_names_release(&names);
}
END_TEST

START_TEST(two_indexes_have_different_seeds)
{
    struct tenon_names a = {0}, b = {0};

    ck_assert(tenon_names_reserve(&a, 1, &list, name_of));
    ck_assert(tenon_names_reserve(&b, 1, &list, name_of));
    ck_assert(a.seed != b.seed);
    tenon_names_release(&a);
    tenon_names_release(&b);
}
END_TEST

START_TEST(running_out_of_memory_keeps_what_was_there)
{
    struct tenon_names names = {0};
    uint32_t added = 0;

    tenon_mem_fail_at(3, true);
    while (added < MOST && tenon_names_add(&names, added, &list, name_of) == added)
        added++;
    tenon_mem_fail_at(0, false);
    ck_assert_uint_gt(added, 8);
    ck_assert_uint_lt(added, MOST);
    for (uint32_t i = 0; i < added; i++)
        ck_assert_uint_eq(
            tenon_names_find(&names, list.text[i], strlen(list.text[i]), &list, name_of), i);
    tenon_names_release(&names);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("names");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, every_name_is_found_and_no_other);
    tcase_add_test(tests, a_second_name_gives_the_first_number);
    tcase_add_test(tests, what_is_removed_is_not_found_and_the_others_are);
    tcase_add_test(tests, two_indexes_have_different_seeds);
    tcase_add_test(tests, running_out_of_memory_keeps_what_was_there);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
