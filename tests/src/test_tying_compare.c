/* Verdicts where both matrices are stored. */
#include <math.h>
#include <string.h>

#include "quantized_rows.h"
#include "tying_helpers.h"

/* The upper halves of float32 values: BF16 by truncation, exact where nothing is cut. */
static const uint16_t *upper_halves(const float *values, size_t n)
{
    static uint16_t out[1024];

    for (size_t i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof(bits));
        out[i] = (uint16_t)(bits >> 16);
    }
    return out;
}

START_TEST(two_names_for_one_range_are_shared)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_alias(&tiny, "lm_head.weight", TENON_DTYPE_F32, ROWS, COLS);
    tiny_flag(&tiny, TOP, true, false);
    check_verdict(judge("llama"), TENON_VERDICT_SHARED);
    ck_assert(tying->consistent);
    check_action(tying->transformers_v5, TENON_LOADER_TIES);
}
END_TEST

START_TEST(one_range_seen_in_two_shapes_is_not_shared)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_alias(&tiny, "lm_head.weight", TENON_DTYPE_F32, COLS, ROWS);
    check_verdict(judge("llama"), TENON_VERDICT_DIFFERENT);
}
END_TEST

START_TEST(equal_copies_are_identical)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    check_verdict(judge("qwen3"), TENON_VERDICT_IDENTICAL);
    ck_assert(tying->consistent);
    ck_assert(tying->evidence.valid && !tying->evidence.by_values);
    ck_assert_uint_eq(tying->evidence.equal_rows, ROWS);
    ck_assert_uint_eq(tying->evidence.first_differing_row, UINT64_MAX);
    ck_assert_uint_eq(tying->input_hash[0], tying->output_hash[0]);
    ck_assert_uint_eq(tying->saving_bytes, 128);
    check_action(tying->transformers_v4, TENON_LOADER_TIES);
    check_action(tying->transformers_v5, TENON_LOADER_TIES);
}
END_TEST

START_TEST(equal_copies_under_a_false_flag_could_be_tied)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("qwen3"), TENON_VERDICT_IDENTICAL);
    ck_assert(tying->consistent);
    ck_assert(noted("could be tied"));
    check_action(tying->transformers_v5, TENON_LOADER_KEEPS_BOTH);
}
END_TEST

START_TEST(a_widened_copy_is_equal)
{
    begin();
    input(TENON_DTYPE_BF16, ROWS, COLS, upper_halves(matrix(), ROWS * COLS));
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    check_verdict(judge("llama"), TENON_VERDICT_EQUAL);
    ck_assert(tying->evidence.by_values);
    ck_assert_uint_eq(tying->evidence.equal_rows, ROWS);
    ck_assert_double_eq(tying->evidence.rel_l2, 0);
}
END_TEST

START_TEST(zeros_of_either_sign_are_equal)
{
    static const float plus[4] = {0, 1, 2, 3}, minus[4] = {-0.0f, 1, 2, 3};

    begin();
    input(TENON_DTYPE_F32, 2, 2, plus);
    output(TENON_DTYPE_F32, 2, 2, minus);
    check_verdict(judge("llama"), TENON_VERDICT_EQUAL);
}
END_TEST

START_TEST(values_that_are_no_numbers_equal_their_like)
{
    const float in[6] = {NAN, INFINITY, 1, -INFINITY, 2, 3};
    double out[6];

    for (int i = 0; i < 6; i++)
        out[i] = (double)in[i];
    begin();
    input(TENON_DTYPE_F32, 3, 2, in);
    output(TENON_DTYPE_F64, 3, 2, out);
    check_verdict(judge("llama"), TENON_VERDICT_EQUAL);
    tear_down();
    out[1] = 7;
    begin();
    input(TENON_DTYPE_F32, 3, 2, in);
    output(TENON_DTYPE_F64, 3, 2, out);
    check_verdict(judge("llama"), TENON_VERDICT_PARTIAL);
    ck_assert_uint_eq(tying->evidence.first_differing_row, 0);
    ck_assert(isinf(tying->evidence.max_abs_diff));
    ck_assert(isfinite(tying->evidence.rel_l2));
}
END_TEST

START_TEST(a_transposed_copy_is_equal)
{
    float turned[ROWS * COLS];

    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            turned[c * ROWS + r] = matrix()[r * COLS + c];
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, COLS, ROWS, turned);
    check_verdict(judge("llama"), TENON_VERDICT_EQUAL);
    ck_assert(noted("transposed"));
    ck_assert_uint_eq(tying->evidence.rows, ROWS);
    tear_down();
    turned[3 * ROWS + 5] += 1;
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, COLS, ROWS, turned);
    check_verdict(judge("llama"), TENON_VERDICT_PARTIAL);
    ck_assert_uint_eq(tying->evidence.first_differing_row, 5);
    ck_assert_uint_eq(tying->evidence.equal_rows, ROWS - 1);
}
END_TEST

