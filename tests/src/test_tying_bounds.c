/* How far rounding can have moved a value. */
#include <math.h>
#include <string.h>

#include "cpu.h"
#include "matrix.h"
#include "quant.h"
#include "quantized_rows.h"
#include "tying_helpers.h"

enum { N = QUANTIZED_ROWS * QUANTIZED_COLS };

static struct tenon_matrix m;
static double values[N], bounds[N];
static float scratch[TENON_TILE];

/* Reads values and bounds of a matrix of that type. */
static void read_all(enum tenon_dtype dtype, uint64_t rows, uint64_t cols, const void *bytes,
                     bool transposed)
{
    struct tenon_error err = {0};
    struct tenon_tile tile = {.n_rows = (size_t)rows, .n_cols = (size_t)cols};

    begin();
    input(dtype, rows, cols, bytes);
    tiny_end(&tiny, "");
    ck_assert(tenon_matrix_init(&m, tiny.model, tenon_model_tensor(tiny.model, 0)));
    if (transposed) {
        tenon_matrix_transpose(&m);
        tile.n_rows = (size_t)cols;
        tile.n_cols = (size_t)rows;
    }
    ck_ok(tenon_matrix_read(&m, &tile, scratch, values, &err), err);
    ck_ok(tenon_matrix_bounds(&m, &tile, values, bounds, &err), err);
}

START_TEST(floats_are_half_a_unit_from_their_source)
{
    const float in[] = {1, 1.5f, -3, 0, 1e-40f, 65504, INFINITY, NAN};
    const double wanted[] = {0x1p-24, 0x1p-24, 0x1p-23, 0x1p-150, 0x1p-150, 0x1p-9, 0, 0};
    /* 1, smallest normal, a subnormal, zero, greatest, infinity */
    const uint16_t half[] = {0x3c00, 0x0400, 0x0001, 0x0000, 0x7bff, 0x7c00};
    const double half_wanted[] = {0x1p-11, 0x1p-25, 0x1p-25, 0x1p-25, 16, 0};
    const double f64 = 1;

    read_all(TENON_DTYPE_F32, 2, 4, in, false);
    for (int i = 0; i < 8; i++)
        ck_assert_double_eq(bounds[i], wanted[i]);
    tear_down();
    read_all(TENON_DTYPE_F16, 2, 3, half, false);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(bounds[i], half_wanted[i]);
    tear_down();
    read_all(TENON_DTYPE_F64, 1, 1, &f64, false);
    ck_assert_double_eq(bounds[0], 0x1p-53);
}
END_TEST

/* E4M3 codes 0, 2^-9 (the smallest subnormal), 1, 1.5, 448 under one scale of 0.01. How
 * far the source can be does not depend on what else is in the row. */
START_TEST(codes_with_a_scale_are_half_a_unit_of_the_code_from_their_source)
{
    static const unsigned char codes[] = {0x00, 0x01, 0x38, 0x3c, 0x7e, 0xb8};
    static const double half_units[] = {0x1p-10, 0x1p-10, 0x1p-4, 0x1p-4, 16, 0x1p-4};
    const float scale = 0.01f;
    struct tenon_error err = {0};
    struct tenon_tile tile = {.n_rows = 6, .n_cols = 1};

    begin();
    tiny_add(&tiny, "lm_head.weight", TENON_DTYPE_F8_E4M3, 6, 1, codes);
    tiny_add(&tiny, "lm_head.weight_scale", TENON_DTYPE_F32, 0, 1, &scale);
    tiny_end(&tiny, "");
    ck_assert(tenon_matrix_init(&m, tiny.model, tenon_model_tensor(tiny.model, 0)));
    ck_ok(tenon_matrix_read(&m, &tile, scratch, values, &err), err);
    ck_ok(tenon_matrix_bounds(&m, &tile, values, bounds, &err), err);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol(bounds[i], half_units[i] * (double)scale, 1e-12);
}
END_TEST

START_TEST(integers_are_exact)
{
    const int32_t in[] = {1, -5, 0, 7};

    read_all(TENON_DTYPE_I32, 2, 2, in, false);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(bounds[i], 0);
    ck_assert(tenon_bounds_exact(TENON_DTYPE_I32, TENON_DTYPE_U8));
    ck_assert(tenon_bounds_exact(TENON_DTYPE_F32, TENON_DTYPE_F32));
    ck_assert(!tenon_bounds_exact(TENON_DTYPE_F32, TENON_DTYPE_F16));
    ck_assert(!tenon_bounds_exact(TENON_DTYPE_Q4_K, TENON_DTYPE_Q4_K));
}
END_TEST

static const struct {
    enum tenon_dtype dtype;
    const unsigned char *bytes;
} rounded[] = {
    {TENON_DTYPE_Q4_0, quantized_q4_0},
    {TENON_DTYPE_Q8_0, quantized_q8_0},
    {TENON_DTYPE_Q4_K, quantized_q4_k},
    {TENON_DTYPE_Q6_K, quantized_q6_k},
};

