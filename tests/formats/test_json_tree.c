/* Small JSON files as a tree. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "json_tree.h"
#include "mem.h"

static enum tenon_status parse(const char *text, struct tenon_json_node **out,
                               struct tenon_error *err)
{
    memset(err, 0, sizeof(*err));
    *out = NULL;
    return tenon_json_tree_parse(text, strlen(text), 128, out, err);
}

START_TEST(lookups_mind_case)
{
    struct tenon_json_node *root;
    struct tenon_error err;
    int64_t value = 0;

    ck_assert_int_eq(parse("{\"A\":1,\"a\":2}", &root, &err), TENON_OK);
    ck_assert(tenon_json_node_int(tenon_json_node_get(root, "a"), &value));
    ck_assert_int_eq(value, 2);
    ck_assert(tenon_json_node_int(tenon_json_node_get(root, "A"), &value));
    ck_assert_int_eq(value, 1);
    tenon_json_node_free(root);
    ck_assert_int_eq(parse("{\"Shape\":1}", &root, &err), TENON_OK);
    ck_assert_ptr_null(tenon_json_node_get(root, "shape"));
    tenon_json_node_free(root);
}
END_TEST

/* As the config of Mamba2 models has it: "time_step_limit": [0.0, Infinity]. */
START_TEST(numbers_that_only_python_has_are_no_finite_numbers)
{
    struct tenon_json_node *root;
    const struct tenon_json_node *limit;
    struct tenon_error err;
    double number = 0;
    int64_t value = 0;

    ck_assert_int_eq(
        parse("{\"limit\":[0.5, Infinity,-Infinity, NaN],\"Infinity\":\"NaN\",\"n\":7}", &root,
              &err),
        TENON_OK);
    limit = tenon_json_node_first(tenon_json_node_get(root, "limit"));
    ck_assert(tenon_json_node_float(limit, &number));
    ck_assert_double_eq(number, 0.5);
    for (int i = 0; i < 3; i++) {
        limit = tenon_json_node_next(limit);
        ck_assert_ptr_nonnull(limit);
        ck_assert(!tenon_json_node_float(limit, &number));
        ck_assert(!tenon_json_node_int(limit, &value));
    }
    ck_assert_ptr_null(tenon_json_node_next(limit));
    ck_assert(tenon_json_node_int(tenon_json_node_get(root, "n"), &value));
    ck_assert_int_eq(value, 7);
    tenon_json_node_free(root);
    ck_assert_int_eq(parse("[infinity]", &root, &err), TENON_ERR_CORRUPT);
    ck_assert_int_eq(parse("[NaNs]", &root, &err), TENON_ERR_CORRUPT);
    ck_assert_int_eq(parse("[+Infinity]", &root, &err), TENON_ERR_CORRUPT);
    ck_assert_int_eq(parse("[Infinit", &root, &err), TENON_ERR_CORRUPT);
}
END_TEST

struct refusal {
    const char *text;
    enum tenon_status status;
    uint64_t offset;
};

static const struct refusal refusals[] = {
    {"{\"a\":1,\"b\":2,\"a\":3}", TENON_ERR_NAME_CLASH, 13},
    {"{\"a\":1,\"\\u0061\":3}", TENON_ERR_NAME_CLASH, 7},
    {"{\"x\":{\"a\":1,\"a\":1}}", TENON_ERR_NAME_CLASH, 12},
    {"{\"a\\u0000b\":1}", TENON_ERR_CORRUPT, 1},
    {"[\"a\\u0000b\"]", TENON_ERR_CORRUPT, 1},
    {"{\"a\":1} x", TENON_ERR_CORRUPT, 8},
    {"{\"a\":01}", TENON_ERR_CORRUPT, 5},
    {"{\"a\":1", TENON_ERR_TRUNCATED, 6},
    {"", TENON_ERR_TRUNCATED, 0},
    {"[1234567890123456789012345678901234567890123456789012345678901234]", TENON_ERR_LIMIT, 1},
};

START_TEST(what_cjson_would_let_pass_is_refused)
{
    const struct refusal *c = &refusals[_i];
    struct tenon_json_node *root;
    struct tenon_error err;

    ck_assert_int_eq(parse(c->text, &root, &err), c->status);
    ck_assert_uint_eq(err.offset, c->offset);
    ck_assert_ptr_null(root);
}
END_TEST

START_TEST(equal_keys_in_different_objects_are_no_clash)
{
    struct tenon_json_node *root;
    struct tenon_error err;

    ck_assert_int_eq(parse("{\"a\":{\"a\":1},\"b\":[{\"a\":2},{\"a\":3}]}", &root, &err), TENON_OK);
    tenon_json_node_free(root);
}
END_TEST

