/* Sorting numbers by what they stand for. */
#include "order.h"

#include <stdlib.h>

#include "check_error.h"
#include "mem.h"

enum { MOST = 1000 };

static int by_value(const void *owner, uint32_t a, uint32_t b)
{
    const unsigned *values = owner;

    return values[a] < values[b] ? -1 : values[a] > values[b];
}

/* Each number once, values that never fall, numbers that rise among equal values. */
static void check_order(const unsigned *values, size_t n)
{
    uint32_t *order = tenon_order_make(n, values, by_value);
    bool seen[MOST] = {false};

    ck_assert_ptr_nonnull(order);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_lt(order[i], n);
        ck_assert(!seen[order[i]]);
        seen[order[i]] = true;
        if (i > 0)
            ck_assert(values[order[i - 1]] < values[order[i]] ||
                      (values[order[i - 1]] == values[order[i]] && order[i - 1] < order[i]));
    }
    tenon_mem_free(order);
}

START_TEST(any_number_of_values_is_sorted_and_equal_ones_keep_their_order)
{
    unsigned values[MOST] = {0}, state = 1;

    for (size_t n = 0; n < MOST; n = n < 40 ? n + 1 : n * 5 / 4) {
        for (size_t i = 0; i < n; i++) {
            state = state * 1103515245u + 12345u;
            values[i] = state >> 16 & 63;
        }
        check_order(values, n);
    }
}
END_TEST

START_TEST(rising_and_falling_values_are_sorted)
{
    unsigned values[MOST];

    for (unsigned i = 0; i < MOST; i++)
        values[i] = i;
    check_order(values, MOST);
    for (unsigned i = 0; i < MOST; i++)
        values[i] = MOST - i;
    check_order(values, MOST);
}
END_TEST

START_TEST(without_memory_there_is_no_order)
{
    unsigned values[2] = {1, 0};

    for (uint64_t n = 1; n <= 2; n++) {
        tenon_mem_fail_at(n, false);
        ck_assert_ptr_null(tenon_order_make(2, values, by_value));
    }
    tenon_mem_fail_at(0, false);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("order");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, any_number_of_values_is_sorted_and_equal_ones_keep_their_order);
    tcase_add_test(tests, rising_and_falling_values_are_sorted);
    tcase_add_test(tests, without_memory_there_is_no_order);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
