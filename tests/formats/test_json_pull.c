/* The strict JSON reader. What is legal comes from RFC 8259. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "json_pull.h"

#define DEPTH 128

/* Reads `text` to its end; the status, with the error in `*err`. */
static enum tenon_status read_all(const char *text, size_t len, struct tenon_error *err)
{
    struct tenon_json json;
    struct tenon_json_token token;
    enum tenon_status st;

    memset(err, 0, sizeof(*err));
    tenon_json_init(&json, text, len, DEPTH);
    do
        st = tenon_json_next(&json, &token, err);
    while (st == TENON_OK && token.type != TENON_JSON_END);
    return st;
}

struct text_case {
    const char *text;
    size_t len;
    enum tenon_status status;
    uint64_t offset;
};

#define GOOD(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1, TENON_OK, 0                                                        \
    }
#define BAD(text, offset)                                                                          \
    {                                                                                              \
        text, sizeof(text) - 1, TENON_ERR_CORRUPT, offset                                          \
    }
#define SHORT(text)                                                                                \
    {                                                                                              \
        text, sizeof(text) - 1, TENON_ERR_TRUNCATED, sizeof(text) - 1                              \
    }

static const struct text_case texts[] = {
    GOOD("{}"),
    GOOD("[]"),
    GOOD("0"),
    GOOD("-0"),
    GOOD("-0.5e+10"),
    GOOD("1E400"),
    GOOD("\"\""),
    GOOD(" \t\r\n{ \"a\" : [ 1 , true , false , null , \"x\" , { } ] } \n"),
    GOOD("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\""),
    GOOD("\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \x7f\""),
    GOOD("[[],[[]],{\"\":{}}]"),
    SHORT(""),
    SHORT("   "),
    SHORT("{"),
    SHORT("{\"a\""),
    SHORT("{\"a\":"),
    SHORT("{\"a\":1"),
    SHORT("{\"a\":1,"),
    SHORT("[1,"),
    SHORT("\"abc"),
    SHORT("\"abc\\"),
    SHORT("-"),
    SHORT("1."),
    SHORT("1e"),
    BAD("{} {}", 3),
    BAD("{}x", 2),
    BAD("[1 2]", 3),
    BAD("[1,]", 3),
    BAD("[,1]", 1),
    BAD("{\"a\":1,}", 7),
    BAD("{a:1}", 1),
    BAD("{'a':1}", 1),
    BAD("{\"a\" 1}", 5),
    BAD("{\"a\":}", 5),
    BAD("{1:2}", 1),
    BAD("[1}", 2),
    BAD("{\"a\":1]", 6),
    BAD("}", 0),
    BAD("016", 0),
    BAD("-01", 0),
    BAD("+4", 0),
    BAD(".5", 0),
    BAD("-x", 1),
    BAD("1.e5", 2),
    BAD("1e+x", 3),
    BAD("0x10", 1),
    BAD("NaN", 0),
    BAD("Infinity", 0),
    BAD("-Infinity", 1),
    BAD("tru", 0),
    BAD("True", 0),
    BAD("nulll", 4),
    BAD("/* c */ 1", 0),
    BAD("[1] // c", 4),
    BAD("\xef\xbb\xbf{}", 0),
    BAD("{}\0", 2),
    BAD("\"a\nb\"", 2),
    BAD("\"\x1f\"", 1),
    BAD("\"\0\"", 1),
    BAD("\"\\x41\"", 1),
    BAD("\"\\u12\"", 1),
    BAD("\"\\u12g4\"", 1),
    BAD("\"\\ud800\"", 1),
    BAD("\"\\udc00\"", 1),
    BAD("\"\\ud800\\ud800\"", 1),
    BAD("\"\\ud800x\"", 1),
    BAD("\"\x80\"", 1),
    BAD("\"\xc0\xaf\"", 1),
    BAD("\"\xed\xa0\x80\"", 1),
    BAD("\"\xf5\x80\x80\x80\"", 1),
    BAD("\"\xe2\x82\"", 1),
};

