/* Every row of testdata/corrupt_*.def: made, opened as a file and from memory, and judged. */
#include "gen.h"
#include "heap.h"
#include "tenon/tenon.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define DEFAULT_MS  50
#define DEFAULT_KIB 1024

static void make_place(char *folder, size_t size)
{
    const char *base = getenv("TMPDIR");

    snprintf(folder, size, "%s/tenon-damage-XXXXXX", base != NULL ? base : ".");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static uint64_t cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* What must hold of any error, whatever the row says. */
static void check_error(const struct gen_damage *row, const struct tenon_error *err,
                        uint64_t n_bytes)
{
    ck_assert_msg(err->message[0] != '\0', "%s: no message", row->id);
    ck_assert_msg(err->message[strlen(err->message) - 1] != '.', "%s: '%s' ends in a period",
                  row->id, err->message);
    if (err->offset != TENON_NO_OFFSET)
        ck_assert_msg(err->offset <= n_bytes, "%s: offset %llu outside of %llu bytes (%s)", row->id,
                      (unsigned long long)err->offset, (unsigned long long)n_bytes, err->message);
}

static bool offset_fits(uint64_t wanted, uint64_t found)
{
    return wanted == GEN_ANY || wanted == found;
}

/* A legal file: its finding, where the row names one. */
static void check_accepted(const struct gen_damage *row, const struct tenon_model *model)
{
    bool found = strcmp(row->subject, "*") == 0;

    for (size_t i = 0; i < tenon_model_n_findings(model); i++) {
        const struct tenon_finding *f = tenon_model_finding(model, i);

        if (row->subject[0] == '\0')
            ck_assert_msg(f->severity == TENON_SEVERITY_INFO, "%s: unexpected finding %s: %s",
                          row->id, f->code, f->message);
        found |= strcmp(f->code, row->subject) == 0 && offset_fits(row->offset, f->offset);
    }
    ck_assert_msg(found || row->subject[0] == '\0', "%s: no finding %s at that offset", row->id,
                  row->subject);
}

static void check_verdict(const struct gen_damage *row, const char *how, enum tenon_status status,
                          const struct tenon_error *err, const struct tenon_model *model)
{
    ck_assert_msg(strcmp(tenon_status_id(status), row->status) == 0,
                  "%s (%s): %s, expected %s (offset %lld, '%s': %s)", row->id, how,
                  tenon_status_id(status), row->status, (long long)err->offset, err->subject,
                  err->message);
    if (status == TENON_OK) {
        check_accepted(row, model);
        return;
    }
    ck_assert_msg(offset_fits(row->offset, err->offset),
                  "%s (%s): offset %lld, expected %lld ('%s': %s)", row->id, how,
                  (long long)err->offset, (long long)row->offset, err->subject, err->message);
    ck_assert_msg(strcmp(row->subject, "*") == 0 || strcmp(row->subject, err->subject) == 0,
                  "%s (%s): subject '%s', expected '%s' (%s)", row->id, how, err->subject,
                  row->subject, err->message);
}

/* The largest file of the sample, holes included: no offset may lie beyond. */
static uint64_t largest(const struct gen_files *files)
{
    uint64_t most = 0;

    for (size_t i = 0; i < files->n; i++) {
        const struct gen_file *file = &files->file[i];
        uint64_t bytes = file->sparse > file->bytes.n ? file->sparse : file->bytes.n;

        most = bytes > most ? bytes : most;
    }
    return most;
}

static void open_path(const struct gen_damage *row, const char *path, const struct gen_files *files)
{
    uint64_t factor = SANITIZED ? 20 : 1;
    uint64_t ms = row->bounds != 0 ? row->bounds >> 32 : DEFAULT_MS;
    uint64_t kib = row->bounds != 0 ? row->bounds & UINT32_MAX : DEFAULT_KIB;
    struct tenon_open_options options;
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    enum tenon_status status;
    uint64_t begin;

    tenon_open_options_init(&options);
    options.thorough = true;
    if (getenv("TENON_TIME_FACTOR") != NULL)
        factor = strtoull(getenv("TENON_TIME_FACTOR"), NULL, 10);
    begin = cpu_ms();
    heap_start();
    status = tenon_model_open(path, &options, &model, &err);
    begin = cpu_ms() - begin;
    ck_assert_msg((status == TENON_OK) == (model != NULL), "%s: status and model disagree",
                  row->id);
    if (status != TENON_OK)
        check_error(row, &err, largest(files));
    check_verdict(row, "file", status, &err, model);
    tenon_model_free(model);
    ck_assert_msg(begin <= ms * factor, "%s: took %llu ms", row->id, (unsigned long long)begin);
    ck_assert_msg(heap_peak() <= kib * 1024, "%s: took %zu KiB", row->id, heap_peak() / 1024);
}

/* The same bytes in memory: same verdict. */
static void open_memory(const struct gen_damage *row, const struct gen_bytes *bytes)
{
    struct tenon_open_options options;
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    enum tenon_status status;

    tenon_open_options_init(&options);
    options.thorough = true;
    status = tenon_model_open_memory(bytes->data, bytes->n, &options, &model, &err);

    check_verdict(row, "memory", status, &err, model);
    tenon_model_free(model);
}

/* Lenient reading may accept more, and must be as safe. */
static void open_lenient(const struct gen_damage *row, const char *path)
{
    struct tenon_open_options options;
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};

    tenon_open_options_init(&options);
    options.lenient = true;
    if (tenon_model_open(path, &options, &model, &err) != TENON_OK)
        ck_assert_msg(err.message[0] != '\0', "%s: no message when lenient", row->id);
    tenon_model_free(model);
}

START_TEST(row_is_judged_as_listed)
{
    const struct gen_damage *row = &gen_damages[_i];
    struct gen_files files = {0};
    char folder[512], path[4096];

    gen_recipe_make(row->recipe, &files);
    make_place(folder, sizeof(folder));
    gen_files_write(&files, folder, path, sizeof(path));
    open_path(row, path, &files);
    open_lenient(row, path);
    /* Without a name to go by, a file alone must be judged the same. */
    if (!files.folder && files.n == 1 && files.file[0].sparse == 0 &&
        files.file[0].kind == GEN_FILE_REGULAR)
        open_memory(row, &files.file[0].bytes);
    gen_files_remove(&files, folder);
    ck_assert_int_eq(rmdir(folder), 0);
    gen_files_release(&files);
}
END_TEST

START_TEST(row_ids_are_unique)
{
    for (size_t i = 0; i < gen_n_damages; i++) {
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(gen_damages[i].id, gen_damages[k].id);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("damage");
    TCase *tc = tcase_create("rows");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, row_ids_are_unique);
    tcase_add_loop_test(tc, row_is_judged_as_listed, 0, (int)gen_n_damages);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
