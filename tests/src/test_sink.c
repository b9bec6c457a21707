/* What may be written to, and what writing leaves behind, seen through plans of one text. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_error.h"
#include "io.h"
#include "plan_files.h"

static char folder[64];
static char notes[4096];

static void set_up(void)
{
    strcpy(folder, "sink_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    notes[0] = '\0';
}

static void tear_down(void)
{
    char command[128];

    ck_assert_int_eq(chdir(".."), 0);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void take_note(const char *text, void *user)
{
    size_t used = strlen(notes);

    (void)user;
    snprintf(notes + used, sizeof(notes) - used, "%s\n", text);
}

static const struct tenon_run_options plain = {.note = take_note};
static const struct tenon_run_options force = {.force = true, .note = take_note};

/* Writes "new" to `path`. */
static enum tenon_status write_text(const char *path, const struct tenon_run_options *options,
                                    struct tenon_error *err)
{
    struct tenon_plan *plan = NULL;
    enum tenon_status st;

    ck_ok(tenon_plan_new(path, &plan, err), *err);
    ck_ok(tenon_plan_add_text(plan, path, "new", 3, false, err), *err);
    plan_lay_out(plan);
    st = tenon_plan_run(plan, options, err);
    tenon_plan_free(plan);
    ck_assert_uint_eq(plan_count_hidden("."), 0);
    return st;
}

static void expect_file(const char *path, const char *text)
{
    size_t n = 0;
    unsigned char *got = plan_read_file(path, &n);

    ck_assert_msg(got != NULL, "'%s' is not there", path);
    ck_assert_uint_eq(n, strlen(text));
    ck_assert_mem_eq(got, text, n);
    free(got);
}

static mode_t mode_of(const char *path)
{
    struct stat info;

    ck_assert_int_eq(lstat(path, &info), 0);
    return info.st_mode & 07777;
}

START_TEST(a_new_file_has_the_mode_of_the_umask)
{
    struct tenon_error err = {0};

    umask(027);
    ck_ok(write_text("out", &plain, &err), err);
    expect_file("out", "new");
    ck_assert_uint_eq(mode_of("out"), 0640);
}
END_TEST

START_TEST(what_exists_is_replaced_only_with_force_and_keeps_its_mode)
{
    struct tenon_error err = {0};

    plan_write_file("out", "old", 3);
    ck_assert_int_eq(chmod("out", 0604), 0);
    ck_fails(write_text("out", &plain, &err), TENON_ERR_EXISTS, err);
    ck_assert_str_eq(err.message, "exists already");
    ck_assert_str_eq(err.path, "out");
    ck_assert_str_eq(err.hint, "use --force to replace it");
    expect_file("out", "old");
    err = (struct tenon_error){0};
    ck_ok(write_text("out", &force, &err), err);
    expect_file("out", "new");
    ck_assert_uint_eq(mode_of("out"), 0604);
}
END_TEST

START_TEST(a_link_stays_and_its_target_is_replaced)
{
    struct tenon_error err = {0};
    char to[64] = "";

    ck_assert_int_eq(mkdir("there", 0777), 0);
    plan_write_file("there/real", "old", 3);
    ck_assert_int_eq(symlink("real", "there/second"), 0);
    ck_assert_int_eq(symlink("there/second", "first"), 0);
    ck_ok(write_text("first", &force, &err), err);
    ck_assert_int_eq(readlink("first", to, sizeof(to)), 12);
    expect_file("there/real", "new");
    ck_assert_uint_eq(plan_count_hidden("there"), 0);
    ck_assert_int_eq(symlink("loop", "loop"), 0);
    ck_fails(write_text("loop", &force, &err), TENON_ERR_IO, err);
    ck_assert_int_eq(err.sys_errno, ELOOP);
}
END_TEST

START_TEST(a_link_into_a_store_is_refused)
{
    static const char blob[] = "blobs/0123456789abcdef0123456789abcdef01234567";
    struct tenon_error err = {0};

    ck_assert_int_eq(mkdir("blobs", 0777), 0);
    plan_write_file(blob, "old", 3);
    ck_assert_int_eq(symlink(blob, "model"), 0);
    ck_fails(write_text("model", &force, &err), TENON_ERR_MISUSE, err);
    ck_assert_str_eq(err.message, "is a link into a store whose files are named by their contents");
    expect_file(blob, "old");
    /* The same where the blob is not there yet. */
    ck_assert_int_eq(unlink(blob), 0);
    ck_fails(write_text("model", &force, &err), TENON_ERR_MISUSE, err);
    ck_assert_int_eq(access(blob, F_OK), -1);
}
END_TEST

