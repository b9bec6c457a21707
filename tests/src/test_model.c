/* Building models and the checks that every format shares. */
#include "memory_model.h"

static unsigned char bytes[4096];

static struct tenon_model *model;
static struct tenon_error err;

static void set_up(void)
{
    memset(&err, 0, sizeof(err));
    model = new_memory_model(bytes, sizeof(bytes));
}

static void tear_down(void)
{
    tenon_model_free(model);
}

static enum tenon_status add(const char *name, enum tenon_dtype dtype, uint64_t offset,
                             const uint64_t *dims)
{
    struct tenon_tensor t = describe(name, dtype, offset, dims);

    return tenon_model_add_tensor(model, &t, &err);
}

START_TEST(elements_and_bytes_follow_from_shape_and_type)
{
    ck_ok(add("a", TENON_DTYPE_F32, 0, SHAPE(2, 3)), err);
    ck_ok(add("scalar", TENON_DTYPE_F16, 24, SCALAR), err);
    ck_ok(add("none", TENON_DTYPE_F32, 24, SHAPE(5, 0)), err);
    ck_ok(add("q", TENON_DTYPE_Q4_K, 64, SHAPE(3, 256)), err);
    ck_ok(add("f4", TENON_DTYPE_F4, 600, SHAPE(2, 1)), err);
    ck_assert_uint_eq(get_tensor(model, "a")->n_elements, 6);
    ck_assert_uint_eq(get_tensor(model, "a")->bytes, 24);
    ck_assert_uint_eq(get_tensor(model, "scalar")->n_elements, 1);
    ck_assert_uint_eq(get_tensor(model, "scalar")->bytes, 2);
    ck_assert_uint_eq(get_tensor(model, "none")->bytes, 0);
    ck_assert_uint_eq(get_tensor(model, "q")->bytes, 3 * 144);
    ck_assert_uint_eq(get_tensor(model, "f4")->bytes, 1);
    ck_ok(tenon_model_finish(model, &err), err);
}
END_TEST

START_TEST(rows_that_are_not_whole_blocks_are_explained)
{
    ck_fails(add("q", TENON_DTYPE_Q4_K, 0, SHAPE(2, 128)), TENON_ERR_CORRUPT, err);
    ck_assert_str_eq(err.message, "rows of 128 elements are not whole blocks: Q4_K packs 256 "
                                  "elements into 144 bytes");
    ck_assert_str_eq(err.subject, "q");
    ck_assert_uint_eq(err.offset, 1000);
}
END_TEST

START_TEST(products_that_wrap_are_refused_wherever_the_zero_stands)
{
    static const uint64_t shapes[][5] = {
        {UINT64_C(1) << 32, UINT64_C(1) << 32, UINT64_MAX},
        {UINT64_C(1) << 62, UINT64_C(1) << 62, 0, 1, UINT64_MAX},
        {0, UINT64_C(1) << 62, UINT64_C(1) << 62, 1, UINT64_MAX},
        {UINT64_C(1) << 21, UINT64_C(1) << 21, UINT64_C(1) << 21, UINT64_MAX},
        {UINT64_C(1) << 63, UINT64_MAX},
        {UINT64_C(1) << 62, UINT64_MAX}, /* elements fit, bytes do not */
    };

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        memset(&err, 0, sizeof(err));
        ck_fails(add("t", TENON_DTYPE_F32, 0, shapes[i]), TENON_ERR_CORRUPT, err);
    }
    ck_assert_uint_eq(tenon_model_n_tensors(model), 0);
}
END_TEST

START_TEST(a_second_tensor_of_one_name_is_refused)
{
    ck_ok(add("a", TENON_DTYPE_F32, 0, SHAPE(2)), err);
    ck_fails(add("a", TENON_DTYPE_F32, 8, SHAPE(2)), TENON_ERR_NAME_CLASH, err);
    ck_assert_str_eq(err.subject, "a");
    ck_assert_uint_eq(err.offset, 1008);
}
END_TEST

START_TEST(limits_hold)
{
    ck_fails(add("t", TENON_DTYPE_U8, 0, SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1)), TENON_ERR_LIMIT, err);
    ck_assert_str_eq(err.message, "9 dimensions, at most 8 allowed");
}
END_TEST

START_TEST(payload_beyond_the_file_is_truncated)
{
    ck_ok(add("a", TENON_DTYPE_F32, 4000, SHAPE(27)), err);
    ck_fails(tenon_model_finish(model, &err), TENON_ERR_TRUNCATED, err);
    ck_assert_ptr_nonnull(strstr(err.message, "ends 12 bytes after the end of the file"));
    ck_assert_str_eq(err.subject, "a");
}
END_TEST

START_TEST(an_end_that_wraps_is_refused)
{
    ck_ok(add("a", TENON_DTYPE_U8, UINT64_MAX - 31, SHAPE(64)), err);
    ck_fails(tenon_model_finish(model, &err), TENON_ERR_CORRUPT, err);
}
END_TEST

