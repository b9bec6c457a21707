/* Files that appear whole or not at all. */
#include "save.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_error.h"

static struct tenon_error err;
static char folder[64];
static char path[128];

static void make_folder(void)
{
    memset(&err, 0, sizeof(err));
    snprintf(folder, sizeof(folder), "tenon_save.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/out", folder);
}

static void remove_folder(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else is left behind */
}

static void save_text(const char *text, bool force)
{
    struct tenon_save save;

    ck_ok(tenon_save_begin(&save, path, force, &err), err);
    tenon_out_text(&save.out, text);
    ck_assert(access(path, F_OK) != 0 || force);
    ck_ok(tenon_save_commit(&save, &err), err);
    tenon_save_release(&save);
}

static void check_content(const char *text)
{
    char buf[64] = "";
    FILE *file = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(buf, 1, sizeof(buf) - 1, file), strlen(text));
    ck_assert_str_eq(buf, text);
    fclose(file);
}

START_TEST(a_file_appears_when_it_is_whole)
{
    save_text("hello", false);
    check_content("hello");
}
END_TEST

START_TEST(an_abandoned_file_leaves_nothing)
{
    struct tenon_save save;

    ck_ok(tenon_save_begin(&save, path, false, &err), err);
    tenon_out_text(&save.out, "half");
    tenon_save_release(&save);
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_signal_handler_removes_the_unfinished_file)
{
    struct tenon_save save;

    ck_ok(tenon_save_begin(&save, path, false, &err), err);
    ck_assert_int_eq(access(save.temp, F_OK), 0);
    tenon_save_abort();
    ck_assert_int_ne(access(save.temp, F_OK), 0);
    tenon_save_release(&save);
}
END_TEST

START_TEST(nothing_is_replaced_without_force)
{
    struct tenon_save save;
    struct stat info;

    save_text("old", false);
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_fails(tenon_save_begin(&save, path, false, &err), TENON_ERR_EXISTS, err);
    ck_assert_str_eq(err.hint, "use --force to replace it");
    tenon_save_release(&save);
    check_content("old");
    err = (struct tenon_error){0};
    save_text("new", true);
    check_content("new");
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0640);
}
END_TEST

START_TEST(a_file_that_came_meanwhile_is_not_replaced)
{
    struct tenon_save save;
    FILE *other;

    ck_ok(tenon_save_begin(&save, path, false, &err), err);
    other = fopen(path, "w");
    ck_assert_ptr_nonnull(other);
    fputs("other", other);
    fclose(other);
    ck_fails(tenon_save_commit(&save, &err), TENON_ERR_IO, err);
    tenon_save_release(&save);
    check_content("other");
}
END_TEST

/* A limit on the size of files stands for a full disk. */
START_TEST(a_failed_write_leaves_nothing)
{
    const struct rlimit limit = {1000, 1000};
    char bytes[4000] = {0};
    struct tenon_save save;

    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_ok(tenon_save_begin(&save, path, false, &err), err);
    tenon_out_write(&save.out, bytes, sizeof(bytes));
    ck_fails(tenon_save_commit(&save, &err), TENON_ERR_IO, err);
    ck_assert_int_eq(err.sys_errno, EFBIG);
    tenon_save_release(&save);
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_link_keeps_pointing_at_what_is_replaced)
{
    char other[160];
    struct stat info;

    snprintf(other, sizeof(other), "%s.real", path);
    save_text("old", false);
    ck_assert_int_eq(rename(path, other), 0);
    ck_assert_int_eq(symlink("out.real", path), 0);
    save_text("new", true);
    check_content("new");
    ck_assert_int_eq(lstat(path, &info), 0);
    ck_assert(S_ISLNK(info.st_mode));
    unlink(other);
}
END_TEST

START_TEST(what_is_no_regular_file_is_never_replaced)
{
    struct tenon_save save;

    ck_fails(tenon_save_begin(&save, folder, true, &err), TENON_ERR_MISUSE, err);
    tenon_save_release(&save);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("save");
    TCase *tc = tcase_create("save");

    tcase_add_checked_fixture(tc, make_folder, remove_folder);
    tcase_add_test(tc, a_file_appears_when_it_is_whole);
    tcase_add_test(tc, an_abandoned_file_leaves_nothing);
    tcase_add_test(tc, a_signal_handler_removes_the_unfinished_file);
    tcase_add_test(tc, nothing_is_replaced_without_force);
    tcase_add_test(tc, a_file_that_came_meanwhile_is_not_replaced);
    tcase_add_test(tc, a_failed_write_leaves_nothing);
    tcase_add_test(tc, a_link_keeps_pointing_at_what_is_replaced);
    tcase_add_test(tc, what_is_no_regular_file_is_never_replaced);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
