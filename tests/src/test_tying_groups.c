/* Groups of equal tensors; size, threads and memory of the whole analysis. */
#include <string.h>

#include "mem.h"
#include "tying_helpers.h"

START_TEST(equal_tensors_are_grouped_the_largest_first)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "a", TENON_DTYPE_F32, 4, 4, unrelated());
    tiny_add(&tiny, "norm1.weight", TENON_DTYPE_F32, 0, COLS, NULL);
    tiny_add(&tiny, "norm2.weight", TENON_DTYPE_F32, 0, COLS, NULL);
    tiny_add(&tiny, "b", TENON_DTYPE_F32, ROWS, COLS, matrix_with(1, 1));
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "c", TENON_DTYPE_F32, 2, 8, unrelated());
    tiny_add(&tiny, "d", TENON_DTYPE_I32, 4, 4, unrelated());
    tiny_add(&tiny, "e", TENON_DTYPE_F32, ROWS, COLS, matrix());
    judge("llama");
    ck_assert_uint_eq(tying->n_groups, 3);
    ck_assert_uint_eq(tying->group_ends[0], 3);
    ck_assert_uint_eq(tying->group_ends[1], 5);
    ck_assert_uint_eq(tying->group_members[0], 0);
    ck_assert_uint_eq(tying->group_members[1], 5);
    ck_assert_uint_eq(tying->group_members[2], 8);
    ck_assert_uint_eq(tying->group_members[3], 1);
    ck_assert_uint_eq(tying->group_members[4], 6);
    ck_assert_uint_eq(tying->group_ends[2], 7);
    ck_assert_uint_eq(tying->group_members[5], 2);
    ck_assert_uint_eq(tying->group_members[6], 3);
}
END_TEST

START_TEST(groups_are_left_out_on_request)
{
    struct tenon_tying_options options;

    tenon_tying_options_init(&options);
    options.groups = false;
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    judge_with("llama", &options);
    ck_assert_uint_eq(tying->n_groups, 0);
}
END_TEST

/* A page about a model must not cost what its matrices cost. */
static enum tenon_verdict judge_bounded(uint64_t cols, uint64_t most_bytes)
{
    struct tenon_tying_options options;

    tenon_tying_options_init(&options);
    options.most_bytes = most_bytes;
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, cols, matrix());
    return judge_with("llama", &options);
}

START_TEST(matrices_above_the_bound_are_not_read)
{
    check_verdict(judge_bounded(COLS, 2 * ROWS * COLS * 4 - 1), TENON_VERDICT_NONE);
    ck_assert(!tying->has_input_hash);
}
END_TEST

START_TEST(matrices_up_to_the_bound_are_read)
{
    check_verdict(judge_bounded(COLS, 2 * ROWS * COLS * 4), TENON_VERDICT_IDENTICAL);
}
END_TEST

START_TEST(shapes_are_judged_without_reading)
{
    check_verdict(judge_bounded(COLS / 2, 1), TENON_VERDICT_INCOMPATIBLE);
}
END_TEST

/* --- size, threads, memory --- */

/* Rows wider than a tile, and more rows than one piece of work: what differs is found in both. */
START_TEST(rows_may_be_wider_than_a_tile_and_many)
{
    static float in[2 * 20000], out[2 * 20000];
    static float tall_in[30000], tall_out[30000];

    for (int i = 0; i < 40000; i++)
        in[i] = out[i] = (float)(i % 101);
    out[39999] = -1;
    begin();
    input(TENON_DTYPE_F32, 2, 20000, in);
    output(TENON_DTYPE_F32, 2, 20000, out);
    check_verdict(judge("llama"), TENON_VERDICT_PARTIAL);
    ck_assert_uint_eq(tying->evidence.first_differing_row, 1);
    ck_assert_uint_eq(tying->evidence.equal_rows, 1);
    tear_down();
    for (int i = 0; i < 30000; i++)
        tall_in[i] = tall_out[i] = (float)(i % 101);
    tall_out[16383] = tall_out[16384] = tall_out[29999] = 555;
    begin();
    input(TENON_DTYPE_F32, 30000, 1, tall_in);
    output(TENON_DTYPE_F32, 30000, 1, tall_out);
    check_verdict(judge("llama"), TENON_VERDICT_PARTIAL);
    ck_assert(noted("3 rows differ: 16383-16384, 29999"));
}
END_TEST

