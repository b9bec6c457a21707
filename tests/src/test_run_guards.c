/* What keeps a run from writing what is wrong, or from taking for written what is not: targets that
 * are inputs, files that do not fit, inputs that change, calls that do less than they are asked. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "check_error.h"
#include "io.h"
#include "model_build.h"
#include "plan_files.h"
#include "sink.h"

static char folder[64], shared[64];
static struct tiny_model tiny;
static const struct tenon_io_fault no_fault;

/* Another file system, where there is one. */
static void set_up(void)
{
    strcpy(folder, "guards_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    strcpy(shared, "/dev/shm/guards_test_XXXXXX");
    if (access("/dev/shm", W_OK) != 0 || mkdtemp(shared) == NULL)
        shared[0] = '\0';
}

static void tear_down(void)
{
    char command[192];

    tenon_io_fail_at(&no_fault);
    ck_assert_int_eq(chdir(".."), 0);
    snprintf(command, sizeof(command), "rm -rf %s %s", folder, shared);
    ck_assert_int_eq(system(command), 0);
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

/* --- space --- */

/* Whether targets of these sizes, all at once, are taken. */
struct want {
    const char *path;
    uint64_t bytes;
};
static enum tenon_status ask_for(const struct want *wants, size_t n, struct tenon_error *err)
{
    static const struct tenon_sink_options options;
    struct tenon_sink *sink = NULL;
    enum tenon_status st;

    ck_ok(tenon_sink_new(n, &options, &sink, err), *err);
    for (size_t i = 0; i < n; i++) {
        struct tenon_sink_target target = {.path = wants[i].path, .bytes = wants[i].bytes};

        ck_ok(tenon_sink_add(sink, &target, err), *err);
    }
    st = tenon_sink_check(sink, err);
    tenon_sink_free(sink);
    return st;
}

static uint64_t free_bytes(const char *path)
{
    struct statvfs info;

    ck_assert_int_eq(statvfs(path, &info), 0);
    return (uint64_t)info.f_bavail * info.f_frsize;
}

/* Shares of what is free that leave room for what other programs write meanwhile. */
START_TEST(what_does_not_fit_is_refused_before_the_work)
{
    uint64_t most = free_bytes(".") / 8 * 5;
    const struct want one[] = {{"a", most}}, two[] = {{"a", most}, {"b", most}};
    const struct want apart[] = {{"a", most}, {"there/b", most}};
    const struct want endless[] = {{"a", UINT64_MAX}, {"b", 1}};
    struct tenon_error err = {0};

    ck_assert_int_eq(mkdir("there", 0777), 0);
    ck_ok(ask_for(one, 1, &err), err);
    ck_fails(ask_for(two, 2, &err), TENON_ERR_IO, err);
    ck_assert_int_eq(err.sys_errno, ENOSPC);
    ck_assert_str_eq(err.path, "./");
    err = (struct tenon_error){0};
    ck_fails(ask_for(apart, 2, &err), TENON_ERR_IO, err);
    ck_assert_int_eq(err.sys_errno, ENOSPC);
    err = (struct tenon_error){0};
    ck_fails(ask_for(endless, 2, &err), TENON_ERR_IO, err);
}
END_TEST

START_TEST(each_file_system_has_its_own_space)
{
    char path[80];
    struct want wants[2] = {{"a", 0}, {path, 0}};
    struct stat here, there;
    struct tenon_error err = {0};

    snprintf(path, sizeof(path), "%s/b", shared);
    if (shared[0] == '\0' || stat(".", &here) != 0 || stat(shared, &there) != 0 ||
        here.st_dev == there.st_dev)
        return;
    wants[0].bytes = free_bytes(".") / 8 * 5;
    wants[1].bytes = free_bytes(shared) / 8 * 5;
    ck_ok(ask_for(wants, 2, &err), err);
    wants[1].bytes *= 2;
    ck_fails(ask_for(wants, 2, &err), TENON_ERR_IO, err);
    ck_assert(strncmp(err.path, shared, strlen(shared)) == 0);
    err = (struct tenon_error){0};
    wants[1].bytes /= 2;
    wants[0].bytes *= 2;
    ck_fails(ask_for(wants, 2, &err), TENON_ERR_IO, err);
    ck_assert_str_eq(err.path, "./");
}
END_TEST

/* Streams need none. */
START_TEST(a_device_has_room_for_anything)
{
    const struct want wants[] = {{"/dev/null", UINT64_MAX}, {"a", 1}};
    struct tenon_error err = {0};

    ck_ok(ask_for(wants, 2, &err), err);
}
END_TEST

/* Where nobody knows what is free, the allocation tells. */
START_TEST(space_that_cannot_be_told_is_no_error)
{
    static const struct tenon_io_fault fault = {TENON_IO_SPACE, 1, ENOSYS, true};
    const struct want wants[] = {{"a", 1}};
    struct tenon_error err = {0};

    tenon_io_fail_at(&fault);
    ck_ok(ask_for(wants, 1, &err), err);
}
END_TEST

/* --- inputs --- */

static const uint8_t elements[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/* A model in the file "input", and one tensor of it in the file `path`. */
static struct tenon_plan *begin_rewrite(const char *path, struct tenon_model **out_model)
{
    struct tenon_plan *plan = plan_begin(path);

    tiny_begin(&tiny);
    tiny_add(&tiny, "a", TENON_DTYPE_U8, 0, sizeof(elements), elements);
    tiny_end(&tiny, "");
    *out_model = plan_model_of_file(&tiny, "input");
    plan_add(plan, &(struct plan_tensor){.dtype = TENON_DTYPE_U8,
                                         .n_dims = 1,
                                         .dims = {sizeof(elements)},
                                         .sources = {plan_source(*out_model, "a")},
                                         .n_sources = 1});
    return plan;
}

static enum tenon_status end_rewrite(struct tenon_plan *plan, struct tenon_model *model,
                                     const struct tenon_run_options *options,
                                     struct tenon_error *err)
{
    enum tenon_status st;

    plan_lay_out(plan);
    st = tenon_plan_run(plan, options, err);
    tenon_plan_free(plan);
    tenon_model_free(model);
    tiny_free(&tiny); /* the names were its own */
    ck_assert_uint_eq(plan_count_hidden("."), 0);
    return st;
}

/* A config that was read is an input, although no tensor lies there. */
START_TEST(what_was_read_besides_is_no_output)
{
    static const struct tenon_run_options force = {.force = true}, in_place = {.in_place = true};
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    struct tenon_plan *plan;

    plan_write_file("config", "{}", 2);
    ck_assert_int_eq(link("config", "second name"), 0);
    plan = begin_rewrite("second name", &model);
    ck_ok(tenon_model_add_side(model, "gone", &err), err); /* is no hindrance */
    ck_ok(tenon_model_add_side(model, "config", &err), err);
    ck_fails(end_rewrite(plan, model, &force, &err), TENON_ERR_MISUSE, err);
    ck_assert_str_eq(err.message, "is the input 'config' itself");
    ck_assert_str_eq(err.path, "second name");
    expect_file("config", "{}");
    err = (struct tenon_error){0};
    plan = begin_rewrite("second name", &model);
    ck_ok(tenon_model_add_side(model, "config", &err), err);
    ck_ok(end_rewrite(plan, model, &in_place, &err), err);
    expect_file("config", "{}");
}
END_TEST

static void add_copy(struct tenon_plan *plan, const char *from, const char *to)
{
    struct tenon_plan_file copy = {.kind = TENON_PLAN_COPY, .path = to, .copy_of = from};
    struct tenon_error err = {0};
    struct stat info;

    ck_assert_int_eq(stat(from, &info), 0);
    copy.bytes = (uint64_t)info.st_size;
    ck_ok(tenon_plan_add_file(plan, &copy, NULL, &err), err);
}

START_TEST(what_is_copied_is_no_output)
{
    static const struct tenon_run_options force = {.force = true};
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    struct tenon_plan *plan;

    plan_write_file("vocabulary", "words", 5);
    ck_assert_int_eq(symlink("vocabulary", "link"), 0);
    plan = begin_rewrite("link", &model);
    add_copy(plan, "vocabulary", "copy");
    ck_fails(end_rewrite(plan, model, &force, &err), TENON_ERR_MISUSE, err);
    ck_assert_str_eq(err.message, "is the input 'vocabulary' itself");
    expect_file("vocabulary", "words");
    ck_assert_int_ne(access("copy", F_OK), 0);
    err = (struct tenon_error){0};
    plan = begin_rewrite("out", &model);
    add_copy(plan, "vocabulary", "copy");
    ck_ok(end_rewrite(plan, model, &force, &err), err);
    expect_file("copy", "words");
}
END_TEST

/* When all is written, the file named by `user` gets a byte more. */
static bool change_input(uint64_t done, uint64_t total, void *user)
{
    FILE *f;

    if (done != total)
        return true;
    f = fopen(user, "ab");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fputc('!', f), '!');
    ck_assert_int_eq(fclose(f), 0);
    return true;
}

START_TEST(an_input_that_changes_is_an_error)
{
    static char input[] = "input", vocabulary[] = "vocabulary";
    char *const names[] = {input, vocabulary};
    struct tenon_run_options options = {.progress = change_input, .user = names[_i], .threads = 1};
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    struct tenon_plan *plan;

    plan_write_file("vocabulary", "words", 5);
    plan = begin_rewrite("out", &model);
    add_copy(plan, "vocabulary", "copy");
    ck_fails(end_rewrite(plan, model, &options, &err), TENON_ERR_MISMATCH, err);
    ck_assert_str_eq(err.path, names[_i]);
    ck_assert_int_ne(access("out", F_OK), 0);
    ck_assert_int_ne(access("copy", F_OK), 0);
}
END_TEST

/* Between the plan and the run. */
START_TEST(a_file_to_copy_that_grew_is_an_error)
{
    struct tenon_run_options options = {.threads = 1};
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    struct tenon_plan *plan;

    plan_write_file("vocabulary", "words", 5);
    plan = begin_rewrite("out", &model);
    add_copy(plan, "vocabulary", "copy");
    plan_write_file("vocabulary", "other words", 11);
    ck_fails(end_rewrite(plan, model, &options, &err), TENON_ERR_MISMATCH, err);
    ck_assert_str_eq(err.message, "was changed after it was looked at");
    ck_assert_str_eq(err.path, "vocabulary");
}
END_TEST

/* --- targets --- */

/* A set of one target, which is begun. */
static struct tenon_sink *begin_target(const char *path, uint64_t bytes)
{
    static const struct tenon_sink_options options;
    struct tenon_sink_target target = {.path = path, .bytes = bytes};
    struct tenon_sink *sink = NULL;
    struct tenon_error err = {0};

    ck_ok(tenon_sink_new(1, &options, &sink, &err), err);
    ck_ok(tenon_sink_add(sink, &target, &err), err);
    ck_ok(tenon_sink_check(sink, &err), err);
    ck_ok(tenon_sink_begin(sink, 0, &err), err);
    return sink;
}

START_TEST(a_set_has_no_more_targets_than_announced)
{
    struct tenon_sink *sink = begin_target("out", 1);
    struct tenon_sink_target target = {.path = "more", .bytes = 1};
    struct tenon_error err = {0};

    ck_fails(tenon_sink_add(sink, &target, &err), TENON_ERR_MISUSE, err);
    tenon_sink_free(sink);
}
END_TEST

START_TEST(what_was_not_ended_gets_no_name)
{
    struct tenon_sink *sink = begin_target("out", 3);
    struct tenon_error err = {0};

    ck_ok(tenon_sink_write(sink, 0, "new", 3, &err), err);
    ck_fails(tenon_sink_commit(sink, &err), TENON_ERR_MISUSE, err);
    tenon_sink_free(sink);
    ck_assert_int_ne(access("out", F_OK), 0);
    ck_assert_uint_eq(plan_count_hidden("."), 0);
}
END_TEST

/* Where nothing can be allocated, the size says how much was written. */
START_TEST(a_file_that_is_too_short_is_an_error)
{
    static const int errors[] = {EOPNOTSUPP, ENOSYS, EINVAL};
    struct tenon_io_fault fault = {TENON_IO_ALLOCATE, 1, errors[_i], true};
    struct tenon_error err = {0};
    struct tenon_sink *sink;

    tenon_io_fail_at(&fault);
    sink = begin_target("out", 3);
    ck_ok(tenon_sink_write(sink, 0, "ne", 2, &err), err);
    ck_fails(tenon_sink_end(sink, &err), TENON_ERR_IO, err);
    ck_assert_str_eq(err.message, "2 bytes were written, 3 were planned");
    tenon_sink_free(sink);
    ck_assert_int_ne(access("out", F_OK), 0);
}
END_TEST

START_TEST(bytes_out_of_place_are_misuse)
{
    static const struct {
        const char *path;
        uint64_t off;
    } rows[] = {{"out", 1}, {"out", 4}, {"out", UINT64_MAX}, {"/dev/null", 1}};
    struct tenon_sink *sink = begin_target(rows[_i].path, 3);
    struct tenon_error err = {0};

    if (rows[_i].path[0] == '/') {
        ck_fails(tenon_sink_write(sink, 1, "n", 1, &err), TENON_ERR_MISUSE, err);
        err = (struct tenon_error){0};
    }
    ck_fails(tenon_sink_write(sink, rows[_i].off, "new", 3, &err), TENON_ERR_MISUSE, err);
    err = (struct tenon_error){0};
    ck_ok(tenon_sink_write(sink, 0, "new", 3, &err), err);
    ck_ok(tenon_sink_end(sink, &err), err);
    tenon_sink_free(sink);
}
END_TEST

START_TEST(a_stream_that_is_too_short_is_an_error)
{
    struct tenon_sink *sink = begin_target("/dev/null", 3);
    struct tenon_error err = {0};

    ck_ok(tenon_sink_write(sink, 0, "ne", 2, &err), err);
    ck_fails(tenon_sink_end(sink, &err), TENON_ERR_MISUSE, err);
    tenon_sink_free(sink);
}
END_TEST

/* The last chance of the system to tell that something was not written. */
START_TEST(a_close_that_fails_is_an_error_of_the_target)
{
    static const struct tenon_io_fault fault = {TENON_IO_CLOSE, 1, EIO, false};
    static const char *const paths[] = {"out", "/dev/null"};
    struct tenon_sink *sink = begin_target(paths[_i], 3);
    struct tenon_error err = {0};

    ck_ok(tenon_sink_write(sink, 0, "new", 3, &err), err);
    tenon_io_fail_at(&fault);
    ck_fails(tenon_sink_end(sink, &err), TENON_ERR_IO, err);
    ck_assert_int_eq(err.sys_errno, EIO);
    tenon_io_fail_at(&no_fault);
    err = (struct tenon_error){0};
    ck_fails(tenon_sink_commit(sink, &err), TENON_ERR_MISUSE, err);
    tenon_sink_free(sink);
    ck_assert_int_ne(access("out", F_OK), 0);
}
END_TEST

/* A pipe that takes part of what it is given, and a system that takes nothing. */
START_TEST(a_stream_gets_all_bytes_or_an_error)
{
    static const struct tenon_io_fault shorter = {TENON_IO_WRITE, 1, TENON_IO_SHORT, true};
    static const struct tenon_io_fault broken = {TENON_IO_WRITE, 2, EPIPE, true};
    struct tenon_error err = {0};
    struct tenon_sink *sink;
    char got[8] = "";
    int fd;

    ck_assert_int_eq(mkfifo("pipe", 0666), 0);
    fd = open("pipe", O_RDONLY | O_NONBLOCK);
    ck_assert_int_ge(fd, 0);
    sink = begin_target("pipe", 6);
    tenon_io_fail_at(&shorter);
    ck_ok(tenon_sink_write(sink, 0, "ne", 2, &err), err);
    ck_ok(tenon_sink_write(sink, 2, "wer", 3, &err), err); /* 1 + 1 + 1: a half, but not of one */
    ck_assert_uint_eq(tenon_io_count(TENON_IO_WRITE), 2 + 3);
    tenon_io_fail_at(&broken);
    ck_ok(tenon_sink_write(sink, 5, "!", 1, &err), err);
    ck_ok(tenon_sink_end(sink, &err), err);
    tenon_sink_free(sink);
    ck_assert_int_eq(read(fd, got, sizeof(got)), 6);
    ck_assert_str_eq(got, "newer!");
    close(fd);
}
END_TEST

/* --- names --- */

/* Writes "new" to `path` as a run does, but does not wait for the disk. */
static enum tenon_status write_text(const char *path, struct tenon_error *err)
{
    struct tenon_run_options options = {.force = access(path, F_OK) == 0, .no_sync = true};
    struct tenon_plan *plan = NULL;
    enum tenon_status st;

    ck_ok(tenon_plan_new(path, &plan, err), *err);
    ck_ok(tenon_plan_add_text(plan, path, "new", 3, false, err), *err);
    plan_lay_out(plan);
    st = tenon_plan_run(plan, &options, err);
    tenon_plan_free(plan);
    return st;
}

/* Where the system cannot rename without replacing, a hard link serves. */
START_TEST(a_new_file_needs_no_special_rename)
{
    static const int errors[] = {EINVAL, ENOSYS};
    struct tenon_io_fault fault = {TENON_IO_RENAME, 1, errors[_i], true};
    struct tenon_error err = {0};

    tenon_io_fail_at(&fault);
    ck_ok(write_text("out", &err), err);
    ck_assert_uint_eq(tenon_io_count(TENON_IO_LINK), 1);
    expect_file("out", "new");
    ck_assert_uint_eq(plan_count_hidden("."), 0);
}
END_TEST

/* A process with our number left a file: another name will do, and theirs stays. */
START_TEST(an_unfinished_file_in_the_way_stays)
{
    struct tenon_error err = {0};
    char path[64];

    snprintf(path, sizeof(path), ".out.%ld.tmp", (long)getpid());
    plan_write_file(path, "theirs", 6);
    ck_ok(write_text("out", &err), err);
    expect_file("out", "new");
    expect_file(path, "theirs");
    ck_assert_uint_eq(plan_count_hidden("."), 1);
}
END_TEST

START_TEST(an_absolute_link_is_followed)
{
    struct tenon_error err = {0};
    char here[256], to[320];

    ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
    snprintf(to, sizeof(to), "%s/there", here);
    ck_assert_int_eq(mkdir("links", 0777), 0);
    ck_assert_int_eq(symlink(to, "links/link"), 0);
    plan_write_file("there", "old", 3);
    ck_ok(write_text("links/link", &err), err);
    expect_file("there", "new");
}
END_TEST

/* Stores name their files by hashes in a folder of that very name. */
START_TEST(only_links_into_stores_are_refused)
{
#define HASH "0123456789abcdef0123456789abcdef01234567"
    static const struct {
        const char *folder, *to;
        enum tenon_status st;
    } rows[] = {
        {"blobs", "blobs/" HASH, TENON_ERR_MISUSE},
        {"blobs", "blobs/sha256-" HASH, TENON_ERR_MISUSE},
        {"blobs", "./blobs/" HASH, TENON_ERR_MISUSE},
        {"myblobs", "myblobs/" HASH, TENON_OK},
        {"others", "others/" HASH, TENON_OK},
        {"blobs", "blobs/" HASH ".json", TENON_OK},
    };
    struct tenon_error err = {0};

    ck_assert_int_eq(mkdir(rows[_i].folder, 0777), 0);
    ck_assert_int_eq(symlink(rows[_i].to, "link"), 0);
    plan_write_file(rows[_i].to, "old", 3);
    ck_fails(write_text("link", &err), rows[_i].st, err);
    expect_file(rows[_i].to, rows[_i].st == TENON_OK ? "new" : "old");
}
END_TEST

/* Only the superuser may give files away. */
START_TEST(the_owner_of_what_is_replaced_stays)
{
    static const unsigned owners[][2] = {{1234, 0}, {0, 2345}, {1234, 2345}};
    struct tenon_error err = {0};
    struct stat info;

    plan_write_file("out", "old", 3);
    if (geteuid() != 0 || chown("out", owners[_i][0], owners[_i][1]) != 0)
        return;
    ck_ok(write_text("out", &err), err);
    expect_file("out", "new");
    ck_assert_int_eq(stat("out", &info), 0);
    ck_assert_uint_eq(info.st_uid, owners[_i][0]);
    ck_assert_uint_eq(info.st_gid, owners[_i][1]);
}
END_TEST

/* A set that nothing was begun of has no descriptor to close, least of all the first one. */
START_TEST(a_set_closes_only_what_it_opened)
{
    struct tenon_error err = {0};
    int other = open("/dev/null", O_RDONLY);

    ck_assert_int_eq(dup2(other, 0), 0); /* which may have been closed */
    close(other);
    plan_write_file("out", "old", 3);
    ck_fails(ask_for(&(struct want){"out", 1}, 1, &err), TENON_ERR_EXISTS, err);
    ck_assert_int_ge(fcntl(0, F_GETFD), 0);
    ck_assert_int_eq(unlink("out"), 0);
    err = (struct tenon_error){0};
    other = open("/dev/null", O_RDONLY); /* the next number is what the set takes and gives back */
    ck_ok(write_text("out", &err), err);
    ck_assert_int_ge(fcntl(other, F_GETFD), 0);
    close(other);
}
END_TEST

/* The number that the next descriptor gets. */
static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY);

    ck_assert_int_ge(fd, 0);
    close(fd);
    return fd;
}

