/* Sorting numbers, against the C library's qsort. */
#include "sort.h"

#include <stdlib.h>

#include "check_error.h"
#include "mem.h"

enum { MOST = 1000 };

static unsigned keys[MOST];
static size_t n_compared;

static int compare(const void *owner, uint32_t a, uint32_t b)
{
    const unsigned *k = owner;

    n_compared++;
    return (k[a] > k[b]) - (k[a] < k[b]);
}

/* By key, then by number: what a stable sort gives. */
static int compare_both(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (keys[x] != keys[y])
        return keys[x] < keys[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void fill(uint32_t *numbers, size_t n, unsigned range)
{
    static uint32_t state = 1;

    for (uint32_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        keys[i] = state >> 8;
        if (range != 0)
            keys[i] %= range;
        numbers[i] = i;
    }
}

START_TEST(every_length_comes_out_as_from_qsort)
{
    uint32_t numbers[MOST], expected[MOST];

    for (size_t n = 0; n < 200; n++) {
        fill(numbers, n, _i == 0 ? 0 : (unsigned)_i);
        fill(expected, 0, 0);
        for (uint32_t i = 0; i < n; i++)
            expected[i] = i;
        qsort(expected, n, sizeof(*expected), compare_both);
        ck_assert(tenon_sort(numbers, n, keys, compare));
        for (size_t i = 0; i < n; i++)
            ck_assert_uint_eq(numbers[i], expected[i]);
    }
}
END_TEST

START_TEST(what_is_sorted_takes_one_look)
{
    uint32_t numbers[MOST];

    fill(numbers, MOST, 1);
    n_compared = 0;
    ck_assert(tenon_sort(numbers, MOST, keys, compare));
    ck_assert_uint_eq(n_compared, MOST - 1);
}
END_TEST

START_TEST(no_order_takes_many)
{
    uint32_t numbers[MOST];

    fill(numbers, MOST, 0);
    for (unsigned i = 0; i < MOST; i++)
        keys[i] = MOST - i;
    n_compared = 0;
    ck_assert(tenon_sort(numbers, MOST, keys, compare));
    ck_assert_uint_le(n_compared, 10 * MOST);
    ck_assert_uint_eq(numbers[0], MOST - 1);
}
END_TEST

START_TEST(without_memory_nothing_moves)
{
    uint32_t numbers[3] = {0, 1, 2};

    keys[0] = 2;
    keys[1] = keys[2] = 1;
    tenon_mem_fail_at(1, false);
    ck_assert(!tenon_sort(numbers, 3, keys, compare));
    tenon_mem_fail_at(0, false);
    ck_assert_uint_eq(numbers[0], 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sort");
    TCase *tcase = tcase_create("sort");

    tcase_add_loop_test(tcase, every_length_comes_out_as_from_qsort, 0, 4);
    tcase_add_test(tcase, what_is_sorted_takes_one_look);
    tcase_add_test(tcase, no_order_takes_many);
    tcase_add_test(tcase, without_memory_nothing_moves);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
