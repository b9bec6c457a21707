/* Patterns for names. */
#include "tenon/text.h"

#include <string.h>

#include "check_error.h"

static bool glob(const char *pattern, const char *text)
{
    return tenon_text_glob(pattern, text, strlen(text));
}

START_TEST(patterns_match_like_a_shell)
{
    ck_assert(glob("*norm*", "blk.0.attn_norm.weight") && glob("*", "") && glob("a?c", "abc"));
    ck_assert(glob("blk.[0-9].x", "blk.7.x") && !glob("blk.[!0-9].x", "blk.7.x"));
    ck_assert(glob("[]]", "]") && glob("\\*", "*") && !glob("\\*", "a"));
    ck_assert(!glob("", "a") && !glob("a", "") && !glob("[a", "a") && !glob("a*b", "ac"));
    /* Linear: a backtracking matcher would not end within the age of the universe. */
    ck_assert(!glob("*a*a*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("glob");
    TCase *tc = tcase_create("glob");

    tcase_add_test(tc, patterns_match_like_a_shell);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