/* More sets than there can be at the same time, complete and given up. */
START_TEST(sets_leave_no_descriptors_and_no_places)
{
    int before = next_descriptor();
    struct tenon_error err = {0};

    for (int i = 0; i < 70; i++) {
        ck_ok(write_text("out", &err), err);
        tenon_sink_free(begin_target("given up", 1));
        ck_ok(write_text("/dev/null", &err), err);
    }
    ck_assert_int_eq(next_descriptor(), before);
    ck_assert_uint_eq(plan_count_hidden("."), 0);
}
END_TEST

/* The descriptor of an ended target may be somebody else's by the time the set is freed. */
START_TEST(an_ended_target_is_closed_once)
{
    struct tenon_sink *sink = begin_target("out", 3);
    struct tenon_error err = {0};
    int fd;

    ck_ok(tenon_sink_write(sink, 0, "new", 3, &err), err);
    ck_ok(tenon_sink_end(sink, &err), err);
    fd = open("/dev/null", O_RDONLY);
    ck_ok(tenon_sink_commit(sink, &err), err);
    tenon_sink_free(sink);
    ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
    close(fd);
    expect_file("out", "new");
}
END_TEST

START_TEST(two_names_of_a_file_are_one_target)
{
    static const struct tenon_sink_options options;
    struct tenon_sink_target one = {.path = "one"}, two = {.path = "two"};
    struct tenon_sink *sink = NULL;
    struct tenon_error err = {0};

    plan_write_file("one", "old", 3);
    ck_assert_int_eq(link("one", "two"), 0);
    ck_ok(tenon_sink_new(2, &options, &sink, &err), err);
    ck_ok(tenon_sink_add(sink, &one, &err), err);
    ck_fails(tenon_sink_add(sink, &two, &err), TENON_ERR_MISUSE, err);
    ck_assert_str_eq(err.message, "is the same file as 'one'");
    tenon_sink_free(sink);
}
END_TEST

