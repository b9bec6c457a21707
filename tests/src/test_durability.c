/* Nothing half-written: every system call of a run and every allocation fails in turn, over several
 * kinds of plans. Afterwards each target is what it was or what the plan says, the inputs are
 * untouched, and nothing else lies about. Prints how many runs that were. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_error.h"
#include "io.h"
#include "plan_files.h"

enum { MOST_FILES = 4, ELEMENTS = 3000 };

/* In memory where the system has such a folder: the syncs are counted, not waited for. */
static char folder[128];

/* A file that the run may touch: what it holds before and after (NULL: it is not there). */
struct watched {
    const char *name;
    const char *before;
    unsigned char *after;
    size_t n_before, n_after;
};

struct scene {
    const char *what;
    /* Writes the files that are there before, opens the model, builds and lays out the plan. */
    void (*set)(struct scene *scene);
    struct tenon_run_options options;
    struct tenon_model *model;
    struct tenon_plan *plan;
    struct watched files[MOST_FILES];
    size_t n_files;
    bool new_folder; /* the plan makes it */
    unsigned long runs, failures;
    uint64_t n_syncs; /* of files and folders, without a fault */
    size_t n_targets, closes_told;
};

static struct tiny_model tiny;
static char path_room[16][192];
static size_t path_next;

/* A path in the folder, in storage that is used in turn. */
static const char *at(const char *name)
{
    char *path = path_room[path_next++ % 16];

    snprintf(path, sizeof(path_room[0]), "%s/%s", folder, name);
    return path;
}

static void watch(struct scene *scene, const char *name, const char *before, size_t n)
{
    struct watched *file = &scene->files[scene->n_files++];

    ck_assert_uint_le(scene->n_files, MOST_FILES);
    file->name = name;
    file->before = before;
    file->n_before = n;
    unlink(at(name));
    if (before != NULL)
        plan_write_file(at(name), before, n);
}

static void make_tiny(void)
{
    static float values[ELEMENTS];

    for (size_t i = 0; i < ELEMENTS; i++)
        values[i] = (float)i - 100;
    tiny_begin(&tiny);
    tiny_add(&tiny, "a", TENON_DTYPE_F32, 30, ELEMENTS / 30, values);
    tiny_add(&tiny, "b", TENON_DTYPE_F32, 30, ELEMENTS / 30, values);
    tiny_end(&tiny, "");
}

static void add_tensor(struct tenon_plan *plan, const struct scene *scene, const char *name,
                       enum tenon_dtype dtype, uint32_t file)
{
    static const uint64_t dims[2] = {30, ELEMENTS / 30};
    struct tenon_plan_source source = plan_source(scene->model, name);
    struct tenon_plan_tensor tensor = {.name = {name, 1},
                                       .dtype = dtype,
                                       .n_dims = 2,
                                       .dims = dims,
                                       .file = file,
                                       .sources = &source,
                                       .n_sources = 1};
    struct tenon_error err = {0};

    ck_ok(tenon_plan_add_tensor(plan, &tensor, &err), err);
}

/* --- the scenes --- */

static void open_input(struct scene *scene)
{
    scene->model = plan_model_of_file(&tiny, at("input"));
    watch(scene, "input", (const char *)tiny.data, tiny.used);
    /* Written anew: not the file that the model was opened from. */
    tenon_model_free(scene->model);
    scene->model = plan_model_of_file(&tiny, at("input"));
}

static void set_cast(struct scene *scene)
{
    open_input(scene);
    watch(scene, "out", NULL, 0);
    scene->options.threads = 2;
    scene->options.verify = true;
    scene->plan = plan_begin(at("out"));
    add_tensor(scene->plan, scene, "a", TENON_DTYPE_F16, 0);
    add_tensor(scene->plan, scene, "b", TENON_DTYPE_BF16, 0);
}

static void set_copy(struct scene *scene)
{
    open_input(scene);
    watch(scene, "out", "old", 3);
    scene->options.force = true;
    scene->plan = plan_begin(at("out"));
    add_tensor(scene->plan, scene, "a", TENON_DTYPE_F32, 0);
}

