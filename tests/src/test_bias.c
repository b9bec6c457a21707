/* Biases: ends of tables, and numbers from the references' formulas, evaluated in Python. */
#include "tenon/bias.h"

#include <math.h>

#include "check_error.h"

struct entry {
    int64_t relative, expected;
};

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

/* T5 with 32 buckets up to 128, key - query: encoder and decoder. */
static const struct entry encoder[] = {{0, 0},     {1, 17},     {-1, 1},     {7, 23},  {8, 24},
                                       {-8, 8},    {16, 26},    {-16, 10},   {64, 30}, {128, 31},
                                       {-128, 15}, {10000, 31}, {-10000, 15}};
static const struct entry decoder[] = {{5, 0},    {0, 0},    {-1, 1},    {-15, 15},  {-16, 16},
                                       {-32, 21}, {-64, 26}, {-127, 31}, {-128, 31}, {-99999, 31}};

START_TEST(t5_buckets_in_every_precision)
{
    struct tenon_t5_bias t5 = {true, 32, 128, (enum tenon_precision)_i};

    for (size_t i = 0; i < N_ROWS(encoder); i++)
        ck_assert_int_eq(tenon_t5_bucket(&t5, encoder[i].relative), encoder[i].expected);
    t5.bidirectional = false;
    for (size_t i = 0; i < N_ROWS(decoder); i++)
        ck_assert_int_eq(tenon_t5_bucket(&t5, decoder[i].relative), decoder[i].expected);
    ck_assert_uint_eq(tenon_t5_bucket(&t5, INT64_MIN), 31);
    ck_assert_uint_eq(tenon_t5_bucket(&t5, INT64_MAX), 0);
}
END_TEST

START_TEST(t5_precisions_agree_on_near_distances)
{
    static const uint32_t shapes[][2] = {{32, 128}, {64, 128}, {32, 256}, {8, 16}};
    struct tenon_t5_bias t5 = {.n_buckets = shapes[_i][0], .max_distance = shapes[_i][1]};

    for (int64_t relative = -600; relative <= 600; relative++) {
        uint32_t buckets[3];

        for (int p = 0; p < 3; p++) {
            t5.precision = (enum tenon_precision)p;
            t5.bidirectional = relative % 2 == 0;
            buckets[p] = tenon_t5_bucket(&t5, relative);
        }
        ck_assert_uint_eq(buckets[0], buckets[1]);
        ck_assert_uint_eq(buckets[0], buckets[2]);
    }
}
END_TEST

/* DeBERTa v3: 256 buckets up to 512, query - key. */
static const struct entry far[] = {{0, 0},     {127, 127}, {-128, -128}, {129, 129}, {130, 130},
                                   {150, 143}, {200, 169}, {-300, -207}, {400, 233}, {510, 255},
                                   {511, 255}, {512, 256}, {-5000, -465}};

START_TEST(deberta_takes_logarithms_of_far_distances)
{
    const struct tenon_deberta v3 = {512, 256};
    struct tenon_error err = {0};

    ck_ok(tenon_deberta_check(&v3, &err), err);
    for (size_t i = 0; i < N_ROWS(far); i++)
        ck_assert_int_eq(tenon_deberta_distance(&v3, far[i].relative), far[i].expected);
    ck_assert_uint_eq(tenon_deberta_span(&v3), 256);
    ck_assert_uint_eq(tenon_deberta_content_row(&v3, 5000, 0), 511);
    ck_assert_uint_eq(tenon_deberta_content_row(&v3, 0, 5000), 0);
    ck_assert_uint_eq(tenon_deberta_content_row(&v3, 200, 0), 256 + 169);
    ck_assert_uint_eq(tenon_deberta_position_row(&v3, 200, 0), 256 - 169);
    ck_assert_double_eq(tenon_deberta_scale(64, 2), sqrt(192));
}
END_TEST

START_TEST(alibi_forms_differ_by_a_constant_of_the_query)
{
    struct tenon_alibi alibi = {TENON_ALIBI_KEYS, 0.25, 64};
    double keys[9], distance[9], last[9];

    tenon_alibi_row(&alibi, 5, 9, keys);
    alibi.form = TENON_ALIBI_DISTANCE;
    tenon_alibi_row(&alibi, 5, 9, distance);
    alibi.form = TENON_ALIBI_LAST;
    tenon_alibi_row(&alibi, 5, 9, last);
    for (int key = 0; key <= 5; key++) {
        ck_assert_double_eq(keys[key] - distance[key], 5 * 0.25);
        ck_assert_double_eq(keys[key] - last[key], 8 * 0.25);
    }
    ck_assert_double_eq(distance[8], -3 * 0.25);
}
END_TEST

/* 0.70710678 is 0.70703125 in bfloat16; three times that, 2.12109375, lies nearest to 2.125, its
 * neighbours being 1/64 apart. Then both are divided by sqrt(16). */
START_TEST(rounded_alibi_rounds_slope_and_product)
{
    const struct tenon_alibi alibi = {TENON_ALIBI_ROUNDED, 0.70710678, 16};
    double row[4];

    tenon_alibi_row(&alibi, 0, 4, row);
    ck_assert_double_eq(row[1], 0.70703125 / 4);
    ck_assert_double_eq(row[3], 2.125 / 4);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
    const struct tenon_t5_bias few = {true, 2, 128, TENON_PRECISION_EXACT};
    const struct tenon_t5_bias near = {false, 32, 16, TENON_PRECISION_EXACT};
    const struct tenon_deberta none = {0, 0}, narrow = {129, 256};
    struct tenon_error err = {0};

    ck_fails(tenon_t5_check(&few, &err), TENON_ERR_MISMATCH, err);
    ck_assert_str_eq(err.message, "2 buckets of distances, at least 4 are needed");
    err = (struct tenon_error){0};
    ck_fails(tenon_t5_check(&near, &err), TENON_ERR_MISMATCH, err);
    ck_fails(tenon_deberta_check(&none, NULL), TENON_ERR_MISMATCH, err);
    ck_fails(tenon_deberta_check(&narrow, NULL), TENON_ERR_MISMATCH, err);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bias");
    TCase *tc = tcase_create("bias");

    suite_add_tcase(suite, tc);
    tcase_add_loop_test(tc, t5_buckets_in_every_precision, 0, 3);
    tcase_add_loop_test(tc, t5_precisions_agree_on_near_distances, 0, 4);
    tcase_add_test(tc, deberta_takes_logarithms_of_far_distances);
    tcase_add_test(tc, alibi_forms_differ_by_a_constant_of_the_query);
    tcase_add_test(tc, rounded_alibi_rounds_slope_and_product);
    tcase_add_test(tc, what_makes_no_sense_is_refused);
    return run_suite(suite);
}
