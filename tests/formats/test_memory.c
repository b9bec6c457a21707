/* What opening a model with many tensors takes of the machine's memory: room that is never written
 * to does not count, so the kernel is asked. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_large.h"
#include "tenon/tenon.h"

#define SKIP 77
#define PATH "memory.model"

/* A line of /proc/self/status, in bytes; 0 when there is none. */
static uint64_t ask_status(const char *name)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kib = 0;

    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoull(line + strlen(name), NULL, 10);
    if (f != NULL)
        fclose(f);
    return 1024 * kib;
}

/* Makes the most that was in use what is in use now. */
static bool forget_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    bool done = f != NULL && fputs("5", f) >= 0;

    if (f != NULL)
        done = fclose(f) == 0 && done;
    return done && ask_status("VmHWM:") != 0;
}

/* Opens the file and removes it. At its end a model takes 80 bytes a tensor, at most 16 in the
 * index of names (8 on the way there), and the bytes of the names; before that, what is left of the
 * header beside what is made of it, which is never more than the larger of both, a step of what
 * is given back at once, and small things. */
static void check_peak(uint64_t header, size_t n, bool lenient)
{
    struct tenon_open_options options;
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    uint64_t before, peak, names = 0, most;

    tenon_open_options_init(&options);
    options.lenient = lenient;
    ck_assert(forget_peak());
    before = ask_status("VmRSS:");
    ck_assert_msg(tenon_model_open(PATH, &options, &model, &err) == TENON_OK, "%s", err.message);
    peak = ask_status("VmHWM:") - before;
    ck_assert_uint_eq(tenon_model_n_tensors(model), n);
    for (size_t i = 0; i < n; i++)
        names += tenon_model_tensor(model, i)->name.len;
    most = names + (80 + 16) * n;
    most = most > header ? most : header;
    if (lenient) /* keys and their index come first; the allocator may not give back their memory */
        most += header + (24 + 24) * n;
    most += UINT64_C(4) << 20;
    printf("%zu tensors, header of %llu bytes: %llu bytes, at most %llu\n", n,
           (unsigned long long)header, (unsigned long long)peak, (unsigned long long)most);
    ck_assert_uint_le(peak, most);
    tenon_model_free(model);
    remove(PATH);
}

START_TEST(a_million_tensors_never_stand_beside_their_whole_header)
{
    check_peak(gen_large_tensors(PATH, 1000000), 1000000, false);
}
END_TEST

START_TEST(long_names_stand_once)
{
    check_peak(gen_large_experts(PATH, 400000), 400000, false);
}
END_TEST

START_TEST(records_are_not_kept)
{
    check_peak(gen_large_records(PATH, 500000), 500000, false);
}
END_TEST

START_TEST(lenient_reading_keeps_keys_only_while_it_looks_for_equal_ones)
{
    check_peak(gen_large_tensors(PATH, 300000), 300000, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    if (!forget_peak()) {
        puts("the kernel does not say what was in use");
        return SKIP;
    }
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_million_tensors_never_stand_beside_their_whole_header);
    tcase_add_test(tests, long_names_stand_once);
    tcase_add_test(tests, records_are_not_kept);
    tcase_add_test(tests, lenient_reading_keeps_keys_only_while_it_looks_for_equal_ones);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
