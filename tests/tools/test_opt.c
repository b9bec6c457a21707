/* Parsing of command lines, and the texts of its complaints. */
#include "opt.h"

#include <string.h>

#include "check_error.h"

struct common {
    bool json, quiet;
    uint64_t threads;
};

struct values {
    bool all;
    const char *output;
    struct tenon_opt_list ids;
    unsigned sort;
    uint64_t size;
    double tolerance;
};

static const char *const sort_words[] = {"name", "size", NULL};

static const struct tenon_opt common_options[] = {
    {.name = "json", .kind = TENON_OPT_FLAG, .field = offsetof(struct common, json)},
    {.letter = 'q',
     .name = "quiet",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct common, quiet)},
    {.letter = 'j',
     .name = "threads",
     .kind = TENON_OPT_NUMBER,
     .field = offsetof(struct common, threads),
     .value = "N",
     .min = 1,
     .max = 64},
};

static const struct tenon_opt options[] = {
    {.letter = 'a', .name = "all", .kind = TENON_OPT_FLAG, .field = offsetof(struct values, all)},
    {.letter = 'o',
     .name = "output",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct values, output),
     .value = "FILE"},
    {.name = "ids",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct values, ids),
     .value = "LIST",
     .flags = TENON_OPT_REPEATED},
    {.name = "sort",
     .kind = TENON_OPT_CHOICE,
     .field = offsetof(struct values, sort),
     .value = "BY",
     .choices = sort_words},
    {.name = "max-size",
     .kind = TENON_OPT_SIZE,
     .field = offsetof(struct values, size),
     .value = "SIZE"},
    {.name = "tolerance",
     .kind = TENON_OPT_REAL,
     .field = offsetof(struct values, tolerance),
     .value = "ABS"},
};

static struct common common;
static struct values values;
static struct tenon_opt_parse parse;
static struct tenon_error err;

static void set_up(void)
{
    memset(&common, 0, sizeof(common));
    memset(&values, 0, sizeof(values));
    memset(&err, 0, sizeof(err));
    parse = (struct tenon_opt_parse){
        .tables = {{common_options, 3, &common, 0}, {options, 6, &values, 0}}};
}

static void tear_down(void)
{
    tenon_opt_release(&parse);
}

/* Up to the first NULL. */
static enum tenon_status run(const char *const *argv)
{
    size_t n = 0;

    while (argv[n] != NULL)
        n++;
    return tenon_opt_parse(&parse, argv, n, &err);
}

#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

START_TEST(long_options_take_values_both_ways)
{
    ck_ok(RUN("--output=a", "--threads", "3", "--sort=SIZE", "--max-size", "2KiB"), err);
    ck_assert_str_eq(values.output, "a");
    ck_assert_uint_eq(common.threads, 3);
    ck_assert_uint_eq(values.sort, 1);
    ck_assert_uint_eq(values.size, 2048);
}
END_TEST

START_TEST(letters_bundle_and_the_last_takes_a_value)
{
    ck_ok(RUN("-aqj4", "-o", "x"), err);
    ck_assert(values.all && common.quiet);
    ck_assert_uint_eq(common.threads, 4);
    ck_assert_str_eq(values.output, "x");
}
END_TEST

START_TEST(options_may_stand_among_operands_up_to_a_double_dash)
{
    ck_ok(RUN("m", "-a", "-", "--", "--json", "-q"), err);
    ck_assert_uint_eq(parse.n_operands, 4);
    ck_assert_str_eq(parse.operands[0], "m");
    ck_assert_str_eq(parse.operands[1], "-");
    ck_assert_str_eq(parse.operands[2], "--json");
    ck_assert(values.all && !common.json && !common.quiet);
}
END_TEST

START_TEST(a_value_may_look_like_an_option)
{
    ck_ok(RUN("--ids", "-", "-o", "--json"), err);
    ck_assert_str_eq(values.ids.items[0], "-");
    ck_assert_str_eq(values.output, "--json");
    ck_assert(!common.json);
}
END_TEST

START_TEST(repeated_options_keep_their_order)
{
    ck_ok(RUN("--ids", "1", "--ids=2", "--ids", "3"), err);
    ck_assert_uint_eq(values.ids.n, 3);
    ck_assert_str_eq(values.ids.items[1], "2");
    ck_assert_str_eq(values.ids.items[2], "3");
}
END_TEST

START_TEST(parsing_can_stop_at_the_first_operand)
{
    parse.stop_at_operand = true;
    ck_ok(RUN("--json", "ls", "--unknown"), err);
    ck_assert(common.json);
    ck_assert_uint_eq(parse.n_used, 1);
    ck_assert_uint_eq(parse.n_operands, 0);
}
END_TEST

