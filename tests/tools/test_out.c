/* Output: JSON that is always valid, tables, wrapped text, numbers for people, errors. */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check_error.h"
#include "out_json.h"
#include "out_table.h"
#include "report.h"

static struct tenon_out out;
static const struct tenon_term plain = {.width = 80};

static void set_up(void)
{
    tenon_out_init(&out, -1);
}

static void tear_down(void)
{
    tenon_out_release(&out);
}

/* What was written so far, which is then forgotten. */
static const char *written(void)
{
    tenon_out_write(&out, "", 1);
    out.used = 0;
    return out.buf;
}

static const char *json_string(const char *text, size_t len)
{
    struct tenon_json json = {.out = &out};

    tenon_json_str(&json, NULL, (struct tenon_str){text, len});
    return written();
}

START_TEST(strings_keep_unicode_and_escape_what_disturbs)
{
    ck_assert_str_eq(json_string("caf\u00e9 \U0001f600", 10), "\"caf\u00e9 \U0001f600\"");
    ck_assert_str_eq(json_string("a\"\\\n\t\r", 6), "\"a\\\"\\\\\\n\\t\\r\"");
    ck_assert_str_eq(json_string("\0\033\177", 3), "\"\\u0000\\u001b\\u007f\"");
    ck_assert_str_eq(json_string("\xc2\x9b\u202e\u200b\u2028", 11),
                     "\"\\u009b\\u202e\\u200b\\u2028\"");
    ck_assert_str_eq(json_string("\U000e0041", 4), "\"\\udb40\\udc41\"");
}
END_TEST

/* A byte outside UTF-8: U+FFFD and its two digits. A real U+FFFD stays as it is. */
START_TEST(bytes_outside_utf8_become_a_documented_escape)
{
    ck_assert_str_eq(json_string("a\xff\xc0\x80z", 5), "\"a\\ufffdff\\ufffdc0\\ufffd80z\"");
    ck_assert_str_eq(json_string("\xed\xa0\x80", 3), "\"\\ufffded\\ufffda0\\ufffd80\"");
    ck_assert_str_eq(json_string("\xf0\x9f", 2), "\"\\ufffdf0\\ufffd9f\"");
    ck_assert_str_eq(json_string("\ufffd", 3), "\"\ufffd\"");
}
END_TEST

START_TEST(nesting_commas_and_ends_are_right)
{
    struct tenon_json json = {.out = &out};

    tenon_json_document(&json, "s/1");
    tenon_json_u64(&json, "big", UINT64_MAX);
    tenon_json_i64(&json, "small", INT64_MIN);
    tenon_json_array_flat(&json, "flat");
    tenon_json_f64(&json, NULL, NAN);
    tenon_json_f64(&json, NULL, -INFINITY);
    tenon_json_f32(&json, NULL, 0.1f);
    tenon_json_end(&json);
    tenon_json_array(&json, "empty");
    tenon_json_end(&json);
    tenon_json_object(&json, "o");
    tenon_json_known(&json, "unknown", -1);
    tenon_json_text(&json, "none", NULL);
    tenon_json_offset(&json, "offset", TENON_NO_OFFSET);
    tenon_json_bool(&json, "yes", true);
    tenon_json_hash(&json, "hash", 1, 2);
    tenon_json_end(&json);
    tenon_json_end(&json);
    ck_assert_str_eq(written(), "{\n"
                                "  \"schema\": \"s/1\",\n"
                                "  \"big\": 18446744073709551615,\n"
                                "  \"small\": -9223372036854775808,\n"
                                "  \"flat\": [\"NaN\", \"-Infinity\", 0.1],\n"
                                "  \"empty\": [],\n"
                                "  \"o\": {\n"
                                "    \"unknown\": null,\n"
                                "    \"none\": null,\n"
                                "    \"offset\": null,\n"
                                "    \"yes\": true,\n"
                                "    \"hash\": \"00000000000000010000000000000002\"\n"
                                "  }\n"
                                "}\n");
}
END_TEST

START_TEST(numbers_are_the_shortest_that_read_back)
{
    char buf[32];

    ck_assert_str_eq(tenon_out_number(buf, 0.1, false), "0.1");
    ck_assert_str_eq(tenon_out_number(buf, 1.0 / 3, false), "0.3333333333333333");
    ck_assert_str_eq(tenon_out_number(buf, (double)(1.0f / 3), true), "0.33333334");
    ck_assert_str_eq(tenon_out_number(buf, 5e-324, false), "4.94065645841247e-324");
    ck_assert_str_eq(tenon_out_number(buf, -0.0, false), "-0");
    ck_assert_str_eq(tenon_out_number(buf, 1e300, false), "1e+300");
}
END_TEST