static void count_note(const char *text, void *user)
{
    *(size_t *)user += strstr(text, "cannot be removed") != NULL;
}

/* A folder in the place of a shard that the old index named. */
START_TEST(what_cannot_be_removed_at_the_end_is_told)
{
    size_t n = 0;
    struct tenon_run_options options = {.note = count_note, .user = &n};
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    struct tenon_plan *plan = begin_rewrite("out", &model);

    ck_assert_int_eq(mkdir("shard", 0777), 0);
    ck_ok(tenon_plan_add_stale(plan, "shard", &err), err);
    ck_ok(tenon_plan_add_stale(plan, "gone", &err), err); /* is what is wanted */
    ck_ok(end_rewrite(plan, model, &options, &err), err);
    ck_assert_uint_eq(n, 1);
}
END_TEST

START_TEST(reading_back_goes_on_after_a_short_read)
{
    static const struct tenon_io_fault shorter = {TENON_IO_PREAD, 1, TENON_IO_SHORT, true};
    struct tenon_sink *sink = begin_target("out", 8);
    struct tenon_error err = {0};
    char got[8];

    ck_ok(tenon_sink_write(sink, 0, "12345678", 8, &err), err);
    tenon_io_fail_at(&shorter);
    ck_ok(tenon_sink_read(sink, 1, got, 7, &err), err);
    ck_assert_mem_eq(got, "2345678", 7);
    ck_fails(tenon_sink_read(sink, 4, got, 8, &err), TENON_ERR_IO, err); /* beyond the end */
    ck_assert_int_eq(err.sys_errno, EIO);
    tenon_sink_free(sink);
}
END_TEST

