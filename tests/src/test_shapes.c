/* Shapes that are kept once. */
#include "shapes.h"

#include "check_error.h"

START_TEST(equal_shapes_are_one_and_others_are_not)
{
    static const uint64_t shapes[][3] = {{7, 8, 9}, {7, 8, 1}, {8, 7, 9}};
    struct tenon_shapes kept = {0};
    struct tenon_arena arena = {0};
    const uint64_t *first[3][3];

    for (size_t i = 0; i < 3; i++)
        for (uint32_t n = 1; n <= 3; n++) {
            first[i][n - 1] = tenon_shapes_keep(&kept, &arena, shapes[i], n);
            ck_assert_ptr_nonnull(first[i][n - 1]);
            ck_assert_mem_eq(first[i][n - 1], shapes[i], n * sizeof(uint64_t));
        }
    ck_assert_ptr_eq(first[0][0], first[1][0]);
    ck_assert_ptr_eq(first[0][1], first[1][1]);
    ck_assert_ptr_ne(first[0][2], first[1][2]);
    ck_assert_ptr_ne(first[0][0], first[0][1]);
    ck_assert_ptr_ne(first[0][0], first[2][0]);
    tenon_shapes_release(&kept);
    tenon_arena_release(&arena);
}
END_TEST

START_TEST(more_shapes_than_the_table_holds_stay_right)
{
    struct tenon_shapes kept = {0};
    struct tenon_arena arena = {0};
    const uint64_t *shapes[5000];

    for (uint64_t i = 0; i < 5000; i++)
        shapes[i] = tenon_shapes_keep(&kept, &arena, (uint64_t[2]){i, ~i}, 2);
    for (uint64_t i = 0; i < 5000; i++) {
        ck_assert_uint_eq(shapes[i][0], i);
        ck_assert_uint_eq(shapes[i][1], ~i);
    }
    tenon_shapes_release(&kept);
    tenon_arena_release(&arena);
}
END_TEST

START_TEST(without_memory_no_shape_is_kept)
{
    for (uint64_t n = 1; n <= 2; n++) {
        struct tenon_shapes kept = {0};
        struct tenon_arena arena = {0};

        tenon_mem_fail_at(n, false);
        ck_assert_ptr_null(tenon_shapes_keep(&kept, &arena, (uint64_t[1]){1}, 1));
        tenon_mem_fail_at(0, false);
        ck_assert_ptr_nonnull(tenon_shapes_keep(&kept, &arena, (uint64_t[1]){1}, 1));
        tenon_shapes_release(&kept);
        tenon_arena_release(&arena);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shapes");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, equal_shapes_are_one_and_others_are_not);
    tcase_add_test(tests, more_shapes_than_the_table_holds_stay_right);
    tcase_add_test(tests, without_memory_no_shape_is_kept);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