START_TEST(figures_do_not_depend_on_the_number_of_threads)
{
    static float in[60000], out[60000];
    struct tenon_tying_options options;
    struct tenon_evidence one;

    tenon_tying_options_init(&options);
    options.threads = 1;
    for (int i = 0; i < 60000; i++) {
        in[i] = (float)(i * 7919LL % 65521) / 65521;
        out[i] = in[i] + (i % 977 == 0 ? 0.25f : 0);
    }
    begin();
    input(TENON_DTYPE_F32, 6000, 10, in);
    output(TENON_DTYPE_F32, 6000, 10, out);
    judge_with("llama", &options);
    one = tying->evidence;
    tear_down();
    options.threads = 7;
    begin();
    input(TENON_DTYPE_F32, 6000, 10, in);
    output(TENON_DTYPE_F32, 6000, 10, out);
    judge_with("llama", &options);
    ck_assert_mem_eq(&one.rel_l2, &tying->evidence.rel_l2, sizeof(double));
    ck_assert_mem_eq(&one.cosine, &tying->evidence.cosine, sizeof(double));
    ck_assert_uint_eq(one.equal_rows, tying->evidence.equal_rows);
    ck_assert_uint_eq(one.equal_rows, 6000 - 62); /* 60000 / 977, rounded up */
}
END_TEST

START_TEST(a_failed_allocation_leaks_nothing)
{
    struct tenon_tying_options options;
    const struct tenon_model *model;
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    tenon_tying_options_init(&options);
    options.threads = 1;
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix_with(4, 1));
    tiny_add(&tiny, "copy", TENON_DTYPE_F32, ROWS, COLS, matrix());
    model = tiny_end(&tiny, "llama");
    for (uint64_t n = 1; st == TENON_ERR_NO_MEMORY; n++) {
        tenon_mem_fail_at(n, false);
        st = tenon_tying_analyse(model, &options, &tying, NULL);
        tenon_mem_fail_at(0, false);
        ck_assert_uint_lt(n, 1000);
    }
    ck_assert_int_eq(st, TENON_OK);
    ck_assert_int_eq(tying->verdict, TENON_VERDICT_PARTIAL);
}
END_TEST

START_TEST(words_are_found_for_every_number)
{
    ck_assert_str_eq(tenon_verdict_name(TENON_VERDICT_ABSENT), "absent");
    ck_assert_str_eq(tenon_verdict_name(TENON_VERDICT_MISSING), "missing");
    ck_assert_str_eq(tenon_verdict_name(TENON_VERDICT_NONE), "none");
    ck_assert_str_eq(tenon_verdict_name(1000), "none");
    ck_assert_str_ne(tenon_verdict_meaning(TENON_VERDICT_SCALED), "");
    ck_assert_str_eq(tenon_loader_action_name(TENON_LOADER_RANDOM_OUTPUT), "random_output");
    ck_assert_str_eq(tenon_loader_action_name(1000), "unknown");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tying_groups");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, equal_tensors_are_grouped_the_largest_first);
    tcase_add_test(tests, groups_are_left_out_on_request);
    tcase_add_test(tests, matrices_above_the_bound_are_not_read);
    tcase_add_test(tests, matrices_up_to_the_bound_are_read);
    tcase_add_test(tests, shapes_are_judged_without_reading);
    tcase_add_test(tests, rows_may_be_wider_than_a_tile_and_many);
    tcase_add_test(tests, figures_do_not_depend_on_the_number_of_threads);
    tcase_add_test(tests, a_failed_allocation_leaks_nothing);
    tcase_add_test(tests, words_are_found_for_every_number);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