START_TEST(integers_must_be_whole_and_below_2_to_the_53)
{
    static const struct {
        const char *text;
        bool whole;
        int64_t value;
    } cases[] = {{"[4]", true, 4},
                 {"[4.0]", true, 4},
                 {"[-1]", true, -1},
                 {"[1e3]", true, 1000},
                 {"[9007199254740991]", true, 9007199254740991},
                 {"[9007199254740992]", false, 0},
                 {"[9007199254740993]", false, 0},
                 {"[4.5]", false, 0},
                 {"[1e999]", false, 0},
                 {"[\"4\"]", false, 0},
                 {"[true]", false, 0},
                 {"[null]", false, 0}};
    struct tenon_json_node *root;
    struct tenon_error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = 0;

        ck_assert_int_eq(parse(cases[i].text, &root, &err), TENON_OK);
        ck_assert_msg(tenon_json_node_int(tenon_json_node_first(root), &value) == cases[i].whole,
                      "%s", cases[i].text);
        ck_assert_int_eq(value, cases[i].value);
        tenon_json_node_free(root);
    }
}
END_TEST

START_TEST(children_are_walked_in_order)
{
    struct tenon_json_node *root;
    const struct tenon_json_node *child;
    struct tenon_error err;
    struct tenon_str text;
    double number = 0;

    ck_assert_int_eq(parse("{\"k\":\"v\",\"n\":0.5,\"t\":true,\"z\":null}", &root, &err), TENON_OK);
    child = tenon_json_node_first(root);
    ck_assert_str_eq(tenon_json_node_key(child).data, "k");
    ck_assert(tenon_json_node_text(child, &text));
    ck_assert_str_eq(text.data, "v");
    ck_assert(!tenon_json_node_float(child, &number));
    child = tenon_json_node_next(child);
    ck_assert(tenon_json_node_float(child, &number));
    ck_assert_double_eq(number, 0.5);
    child = tenon_json_node_next(child);
    ck_assert_int_eq(tenon_json_node_type(child), TENON_JSON_TRUE);
    child = tenon_json_node_next(child);
    ck_assert_int_eq(tenon_json_node_type(child), TENON_JSON_NULL);
    ck_assert_ptr_null(tenon_json_node_next(child));
    tenon_json_node_free(root);
}
END_TEST

START_TEST(nothing_is_a_value_without_type_or_children)
{
    ck_assert_int_eq(tenon_json_node_type(NULL), TENON_JSON_END);
    ck_assert_ptr_null(tenon_json_node_get(NULL, "a"));
    ck_assert_ptr_null(tenon_json_node_first(NULL));
    ck_assert_ptr_null(tenon_json_node_next(NULL));
    tenon_json_node_free(NULL);
}
END_TEST

static void *counted_malloc(size_t n)
{
    return tenon_mem_alloc(n, 1);
}

START_TEST(every_failing_allocation_is_survived)
{
    /* Only this process is concerned: the library leaves cJSON's hooks alone. */
    cJSON_Hooks hooks = {counted_malloc, tenon_mem_free};
    struct tenon_json_node *root;
    struct tenon_error err;
    enum tenon_status st = TENON_ERR_NO_MEMORY;
    uint64_t n = 0;

    cJSON_InitHooks(&hooks);
    while (st != TENON_OK) {
        ck_assert_uint_lt(n, 1000);
        tenon_mem_fail_at(++n, false);
        st = parse("{\"a\":[1,2,{\"b\":\"c\\n\"}],\"d\":null,\"e\":{\"f\":1.5}}", &root, &err);
        tenon_mem_fail_at(0, false);
        if (st != TENON_OK)
            ck_assert_int_eq(st, TENON_ERR_NO_MEMORY);
    }
    ck_assert_uint_gt(n, 10);
    tenon_json_node_free(root);
    cJSON_InitHooks(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json_tree");
    TCase *tc = tcase_create("json_tree");
    SRunner *runner;
    int failed;

    tcase_add_test(tc, lookups_mind_case);
    tcase_add_test(tc, numbers_that_only_python_has_are_no_finite_numbers);
    tcase_add_loop_test(tc, what_cjson_would_let_pass_is_refused, 0,
                        sizeof(refusals) / sizeof(refusals[0]));
    tcase_add_test(tc, equal_keys_in_different_objects_are_no_clash);
    tcase_add_test(tc, integers_must_be_whole_and_below_2_to_the_53);
    tcase_add_test(tc, children_are_walked_in_order);
    tcase_add_test(tc, nothing_is_a_value_without_type_or_children);
    tcase_add_test(tc, every_failing_allocation_is_survived);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
