/* Nothing half-written, also when the power goes: all that each run does is written down and cut
 * off after every operation, and of what was not synced any part may be on the disk. Each target is
 * then what it was or what the plan says, a file that names others is new only when they are, and
 * the inputs are untouched; after a run without an error all is new. Prints how many states that
 * were. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_error.h"
#include "power_log.h"
#include "write_scenes.h"

/* States that are looked at after each operation: of a run in which nothing fails, and of one of
 * the many in which a call does. */
enum { MOST_STATES = 1 << 10, MOST_STATES_OF_FAILURE = 1 << 6 };

/* What the files must hold in the end. */
enum end { END_ANY, END_OLD, END_NEW };

/* What the states of a scene came to. */
struct tally {
    const struct scene *scene;
    mode_t modes[SCENE_MOST_FILES];
    size_t n_there; /* names */
    enum end end;   /* of the states that are being looked at */
    unsigned long runs, cuts, states, old, new, mixed, wrong;
    char first[200]; /* what was wrong first */
};

static void complain(struct tally *tally, const char *what, const char *name)
{
    if (tally->wrong++ == 0)
        snprintf(tally->first, sizeof(tally->first), "'%s' %s", name, what);
}

/* --- one state --- */

static bool equals(const struct power_file *file, const void *bytes, size_t n)
{
    if (file == NULL || bytes == NULL)
        return file == NULL && bytes == NULL;
    return file->n == n && (n == 0 || memcmp(file->bytes, bytes, n) == 0);
}

struct verdict {
    bool old, new; /* or both, where the run changes nothing */
};

static struct verdict judge_file(struct tally *tally, struct power_state *state, size_t i)
{
    const struct scene_file *wanted = &tally->scene->files[i];
    struct power_file room, *file = power_state_read(state, wanted->name, &room) ? &room : NULL;
    struct verdict verdict = {equals(file, wanted->before, wanted->n_before),
                              equals(file, wanted->after, wanted->n_after)};

    if (!verdict.old && !verdict.new)
        complain(tally, "is neither old nor new", wanted->name);
    if (file != NULL && wanted->before != NULL && file->mode != tally->modes[i])
        complain(tally, "has another mode", wanted->name);
    if ((tally->end == END_NEW && !verdict.new) || (tally->end == END_OLD && !verdict.old))
        complain(tally, "is not what it has become", wanted->name);
    return verdict;
}

/* While a file that names others is old, so is nothing that is gone by now; when it is new, so are
 * all that it names. */
static void judge_order(struct tally *tally, const struct verdict *verdicts)
{
    const struct scene *scene = tally->scene;

    for (size_t last = 0; last < scene->n_files; last++)
        for (size_t i = 0; scene->files[last].last && i < scene->n_files; i++) {
            bool goes = scene->files[i].after == NULL;

            if (!verdicts[last].old && !goes && !verdicts[i].new)
                complain(tally, "is not there, but what names it", scene->files[i].name);
            if (!verdicts[last].new &&goes && !verdicts[i].old)
                complain(tally, "is gone, but not what names it", scene->files[i].name);
        }
}

static bool is_expected(const struct scene *scene, const char *name)
{
    static const char *const folders[] = {"new", "sub", "deep"};
    size_t len = strlen(name);

    for (size_t i = 0; i < scene->n_files; i++) {
        const char *slash = strrchr(scene->files[i].name, '/');

        if (strcmp(slash != NULL ? slash + 1 : scene->files[i].name, name) == 0)
            return true;
    }
    for (size_t i = 0; scene->new_folder && i < sizeof(folders) / sizeof(folders[0]); i++)
        if (strcmp(folders[i], name) == 0)
            return true;
    return name[0] == '.' && len > 4 &&
           (strcmp(name + len - 4, ".tmp") == 0 || strcmp(name + len - 4, ".old") == 0);
}

/* What was there and is no target stays; what comes besides says by its name what it is, and goes
 * again. */
