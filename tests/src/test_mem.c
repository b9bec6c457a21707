/* Checked arithmetic, arenas, failure injection. */
#include "mem.h"

#include <string.h>

#include "check_error.h"

START_TEST(sums_and_products_that_overflow_are_refused)
{
    uint64_t out = 7;

    ck_assert(!tenon_u64_add(&out, UINT64_MAX, 1));
    ck_assert(!tenon_u64_mul(&out, UINT64_C(1) << 32, UINT64_C(1) << 32));
    ck_assert_uint_eq(out, 7);
    ck_assert(tenon_u64_add(&out, UINT64_MAX - 1, 1));
    ck_assert(out == UINT64_MAX);
    ck_assert(tenon_u64_mul(&out, UINT64_C(1) << 31, UINT64_C(1) << 32));
    ck_assert(out == UINT64_C(1) << 63);
}
END_TEST

START_TEST(aligning_rounds_up_and_never_wraps)
{
    uint64_t out = 0;

    ck_assert(tenon_u64_align(&out, 33, 32));
    ck_assert_uint_eq(out, 64);
    ck_assert(tenon_u64_align(&out, 64, 32));
    ck_assert_uint_eq(out, 64);
    ck_assert(tenon_u64_align(&out, 5, 1));
    ck_assert_uint_eq(out, 5);
    ck_assert(!tenon_u64_align(&out, UINT64_MAX - 2, 32));
}
END_TEST

START_TEST(arena_memory_is_zeroed_and_aligned)
{
    struct tenon_arena arena = {0};

    for (size_t n = 1; n < 40000; n = n * 3 + 1) {
        unsigned char *p = tenon_arena_alloc(&arena, n, 1);

        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < n; i++)
            ck_assert_uint_eq(p[i], 0);
        memset(p, 0xff, n);
    }
    tenon_arena_release(&arena);
}
END_TEST

START_TEST(arena_refuses_a_product_that_overflows)
{
    struct tenon_arena arena = {0};

    ck_assert_ptr_null(tenon_arena_alloc(&arena, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(tenon_arena_alloc(&arena, SIZE_MAX, 1));
    tenon_arena_release(&arena);
}
END_TEST

START_TEST(the_chosen_allocation_fails_once_or_from_then_on)
{
    void *a, *b;

    tenon_mem_fail_at(2, false);
    a = tenon_mem_alloc(1, 1);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_null(tenon_mem_alloc(1, 1));
    b = tenon_mem_alloc(1, 1);
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq(tenon_mem_count(), 3);
    tenon_mem_fail_at(1, true);
    ck_assert_ptr_null(tenon_mem_alloc(1, 1));
    ck_assert_ptr_null(tenon_mem_resize(a, 2, 1));
    tenon_mem_fail_at(0, false);
    tenon_mem_free(a);
    tenon_mem_free(b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mem");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, sums_and_products_that_overflow_are_refused);
    tcase_add_test(tests, aligning_rounds_up_and_never_wraps);
    tcase_add_test(tests, arena_memory_is_zeroed_and_aligned);
    tcase_add_test(tests, arena_refuses_a_product_that_overflows);
    tcase_add_test(tests, the_chosen_allocation_fails_once_or_from_then_on);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