static void set_in_place(struct scene *scene)
{
    open_input(scene);
    scene->options.in_place = true;
    scene->plan = plan_begin(at("input"));
    add_tensor(scene->plan, scene, "b", TENON_DTYPE_F32, 0);
}

static void set_text(struct scene *scene)
{
    struct tenon_error err = {0};

    watch(scene, "config", "{\"tie\": true}", 13);
    scene->options.force = true;
    ck_ok(tenon_plan_new(at("config"), &scene->plan, &err), err);
    ck_ok(tenon_plan_add_text(scene->plan, at("config"), "{\"tie\": false}", 14, false, &err), err);
}

/* Two shards and an index; what the old index named besides goes away. */
static void add_set(struct scene *scene, const char *shard1, const char *shard2, const char *index)
{
    struct tenon_plan_file second = {.kind = TENON_PLAN_MODEL, .path = shard2, .format = "test"};
    struct tenon_error err = {0};

    scene->plan = plan_begin(shard1);
    ck_ok(tenon_plan_add_text(scene->plan, index, "[1, 2]", 6, true, &err), err);
    ck_ok(tenon_plan_add_file(scene->plan, &second, NULL, &err), err);
    add_tensor(scene->plan, scene, "a", TENON_DTYPE_F32, 0);
    add_tensor(scene->plan, scene, "b", TENON_DTYPE_F16, 2);
}

static void set_set(struct scene *scene)
{
    struct tenon_error err = {0};

    scene->model = tiny.model;
    watch(scene, "1", "first", 5);
    watch(scene, "2", NULL, 0);
    watch(scene, "index", "[1, 3]", 6);
    watch(scene, "3", "third", 5);
    scene->options.force = true;
    add_set(scene, at("1"), at("2"), at("index"));
    ck_ok(tenon_plan_add_stale(scene->plan, at("3"), &err), err);
}

static void set_folder(struct scene *scene)
{
    struct tenon_plan_file copy = {.kind = TENON_PLAN_COPY};
    struct tenon_error err = {0};

    open_input(scene);
    scene->new_folder = true;
    watch(scene, "new/model", NULL, 0);
    watch(scene, "new/sub/copy", NULL, 0);
    scene->plan = plan_begin(at("new/model"));
    scene->plan->folder = tenon_arena_text(&scene->plan->arena, at("new"), strlen(at("new")));
    copy.path = at("new/sub/copy");
    copy.copy_of = at("input");
    copy.bytes = tiny.used;
    ck_ok(tenon_plan_add_file(scene->plan, &copy, NULL, &err), err);
    add_tensor(scene->plan, scene, "a", TENON_DTYPE_F32, 0);
}

/* Syncs: of each file; of each folder with targets at the end, and of several targets also before
 * those that are named last; of the folder above each new one; and of what is read back. */
static struct scene scenes[] = {
    {.what = "a cast to a new file", .set = set_cast, .n_syncs = 3},
    {.what = "a copy over a file", .set = set_copy, .n_syncs = 2},
    {.what = "a rewrite in place", .set = set_in_place, .n_syncs = 2},
    {.what = "an edited text", .set = set_text, .n_syncs = 2},
    {.what = "shards and an index over others", .set = set_set, .n_syncs = 5},
    {.what = "a new folder", .set = set_folder, .n_syncs = 8},
};
enum { N_SCENES = sizeof(scenes) / sizeof(scenes[0]) };

static void remove_folders(void)
{
    unlink(at("new/model"));
    unlink(at("new/sub/copy"));
    rmdir(at("new/sub"));
    rmdir(at("new"));
}

static void begin(struct scene *scene)
{
    struct tenon_run_options none = {.threads = 1};

    scene->n_files = 0;
    scene->options = none;
    scene->model = NULL;
    remove_folders();
    scene->set(scene);
    scene->n_targets = tenon_plan_n_files(scene->plan);
    plan_lay_out(scene->plan);
}

static void end(struct scene *scene)
{
    tenon_plan_free(scene->plan);
    if (scene->model != tiny.model)
        tenon_model_free(scene->model);
}

/* --- what must hold --- */