/* The model can be used, and says which tensor overlaps an earlier one. */
static void check_overlap(const char *name)
{
    ck_ok(tenon_model_finish(model, &err), err);
    ck_assert_uint_eq(tenon_model_n_findings(model), 1);
    ck_assert_str_eq(tenon_model_finding(model, 0)->code, "overlap");
    ck_assert_str_eq(tenon_model_finding(model, 0)->subject, name);
}

START_TEST(overlapping_payloads_are_found_in_any_order)
{
    ck_ok(add("late", TENON_DTYPE_U8, 99, SHAPE(10)), err);
    ck_ok(add("early", TENON_DTYPE_U8, 0, SHAPE(100)), err);
    check_overlap("late");
}
END_TEST

/* The range that reaches furthest decides, not the last one begun. */
START_TEST(a_range_inside_an_earlier_long_one_overlaps)
{
    ck_ok(add("a", TENON_DTYPE_U8, 0, SHAPE(100)), err);
    ck_ok(add("b", TENON_DTYPE_U8, 100, SHAPE(0)), err);
    ck_ok(add("c", TENON_DTYPE_U8, 20, SHAPE(10)), err);
    check_overlap("c");
}
END_TEST

START_TEST(the_same_range_twice_is_an_alias)
{
    ck_ok(add("a", TENON_DTYPE_F32, 0, SHAPE(2, 4)), err);
    ck_ok(add("b", TENON_DTYPE_F32, 0, SHAPE(2, 4)), err);
    ck_ok(add("c", TENON_DTYPE_F32, 0, SHAPE(8)), err);
    ck_ok(tenon_model_finish(model, &err), err);
    ck_assert_ptr_null(tenon_tensor_shares(model, get_tensor(model, "a")));
    ck_assert_ptr_eq(tenon_tensor_shares(model, get_tensor(model, "b")), get_tensor(model, "a"));
    ck_assert_ptr_eq(tenon_tensor_shares(model, get_tensor(model, "c")), get_tensor(model, "a"));
    ck_assert_uint_eq(tenon_model_n_findings(model), 2);
    ck_assert_str_eq(tenon_model_finding(model, 0)->code, "alias");
}
END_TEST

static enum tenon_status add_key(const char *key, uint32_t file)
{
    struct tenon_meta_entry entry = {.key = {key, strlen(key)}, .file = file};

    entry.type = entry.item = entry.value.type = TENON_META_U8;
    entry.count = 1;
    return tenon_model_add_meta(model, &entry, &err);
}

START_TEST(a_key_twice_in_one_file_is_refused_and_in_two_is_not)
{
    ck_ok(add_key("k", 0), err);
    ck_ok(add_key("k", 1), err);
    ck_assert_uint_eq(tenon_model_n_meta(model), 1);
    ck_fails(add_key("k", 0), TENON_ERR_NAME_CLASH, err);
    ck_assert_str_eq(err.subject, "k");
    ck_assert_ptr_nonnull(tenon_model_find_meta(model, "k"));
    ck_assert_ptr_null(tenon_model_find_meta(model, "x"));
}
END_TEST

START_TEST(findings_are_bounded_and_clean)
{
    for (int i = 0; i < 3000; i++)
        ck_assert_int_eq(tenon_model_find_fault(model, "alias", 0, 5, "\x1b[m", 3, "number %d", i),
                         TENON_OK);
    ck_assert_uint_eq(tenon_model_n_findings(model), 1001);
    ck_assert_str_eq(tenon_model_finding(model, 0)->subject, "\\u{1b}[m");
    ck_assert_str_eq(tenon_model_finding(model, 1000)->code, "more_findings");
    ck_assert_int_eq(tenon_model_find_fault(model, "no such code", 0, 5, NULL, 0, "x"),
                     TENON_ERR_MISUSE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, elements_and_bytes_follow_from_shape_and_type);
    tcase_add_test(tests, rows_that_are_not_whole_blocks_are_explained);
    tcase_add_test(tests, products_that_wrap_are_refused_wherever_the_zero_stands);
    tcase_add_test(tests, a_second_tensor_of_one_name_is_refused);
    tcase_add_test(tests, limits_hold);
    tcase_add_test(tests, payload_beyond_the_file_is_truncated);
    tcase_add_test(tests, an_end_that_wraps_is_refused);
    tcase_add_test(tests, overlapping_payloads_are_found_in_any_order);
    tcase_add_test(tests, a_range_inside_an_earlier_long_one_overlaps);
    tcase_add_test(tests, the_same_range_twice_is_an_alias);
    tcase_add_test(tests, a_key_twice_in_one_file_is_refused_and_in_two_is_not);
    tcase_add_test(tests, findings_are_bounded_and_clean);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