static void judge_names(struct tally *tally, const struct power_state *state)
{
    const struct scene *scene = tally->scene;
    size_t kept = 0, may_change = 0;
    const char *name;
    bool was_there;

    for (size_t i = 0; (name = power_state_name(state, i, &was_there)) != NULL; i++) {
        kept += was_there;
        if (!was_there && !is_expected(scene, name))
            complain(tally, "came to be", name);
        if (tally->end == END_NEW && name[0] == '.')
            complain(tally, "lies about", name);
    }
    for (size_t i = 0; i < scene->n_files; i++)
        may_change +=
            scene->files[i].before != NULL &&
            !equals(&(struct power_file){scene->files[i].after, scene->files[i].n_after, 0},
                    scene->files[i].before, scene->files[i].n_before);
    if (kept + may_change < tally->n_there)
        complain(tally, "was there and is gone", "a name");
}

static void judge(struct power_state *state, void *user)
{
    struct tally *tally = user;
    struct verdict verdicts[SCENE_MOST_FILES];
    size_t n_old = 0, n_new = 0;

    for (size_t i = 0; i < tally->scene->n_files; i++) {
        verdicts[i] = judge_file(tally, state, i);
        n_old += verdicts[i].old;
        n_new += verdicts[i].new;
    }
    judge_order(tally, verdicts);
    judge_names(tally, state);
    if (n_new == tally->scene->n_files)
        tally->new ++;
    else if (n_old == tally->scene->n_files)
        tally->old++;
    else
        tally->mixed++;
}

/* --- all states of a run --- */

static struct power_log *run_and_write_down(struct tally *tally, const struct tenon_io_fault *fault,
                                            enum tenon_status *out_st)
{
    static const struct tenon_io_fault none;
    struct power_log *log = power_log_begin(scene_folder);

    tally->n_there = power_log_names(log);
    tenon_io_fail_at(fault);
    *out_st = scene_run(tally->scene);
    tenon_io_fail_at(&none);
    power_log_end(log);
    ck_assert_msg(!power_log_is_rude(log), "%s: a file was written to as it lay there",
                  tally->scene->what);
    return log;
}

static void look_everywhere(struct tally *tally, const struct power_log *log, size_t most,
                            enum end end)
{
    for (size_t at = 0; at <= power_log_length(log); at++) {
        tally->end = at == power_log_length(log) ? end : at == 0 ? END_OLD : END_ANY;
        tally->states += power_log_cut(log, at, most, judge, tally);
        tally->cuts++;
    }
    tally->runs++;
}

/* Modes that no umask makes. */
static void begin(struct scene *scene, struct tally *tally)
{
    scene_begin(scene);
    tally->scene = scene;
    for (size_t i = 0; i < scene->n_files; i++) {
        tally->modes[i] = i == 0 ? 0640 : 0604;
        if (scene->files[i].before != NULL)
            ck_assert_int_eq(chmod(scene_path(scene->files[i].name), tally->modes[i]), 0);
    }
    /* Two names of one file have one mode. */
    for (size_t i = 0; i < scene->n_files; i++) {
        struct stat info;

        if (scene->files[i].before != NULL && stat(scene_path(scene->files[i].name), &info) == 0)
            tally->modes[i] = info.st_mode & 0777;
    }
}

static void report(const struct tally *tally, const char *what)
{
    printf("%s, %s: %lu runs, %lu moments, %lu states: %lu old, %lu new, %lu of both, %lu wrong\n",
           tally->scene->what, what, tally->runs, tally->cuts, tally->states, tally->old,
           tally->new, tally->mixed, tally->wrong);
    fflush(stdout);
}

START_TEST(a_power_cut_leaves_old_or_new)
{
    static const struct tenon_io_fault none;
    struct scene *scene = &scenes[_i];
    struct tally tally = {0};
    uint64_t counts[TENON_IO_END];
    enum tenon_status st;
    struct power_log *log;

    scene_learn(scene, counts);
    begin(scene, &tally);
    log = run_and_write_down(&tally, &none, &st);
    ck_assert_int_eq(st, TENON_OK);
    look_everywhere(&tally, log, MOST_STATES, END_NEW);
    report(&tally, "nothing fails");
    ck_assert_msg(tally.wrong == 0, "%s: %s", scene->what, tally.first);
    ck_assert_uint_gt(tally.new, 0);
    ck_assert_uint_gt(tally.old, 0);
    power_log_free(log);
    scene_end(scene);
}
END_TEST