/* --- copies by the system --- */

enum { COPIED = 3 * 4096 + 5 };

/* The file "from", and a target of that size. */
static struct tenon_sink *begin_copy(unsigned char *bytes, struct tenon_source **out_source)
{
    struct tenon_error err = {0};

    for (size_t i = 0; i < COPIED; i++)
        bytes[i] = (unsigned char)(i * 31 % 251);
    plan_write_file("from", bytes, COPIED);
    ck_ok(tenon_source_open_file("from", out_source, &err), err);
    return begin_target("out", COPIED);
}

/* The count is that of bytes which are there, also when a later call fails. */
START_TEST(a_copy_counts_what_was_copied)
{
    static const struct {
        struct tenon_io_fault fault;
        uint64_t least, most;
    } rows[] = {
        {{TENON_IO_COPY, 1, TENON_IO_SHORT, true}, COPIED, COPIED},
        {{TENON_IO_COPY, 1, TENON_IO_SHORT, false}, COPIED, COPIED},
        {{TENON_IO_COPY, 1, EIO, false}, 0, 0},
        {{TENON_IO_COPY, 1, ENOSYS, false}, 0, 0},
    };
    unsigned char bytes[COPIED], got[COPIED];
    struct tenon_source *source = NULL;
    struct tenon_sink *sink = begin_copy(bytes, &source);
    struct tenon_sink_copy copy = {.source = source, .n = COPIED};
    struct tenon_error err = {0};
    uint64_t n;

    tenon_io_fail_at(&no_fault);
    if (tenon_sink_copy(sink, &copy) == COPIED) { /* the system can */
        tenon_io_fail_at(&rows[_i].fault);
        n = tenon_sink_copy(sink, &copy);
        ck_assert_uint_ge(n, rows[_i].least);
        ck_assert_uint_le(n, rows[_i].most);
        ck_ok(tenon_sink_read(sink, 0, got, COPIED, &err), err);
        ck_assert_mem_eq(got, bytes, COPIED);
        /* Who cannot need not be asked again; who failed may have been out of luck. */
        n = tenon_sink_copy(sink, &copy);
        ck_assert_uint_eq(n, rows[_i].fault.error == ENOSYS ? 0 : COPIED);
    }
    tenon_sink_free(sink);
    tenon_source_free(source);
}
END_TEST

