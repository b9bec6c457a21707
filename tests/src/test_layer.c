/* Between the table and the first block, and pictures beside it: what the golden cases leave out.
 */
#include "tenon/layer.h"

#include <math.h>
#include <string.h>

#include "check_error.h"
#include "mem.h"
#include "tenon/sinusoid.h"
#include "tenon/subword.h"
#include "tenon/vision.h"

static const double table[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint32_t ids[] = {0, 1, 3, 1};

static struct tenon_bag bag_of(enum tenon_bag_mode mode, int64_t padding)
{
    return (struct tenon_bag){mode, table, 4, 2, padding};
}

START_TEST(padding_is_left_out_and_not_counted)
{
    struct tenon_bag bag = bag_of(TENON_BAG_MEAN, 1);
    struct tenon_error err = {0};
    double out[2];

    ck_ok(tenon_bag_reduce(&bag, ids, 4, NULL, out, &err), err);
    ck_assert_double_eq(out[0], (1 + 7) / 2.0);
    ck_assert_double_eq(out[1], (2 + 8) / 2.0);
    ck_ok(tenon_bag_reduce(&bag, ids + 1, 1, NULL, out, &err), err);
    ck_assert_double_eq(out[0], 0);
}
END_TEST

START_TEST(weights_count_in_sums_only)
{
    static const double weights[] = {1, 0.5, -1, 2};
    struct tenon_bag sum = bag_of(TENON_BAG_SUM, -1), max = bag_of(TENON_BAG_MAX, -1);
    struct tenon_error err = {0};
    double out[2];

    ck_ok(tenon_bag_reduce(&sum, ids, 4, weights, out, &err), err);
    ck_assert_double_eq(out[0], 1 + 0.5 * 3 - 7 + 2 * 3);
    ck_fails(tenon_bag_reduce(&max, ids, 4, weights, out, &err), TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(an_id_beyond_the_table_is_named)
{
    static const uint32_t bad[] = {0, 4};
    struct tenon_bag bag = bag_of(TENON_BAG_SUM, -1);
    struct tenon_error err = {0};
    double out[2] = {-1, -1};

    ck_fails(tenon_bag_reduce(&bag, bad, 2, NULL, out, &err), TENON_ERR_MISMATCH, err);
    ck_assert_str_eq(err.message, "id 4 in a bag, the table has 4 rows");
    ck_assert_double_eq(out[0], -1);
}
END_TEST

/* The largest finite numbers of each type, and the first that is rounded past them. */
START_TEST(rounding_beyond_the_range_is_infinite)
{
    ck_assert_double_eq(tenon_value_round(TENON_DTYPE_F16, 65519), 65504);
    ck_assert_double_infinite(tenon_value_round(TENON_DTYPE_F16, -65520));
    ck_assert_double_infinite(tenon_value_round(TENON_DTYPE_BF16, 3.4e38));
    ck_assert_double_eq(tenon_value_round(TENON_DTYPE_BF16, 3.39e38), ldexp(255, 120));
    ck_assert_double_infinite(tenon_value_round(TENON_DTYPE_F32, 1e39));
    ck_assert_double_nan(tenon_value_round(TENON_DTYPE_F16, (double)NAN));
    ck_assert_double_eq(tenon_value_round(TENON_DTYPE_F64, 0.1), 0.1);
}
END_TEST

START_TEST(norms_may_write_over_their_input)
{
    double x[] = {1, 2, 3, 6}, y[4];
    const struct tenon_norm norm = {.width = 4, .eps = 1e-5};

    tenon_layer_norm(&norm, x, y);
    tenon_layer_norm(&norm, x, x);
    ck_assert_mem_eq(x, y, sizeof(x));
    ck_assert_double_eq_tol(y[0] + y[1] + y[2] + y[3], 0, 1e-15);
}
END_TEST

START_TEST(the_largest_norm_is_a_norm_too)
{
    double row[] = {3, -8}, same[] = {3, -4};

    ck_assert(tenon_row_limit_norm(row, 2, 4, HUGE_VAL));
    ck_assert_double_eq_tol(row[1], -4, 1e-6);
    ck_assert(!tenon_row_limit_norm(same, 2, 4, HUGE_VAL));
    ck_assert_double_eq(same[1], -4);
}
END_TEST

/* A table on its own grid is itself, whatever the kernel; a constant one is constant on any. */
START_TEST(resizing_keeps_what_it_should)
{
    struct tenon_resize same = {(enum tenon_resize_kind)(_i % 2), _i >= 2, 2, 2, 2, 2, 2};
    struct tenon_resize larger = {(enum tenon_resize_kind)(_i % 2), _i >= 2, 2, 2, 7, 5, 1};
    static const double constant[] = {3, 3, 3, 3};
    double out[2];

    for (uint32_t i = 0; i < 4; i++) {
        tenon_resize_at(&same, table, i / 2, i % 2, out);
        ck_assert_double_eq(out[0], table[2 * i]);
        ck_assert_double_eq(out[1], table[2 * i + 1]);
    }
    for (uint32_t i = 0; i < 35; i++) {
        tenon_resize_at(&larger, constant, i / 5, i % 5, out);
        ck_assert_double_eq_tol(out[0], 3, 1e-14);
    }
}
END_TEST

START_TEST(pictures_of_parts_of_patches_are_refused)
{
    const struct tenon_patches patches = {
        .channels = 3, .height = 30, .width = 28, .patch_height = 14, .patch_width = 14, .out = 1};
    struct tenon_error err = {0};

    ck_fails(tenon_patches_check(&patches, &err), TENON_ERR_MISMATCH, err);
    ck_assert_str_eq(err.message,
                     "a picture of 30 x 28 (height x width), not whole patches of 14 x 14");
}
END_TEST

START_TEST(narrow_sinusoids_by_timescales_are_refused)
{
    struct tenon_sinusoid s;
    struct tenon_error err = {0};

    tenon_sinusoid_init(&s);
    s.spacing = TENON_SPACING_TIMESCALE;
    s.width = 3;
    ck_fails(tenon_sinusoid_check(&s, &err), TENON_ERR_MISMATCH, err);
    ck_assert_str_eq(err.message, "a table of sinusoids is 3 wide, at least 4 is needed");
    s.width = 4;
    ck_ok(tenon_sinusoid_check(&s, &err), err);
}
END_TEST

static void count_piece(void *user, struct tenon_str text, uint32_t bucket)
{
    size_t *n = user;

    ck_assert_uint_lt(bucket, 10);
    ck_assert_uint_gt(text.len, 0);
    (*n)++;
}

START_TEST(pieces_of_any_bytes_without_memory_and_with)
{
    const struct tenon_subwords how = {1, 3, 10}, none = {1, 3, 0};
    const struct tenon_str word = {"\x80\xff\xc3", 3}, empty = {"", 0};
    struct tenon_error err = {0};
    size_t n = 0;

    tenon_mem_fail_at(1, false);
    ck_fails(tenon_subword_visit(&how, word, count_piece, &n, &err), TENON_ERR_NO_MEMORY, err);
    tenon_mem_fail_at(0, false);
    ck_assert_uint_eq(n, 0);
    err = (struct tenon_error){0};
    ck_ok(tenon_subword_visit(&how, word, count_piece, &n, &err), err);
    ck_assert_uint_gt(n, 0);
    n = 0;
    ck_ok(tenon_subword_visit(&how, empty, count_piece, &n, &err), err);
    ck_assert_uint_eq(n, 1); /* "<>" */
    ck_fails(tenon_subword_visit(&none, word, count_piece, &n, &err), TENON_ERR_MISUSE, err);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layer");
    TCase *tc = tcase_create("layer");

    suite_add_tcase(suite, tc);
    tcase_add_test(tc, padding_is_left_out_and_not_counted);
    tcase_add_test(tc, weights_count_in_sums_only);
    tcase_add_test(tc, an_id_beyond_the_table_is_named);
    tcase_add_test(tc, rounding_beyond_the_range_is_infinite);
    tcase_add_test(tc, norms_may_write_over_their_input);
    tcase_add_test(tc, the_largest_norm_is_a_norm_too);
    tcase_add_loop_test(tc, resizing_keeps_what_it_should, 0, 4);
    tcase_add_test(tc, pictures_of_parts_of_patches_are_refused);
    tcase_add_test(tc, narrow_sinusoids_by_timescales_are_refused);
    tcase_add_test(tc, pieces_of_any_bytes_without_memory_and_with);
    return run_suite(suite);
}