/* What was undone is undone for good, unless a sync failed, or what is needed to undo it. */
static enum end end_of(const struct scene *scene, enum tenon_status st,
                       const struct tenon_io_fault *fault)
{
    bool cleans = fault->call == TENON_IO_UNLINK || fault->call == TENON_IO_RMDIR;

    if (fault->call == TENON_IO_SYNC || fault->call == TENON_IO_ANY ||
        (cleans && (st == TENON_OK || scene->has_stale)))
        return END_ANY;
    if (st != TENON_OK)
        return fault->persistent ? END_ANY : END_OLD;
    return END_NEW;
}

static void cut_with_fault(struct scene *scene, struct tally *tally,
                           const struct tenon_io_fault *fault)
{
    enum tenon_status st;
    struct power_log *log;

    begin(scene, tally);
    log = run_and_write_down(tally, fault, &st);
    look_everywhere(tally, log, MOST_STATES_OF_FAILURE, end_of(scene, st, fault));
    ck_assert_msg(tally->wrong == 0, "%s, call %d number %llu, error %d%s: %s", scene->what,
                  (int)fault->call, (unsigned long long)fault->n, fault->error,
                  fault->persistent ? " for good" : "", tally->first);
    power_log_free(log);
    scene_end(scene);
    scene_remove_strays();
}

/* Going back is cut off as well. Where the system cannot rename without replacing (EINVAL), files
 * get their names another way. */
START_TEST(a_power_cut_after_a_failure_leaves_old_or_new)
{
    struct scene *scene = &scenes[_i];
    struct tally tally = {0};
    uint64_t counts[TENON_IO_END];

    scene_learn(scene, counts);
    for (int call = 0; call < TENON_IO_END; call++)
        for (uint64_t n = 1; n <= counts[call]; n++)
            for (int persistent = call == TENON_IO_ANY; persistent < 2; persistent++) {
                struct tenon_io_fault fault = {(enum tenon_io_call)call, n, EIO, persistent != 0};

                cut_with_fault(scene, &tally, &fault);
                fault.error = EINVAL;
                if (call == TENON_IO_RENAME)
                    cut_with_fault(scene, &tally, &fault);
            }
    cut_with_fault(scene, &tally, &(struct tenon_io_fault){TENON_IO_ANY, 1, TENON_IO_SHORT, true});
    report(&tally, "a call fails");
}
END_TEST

/* --- the model itself --- */

static unsigned long count_wrong(struct scene *scene, bool files, bool folders)
{
    static const struct tenon_io_fault none;
    struct tally tally = {0};
    uint64_t counts[TENON_IO_END];
    enum tenon_status st;
    struct power_log *log;

    scene_learn(scene, counts);
    begin(scene, &tally);
    log = run_and_write_down(&tally, &none, &st);
    if (files)
        power_log_forget_syncs(log, false);
    if (folders)
        power_log_forget_syncs(log, true);
    look_everywhere(&tally, log, MOST_STATES_OF_FAILURE, END_ANY);
    power_log_free(log);
    scene_end(scene);
    return tally.wrong;
}

START_TEST(without_syncs_of_files_they_are_torn)
{
    ck_assert_uint_gt(count_wrong(&scenes[_i], true, false), 0);
}
END_TEST

START_TEST(without_syncs_of_folders_only_order_is_lost)
{
    unsigned long wrong = count_wrong(&scenes[_i], false, true);
    bool ordered = scenes[_i].new_folder || scenes[_i].has_stale; /* those with an index */

    ck_assert_int_eq(wrong > 0, ordered);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("power_cut");
    TCase *tcase = tcase_create("power_cut");

    tcase_add_checked_fixture(tcase, scenes_set_up, scenes_tear_down);
    tcase_set_timeout(tcase, 240);
    tcase_add_loop_test(tcase, a_power_cut_leaves_old_or_new, 0, N_SCENES);
    tcase_add_loop_test(tcase, a_power_cut_after_a_failure_leaves_old_or_new, 0, N_SCENES);
    tcase_add_loop_test(tcase, without_syncs_of_files_they_are_torn, 0, N_SCENES);
    tcase_add_loop_test(tcase, without_syncs_of_folders_only_order_is_lost, 0, N_SCENES);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