START_TEST(numbers_for_people)
{
    char buf[32];

    ck_assert_str_eq(tenon_out_grouped(buf, 1234567), "1,234,567");
    ck_assert_str_eq(tenon_out_grouped(buf, 999), "999");
    ck_assert_str_eq(tenon_out_bytes(buf, 999), "999 B");
    ck_assert_str_eq(tenon_out_bytes(buf, 1705136536), "1.71 GB");
    ck_assert_str_eq(tenon_out_bytes(buf, 99960), "100 kB");
    ck_assert_str_eq(tenon_out_bytes(buf, 999600), "1.00 MB");
    ck_assert_str_eq(tenon_out_count(buf, UINT64_C(7250000000)), "7.25 B");
    ck_assert_str_eq(tenon_out_count(buf, UINT64_MAX), "18446744 T");
}
END_TEST

/* Wide characters take two columns, combining marks none. */
START_TEST(tables_align_by_columns_not_bytes)
{
    struct tenon_table table;

    tenon_table_init(&table);
    tenon_table_column(&table, "NAME", false);
    tenon_table_column(&table, "N", true);
    tenon_table_cell(&table, "a");
    tenon_table_cell(&table, "1");
    tenon_table_safe(&table, "\u6f22\u5b57\u00e9", 8);
    tenon_table_cell(&table, "10");
    tenon_table_safe(&table, "x\033", 2);
    tenon_table_cell(&table, "%s", "");
    tenon_table_print(&table, &out, &plain, 0);
    ck_assert_str_eq(written(), "NAME      N\n"
                                "a         1\n"
                                "\u6f22\u5b57\u00e9    10\n"
                                "x\\u{1b}\n");
    tenon_table_print_tsv(&table, &out);
    ck_assert_str_eq(written(), "NAME\tN\na\t1\n\u6f22\u5b57\u00e9\t10\nx\\u{1b}\t\n");
    tenon_table_release(&table);
}
END_TEST

static struct tenon_table make_wide_table(void)
{
    struct tenon_table table;

    tenon_table_init(&table);
    tenon_table_column(&table, "NAME", false);
    tenon_table_column_words(&table, "WORDS");
    tenon_table_column(&table, "N", true);
    tenon_table_cell(&table, "first");
    tenon_table_cell(&table, "one two three four");
    tenon_table_cell(&table, "100");
    tenon_table_cell(&table, "second");
    tenon_table_cell(&table, "%s", "");
    tenon_table_cell(&table, "7");
    return table;
}

START_TEST(words_wrap_where_the_width_is_limited)
{
    const struct tenon_term narrow = {.width = 24, .limited = true};
    struct tenon_table table = make_wide_table();

    tenon_table_print(&table, &out, &narrow, 0);
    ck_assert_str_eq(written(), "NAME    WORDS          N\n"
                                "first   one two      100\n"
                                "        three four\n"
                                "second                 7\n");
    tenon_table_release(&table);
}
END_TEST

START_TEST(columns_without_room_go_on_below)
{
    const struct tenon_term narrow = {.width = 20, .limited = true};
    struct tenon_table table = make_wide_table();

    table.column[1].wraps = false;
    tenon_table_print(&table, &out, &narrow, 0);
    ck_assert_str_eq(written(), "NAME\n"
                                "    WORDS\n"
                                "      N\n"
                                "first\n"
                                "    one two three four\n"
                                "    100\n"
                                "second\n"
                                "      7\n");
    tenon_table_release(&table);
}
END_TEST

START_TEST(tables_keep_their_lines_where_nothing_limits_them)
{
    const struct tenon_term pipe = {.width = 20};
    struct tenon_table table = make_wide_table();

    tenon_table_print(&table, &out, &pipe, 0);
    ck_assert_str_eq(written(), "NAME    WORDS                 N\n"
                                "first   one two three four  100\n"
                                "second                        7\n");
    tenon_table_release(&table);
}
END_TEST

START_TEST(text_wraps_at_the_width)
{
    tenon_out_wrapped(&out, "one two  three four", 0, 2, 9);
    ck_assert_str_eq(written(), "one two\n  three\n  four\n");
    tenon_out_wrapped(&out, "unbreakable", 0, 0, 4);
    ck_assert_str_eq(written(), "unbreakable\n");
}
END_TEST

/* No byte of a hostile text reaches the output as it is. */
START_TEST(unsafe_text_is_escaped_whatever_its_length)
{
    char text[3000];

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(i % 2 == 0 ? 0x1b : 0x9b);
    tenon_out_safe(&out, text, sizeof(text));
    ck_assert_uint_eq(out.used, sizeof(text) / 2 * (strlen("\\u{1b}") + strlen("\\x9b")));
    for (size_t i = 0; i < out.used; i++)
        ck_assert(out.buf[i] >= 0x20 && out.buf[i] < 0x7f);
}
END_TEST