static bool holds(const struct watched *file, const void *bytes, size_t n)
{
    size_t got_n = 0;
    unsigned char *got = plan_read_file(at(file->name), &got_n);
    bool same =
        got == NULL ? bytes == NULL : bytes != NULL && got_n == n && memcmp(got, bytes, n) == 0;

    free(got);
    return same;
}

static size_t count_strays(const struct scene *scene)
{
    size_t n = plan_count_hidden(folder);

    if (access(at("new"), F_OK) == 0)
        n += plan_count_hidden(at("new"));
    if (access(at("new/sub"), F_OK) == 0)
        n += plan_count_hidden(at("new/sub"));
    (void)scene;
    return n;
}

static void remove_strays(void)
{
    char command[256];

    snprintf(command, sizeof(command), "find %s -name '.*.*' -type f -delete", folder);
    ck_assert_int_eq(system(command), 0);
}

/* What a failing call leaves behind where it is the call that cleans up. */
struct leave {
    bool mixture; /* some targets new and some old */
    bool strays;  /* unfinished files */
};

static void check(struct scene *scene, enum tenon_status st, struct leave leave, const char *how)
{
    size_t n_old = 0, n_new = 0, n_both = 0;

    for (size_t i = 0; i < scene->n_files; i++) {
        const struct watched *file = &scene->files[i];
        bool old = holds(file, file->before, file->n_before);
        bool new = holds(file, file->after, file->n_after);

        ck_assert_msg(old || new, "%s, %s: '%s' is neither old nor new", scene->what, how,
                      file->name);
        n_both += old && new;
        n_old += old && !new;
        n_new += new && !old;
    }
    scene->runs++;
    scene->failures += st != TENON_OK;
    ck_assert_msg(leave.mixture || n_old == 0 || n_new == 0, "%s, %s: a mixture", scene->what, how);
    if (st == TENON_OK && !leave.mixture)
        ck_assert_msg(n_old == 0, "%s, %s: nothing done without an error", scene->what, how);
    ck_assert_msg(leave.strays || count_strays(scene) == 0, "%s, %s: unfinished files", scene->what,
                  how);
    if (scene->new_folder && n_new == 0 && !leave.strays)
        ck_assert_msg(access(at("new"), F_OK) != 0, "%s, %s: an empty folder", scene->what, how);
    (void)n_both;
}

static enum tenon_status run(const struct scene *scene)
{
    struct tenon_error err = {0};
    enum tenon_status st = tenon_plan_run(scene->plan, &scene->options, &err);

    ck_assert_int_eq(st, err.status);
    if (st != TENON_OK)
        ck_assert_str_ne(err.message, "");
    return st;
}

/* Without a fault: learns what the files hold afterwards. */
static void learn(struct scene *scene, uint64_t *counts)
{
    static const struct tenon_io_fault none;

    begin(scene);
    tenon_io_fail_at(&none);
    ck_assert_int_eq(run(scene), TENON_OK);
    for (int call = 0; call < TENON_IO_END; call++)
        counts[call] = tenon_io_count((enum tenon_io_call)call);
    for (size_t i = 0; i < scene->n_files; i++) {
        struct watched *file = &scene->files[i];

        free(file->after);
        file->after = plan_read_file(at(file->name), &file->n_after);
    }
    ck_assert_uint_eq(count_strays(scene), 0);
    ck_assert_uint_eq(counts[TENON_IO_SYNC], scene->n_syncs);
    end(scene);
}

/* Calls whose failure is always an error of the run: what was not written, or not named, must not
 * pass for written. */
static bool must_be_told(const struct tenon_io_fault *fault)
{
    static const enum tenon_io_call calls[] = {TENON_IO_PWRITE, TENON_IO_ALLOCATE, TENON_IO_CHMOD,
                                               TENON_IO_SYNC,   TENON_IO_RENAME,   TENON_IO_MKDIR};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (fault->call == calls[i])
            return fault->error == EIO || fault->error == ENOSPC;
    return false;
}