START_TEST(what_the_reference_rounded_is_within_bounds)
{
    double worst = 0;

    read_all(rounded[_i].dtype, QUANTIZED_ROWS, QUANTIZED_COLS, rounded[_i].bytes, false);
    for (size_t i = 0; i < N; i++) {
        double d = fabs(values[i] - (double)quantized_source(i));

        ck_assert_msg(d <= bounds[i] * 1.001, "%zu: %g is %g from its source, bound %g", i,
                      values[i], d, bounds[i]);
        worst = d > worst ? d : worst;
    }
    ck_assert_double_gt(worst, 0);
}
END_TEST

/* A float16, by arithmetic alone. */
static double half_value(const unsigned char *p)
{
    int bits = p[0] | p[1] << 8, exponent = bits >> 10 & 31, mantissa = bits & 1023;

    return exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
}

/* |w - source| <= d / 2, and 2^-11 of the value for the rounding of d. */
START_TEST(q8_0_is_half_its_scale_from_its_source)
{
    read_all(TENON_DTYPE_Q8_0, QUANTIZED_ROWS, QUANTIZED_COLS, quantized_q8_0, false);
    for (size_t i = 0; i < N; i++) {
        double d = half_value(quantized_q8_0 + i / 32 * 34);

        ck_assert_double_ge(bounds[i], d / 2);
        ck_assert_double_le(bounds[i], d / 2 + (fabs(values[i]) + 128 * d) * 0x1p-11 + 0x1p-16);
    }
}
END_TEST

/* Codes inside the range of Q6_K: half of d times the group's scale. */
START_TEST(q6_k_is_half_a_step_from_its_source_inside_the_range)
{
    size_t inside = 0;

    read_all(TENON_DTYPE_Q6_K, QUANTIZED_ROWS, QUANTIZED_COLS, quantized_q6_k, false);
    for (size_t i = 0; i < N; i++) {
        const unsigned char *block = quantized_q6_k + i / 256 * 210;
        int scale = (signed char)block[192 + i % 256 / 16];
        double step = fabs(half_value(block + 208) * scale), code = values[i] / step;

        if (fabs(code) > 30)
            continue;
        ck_assert_double_eq_tol(bounds[i], step / 2, step * 1e-5);
        inside++;
    }
    ck_assert_uint_gt(inside, N / 2);
}
END_TEST

START_TEST(bounds_go_with_their_values_when_transposed)
{
    double straight[N];

    read_all(TENON_DTYPE_Q4_K, QUANTIZED_ROWS, QUANTIZED_COLS, quantized_q4_k, false);
    memcpy(straight, bounds, sizeof(straight));
    tear_down();
    read_all(TENON_DTYPE_Q4_K, QUANTIZED_ROWS, QUANTIZED_COLS, quantized_q4_k, true);
    for (size_t r = 0; r < QUANTIZED_ROWS; r++)
        for (size_t c = 0; c < QUANTIZED_COLS; c++)
            ck_assert_double_eq(bounds[c * QUANTIZED_ROWS + r], straight[r * QUANTIZED_COLS + c]);
}
END_TEST

/* Every encoder of our own, over rows of several shapes. */
START_TEST(what_our_encoders_round_is_within_bounds)
{
    static unsigned char encoded[N * 8];
    static float source[N];
    struct tenon_quant_ops ops;
    const struct tenon_dtype_info *info;

    tenon_quant_init_reference(&ops);
    for (size_t k = 0; (info = tenon_dtype_at(k)) != NULL; k++) {
        bool integer = tenon_bounds_exact(info->dtype, TENON_DTYPE_I8);

        if (ops.encode[info->dtype] == NULL || ops.decode[info->dtype] == NULL ||
            info->values != 1 || integer || info->dtype == TENON_DTYPE_F8_E8M0)
            continue;
        for (size_t i = 0; i < N; i++)
            source[i] = quantized_source(i) * (i % 29 == 0 ? 3 : 1) + (i < N / 2 ? 0.1f : 0);
        ck_assert_uint_eq(ops.encode[info->dtype](encoded, source, N / info->block_elements),
                          SIZE_MAX);
        read_all(info->dtype, QUANTIZED_ROWS, QUANTIZED_COLS, encoded, false);
        for (size_t i = 0; i < N; i++)
            ck_assert_msg(fabs(values[i] - (double)source[i]) <= bounds[i] * 1.001,
                          "%s, %zu: %g became %g, bound %g", info->name, i, (double)source[i],
                          values[i], bounds[i]);
        tear_down();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tying_bounds");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, floats_are_half_a_unit_from_their_source);
    tcase_add_test(tests, codes_with_a_scale_are_half_a_unit_of_the_code_from_their_source);
    tcase_add_test(tests, integers_are_exact);
    tcase_add_loop_test(tests, what_the_reference_rounded_is_within_bounds, 0,
                        sizeof(rounded) / sizeof(rounded[0]));
    tcase_add_test(tests, q8_0_is_half_its_scale_from_its_source);
    tcase_add_test(tests, q6_k_is_half_a_step_from_its_source_inside_the_range);
    tcase_add_test(tests, bounds_go_with_their_values_when_transposed);
    tcase_add_test(tests, what_our_encoders_round_is_within_bounds);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