START_TEST(an_error_is_two_lines_or_one_object)
{
    struct tenon_error err = {.status = TENON_ERR_TRUNCATED,
                              .offset = 456,
                              .path = "model.gguf",
                              .subject = "t",
                              .message = "ends 12 bytes after the end of the file",
                              .hint = "the download may be incomplete"};

    tenon_report_write(&out, &err, false, &plain);
    ck_assert_str_eq(written(),
                     "tenon: model.gguf: offset 0x1c8 (456): 't': ends 12 bytes after the end of "
                     "the file\nhint: the download may be incomplete\n");
    tenon_report_write(&out, &err, true, &plain);
    ck_assert_str_eq(written(),
                     "{\"error\": {\"code\": \"truncated\", \"message\": \"ends 12 bytes after the "
                     "end of the file\", \"path\": \"model.gguf\", \"offset\": 456, \"subject\": "
                     "\"t\", \"hint\": \"the download may be incomplete\"}}\n");
}
END_TEST

START_TEST(the_first_cause_wins_and_is_sanitised)
{
    struct tenon_error err = {0};

    tenon_report_fail(&err, TENON_ERR_MISUSE, "bad '%s'", "\033]8;;x\007");
    tenon_report_fail(&err, TENON_ERR_IO, "later");
    tenon_report_hint(&err, "first hint");
    tenon_report_hint(&err, "second hint");
    ck_assert_int_eq(err.status, TENON_ERR_MISUSE);
    ck_assert_str_eq(err.message, "bad '\\u{1b}]8;;x\\u{7}'");
    ck_assert_str_eq(err.hint, "first hint");
}
END_TEST

START_TEST(a_failed_write_is_remembered)
{
    struct tenon_out bad;

    tenon_out_init(&bad, 1000); /* no such descriptor */
    tenon_out_text(&bad, "x");
    ck_assert(!tenon_out_flush(&bad));
    ck_assert_int_eq(bad.error, EBADF);
    tenon_out_text(&bad, "y");
    ck_assert_int_eq(bad.error, EBADF);
    tenon_out_release(&bad);
}
END_TEST

/* What is too large for the buffer goes past it, after what waits there. The sum is that of
 * Python's zlib.crc32 over the same bytes. */
START_TEST(large_pieces_keep_their_place_and_their_sum)
{
    static char large[200000], back[200020];
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (char)(i * 7 % 251);
    tenon_out_init(&out, fileno(file));
    out.sums = true;
    tenon_out_text(&out, "before");
    tenon_out_write(&out, large, sizeof(large));
    tenon_out_text(&out, "after");
    ck_assert(tenon_out_flush(&out));
    ck_assert_uint_eq(out.total, 6 + sizeof(large) + 5);
    ck_assert_uint_eq(out.sum, 0xc243c224);
    ck_assert_int_eq(pread(out.fd, back, sizeof(back), 0), (ssize_t)out.total);
    ck_assert_mem_eq(back, "before", 6);
    ck_assert_mem_eq(back + 6, large, sizeof(large));
    ck_assert_mem_eq(back + 6 + sizeof(large), "after", 5);
    fclose(file);
}
END_TEST

START_TEST(large_pieces_that_fail_are_remembered)
{
    static const char large[100000];
    int full = open("/dev/full", O_WRONLY);

    if (full < 0)
        return;
    tenon_out_init(&out, full);
    tenon_out_write(&out, large, sizeof(large));
    ck_assert_int_eq(out.error, ENOSPC);
    ck_assert(!tenon_out_flush(&out));
    close(full);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("out");
    TCase *tc = tcase_create("out");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, strings_keep_unicode_and_escape_what_disturbs);
    tcase_add_test(tc, bytes_outside_utf8_become_a_documented_escape);
    tcase_add_test(tc, nesting_commas_and_ends_are_right);
    tcase_add_test(tc, numbers_are_the_shortest_that_read_back);
    tcase_add_test(tc, numbers_for_people);
    tcase_add_test(tc, tables_align_by_columns_not_bytes);
    tcase_add_test(tc, words_wrap_where_the_width_is_limited);
    tcase_add_test(tc, columns_without_room_go_on_below);
    tcase_add_test(tc, tables_keep_their_lines_where_nothing_limits_them);
    tcase_add_test(tc, text_wraps_at_the_width);
    tcase_add_test(tc, unsafe_text_is_escaped_whatever_its_length);
    tcase_add_test(tc, an_error_is_two_lines_or_one_object);
    tcase_add_test(tc, the_first_cause_wins_and_is_sanitised);
    tcase_add_test(tc, a_failed_write_is_remembered);
    tcase_add_test(tc, large_pieces_keep_their_place_and_their_sum);
    tcase_add_test(tc, large_pieces_that_fail_are_remembered);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