static void run_with_fault(struct scene *scene, const struct tenon_io_fault *fault)
{
    static const struct tenon_io_fault none;
    bool names = fault->call == TENON_IO_RENAME || fault->call == TENON_IO_UNLINK ||
                 fault->call == TENON_IO_LINK || fault->call == TENON_IO_RMDIR;
    bool all = fault->call == TENON_IO_ANY && fault->persistent;
    struct leave leave = {.mixture = all || (names && fault->persistent),
                          /* What cannot get its name back stays under the name that kept it. */
                          .strays = all || fault->call == TENON_IO_UNLINK ||
                                    fault->call == TENON_IO_RMDIR ||
                                    (fault->call == TENON_IO_RENAME && fault->persistent)};
    enum tenon_status st;
    char how[96];

    snprintf(how, sizeof(how), "call %d number %llu, error %d%s", (int)fault->call,
             (unsigned long long)fault->n, fault->error, fault->persistent ? " for good" : "");
    begin(scene);
    tenon_io_fail_at(fault);
    st = run(scene);
    tenon_io_fail_at(&none);
    if (fault->error == TENON_IO_SHORT || (fault->error == EINTR && !fault->persistent))
        ck_assert_msg(st == TENON_OK, "%s, %s: must not matter", scene->what, how);
    if (must_be_told(fault))
        ck_assert_msg(st != TENON_OK, "%s, %s: not told", scene->what, how);
    if (fault->call == TENON_IO_CLOSE && fault->error == EIO && !fault->persistent)
        scene->closes_told += st != TENON_OK;
    /* What the old index named stays when it cannot be removed, and when the new index might not
     * last. */
    if (scene->set == set_set && (fault->call == TENON_IO_UNLINK || fault->call == TENON_IO_SYNC))
        leave.mixture = true;
    check(scene, st, leave, how);
    end(scene);
    if (leave.strays)
        remove_strays();
}

static void set_up(void)
{
    snprintf(folder, sizeof(folder), "%s/durability_test_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    make_tiny();
}

static void tear_down(void)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    tiny_free(&tiny);
}

static void report(const struct scene *scene, const char *faults)
{
    printf("%s: %lu runs with %s, %lu of which failed\n", scene->what, scene->runs, faults,
           scene->failures);
    fflush(stdout);
}

START_TEST(a_failing_call_leaves_old_or_new)
{
    static const int errors[] = {EIO, ENOSPC, EINTR, TENON_IO_SHORT};
    struct scene *scene = &scenes[_i];
    uint64_t counts[TENON_IO_END];

    learn(scene, counts);
    for (int call = 0; call < TENON_IO_END; call++)
        for (uint64_t n = 1; n <= counts[call]; n++)
            for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++)
                /* Each single call is one of its own kind, too: of any kind only for good. */
                for (int persistent = call == TENON_IO_ANY; persistent < 2; persistent++)
                    run_with_fault(scene, &(struct tenon_io_fault){(enum tenon_io_call)call, n,
                                                                   errors[e], persistent != 0});
    ck_assert_uint_gt(scene->failures, 0);
    /* Of all descriptors, those of targets can tell late that something was not written. */
    ck_assert_uint_eq(scene->closes_told, scene->n_targets);
    report(scene, "failing calls");
}
END_TEST

START_TEST(a_failing_allocation_leaves_old_or_new)
{
    struct scene *scene = &scenes[_i];
    uint64_t counts[TENON_IO_END], n_calls = 1;

    learn(scene, counts);
    for (int persistent = 0; persistent < 2; persistent++)
        for (uint64_t n = 1; n <= n_calls; n++) {
            enum tenon_status st;
            char how[64];

            snprintf(how, sizeof(how), "allocation %llu", (unsigned long long)n);
            begin(scene);
            tenon_mem_fail_at(n, persistent != 0);
            st = run(scene);
            n_calls = tenon_mem_count() + 1;
            tenon_mem_fail_at(0, false);
            ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
            check(scene, st, (struct leave){false, false}, how);
            end(scene);
        }
    ck_assert_uint_gt(scene->failures, 0);
    report(scene, "failing allocations");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("durability");
    TCase *tcase = tcase_create("durability");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 240);
    tcase_add_loop_test(tcase, a_failing_call_leaves_old_or_new, 0, N_SCENES);
    tcase_add_loop_test(tcase, a_failing_allocation_leaves_old_or_new, 0, N_SCENES);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
