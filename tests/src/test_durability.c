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
#include "write_scenes.h"

/* What all runs of a scene came to. */
static struct {
    unsigned long runs, failures;
    size_t closes_told;
} tally;

/* --- what must hold --- */

static bool holds(const struct scene_file *file, const void *bytes, size_t n)
{
    size_t got_n = 0;
    unsigned char *got = plan_read_file(scene_path(file->name), &got_n);
    bool same =
        got == NULL ? bytes == NULL : bytes != NULL && got_n == n && memcmp(got, bytes, n) == 0;

    free(got);
    return same;
}

/* What a failing call leaves behind where it is the call that cleans up. */
struct leave {
    bool mixture; /* some targets new and some old */
    bool strays;  /* unfinished files */
};

static void check(const struct scene *scene, enum tenon_status st, struct leave leave,
                  const char *how)
{
    size_t n_old = 0, n_new = 0;

    for (size_t i = 0; i < scene->n_files; i++) {
        const struct scene_file *file = &scene->files[i];
        bool old = holds(file, file->before, file->n_before);
        bool new = holds(file, file->after, file->n_after);

        ck_assert_msg(old || new, "%s, %s: '%s' is neither old nor new", scene->what, how,
                      file->name);
        n_old += old && !new;
        n_new += new && !old;
    }
    tally.runs++;
    tally.failures += st != TENON_OK;
    ck_assert_msg(leave.mixture || n_old == 0 || n_new == 0, "%s, %s: a mixture", scene->what, how);
    if (st == TENON_OK && !leave.mixture)
        ck_assert_msg(n_old == 0, "%s, %s: nothing done without an error", scene->what, how);
    ck_assert_msg(leave.strays || scene_count_strays() == 0, "%s, %s: unfinished files",
                  scene->what, how);
    if (scene->new_folder && n_new == 0 && !leave.strays)
        ck_assert_msg(access(scene_path("new"), F_OK) != 0, "%s, %s: an empty folder", scene->what,
                      how);
}

/* Calls whose failure is always an error of the run: what was not written, or not named, must not
 * pass for written. The last sync is of what has been removed after the set was written. */
static bool must_be_told(const struct scene *scene, const struct tenon_io_fault *fault)
{
    static const enum tenon_io_call calls[] = {TENON_IO_PWRITE, TENON_IO_ALLOCATE, TENON_IO_CHMOD,
                                               TENON_IO_SYNC,   TENON_IO_RENAME,   TENON_IO_MKDIR};

    if (scene->has_stale && fault->call == TENON_IO_SYNC && fault->n == scene->n_syncs)
        return false;
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
    scene_begin(scene);
    tenon_io_fail_at(fault);
    st = scene_run(scene);
    tenon_io_fail_at(&none);
    if (fault->error == TENON_IO_SHORT || (fault->error == EINTR && !fault->persistent))
        ck_assert_msg(st == TENON_OK, "%s, %s: must not matter", scene->what, how);
    if (must_be_told(scene, fault))
        ck_assert_msg(st != TENON_OK, "%s, %s: not told", scene->what, how);
    if (fault->call == TENON_IO_CLOSE && fault->error == EIO && !fault->persistent)
        tally.closes_told += st != TENON_OK;
    /* What the old index named stays when it cannot be removed, and when the new index might not
     * last. */
    if (scene->has_stale && (fault->call == TENON_IO_UNLINK || fault->call == TENON_IO_SYNC))
        leave.mixture = true;
    check(scene, st, leave, how);
    scene_end(scene);
    if (leave.strays)
        scene_remove_strays();
}

static void report(const struct scene *scene, const char *faults)
{
    printf("%s: %lu runs with %s, %lu of which failed\n", scene->what, tally.runs, faults,
           tally.failures);
    fflush(stdout);
}

START_TEST(a_failing_call_leaves_old_or_new)
{
    static const int errors[] = {EIO, ENOSPC, EINTR, TENON_IO_SHORT};
    struct scene *scene = &scenes[_i];
    uint64_t counts[TENON_IO_END];

    memset(&tally, 0, sizeof(tally)); /* all may run in one process */
    scene_learn(scene, counts);
    for (int call = 0; call < TENON_IO_END; call++)
        for (uint64_t n = 1; n <= counts[call]; n++)
            for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++)
                /* Each single call is one of its own kind, too: of any kind only for good. */
                for (int persistent = call == TENON_IO_ANY; persistent < 2; persistent++)
                    run_with_fault(scene, &(struct tenon_io_fault){(enum tenon_io_call)call, n,
                                                                   errors[e], persistent != 0});
    ck_assert_uint_gt(tally.failures, 0);
    /* Of all descriptors, those of targets can tell late that something was not written. */
    ck_assert_uint_eq(tally.closes_told, scene->n_targets);
    report(scene, "failing calls");
}
END_TEST

START_TEST(a_failing_allocation_leaves_old_or_new)
{
    struct scene *scene = &scenes[_i];
    uint64_t counts[TENON_IO_END], n_calls = 1;

    memset(&tally, 0, sizeof(tally));
    scene_learn(scene, counts);
    for (int persistent = 0; persistent < 2; persistent++)
        for (uint64_t n = 1; n <= n_calls; n++) {
            enum tenon_status st;
            char how[64];

            snprintf(how, sizeof(how), "allocation %llu", (unsigned long long)n);
            scene_begin(scene);
            tenon_mem_fail_at(n, persistent != 0);
            st = scene_run(scene);
            n_calls = tenon_mem_count() + 1;
            tenon_mem_fail_at(0, false);
            ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
            check(scene, st, (struct leave){false, false}, how);
            scene_end(scene);
        }
    ck_assert_uint_gt(tally.failures, 0);
    report(scene, "failing allocations");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("durability");
    TCase *tcase = tcase_create("durability");

    tcase_add_checked_fixture(tcase, scenes_set_up, scenes_tear_down);
    tcase_set_timeout(tcase, 240);
    tcase_add_loop_test(tcase, a_failing_call_leaves_old_or_new, 0, N_SCENES);
    tcase_add_loop_test(tcase, a_failing_allocation_leaves_old_or_new, 0, N_SCENES);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