START_TEST(every_text_has_its_status_and_offset)
{
    const struct text_case *c = &texts[_i];
    struct tenon_error err;
    enum tenon_status st = read_all(c->text, c->len, &err);

    ck_assert_msg(st == c->status, "%s: %s, %s", c->text, tenon_status_id(st), err.message);
    if (st != TENON_OK)
        ck_assert_msg(err.offset == c->offset, "%s: offset %d, %s", c->text, (int)err.offset,
                      err.message);
}
END_TEST

START_TEST(every_prefix_of_a_value_is_truncated)
{
    static const char text[] = "{\"a\":[1.5e3,\"\\u00e9\xc3\xa9\",null,{}]}";

    for (size_t n = 0; n + 1 < sizeof(text); n++) {
        struct tenon_error err;
        char *copy = malloc(n + 1); /* exact, so that a read beyond it is seen */
        enum tenon_status st;

        ck_assert_ptr_nonnull(copy);
        memcpy(copy, text, n);
        st = read_all(copy, n, &err);
        free(copy);
        ck_assert_int_ne(st, TENON_OK);
        ck_assert_uint_le(err.offset, n);
    }
}
END_TEST

/* `levels` times "[", then as many "]". */
static enum tenon_status read_nested(size_t levels, struct tenon_error *err)
{
    char *text = malloc(2 * levels);
    enum tenon_status st;

    ck_assert_ptr_nonnull(text);
    memset(text, '[', levels);
    memset(text + levels, ']', levels);
    st = read_all(text, 2 * levels, err);
    free(text);
    return st;
}

START_TEST(nesting_stops_at_the_limit)
{
    struct tenon_error err;

    ck_assert_int_eq(read_nested(DEPTH, &err), TENON_OK);
    ck_assert_int_eq(read_nested(DEPTH + 1, &err), TENON_ERR_LIMIT);
    ck_assert_uint_eq(err.offset, DEPTH);
    ck_assert_int_eq(read_nested(1000000, &err), TENON_ERR_LIMIT);
}
END_TEST

START_TEST(tokens_come_in_order)
{
    static const enum tenon_json_type expected[] = {
        TENON_JSON_OBJECT,     TENON_JSON_KEY,  TENON_JSON_ARRAY,  TENON_JSON_NUMBER,
        TENON_JSON_STRING,     TENON_JSON_TRUE, TENON_JSON_FALSE,  TENON_JSON_NULL,
        TENON_JSON_ARRAY_END,  TENON_JSON_KEY,  TENON_JSON_OBJECT, TENON_JSON_OBJECT_END,
        TENON_JSON_OBJECT_END, TENON_JSON_END,  TENON_JSON_END};
    static const char text[] = "{\"a\":[1,\"s\",true,false,null],\"b\":{}}";
    struct tenon_json json;
    struct tenon_json_token token;

    tenon_json_init(&json, text, sizeof(text) - 1, DEPTH);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        ck_assert_int_eq(tenon_json_next(&json, &token, NULL), TENON_OK);
        ck_assert_int_eq(token.type, expected[i]);
    }
}
END_TEST

/* The first token of `text`. */
static struct tenon_json_token first_token(const char *text)
{
    struct tenon_json json;
    struct tenon_json_token token;

    tenon_json_init(&json, text, strlen(text), DEPTH);
    ck_assert_int_eq(tenon_json_next(&json, &token, NULL), TENON_OK);
    return token;
}

START_TEST(only_plain_digits_below_2_to_the_64_are_unsigned_integers)
{
    static const char *const wrong[] = {"-1",
                                        "-0",
                                        "0.0",
                                        "4.0",
                                        "4e0",
                                        "1e3",
                                        "1E400",
                                        "18446744073709551616",
                                        "99999999999999999999999",
                                        "true",
                                        "\"4\"",
                                        "null"};
    struct tenon_json_token token = first_token("18446744073709551615");
    uint64_t value = 7;

    ck_assert(tenon_json_token_u64(&token, &value));
    ck_assert_uint_eq(value, UINT64_MAX);
    token = first_token("9007199254740993"); /* 2^53 + 1: a double cannot hold it */
    ck_assert(tenon_json_token_u64(&token, &value));
    ck_assert_uint_eq(value, UINT64_C(9007199254740993));
    token = first_token("0");
    ck_assert(tenon_json_token_u64(&token, &value));
    ck_assert_uint_eq(value, 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        token = first_token(wrong[i]);
        value = 7;
        ck_assert_msg(!tenon_json_token_u64(&token, &value), "%s", wrong[i]);
        ck_assert_uint_eq(value, 7);
    }
}
END_TEST