START_TEST(a_hard_link_that_is_broken_is_noted)
{
    struct tenon_error err = {0};

    plan_write_file("out", "old", 3);
    ck_assert_int_eq(link("out", "other"), 0);
    ck_ok(write_text("out", &force, &err), err);
    expect_file("out", "new");
    expect_file("other", "old");
    ck_assert_str_eq(notes, "'out' has 2 names; the others keep the old contents\n");
}
END_TEST

START_TEST(folders_and_missing_folders_are_errors)
{
    struct tenon_error err = {0};

    ck_assert_int_eq(mkdir("there", 0777), 0);
    ck_fails(write_text("there", &force, &err), TENON_ERR_MISUSE, err);
    ck_assert_str_eq(err.message, "is a folder, a file is to be written");
    err = (struct tenon_error){0};
    ck_fails(write_text("missing/out", &force, &err), TENON_ERR_IO, err);
    ck_assert_int_eq(err.sys_errno, ENOENT);
    err = (struct tenon_error){0};
    ck_fails(write_text("", &force, &err), TENON_ERR_IO, err);
}
END_TEST

/* 250 bytes leave no room for a temporary name made of all of them. */
START_TEST(long_names_work_as_long_as_the_system_takes_them)
{
    char name[300];
    struct tenon_error err = {0};

    memset(name, 'x', sizeof(name));
    name[250] = '\0';
    ck_ok(write_text(name, &plain, &err), err);
    expect_file(name, "new");
    name[250] = 'x';
    name[299] = '\0';
    ck_fails(write_text(name, &plain, &err), TENON_ERR_IO, err);
    ck_assert_int_eq(err.sys_errno, ENAMETOOLONG);
}
END_TEST

/* A process that is gone: a child that was waited for. */
START_TEST(an_unfinished_file_of_another_run_is_noted_and_kept)
{
    struct tenon_error err = {0};
    char stale[64], aside[64], wanted[512];
    struct tenon_plan *plan = NULL;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    snprintf(stale, sizeof(stale), ".out.%ld.tmp", (long)child);
    snprintf(aside, sizeof(aside), ".out.%ld.old", (long)child);
    plan_write_file(stale, "half", 4);
    plan_write_file(aside, "kept", 4);
    plan_write_file(".outer.1.tmp", "", 0);
    ck_ok(tenon_plan_new("out", &plan, &err), err);
    ck_ok(tenon_plan_add_text(plan, "out", "new", 3, false, &err), err);
    plan_lay_out(plan);
    ck_ok(tenon_plan_run(plan, &plain, &err), err);
    tenon_plan_free(plan);
    snprintf(wanted, sizeof(wanted), "'./%s' is the unfinished file of a run that was killed\n",
             stale);
    ck_assert_ptr_nonnull(strstr(notes, wanted));
    snprintf(wanted, sizeof(wanted), "'./%s' is a file that a run which was killed had put aside\n",
             aside);
    ck_assert_ptr_nonnull(strstr(notes, wanted));
    ck_assert_ptr_null(strstr(notes, "outer"));
    expect_file(stale, "half");
    expect_file(aside, "kept");
}
END_TEST

START_TEST(devices_and_pipes_get_the_bytes_in_order)
{
    struct tenon_error err = {0};
    char got[8] = "";
    int fd;

    ck_ok(write_text("/dev/null", &plain, &err), err);
    ck_fails(write_text("/dev/full", &plain, &err), TENON_ERR_IO, err);
    ck_assert_int_eq(err.sys_errno, ENOSPC);
    ck_assert_int_eq(mkfifo("pipe", 0666), 0);
    fd = open("pipe", O_RDONLY | O_NONBLOCK);
    ck_assert_int_ge(fd, 0);
    err = (struct tenon_error){0};
    ck_ok(write_text("pipe", &plain, &err), err);
    ck_assert_int_eq(read(fd, got, sizeof(got)), 3);
    ck_assert_str_eq(got, "new");
    close(fd);
}
END_TEST