/* Reproducer of the log of public reports: trained head beside a true flag. */
START_TEST(one_changed_row_under_a_true_flag_is_a_contradiction)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix_with(7, 0.5f));
    tiny_flag(&tiny, TOP, true, false);
    check_verdict(judge("llama"), TENON_VERDICT_PARTIAL);
    ck_assert(!tying->consistent);
    ck_assert_uint_eq(tying->evidence.rows, ROWS);
    ck_assert_uint_eq(tying->evidence.cols, COLS);
    ck_assert_uint_eq(tying->evidence.equal_rows, 7);
    ck_assert_uint_eq(tying->evidence.first_differing_row, 7);
    ck_assert_double_eq(tying->evidence.max_abs_diff, 0.5);
    ck_assert(noted("contradiction"));
    ck_assert(noted("1 rows differ: 7"));
    ck_assert(noted("the stored output matrix is lost"));
    check_action(tying->transformers_v4, TENON_LOADER_DROPS_OUTPUT);
    check_action(tying->transformers_v5, TENON_LOADER_KEEPS_BOTH);
}
END_TEST

START_TEST(differing_rows_are_told_as_ranges)
{
    float out[ROWS * COLS];

    memcpy(out, matrix(), sizeof(out));
    out[0] += 1;
    out[4 * COLS] += 1;
    out[5 * COLS + 3] += 1;
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, out);
    check_verdict(judge("llama"), TENON_VERDICT_PARTIAL);
    ck_assert(noted("3 rows differ: 0, 4-5"));
}
END_TEST

START_TEST(padding_rows_make_it_partial)
{
    float out[(ROWS + 4) * COLS] = {0};

    memcpy(out, matrix(), sizeof(float) * ROWS * COLS);
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS + 4, COLS, out);
    check_verdict(judge("llama"), TENON_VERDICT_PARTIAL);
    ck_assert_uint_eq(tying->evidence.rows, ROWS);
    ck_assert_uint_eq(tying->evidence.equal_rows, ROWS);
    ck_assert(noted("8 rows, the output 12"));
    ck_assert(noted("all rows that both have are equal"));
}
END_TEST

START_TEST(unrelated_values_are_different)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, unrelated());
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("llama"), TENON_VERDICT_DIFFERENT);
    ck_assert(tying->consistent);
    ck_assert(noted("8 of 8 rows differ"));
    check_action(tying->transformers_v4, TENON_LOADER_KEEPS_BOTH);
}
END_TEST

START_TEST(row_counts_and_values_that_differ_are_incompatible)
{
    begin();
    tiny_add(&tiny, "language_model.model.embed_tokens.weight", TENON_DTYPE_F32, ROWS, COLS,
             matrix());
    tiny_add(&tiny, "language_model.lm_head.weight", TENON_DTYPE_F32, ROWS - 2, COLS, unrelated());
    check_verdict(judge("mllama"), TENON_VERDICT_INCOMPATIBLE);
    ck_assert(noted("row counts differ"));
    ck_assert(noted("different vocabularies"));
    ck_assert_uint_eq(tying->saving_bytes, 0);
}
END_TEST

START_TEST(widths_that_differ_are_incompatible)
{
    begin();
    tiny_add(&tiny, "albert.embeddings.word_embeddings.weight", TENON_DTYPE_F32, ROWS, COLS,
             matrix());
    tiny_add(&tiny, "predictions.decoder.weight", TENON_DTYPE_F32, ROWS, 2 * COLS, NULL);
    check_verdict(judge("albert"), TENON_VERDICT_INCOMPATIBLE);
    ck_assert(noted("widths differ"));
    ck_assert(noted("narrower than the hidden state"));
}
END_TEST

START_TEST(without_values_only_bytes_are_compared)
{
    struct tenon_tying_options options;

    tenon_tying_options_init(&options);
    options.values = false;
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix_with(1, 1));
    check_verdict(judge_with("llama", &options), TENON_VERDICT_DIFFERENT);
    ck_assert(!tying->evidence.valid);
    ck_assert(noted("values were not compared"));
}
END_TEST

START_TEST(a_family_that_ties_by_default_denies_two_matrices_under_a_silent_config)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, unrelated());
    check_verdict(judge("gemma"), TENON_VERDICT_DIFFERENT);
    ck_assert_int_eq(tying->declared, TENON_SILENT);
    ck_assert(!tying->consistent);
    ck_assert(noted("the default of the family is tied"));
    check_action(tying->transformers_v4, TENON_LOADER_DROPS_OUTPUT);
    tear_down();
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, unrelated());
    check_verdict(judge("llama"), TENON_VERDICT_DIFFERENT);
    ck_assert(tying->consistent);
}
END_TEST

