/* Editing JSON. The texts that are expected were written by hand. */
#include <stdio.h>
#include <string.h>

#include "../src/check_error.h"
#include "json_edit.h"
#include "mem.h"

static struct tenon_str str(const char *text)
{
    return (struct tenon_str){text, strlen(text)};
}

/* A value to set, NULL to remove the member. */
static struct tenon_json_edit edit_of(const char *path, const char *value)
{
    return (struct tenon_json_edit){value != NULL ? TENON_JSON_SET : TENON_JSON_REMOVE, path,
                                    value};
}

static void check_edit(const char *text, const char *path, const char *value, const char *wanted)
{
    struct tenon_json_edit edit = edit_of(path, value);
    struct tenon_error err = {0};
    struct tenon_json_out out = {0};

    ck_ok(tenon_json_edit(str(text), &edit, &out, &err), err);
    ck_assert_uint_eq(out.len, strlen(out.data));
    ck_assert_str_eq(out.data, wanted);
    tenon_mem_free(out.data);
}

static void check_fault(const char *text, const char *path, const char *value,
                        enum tenon_status status, uint64_t offset)
{
    struct tenon_json_edit edit = edit_of(path, value);
    struct tenon_error err = {0};
    struct tenon_json_out out = {.len = 77};

    ck_fails(tenon_json_edit(str(text), &edit, &out, &err), status, err);
    ck_assert_uint_eq(err.offset, offset);
    ck_assert_ptr_null(out.data);
    ck_assert_uint_eq(out.len, 77);
}

START_TEST(a_value_is_replaced_and_nothing_else)
{
    check_edit("{\n  \"a\" :\t1,\n\n  \"b\": [1, {\"a\": 2}] , \"c\":null }\r\n", "a", "false",
               "{\n  \"a\" :\tfalse,\n\n  \"b\": [1, {\"a\": 2}] , \"c\":null }\r\n");
    check_edit("{\"a\":1,\"b\":[1,{\"a\":2}],\"c\":null}", "b", "true",
               "{\"a\":1,\"b\":true,\"c\":null}");
    check_edit("  {\"x\":{\"y\":{\"z\":\"w\"}}}", "x.y.z", "1", "  {\"x\":{\"y\":{\"z\":1}}}");
}
END_TEST

/* As configs of Mamba2 models have them. */
START_TEST(numbers_that_only_python_has_stay)
{
    check_edit("{\"limit\": [0.0, Infinity], \"a\": -Infinity, \"b\": NaN}", "b", "1",
               "{\"limit\": [0.0, Infinity], \"a\": -Infinity, \"b\": 1}");
}
END_TEST

START_TEST(a_key_is_found_in_its_escaped_form)
{
    check_edit("{\"\\u0061\\/\": 1}", "a/", "2", "{\"\\u0061\\/\": 2}");
}
END_TEST

START_TEST(a_new_member_comes_first)
{
    check_edit("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "k", "false",
               "{ \"k\": false,\n  \"a\": 1,\n  \"b\": 2\n}\n");
    check_edit("{\"a\":1}", "k", "false", "{ \"k\": false,\"a\":1}");
    check_edit("{ }", "k", "false", "{ \"k\": false }");
    check_edit("{\n \"t\": {\n  \"a\": 1\n }\n}", "t.k\"", "false",
               "{\n \"t\": { \"k\\\"\": false,\n  \"a\": 1\n }\n}");
}
END_TEST

/* Only what was put in so, and has that value. */
START_TEST(what_was_not_put_in_is_not_taken_out)
{
    static const char *const texts[] = {"{\"k\": false, \"a\": 1}",
                                        "{ \"k\":false,\"a\": 1}",
                                        "{ \"k\": true, \"a\": 1}",
                                        "{ \"a\": 1, \"k\": false}",
                                        "{ \"k\": false ,\"a\": 1}",
                                        "{ \"k\": false",
                                        "{}"};
    struct tenon_json_edit undo = {TENON_JSON_UNDO, "k", "false"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct tenon_json_out out = {0};

        ck_assert_int_ne(tenon_json_edit(str(texts[i]), &undo, &out, NULL), TENON_OK);
        ck_assert_ptr_null(out.data);
    }
}
END_TEST

START_TEST(a_member_goes_away_with_its_separator)
{
    check_edit("{ \"a\": 1, \"b\": 2 , \"c\": 3 }", "a", NULL, "{ \"b\": 2 , \"c\": 3 }");
    check_edit("{ \"a\": 1, \"b\": 2 , \"c\": 3 }", "b", NULL, "{ \"a\": 1 , \"c\": 3 }");
    check_edit("{ \"a\": 1, \"b\": 2 , \"c\": 3 }", "c", NULL, "{ \"a\": 1, \"b\": 2 }");
    check_edit("{ \"a\": 1\n}", "a", NULL, "{\n}");
}
END_TEST