/* Each complaint with the text it must contain. */
static const struct {
    const char *const argv[3];
    const char *text, *hint;
} complaints[] = {
    {{"--jsno"}, "unknown option '--jsno'", "did you mean '--json'?"},
    {{"--zzzzzzzz"}, "unknown option '--zzzzzzzz'", ""},
    {{"-ax"}, "unknown option '-x' in '-ax'", ""},
    {{"--json=1"}, "option '--json' takes no value", ""},
    {{"--output"}, "option '--output' needs a value (FILE)", ""},
    {{"-o"}, "option '--output' needs a value (FILE)", ""},
    {{"-oa", "-ob"}, "option '--output' is given twice", ""},
    {{"-j", "0"}, "option '--threads': '0' is not a whole number from 1 to 64", ""},
    {{"-j", "65"}, "'65' is not", ""},
    {{"-j", "4x"}, "'4x' is not", ""},
    {{"-j", ""}, "'' is not", ""},
    {{"-j", "18446744073709551617"}, "is not a whole number", ""},
    {{"--sort", "date"}, "option '--sort': 'date' is not one of name, size", ""},
    {{"--max-size", "1XB"}, "'1XB' is not a size like", ""},
    {{"--max-size", "18446744073709551615K"}, "is not a size like", ""},
    {{"--tolerance", "-1"}, "'-1' is not a finite number", ""},
    {{"--tolerance", "nan"}, "'nan' is not a finite number", ""},
    {{"--tolerance", "1e999"}, "'1e999' is not a finite number", ""},
    {{"--sort", "\033[31m"}, "'\\u{1b}[31m' is not", ""},
};

START_TEST(wrong_usage_is_explained)
{
    ck_fails(run(complaints[_i].argv), TENON_ERR_MISUSE, err);
    ck_assert_msg(strstr(err.message, complaints[_i].text) != NULL, "%s", err.message);
    ck_assert_str_eq(err.hint, complaints[_i].hint);
    ck_assert(err.offset == TENON_NO_OFFSET);
}
END_TEST

START_TEST(numbers_are_decimal_or_hexadecimal)
{
    uint64_t n;
    const char *end;

    ck_assert(tenon_opt_u64("18446744073709551615", NULL, &n) && n == UINT64_MAX);
    ck_assert(tenon_opt_u64("0xFf", NULL, &n) && n == 255);
    ck_assert(tenon_opt_u64("12-", &end, &n) && n == 12 && *end == '-');
    ck_assert(!tenon_opt_u64("12-", NULL, &n));
    ck_assert(!tenon_opt_u64("0x", NULL, &n));
    ck_assert(!tenon_opt_u64("-1", NULL, &n));
    ck_assert(!tenon_opt_u64(" 1", NULL, &n));
}
END_TEST

START_TEST(sizes_know_both_kinds_of_prefix)
{
    uint64_t n;

    ck_assert(tenon_opt_size("5GB", &n) && n == UINT64_C(5000000000));
    ck_assert(tenon_opt_size("1gib", &n) && n == UINT64_C(1073741824));
    ck_assert(tenon_opt_size("7", &n) && n == 7);
    ck_assert(!tenon_opt_size("", &n) && !tenon_opt_size("GB", &n));
}
END_TEST

START_TEST(the_nearest_word_is_one_that_could_be_meant)
{
    static const char *const words[] = {"info", "ls", "meta", "embed", "completion"};

    ck_assert_str_eq(tenon_opt_nearest("ifno", words, 5), "info");
    ck_assert_str_eq(tenon_opt_nearest("embbed", words, 5), "embed");
    ck_assert_str_eq(tenon_opt_nearest("compeltion", words, 5), "completion");
    ck_assert_ptr_null(tenon_opt_nearest("xyzzy", words, 5));
    ck_assert_ptr_null(tenon_opt_nearest("", words, 5));
    ck_assert_ptr_null(
        tenon_opt_nearest("a word far longer than any that people type by accident", words, 5));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("opt");
    TCase *tc = tcase_create("parse");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, long_options_take_values_both_ways);
    tcase_add_test(tc, letters_bundle_and_the_last_takes_a_value);
    tcase_add_test(tc, options_may_stand_among_operands_up_to_a_double_dash);
    tcase_add_test(tc, a_value_may_look_like_an_option);
    tcase_add_test(tc, repeated_options_keep_their_order);
    tcase_add_test(tc, parsing_can_stop_at_the_first_operand);
    tcase_add_loop_test(tc, wrong_usage_is_explained, 0,
                        (int)(sizeof(complaints) / sizeof(complaints[0])));
    tcase_add_test(tc, numbers_are_decimal_or_hexadecimal);
    tcase_add_test(tc, sizes_know_both_kinds_of_prefix);
    tcase_add_test(tc, the_nearest_word_is_one_that_could_be_meant);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