/* --- scaled --- */

static enum tenon_verdict judge_scaled(float scale)
{
    static float in[64 * 16], out[64 * 16];

    for (int i = 0; i < 64 * 16; i++) {
        in[i] = (float)((i * 7919) % 2003 - 1001) / 977;
        out[i] = in[i] * scale;
    }
    begin();
    input(TENON_DTYPE_F32, 64, 16, in);
    output(TENON_DTYPE_F32, 64, 16, out);
    return judge("llama");
}

START_TEST(a_multiple_is_scaled)
{
    check_verdict(judge_scaled(1.01f), TENON_VERDICT_SCALED);
    ck_assert_double_eq_tol(tying->evidence.scale, 1.01, 1e-7);
    ck_assert(noted("times the input"));
    tear_down();
    check_verdict(judge_scaled(-2), TENON_VERDICT_SCALED);
    ck_assert_double_eq_tol(tying->evidence.scale, -2, 1e-12);
    tear_down();
    check_verdict(judge_scaled(39.191835f), TENON_VERDICT_SCALED);
}
END_TEST

START_TEST(a_multiple_but_for_one_value_is_not_scaled)
{
    float out[ROWS * COLS];

    for (int i = 0; i < ROWS * COLS; i++)
        out[i] = matrix()[i] * 3;
    out[17] *= 1.0001f;
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, out);
    check_verdict(judge("llama"), TENON_VERDICT_DIFFERENT);
}
END_TEST

/* --- quantized --- */

static const float *source_rows(void)
{
    static float values[QUANTIZED_ROWS * QUANTIZED_COLS];

    for (size_t i = 0; i < QUANTIZED_ROWS * QUANTIZED_COLS; i++)
        values[i] = quantized_source(i);
    return values;
}

static enum tenon_verdict judge_copies(enum tenon_dtype in, const void *in_bytes,
                                       enum tenon_dtype out, const void *out_bytes)
{
    begin();
    input(in, QUANTIZED_ROWS, QUANTIZED_COLS, in_bytes);
    output(out, QUANTIZED_ROWS, QUANTIZED_COLS, out_bytes);
    return judge("llama");
}

START_TEST(copies_in_two_quantized_types_are_quantized)
{
    check_verdict(judge_copies(TENON_DTYPE_Q4_K, quantized_q4_k, TENON_DTYPE_Q6_K, quantized_q6_k),
                  TENON_VERDICT_QUANTIZED);
    ck_assert_uint_eq(tying->evidence.equal_rows, 0);
    ck_assert_double_lt(tying->evidence.rel_l2, 0.2);
    ck_assert(noted("rounding to Q4_K and Q6_K"));
    tear_down();
    check_verdict(judge_copies(TENON_DTYPE_Q6_K, quantized_q6_k, TENON_DTYPE_Q4_K, quantized_q4_k),
                  TENON_VERDICT_QUANTIZED);
    tear_down();
    check_verdict(judge_copies(TENON_DTYPE_Q4_0, quantized_q4_0, TENON_DTYPE_Q8_0, quantized_q8_0),
                  TENON_VERDICT_QUANTIZED);
}
END_TEST

START_TEST(a_quantized_copy_of_a_plain_matrix_is_quantized)
{
    check_verdict(judge_copies(TENON_DTYPE_F32, source_rows(), TENON_DTYPE_Q8_0, quantized_q8_0),
                  TENON_VERDICT_QUANTIZED);
    tear_down();
    check_verdict(judge_copies(TENON_DTYPE_Q4_K, quantized_q4_k, TENON_DTYPE_F32, source_rows()),
                  TENON_VERDICT_QUANTIZED);
    tear_down();
    check_verdict(judge_copies(TENON_DTYPE_F32, source_rows(), TENON_DTYPE_Q6_K, quantized_q6_k),
                  TENON_VERDICT_QUANTIZED);
}
END_TEST

START_TEST(one_row_beyond_rounding_makes_a_quantized_copy_partial)
{
    float changed[QUANTIZED_ROWS * QUANTIZED_COLS];

    memcpy(changed, source_rows(), sizeof(changed));
    changed[2 * QUANTIZED_COLS + 100] += 0.02f; /* several steps of Q8_0, a small part of a row */
    check_verdict(judge_copies(TENON_DTYPE_F32, changed, TENON_DTYPE_Q8_0, quantized_q8_0),
                  TENON_VERDICT_PARTIAL);
    ck_assert(noted("1 rows differ: 2"));
    ck_assert_uint_eq(tying->evidence.equal_rows, 0);
}
END_TEST