/* Texts of every style that writers have. */
static const char *const styles[] = {
    "{}",
    "{ }",
    "{\n}",
    "\n{\n}\n",
    "{\"a\":1}",
    "{\"a\": 1}",
    "{ \"a\" : 1 }",
    "{\"a\":1,\"b\":2}",
    "{\"a\": 1, \"b\": 2}",
    "{ \"a\": 1,\"b\": 2}",
    "{\"a\": 1 ,\n\"b\": 2, \"c\": {\"k\": 3}}  ",
    "{\n  \"a\": 1\n}",
    "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}\n",
    "{\r\n\t\"a\":1,\r\n\t\"b\":2}\r\n",
    "{\n\n\n\"a\"\n:\n1\n,\n\n\"b\"\n:\n2\n}",
};

/* Whatever is put in, at whatever place, removing it gives back the bytes from before. */
START_TEST(removing_what_was_put_in_restores_every_byte)
{
    const char *text = styles[_i];
    struct tenon_json_object before = {0}, after = {0};
    struct tenon_error err = {0};
    size_t at = strcspn(text, "{");

    ck_ok(tenon_json_object_scan(&before, text, strlen(text), at, 9, &err), err);
    for (size_t place = 0; place <= before.n; place++) {
        char middle[256] = {0}, end[256] = {0};
        struct tenon_json_out out = {.data = middle}, back = {.data = end};
        size_t n = strlen(text) - at;

        before.n_inserts = 0;
        for (size_t k = 0; k < 2; k++)
            ck_ok(tenon_json_object_insert(&before, place, (struct tenon_str){"\"k\"", 3},
                                           (struct tenon_str){"[{}]", 4}, &err),
                  err);
        tenon_json_object_put(&before, &out);
        ck_ok(tenon_json_object_scan(&after, middle, out.len, 0, 9, &err), err);
        ck_assert_uint_eq(after.n, before.n + 2);
        after.members[place].edit = TENON_JSON_REMOVED;
        after.members[place + 1].edit = TENON_JSON_REMOVED;
        tenon_json_object_put(&after, &back);
        ck_assert_uint_eq(back.len, (size_t)before.close + 1 - at);
        ck_assert_uint_le(back.len, n);
        ck_assert_mem_eq(end, text + at, back.len);
        tenon_json_object_release(&after);
    }
    tenon_json_object_release(&before);
}
END_TEST

START_TEST(setting_and_undoing_restores_the_text)
{
    const char *text = styles[_i];
    struct tenon_json_edit set = {TENON_JSON_SET, "new", "false"};
    struct tenon_json_edit undo = {TENON_JSON_UNDO, "new", "false"};
    struct tenon_error err = {0};
    struct tenon_json_out middle = {0}, end = {0};

    ck_ok(tenon_json_edit(str(text), &set, &middle, &err), err);
    ck_ok(tenon_json_edit(str(middle.data), &undo, &end, &err), err);
    ck_assert_str_eq(end.data, text);
    tenon_mem_free(middle.data);
    tenon_mem_free(end.data);
}
END_TEST

START_TEST(keys_and_values_change_where_they_stand)
{
    static const char text[] = "{\"a\": 1, \"b\" :2 }";
    struct tenon_json_object o = {0};
    struct tenon_error err = {0};
    char buf[64] = {0};
    struct tenon_json_out out = {.data = buf};
    struct tenon_json_change key = {.key = {"\"K\"", 3}}, value = {.value = {"[]", 2}};

    ck_ok(tenon_json_object_scan(&o, text, strlen(text), 0, 9, &err), err);
    ck_assert_uint_eq(tenon_json_object_find(&o, "b"), 1);
    ck_assert_uint_eq(tenon_json_object_find(&o, "c"), SIZE_MAX);
    ck_ok(tenon_json_object_change(&o, 0, value, &err), err);
    ck_ok(tenon_json_object_change(&o, 1, key, &err), err);
    tenon_json_object_put(&o, &out);
    ck_assert_str_eq(buf, "{\"a\": [], \"K\" :2 }");
    tenon_json_object_release(&o);
}
END_TEST

START_TEST(faults_say_where)
{
    check_fault("{\"a\": 1", "a", "2", TENON_ERR_TRUNCATED, 7);
    check_fault("{\"a\": 1} x", "a", "2", TENON_ERR_CORRUPT, 9);
    check_fault("{\"a\": tru}", "b", "2", TENON_ERR_CORRUPT, 6);
    check_fault("[1]", "a", "2", TENON_ERR_CORRUPT, 0);
    check_fault("{\"a\": 1}", "a.b", "2", TENON_ERR_CORRUPT, 6);
    check_fault("{\"a\": 1}", "b.c", "2", TENON_ERR_NOT_FOUND, 1);
    check_fault("{\"a\": 1}", "b", NULL, TENON_ERR_NOT_FOUND, 1);
    check_fault("{\"a\": 1, \"\\u0061\": 2}", "a", "2", TENON_ERR_NAME_CLASH, 9);
}
END_TEST

