/* Files and memory as sources; what is not a regular file; files that shrink. */
#include "source.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_error.h"
#include "mem.h"
#include "parallel.h"

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

/* --- more files than descriptors --- */

enum { MANY = 3 * TENON_SOURCE_OPEN };
static struct tenon_source *many[MANY];

static void open_many(void)
{
    struct tenon_error err = {0};

    for (unsigned i = 0; i < MANY; i++) {
        char text[16];

        snprintf(text, sizeof(text), "%08u", i);
        snprintf(path, sizeof(path), "%s/%u", folder, i);
        write_file(text, 8);
        ck_ok(tenon_source_open_file(path, &many[i], &err), err);
    }
}

static void close_many(void)
{
    for (unsigned i = 0; i < MANY; i++) {
        tenon_source_free(many[i]);
        snprintf(path, sizeof(path), "%s/%u", folder, i);
        unlink(path);
    }
}

static size_t count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t n = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

/* Reads the files in an order that has nothing to do with that of opening. */
static enum tenon_status read_one(void *user, size_t i, unsigned worker, struct tenon_error *err)
{
    unsigned which = (unsigned)(i * 37 % MANY);
    char wanted[16], got[8];
    enum tenon_status st = tenon_source_read(many[which], 0, got, sizeof(got), err);

    (void)user;
    (void)worker;
    snprintf(wanted, sizeof(wanted), "%08u", which);
    return st == TENON_OK && memcmp(got, wanted, 8) != 0 ? TENON_ERR_CORRUPT : st;
}

START_TEST(many_files_share_few_descriptors)
{
    struct tenon_error err = {0};
    size_t before = count_descriptors();

    open_many();
    ck_assert_uint_le(count_descriptors(), before + TENON_SOURCE_OPEN);
    ck_ok(tenon_parallel(8, (size_t)20 * MANY, read_one, NULL, &err), err);
    ck_assert_uint_le(count_descriptors(), before + TENON_SOURCE_OPEN);
    close_many();
    ck_assert_uint_eq(count_descriptors(), before);
}
END_TEST

START_TEST(a_file_that_was_replaced_is_not_read)
{
    struct tenon_error err = {0};
    char got[8], other[128];

    open_many();
    snprintf(path, sizeof(path), "%s/other", folder);
    write_file("otherfil", 8);
    snprintf(other, sizeof(other), "%s/0", folder); /* the first is closed by now */
    ck_assert_int_eq(rename(path, other), 0);
    ck_fails(tenon_source_read(many[0], 0, got, 8, &err), TENON_ERR_MISMATCH, err);
    ck_assert_str_eq(err.message, "another file has taken its place while it was being read");
    ck_assert_str_eq(err.path, other);
    close_many();
}
END_TEST

START_TEST(a_change_while_it_is_open_is_seen)
{
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

    write_file("0123456789", 10);
    ck_ok(tenon_source_open_file(path, &source, &err), err);
    ck_ok(tenon_source_unchanged(source, &err), err);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    ck_fails(tenon_source_unchanged(source, &err), TENON_ERR_MISMATCH, err);
    ck_assert_str_eq(err.message, "was changed while it was being read");
    err = (struct tenon_error){0};
    ck_assert_int_eq(truncate(path, 4), 0);
    ck_fails(tenon_source_unchanged(source, &err), TENON_ERR_TRUNCATED, err);
    ck_assert_uint_eq(err.offset, 4);
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
    tcase_add_test(tests, many_files_share_few_descriptors);
    tcase_add_test(tests, a_file_that_was_replaced_is_not_read);
    tcase_add_test(tests, a_change_while_it_is_open_is_seen);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
