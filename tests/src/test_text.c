/* UTF-8 (RFC 3629) and terminal-safe copies. */
#include "text.h"

#include <string.h>

#include "check_error.h"

static const char *sanitise(const char *text, size_t len)
{
    static char buf[256];

    tenon_text_sanitise(buf, sizeof(buf), text, len);
    return buf;
}

START_TEST(well_formed_sequences_of_every_length_are_valid)
{
    ck_assert(tenon_utf8_valid("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10));
    ck_assert(tenon_utf8_valid("\xf4\x8f\xbf\xbf", 4)); /* U+10FFFF */
    ck_assert(tenon_utf8_valid("", 0));
    ck_assert(tenon_utf8_valid("0123456789\0abcdef", 17));
}
END_TEST

START_TEST(overlong_forms_surrogates_and_beyond_are_invalid)
{
    static const char *const bad[] = {
        "\xc0\x80",     "\xc1\xbf",     "\xe0\x80\x80",     "\xe0\x9f\xbf",     "\xf0\x8f\xbf\xbf",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\x80",
        "\xe2\x82",     "\xff",         "\xe2\x28\xa1"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!tenon_utf8_valid(bad[i], strlen(bad[i])), "sequence %zu", i);
}
END_TEST

START_TEST(controls_and_bad_bytes_are_escaped)
{
    ck_assert_str_eq(sanitise("\x1b]8;;x\x07", 7), "\\u{1b}]8;;x\\u{7}");
    ck_assert_str_eq(sanitise("a\nb\tc\rd", 7), "a\\nb\\tc\\rd");
    ck_assert_str_eq(sanitise("\xc2\x9b", 2), "\\u{9b}");
    ck_assert_str_eq(sanitise("\xe2\x80\xae", 3), "\\u{202e}");
    ck_assert_str_eq(sanitise("\xe2\x80\x8b", 3), "\\u{200b}");
    ck_assert_str_eq(sanitise("\xff"
                              "a\0b",
                              4),
                     "\\xffa\\u{0}b");
    ck_assert_str_eq(sanitise("caf\xc3\xa9", 5), "caf\xc3\xa9");
}
END_TEST

START_TEST(long_text_is_cut_between_characters_and_marked)
{
    char buf[8];

    ck_assert_uint_eq(tenon_text_sanitise(buf, sizeof(buf), "abcdefghij", 10), 7);
    ck_assert_str_eq(buf, "abcd...");
    ck_assert_uint_eq(tenon_text_sanitise(buf, sizeof(buf), "abcdefg", 7), 7);
    ck_assert_str_eq(buf, "abcdefg");
    tenon_text_sanitise(buf, sizeof(buf), "abc\xe2\x82\xac\xe2\x82\xac", 9);
    ck_assert_str_eq(buf, "abc...");
}
END_TEST

START_TEST(no_input_makes_the_output_unsafe_or_too_long)
{
    char text[4], buf[24];

    for (unsigned long v = 0; v < 0x1000000; v += 251) {
        size_t pos = 0, n;

        text[0] = (char)(v >> 16), text[1] = (char)(v >> 8), text[2] = (char)v, text[3] = 'x';
        n = tenon_text_sanitise(buf, sizeof(buf), text, 4);
        ck_assert_uint_eq(n, strlen(buf));
        while (pos < n) {
            int32_t codepoint = tenon_utf8_next(buf, n, &pos);

            ck_assert(codepoint >= 0 && tenon_codepoint_safe(codepoint));
        }
    }
}
END_TEST

START_TEST(only_code_points_can_be_safe)
{
    ck_assert(tenon_codepoint_safe('a') && tenon_codepoint_safe(0x20ac));
    ck_assert(!tenon_codepoint_safe(-1) && !tenon_codepoint_safe(0x9b));
    ck_assert(!tenon_codepoint_safe(0x202e) && !tenon_codepoint_safe(0x10ffff));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, only_code_points_can_be_safe);
    tcase_add_test(tests, well_formed_sequences_of_every_length_are_valid);
    tcase_add_test(tests, overlong_forms_surrogates_and_beyond_are_invalid);
    tcase_add_test(tests, controls_and_bad_bytes_are_escaped);
    tcase_add_test(tests, long_text_is_cut_between_characters_and_marked);
    tcase_add_test(tests, no_input_makes_the_output_unsafe_or_too_long);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