START_TEST(deep_texts_need_no_stack)
{
    enum { LEVELS = TENON_JSON_MAX_DEPTH - 1 };
    char text[2 * LEVELS + 32], wanted[2 * LEVELS + 32];
    size_t n = (size_t)snprintf(text, sizeof(text), "{\"a\":");

    memset(text + n, '[', LEVELS);
    memset(text + n + LEVELS, ']', LEVELS);
    strcpy(text + n + (size_t)2 * LEVELS, ",\"b\":1}");
    snprintf(wanted, sizeof(wanted), "%.*s", (int)(n + (size_t)2 * LEVELS), text);
    strcat(wanted, ",\"b\":2}");
    check_edit(text, "b", "2", wanted);
}
END_TEST

START_TEST(every_failed_allocation_is_survived)
{
    struct tenon_json_edit edit = edit_of("t.k", "true");

    for (uint64_t n = 1; n < 20; n++) {
        struct tenon_error err = {0};
        struct tenon_json_out out = {0};
        enum tenon_status st;

        tenon_mem_fail_at(n, true);
        st = tenon_json_edit(str("{\"t\":{\"a\":1}}"), &edit, &out, &err);
        tenon_mem_fail_at(0, false);
        if (st == TENON_OK) {
            ck_assert_str_eq(out.data, "{\"t\":{ \"k\": true,\"a\":1}}");
            tenon_mem_free(out.data);
            ck_assert_uint_gt(n, 3);
            return;
        }
        ck_assert_int_eq(st, TENON_ERR_NO_MEMORY);
        ck_assert_ptr_null(out.data);
    }
    ck_abort_msg("it never succeeds");
}
END_TEST

/* --- spelling --- */

START_TEST(strings_are_spelled_as_serde_json_spells_them)
{
    static const char text[] = "a/\"\\\b\f\n\r\t\x01\x1f\x7f\u00e9\U0001F600";
    char buf[128] = {0};
    struct tenon_json_out out = {.data = buf}, measure = {0};

    tenon_json_put_string(&out, (struct tenon_str){text, sizeof(text) - 1});
    tenon_json_put_string(&measure, (struct tenon_str){text, sizeof(text) - 1});
    ck_assert_str_eq(buf, "\"a/\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\u00e9\U0001F600\"");
    ck_assert_uint_eq(measure.len, strlen(buf));
}
END_TEST

/* json.dumps of Python 3.11. */
START_TEST(strings_are_spelled_as_python_spells_them)
{
    static const char text[] = "a/\"\\\b\f\n\r\t\x01\x1f\x7f\u00e9\uffff\U0001F600";
    char buf[128] = {0};
    struct tenon_json_out out = {.data = buf};

    tenon_json_put_ascii(&out, (struct tenon_str){text, sizeof(text) - 1});
    ck_assert_str_eq(buf, "\"a/\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\\u00e9\\uffff"
                          "\\ud83d\\ude00\"");
}
END_TEST

START_TEST(numbers_have_their_digits)
{
    char buf[64] = {0};
    struct tenon_json_out out = {.data = buf};

    tenon_json_put_u64(&out, 0);
    tenon_json_put_fill(&out, ' ', 2);
    tenon_json_put_u64(&out, UINT64_MAX);
    ck_assert_str_eq(buf, "0  18446744073709551615");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json_edit");
    TCase *edit = tcase_create("edit"), *spell = tcase_create("spell");
    int n = sizeof(styles) / sizeof(styles[0]);

    tcase_add_test(edit, a_value_is_replaced_and_nothing_else);
    tcase_add_test(edit, numbers_that_only_python_has_stay);
    tcase_add_test(edit, a_key_is_found_in_its_escaped_form);
    tcase_add_test(edit, a_new_member_comes_first);
    tcase_add_test(edit, what_was_not_put_in_is_not_taken_out);
    tcase_add_test(edit, a_member_goes_away_with_its_separator);
    tcase_add_loop_test(edit, removing_what_was_put_in_restores_every_byte, 0, n);
    tcase_add_loop_test(edit, setting_and_undoing_restores_the_text, 0, n);
    tcase_add_test(edit, keys_and_values_change_where_they_stand);
    tcase_add_test(edit, faults_say_where);
    tcase_add_test(edit, deep_texts_need_no_stack);
    tcase_add_test(edit, every_failed_allocation_is_survived);
    suite_add_tcase(suite, edit);
    tcase_add_test(spell, strings_are_spelled_as_serde_json_spells_them);
    tcase_add_test(spell, strings_are_spelled_as_python_spells_them);
    tcase_add_test(spell, numbers_have_their_digits);
    suite_add_tcase(suite, spell);
    return run_suite(suite);
}
