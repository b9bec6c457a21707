/* Moments of runs, against definitions evaluated in long double. */
#include "stats_scan.h"

#include <math.h>
#include <string.h>

#include "check_error.h"
#include "cpu.h"

static uint32_t state = 1;

/* xorshift32, Marsaglia 2003. */
static float next_value(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (float)(int32_t)state / 1e6f;
}

static void fill(float *values, size_t n, float offset)
{
    for (size_t i = 0; i < n; i++)
        values[i] = next_value() + offset;
}

START_TEST(moments_match_their_definition)
{
    float values[1003];
    struct tenon_scan scan;
    long double mean = 0, m2 = 0;

    fill(values, 1003, 3000);
    values[77] = 0;
    values[78] = -0.0f;
    for (size_t i = 0; i < 1003; i++)
        mean += (long double)values[i] / 1003;
    for (size_t i = 0; i < 1003; i++)
        m2 += ((long double)values[i] - mean) * ((long double)values[i] - mean);
    tenon_scan_f32(&scan, values, 1003);
    ck_assert(fabsl((long double)scan.mean - mean) < 1e-12L * fabsl(mean));
    ck_assert(fabsl((long double)scan.m2 - m2) < 1e-12L * m2);
    ck_assert_uint_eq(scan.finite, 1003);
    ck_assert_uint_eq(scan.zero, 2);
}
END_TEST

START_TEST(values_that_are_not_finite_are_counted_and_left_out)
{
    float values[40];
    struct tenon_scan scan;

    for (int i = 0; i < 40; i++)
        values[i] = (float)i;
    values[0] = INFINITY;
    values[9] = NAN;
    values[39] = -INFINITY;
    tenon_scan_f32(&scan, values, 40);
    ck_assert_uint_eq(scan.nan, 1);
    ck_assert_uint_eq(scan.inf, 2);
    ck_assert_uint_eq(scan.finite, 37);
    ck_assert_double_eq(scan.min, 1);
    ck_assert_double_eq(scan.max, 38);
    ck_assert(fabs(scan.mean - (39 * 40 / 2 - 9 - 39) / 37.0) < 1e-12);
}
END_TEST

START_TEST(a_large_mean_does_not_swallow_the_spread)
{
    float values[4096];
    struct tenon_scan scan;

    for (int i = 0; i < 4096; i++)
        values[i] = 1e7f + (float)(i % 2);
    tenon_scan_f32(&scan, values, 4096);
    ck_assert(fabs(sqrt(scan.m2 / 4096) - 0.5) < 1e-9);
}
END_TEST

START_TEST(every_instruction_set_gives_the_same_bits)
{
    float values[2048 + 7];
    struct tenon_scan a, b;

    for (size_t n = 0; n < 2055; n += 37) {
        fill(values, n, (float)n);
        if (n > 500)
            values[n / 2] = NAN;
        tenon_scan_f32(&a, values, n);
        tenon_scan_choose(tenon_cpu_detect())(&b, values, n);
        ck_assert_mem_eq(&a, &b, sizeof(a));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stats_scan");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, moments_match_their_definition);
    tcase_add_test(tests, values_that_are_not_finite_are_counted_and_left_out);
    tcase_add_test(tests, a_large_mean_does_not_swallow_the_spread);
    tcase_add_test(tests, every_instruction_set_gives_the_same_bits);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
