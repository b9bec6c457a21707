/* Files and memory as sources; what is not a regular file; files that shrink. */
#include "source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_error.h"
#include "mem.h"

static char folder[64];
static char path[128];

static void set_up(void)
{
    strcpy(folder, "source_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
}

static void tear_down(void)
{
    unlink(path);
    rmdir(folder);
}

static void write_file(const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(a_file_is_read_by_position)
{
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};
    char buf[4] = "";
    size_t n = 0;

    write_file("0123456789", 10);
    ck_ok(tenon_source_open_file(path, &source, &err), err);
    ck_assert_uint_eq(tenon_source_size(source), 10);
    ck_ok(tenon_source_read(source, 3, buf, 3, &err), err);
    ck_assert_mem_eq(buf, "345", 3);
    ck_ok(tenon_source_read_some(source, 8, buf, 4, &n, &err), err);
    ck_assert_uint_eq(n, 2);
    ck_ok(tenon_source_read_some(source, UINT64_MAX, buf, 4, &n, &err), err);
    ck_assert_uint_eq(n, 0);
    ck_fails(tenon_source_read(source, 8, buf, 3, &err), TENON_ERR_TRUNCATED, err);
    ck_assert_uint_eq(err.offset, 8);
    ck_assert_str_eq(err.path, path);
    tenon_source_free(source);
}
END_TEST

START_TEST(a_file_that_shrinks_while_open_is_an_error)
{
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};
    char buf[10];

    write_file("0123456789", 10);
    ck_ok(tenon_source_open_file(path, &source, &err), err);
    ck_assert_int_eq(truncate(path, 4), 0);
    ck_fails(tenon_source_read(source, 2, buf, 8, &err), TENON_ERR_TRUNCATED, err);
    ck_assert_str_eq(err.hint, "the file became shorter while it was being read");
    tenon_source_free(source);
}
END_TEST

START_TEST(a_pipe_without_writer_is_refused_at_once)
{
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};

    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_fails(tenon_source_open_file(path, &source, &err), TENON_ERR_NOT_RECOGNISED, err);
    ck_assert_str_eq(err.message, "is a pipe, a regular file is needed");
    ck_assert_ptr_null(source);
}
END_TEST

START_TEST(folders_devices_and_absent_files_are_named)
{
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};

    ck_fails(tenon_source_open_file(folder, &source, &err), TENON_ERR_NOT_RECOGNISED, err);
    memset(&err, 0, sizeof(err));
    ck_fails(tenon_source_open_file("/dev/zero", &source, &err), TENON_ERR_NOT_RECOGNISED, err);
    ck_assert_str_eq(err.message, "is a device, a regular file is needed");
    memset(&err, 0, sizeof(err));
    ck_fails(tenon_source_open_file(path, &source, &err), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.path, path);
}
END_TEST

START_TEST(slurping_respects_its_limit_and_terminates_the_text)
{
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};
    char *text = NULL;
    size_t n = 0;

    ck_ok(tenon_source_open_memory("abc", 3, "memory", &source, &err), err);
    ck_ok(tenon_source_slurp(source, 3, &text, &n, &err), err);
    ck_assert_uint_eq(n, 3);
    ck_assert_str_eq(text, "abc");
    tenon_mem_free(text);
    ck_fails(tenon_source_slurp(source, 2, &text, &n, &err), TENON_ERR_LIMIT, err);
    tenon_source_free(source);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_file_is_read_by_position);
    tcase_add_test(tests, a_file_that_shrinks_while_open_is_an_error);
    tcase_add_test(tests, a_pipe_without_writer_is_refused_at_once);
    tcase_add_test(tests, folders_devices_and_absent_files_are_named);
    tcase_add_test(tests, slurping_respects_its_limit_and_terminates_the_text);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