START_TEST(escapes_become_what_they_stand_for)
{
    struct tenon_json_token token =
        first_token("\"\\\"\\\\\\/\\b\\f\\n\\r\\tA\\u0041\\u00e9\\u20AC\\ud83d\\ude00z\"");
    static const char expected[] = "\"\\/\b\f\n\r\tAA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
    char out[128];
    size_t n = tenon_json_unescape(&token, out);

    ck_assert(token.escaped);
    ck_assert(!token.has_nul);
    ck_assert_uint_eq(n, sizeof(expected) - 1);
    ck_assert_mem_eq(out, expected, n);
    ck_assert(tenon_json_token_is(&token, expected));
    ck_assert(!tenon_json_token_is(&token, "\"\\/"));
}
END_TEST

START_TEST(unescaping_works_in_place)
{
    char text[] = "\"a\\u0062\\nc\"";
    struct tenon_json json;
    struct tenon_json_token token;
    size_t n;

    tenon_json_init(&json, text, sizeof(text) - 1, DEPTH);
    ck_assert_int_eq(tenon_json_next(&json, &token, NULL), TENON_OK);
    n = tenon_json_unescape(&token, text + 1);
    ck_assert_uint_eq(n, 4);
    ck_assert_mem_eq(text + 1, "ab\nc", 4);
}
END_TEST

START_TEST(an_escaped_nul_is_noted)
{
    struct tenon_json_token token = first_token("\"a\\u0000b\"");

    ck_assert(token.has_nul);
    ck_assert(!tenon_json_token_is(&token, "a"));
}
END_TEST

START_TEST(skip_passes_one_value)
{
    static const char text[] = "{\"a\":{\"x\":[1,{}]},\"b\":2}";
    struct tenon_json json;
    struct tenon_json_token token;

    tenon_json_init(&json, text, sizeof(text) - 1, DEPTH);
    ck_assert_int_eq(tenon_json_next(&json, &token, NULL), TENON_OK);
    ck_assert_int_eq(tenon_json_next(&json, &token, NULL), TENON_OK);
    ck_assert_int_eq(tenon_json_skip(&json, &token, NULL), TENON_OK);
    ck_assert_int_eq(tenon_json_next(&json, &token, NULL), TENON_OK);
    ck_assert(tenon_json_token_is(&token, "b"));
}
END_TEST

START_TEST(offsets_count_from_the_base)
{
    struct tenon_error err = {0};
    struct tenon_json json;
    struct tenon_json_token token;

    tenon_json_init(&json, "  x", 3, DEPTH);
    tenon_json_set_base(&json, 8);
    ck_assert_int_eq(tenon_json_next(&json, &token, &err), TENON_ERR_CORRUPT);
    ck_assert_uint_eq(err.offset, 10);
    memset(&err, 0, sizeof(err));
    tenon_json_init(&json, "[", 1, DEPTH);
    tenon_json_set_base(&json, 8);
    ck_assert_int_eq(tenon_json_next(&json, &token, &err), TENON_OK);
    ck_assert_int_eq(tenon_json_next(&json, &token, &err), TENON_ERR_CORRUPT);
    ck_assert_uint_eq(err.offset, 9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json_pull");
    TCase *tc = tcase_create("json_pull");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tc, every_text_has_its_status_and_offset, 0,
                        sizeof(texts) / sizeof(texts[0]));
    tcase_add_test(tc, every_prefix_of_a_value_is_truncated);
    tcase_add_test(tc, nesting_stops_at_the_limit);
    tcase_add_test(tc, tokens_come_in_order);
    tcase_add_test(tc, only_plain_digits_below_2_to_the_64_are_unsigned_integers);
    tcase_add_test(tc, escapes_become_what_they_stand_for);
    tcase_add_test(tc, unescaping_works_in_place);
    tcase_add_test(tc, an_escaped_nul_is_noted);
    tcase_add_test(tc, skip_passes_one_value);
    tcase_add_test(tc, offsets_count_from_the_base);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