START_TEST(a_quantized_copy_of_something_else_is_different)
{
    float other[QUANTIZED_ROWS * QUANTIZED_COLS];

    for (size_t i = 0; i < QUANTIZED_ROWS * QUANTIZED_COLS; i++)
        other[i] = source_rows()[(i + 77) % (QUANTIZED_ROWS * QUANTIZED_COLS)];
    check_verdict(judge_copies(TENON_DTYPE_F32, other, TENON_DTYPE_Q4_K, quantized_q4_k),
                  TENON_VERDICT_DIFFERENT);
    tear_down();
    check_verdict(judge_copies(TENON_DTYPE_F32, other, TENON_DTYPE_Q4_0, quantized_q4_0),
                  TENON_VERDICT_DIFFERENT);
}
END_TEST

/* In a code book type a single value may move by the range of its block: only the error of whole
 * rows tells two matrices apart. */
START_TEST(unrelated_rows_in_a_code_book_type_are_different)
{
    unsigned char books[QUANTIZED_ROWS * 66];
    uint32_t state = 1;

    for (size_t i = 0; i < sizeof(books); i++) {
        state = state * 1664525u + 1013904223u;
        books[i] = (unsigned char)(state >> 24);
    }
    for (size_t i = 0; i < QUANTIZED_ROWS; i++) {
        books[i * 66] = 0x00;
        books[i * 66 + 1] = 0x1c; /* a scale of 2^-8: values of the size of the others */
    }
    check_verdict(judge_copies(TENON_DTYPE_F32, source_rows(), TENON_DTYPE_IQ2_XXS, books),
                  TENON_VERDICT_DIFFERENT);
    ck_assert_double_gt(tying->evidence.rel_l2, 1);
    ck_assert_double_lt(tying->evidence.rel_l2, 3);
}
END_TEST

/* Rounding of float32 to BF16, to nearest: an independent way to the bits. */
static uint16_t rounded_half(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

START_TEST(a_matrix_and_its_bf16_rounding_are_quantized)
{
    float in[64];
    uint16_t out[64];

    for (int i = 0; i < 64; i++) {
        in[i] = 1 + (float)i / 777;
        out[i] = rounded_half(in[i]);
    }
    begin();
    input(TENON_DTYPE_F32, 8, 8, in);
    output(TENON_DTYPE_BF16, 8, 8, out);
    check_verdict(judge("llama"), TENON_VERDICT_QUANTIZED);
    tear_down();
    out[63]++; /* the neighbour: more than half a unit away */
    begin();
    input(TENON_DTYPE_F32, 8, 8, in);
    output(TENON_DTYPE_BF16, 8, 8, out);
    check_verdict(judge("llama"), TENON_VERDICT_PARTIAL);
}
END_TEST

START_TEST(two_matrices_of_one_plain_type_are_no_roundings_of_each_other)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix_with(3, 5e-7f));
    check_verdict(judge("llama"), TENON_VERDICT_PARTIAL);
    ck_assert_uint_eq(tying->evidence.first_differing_row, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tying_compare");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, two_names_for_one_range_are_shared);
    tcase_add_test(tests, one_range_seen_in_two_shapes_is_not_shared);
    tcase_add_test(tests, equal_copies_are_identical);
    tcase_add_test(tests, equal_copies_under_a_false_flag_could_be_tied);
    tcase_add_test(tests, a_widened_copy_is_equal);
    tcase_add_test(tests, zeros_of_either_sign_are_equal);
    tcase_add_test(tests, values_that_are_no_numbers_equal_their_like);
    tcase_add_test(tests, a_transposed_copy_is_equal);
    tcase_add_test(tests, one_changed_row_under_a_true_flag_is_a_contradiction);
    tcase_add_test(tests, differing_rows_are_told_as_ranges);
    tcase_add_test(tests, padding_rows_make_it_partial);
    tcase_add_test(tests, unrelated_values_are_different);
    tcase_add_test(tests, row_counts_and_values_that_differ_are_incompatible);
    tcase_add_test(tests, widths_that_differ_are_incompatible);
    tcase_add_test(tests, without_values_only_bytes_are_compared);
    tcase_add_test(tests, a_family_that_ties_by_default_denies_two_matrices_under_a_silent_config);
    tcase_add_test(tests, a_multiple_is_scaled);
    tcase_add_test(tests, a_multiple_but_for_one_value_is_not_scaled);
    tcase_add_test(tests, copies_in_two_quantized_types_are_quantized);
    tcase_add_test(tests, a_quantized_copy_of_a_plain_matrix_is_quantized);
    tcase_add_test(tests, one_row_beyond_rounding_makes_a_quantized_copy_partial);
    tcase_add_test(tests, a_quantized_copy_of_something_else_is_different);
    tcase_add_test(tests, unrelated_rows_in_a_code_book_type_are_different);
    tcase_add_test(tests, a_matrix_and_its_bf16_rounding_are_quantized);
    tcase_add_test(tests, two_matrices_of_one_plain_type_are_no_roundings_of_each_other);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