/* Ranges that no file system can share go through memory. */
START_TEST(a_copy_to_another_place_in_a_block_is_left_to_the_caller)
{
    unsigned char bytes[COPIED], got[4096];
    struct tenon_source *source = NULL;
    struct tenon_sink *sink = begin_copy(bytes, &source);
    struct tenon_sink_copy copy = {.source = source, .from = 4096 + 5, .to = 5, .n = 4096};
    struct tenon_error err = {0};
    uint64_t n;

    tenon_io_fail_at(&no_fault);
    n = tenon_sink_copy(sink, &copy);
    if (n > 0) {
        ck_ok(tenon_sink_read(sink, 5, got, (size_t)n, &err), err);
        ck_assert_mem_eq(got, bytes + 4096 + 5, (size_t)n);
    }
    ck_assert_uint_eq(tenon_io_count(TENON_IO_COPY), n > 0);
    copy.from++;
    ck_assert_uint_eq(tenon_sink_copy(sink, &copy), 0);
    ck_assert_uint_eq(tenon_io_count(TENON_IO_COPY), n > 0);
    tenon_sink_free(sink);
    tenon_source_free(source);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run_guards");
    TCase *tcase = tcase_create("run_guards");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_does_not_fit_is_refused_before_the_work);
    tcase_add_test(tcase, each_file_system_has_its_own_space);
    tcase_add_test(tcase, a_device_has_room_for_anything);
    tcase_add_test(tcase, space_that_cannot_be_told_is_no_error);
    tcase_add_test(tcase, what_was_read_besides_is_no_output);
    tcase_add_test(tcase, what_is_copied_is_no_output);
    tcase_add_loop_test(tcase, an_input_that_changes_is_an_error, 0, 2);
    tcase_add_test(tcase, a_file_to_copy_that_grew_is_an_error);
    tcase_add_test(tcase, a_set_has_no_more_targets_than_announced);
    tcase_add_test(tcase, what_was_not_ended_gets_no_name);
    tcase_add_loop_test(tcase, a_file_that_is_too_short_is_an_error, 0, 3);
    tcase_add_loop_test(tcase, bytes_out_of_place_are_misuse, 0, 4);
    tcase_add_test(tcase, a_stream_that_is_too_short_is_an_error);
    tcase_add_loop_test(tcase, a_close_that_fails_is_an_error_of_the_target, 0, 2);
    tcase_add_test(tcase, a_stream_gets_all_bytes_or_an_error);
    tcase_add_loop_test(tcase, a_new_file_needs_no_special_rename, 0, 2);
    tcase_add_test(tcase, an_unfinished_file_in_the_way_stays);
    tcase_add_test(tcase, an_absolute_link_is_followed);
    tcase_add_loop_test(tcase, only_links_into_stores_are_refused, 0, 6);
    tcase_add_loop_test(tcase, the_owner_of_what_is_replaced_stays, 0, 3);
    tcase_add_test(tcase, a_set_closes_only_what_it_opened);
    tcase_add_test(tcase, sets_leave_no_descriptors_and_no_places);
    tcase_add_test(tcase, an_ended_target_is_closed_once);
    tcase_add_test(tcase, two_names_of_a_file_are_one_target);
    tcase_add_test(tcase, what_cannot_be_removed_at_the_end_is_told);
    tcase_add_test(tcase, reading_back_goes_on_after_a_short_read);
    tcase_add_loop_test(tcase, a_copy_counts_what_was_copied, 0, 4);
    tcase_add_test(tcase, a_copy_to_another_place_in_a_block_is_left_to_the_caller);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