START_TEST(a_dash_is_standard_output)
{
    int status = 0, to;
    pid_t child = fork();

    if (child == 0) {
        struct tenon_error err = {0};

        to = open("captured", O_WRONLY | O_CREAT, 0666);
        if (to < 0 || dup2(to, 1) != 1)
            _exit(1);
        _exit(write_text("-", &plain, &err) == TENON_OK ? 0 : 2);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    expect_file("captured", "new");
}
END_TEST

START_TEST(a_stream_cannot_be_verified)
{
    struct tenon_run_options options = {.verify = true};
    struct tenon_error err = {0};

    ck_fails(write_text("/dev/null", &options, &err), TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(the_limit_on_file_sizes_is_an_error)
{
    struct rlimit before, limit = {.rlim_cur = 2}; /* bytes */
    struct tenon_error err = {0};
    enum tenon_status st;

    signal(SIGXFSZ, SIG_IGN);
    plan_write_file("out", "old", 3);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit.rlim_max = before.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    st = write_text("out", &force, &err);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_fails(st, TENON_ERR_IO, err);
    ck_assert_int_eq(err.sys_errno, EFBIG);
    expect_file("out", "old");
}
END_TEST

/* --- outputs that are inputs --- */

static struct tiny_model tiny;

/* Copies tensor "a" of the model in the file "input" to `path`. */
static enum tenon_status rewrite(const char *path, const struct tenon_run_options *options,
                                 struct tenon_error *err)
{
    static const uint8_t bytes[4] = {1, 2, 3, 4};
    struct tenon_model *model;
    struct tenon_plan *plan;
    enum tenon_status st;

    tiny_begin(&tiny);
    tiny_add(&tiny, "a", TENON_DTYPE_U8, 0, 4, bytes);
    tiny_end(&tiny, "");
    model = plan_model_of_file(&tiny, "input");
    if (strcmp(path, "hard") == 0)
        ck_assert_int_eq(link("input", "hard"), 0);
    if (strcmp(path, "soft") == 0)
        ck_assert_int_eq(symlink("input", "soft"), 0);
    plan = plan_begin(path);
    plan_add(plan, &(struct plan_tensor){.dtype = TENON_DTYPE_U8,
                                         .n_dims = 1,
                                         .dims = {4},
                                         .sources = {plan_source(model, "a")},
                                         .n_sources = 1});
    plan_lay_out(plan);
    st = tenon_plan_run(plan, options, err);
    tenon_plan_free(plan);
    tenon_model_free(model);
    tiny_free(&tiny);
    ck_assert_uint_eq(plan_count_hidden("."), 0);
    return st;
}

START_TEST(an_input_is_no_output_whatever_its_name)
{
    static const char *const paths[] = {"input", "./input", "hard", "soft"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct tenon_error err = {0};

        ck_fails(rewrite(paths[i], &force, &err), TENON_ERR_MISUSE, err);
        ck_assert_str_eq(err.message, "is the input 'input' itself");
        ck_assert_str_eq(err.hint, "use --in-place to replace it");
        expect_file("input", "\1\2\3\4");
    }
}
END_TEST

/* As `>> input` in a shell: not even in place. */
START_TEST(an_input_is_not_appended_to)
{
    const struct tenon_run_options options[] = {{.force = true}, {.in_place = true}};
    int status = 0, to;
    pid_t child = fork();

    if (child == 0) {
        struct tenon_error err = {0};

        to = open("input", O_WRONLY | O_CREAT | O_APPEND, 0666);
        if (to < 0 || dup2(to, 1) != 1)
            _exit(1);
        _exit(rewrite("-", &options[_i], &err) == TENON_ERR_MISUSE ? 0 : 2);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(in_place_replaces_inputs_and_nothing_else)
{
    struct tenon_run_options options = {.in_place = true};
    struct tenon_error err = {0};
    struct stat info;

    ck_ok(rewrite("input", &options, &err), err);
    ck_assert_int_eq(stat("input", &info), 0);
    ck_assert_int_eq(info.st_size, 64 + 4);
    plan_write_file("other", "old", 3);
    ck_fails(rewrite("other", &options, &err), TENON_ERR_EXISTS, err);
    expect_file("other", "old");
}
END_TEST

START_TEST(two_targets_in_one_place_are_misuse)
{
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};

    ck_ok(tenon_plan_new("out", &plan, &err), err);
    ck_ok(tenon_plan_add_text(plan, "out", "1", 1, false, &err), err);
    ck_ok(tenon_plan_add_text(plan, "./out", "2", 1, false, &err), err);
    plan_lay_out(plan);
    ck_fails(tenon_plan_run(plan, &force, &err), TENON_ERR_MISUSE, err);
    ck_assert_str_eq(err.message, "is the same file as 'out'");
    ck_assert_int_ne(access("out", F_OK), 0);
    tenon_plan_free(plan);
}
END_TEST

/* Called while files are unfinished: what a handler of a signal would do. */
static bool abort_now(uint64_t done, uint64_t total, void *user)
{
    (void)done;
    (void)total;
    *(size_t *)user = plan_count_hidden(".");
    tenon_plan_abort();
    return plan_count_hidden(".") == 0;
}

/* The second rename and all that follow fail, also those that would bring the first file back: what
 * was named first is new, and that is not the index, although the plan lists it first. */
START_TEST(what_is_last_gets_its_name_last)
{
    static const struct tenon_io_fault none;
    static const struct tenon_io_fault second = {TENON_IO_RENAME, 2, EIO, true};
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};

    plan_write_file("index", "old", 3);
    plan_write_file("shard", "old", 3);
    ck_ok(tenon_plan_new("index", &plan, &err), err);
    ck_ok(tenon_plan_add_text(plan, "index", "new", 3, true, &err), err);
    ck_ok(tenon_plan_add_text(plan, "shard", "new", 3, false, &err), err);
    plan_lay_out(plan);
    tenon_io_fail_at(&second);
    ck_fails(tenon_plan_run(plan, &force, &err), TENON_ERR_IO, err);
    tenon_io_fail_at(&none);
    ck_assert_str_eq(err.hint, "some files are new and some are old; each is whole");
    expect_file("shard", "new");
    expect_file("index", "old");
    tenon_plan_free(plan);
}
END_TEST

/* Without a fault nothing comes between the look and the name; the fault is a file that came. */
static bool make_newcomer(uint64_t done, uint64_t total, void *user)
{
    (void)user;
    if (done == total)
        plan_write_file("out", "theirs", 6);
    return true;
}

START_TEST(what_came_meanwhile_is_not_replaced)
{
    struct tenon_run_options options = {.progress = make_newcomer};
    struct tenon_error err = {0};

    ck_fails(write_text("out", &options, &err), TENON_ERR_EXISTS, err);
    ck_assert_str_eq(err.message, "came to be meanwhile");
    expect_file("out", "theirs");
}
END_TEST

START_TEST(an_abort_removes_what_is_unfinished)
{
    size_t n_before = 0;
    struct tenon_run_options options = {.progress = abort_now, .user = &n_before};
    struct tenon_error err = {0};

    ck_fails(write_text("out", &options, &err), TENON_ERR_IO, err);
    ck_assert_uint_eq(n_before, 1);
    ck_assert_int_ne(access("out", F_OK), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sink");
    TCase *tcase = tcase_create("sink");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_new_file_has_the_mode_of_the_umask);
    tcase_add_test(tcase, what_exists_is_replaced_only_with_force_and_keeps_its_mode);
    tcase_add_test(tcase, a_link_stays_and_its_target_is_replaced);
    tcase_add_test(tcase, a_link_into_a_store_is_refused);
    tcase_add_test(tcase, a_hard_link_that_is_broken_is_noted);
    tcase_add_test(tcase, folders_and_missing_folders_are_errors);
    tcase_add_test(tcase, long_names_work_as_long_as_the_system_takes_them);
    tcase_add_test(tcase, an_unfinished_file_of_another_run_is_noted_and_kept);
    tcase_add_test(tcase, devices_and_pipes_get_the_bytes_in_order);
    tcase_add_test(tcase, a_dash_is_standard_output);
    tcase_add_test(tcase, a_stream_cannot_be_verified);
    tcase_add_test(tcase, the_limit_on_file_sizes_is_an_error);
    tcase_add_test(tcase, an_input_is_no_output_whatever_its_name);
    tcase_add_loop_test(tcase, an_input_is_not_appended_to, 0, 2);
    tcase_add_test(tcase, in_place_replaces_inputs_and_nothing_else);
    tcase_add_test(tcase, two_targets_in_one_place_are_misuse);
    tcase_add_test(tcase, what_is_last_gets_its_name_last);
    tcase_add_test(tcase, what_came_meanwhile_is_not_replaced);
    tcase_add_test(tcase, an_abort_removes_what_is_unfinished);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
