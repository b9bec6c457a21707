/* Files that others made, into the other container and back: each is converted, and every tensor
 * holds the same numbers there and afterwards, or it is refused with the tensor or key that cannot
 * be held and what to do. Skipped when TENON_REAL_DIR names no folder with an INDEX.tsv. */
#include <stdio.h>
#include <stdlib.h>

#include "../src/check_error.h"
#include "folder.h"
#include "tenon/tenon.h"

#define SKIP 77

/* What came of the files, written by each test's own process to this file. */
static FILE *tally;

static char (*names)[512];
static size_t n_names;
static const char *place;

static bool read_index(void)
{
    char path[1024], line[2048];
    FILE *f;

    snprintf(path, sizeof(path), "%s/INDEX.tsv", place);
    f = fopen(path, "r");
    if (f == NULL)
        return false;
    while (fgets(line, sizeof(line), f) != NULL) {
        size_t n = strcspn(line, "\t");

        if (line[0] == '#' || n >= sizeof(*names))
            continue;
        names = realloc(names, (n_names + 1) * sizeof(*names));
        if (names == NULL)
            abort();
        memcpy(names[n_names], line, n);
        names[n_names++][n] = '\0';
    }
    fclose(f);
    return n_names != 0;
}

static enum tenon_status carry_out(const struct tenon_model *model, const char *target,
                                   const struct tenon_convert_options *options,
                                   struct tenon_error *err)
{
    struct tenon_run_options run;
    struct tenon_plan *plan = NULL;
    enum tenon_status st = tenon_plan_convert(model, target, options, &plan, err);

    tenon_run_options_init(&run);
    run.no_sync = true;
    if (st == TENON_OK)
        st = tenon_plan_layout(plan, err);
    if (st == TENON_OK)
        st = tenon_plan_run(plan, &run, err);
    tenon_plan_free(plan);
    return st;
}

/* With an architecture of no meaning where there must be one. */
static enum tenon_status convert(const struct tenon_model *model, const char *target,
                                 struct tenon_convert_options *options, struct tenon_error *err)
{
    enum tenon_status st = carry_out(model, target, options, err);

    if (st != TENON_ERR_NOT_FOUND)
        return st;
    ck_assert_ptr_nonnull(strstr(err->hint, "--arch"));
    options->arch = "none";
    *err = (struct tenon_error){0};
    return carry_out(model, target, options, err);
}

/* Numbers of every tensor that is in both; float32 holds what the wider types of these files do. */
static void check_values(const struct tenon_model *a, const char *path, const char *name)
{
    struct tenon_hash_options options;
    struct tenon_model *b = NULL;
    struct tenon_error err = {0};

    ck_ok(tenon_model_open(path, NULL, &b, &err), err);
    tenon_hash_options_init(&options);
    options.values = true;
    for (uint32_t i = 0; i < tenon_model_n_tensors(b); i++) {
        const struct tenon_tensor *y = tenon_model_tensor(b, i);
        const struct tenon_tensor *x = tenon_model_find(a, y->name.data, y->name.len);
        struct tenon_hash hash_a, hash_b;
        uint32_t at = 0;

        ck_assert_msg(x != NULL, "%s: a tensor from nowhere", name);
        while (tenon_model_tensor(a, at) != x)
            at++;
        ck_ok(tenon_hash_tensors(a, &at, 1, &options, &hash_a, &err), err);
        ck_ok(tenon_hash_tensors(b, &i, 1, &options, &hash_b, &err), err);
        ck_assert_msg(hash_a.high == hash_b.high && hash_a.low == hash_b.low,
                      "%s: '%.*s' has other numbers", name, (int)y->name.len, y->name.data);
    }
    tenon_model_free(b);
}

/* From the other container back: the numbers are still the same. */
static void check_way_back(const struct tenon_model *model, const char *there, const char *name)
{
    struct tenon_convert_options options;
    struct tenon_model *middle = NULL;
    struct tenon_error err = {0};
    char back[1100];

    snprintf(back, sizeof(back), "%s.%s", there, tenon_model_format(model));
    ck_ok(tenon_model_open(there, NULL, &middle, &err), err);
    tenon_convert_options_init(&options);
    ck_ok(convert(middle, back, &options, &err), err);
    ck_assert_uint_eq(tenon_model_n_tensors(middle), tenon_model_n_tensors(model));
    tenon_model_free(middle);
    check_values(model, back, name);
}

static void note(const char *what)
{
    fprintf(tally, "%s\n", what);
    fflush(tally);
}

START_TEST(file_is_converted_or_refused)
{
    static const struct tenon_dtype_rule all[] = {{"*", TENON_DTYPE_F32}};
    struct tenon_convert_options options;
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    char path[1024], folder[512], target[1024];
    enum tenon_status st;

    snprintf(path, sizeof(path), "%s/%s", place, names[_i]);
    if (tenon_model_open(path, NULL, &model, NULL) != TENON_OK)
        return;
    folder_make(folder);
    snprintf(target, sizeof(target), "%sout.%s", folder,
             strcmp(tenon_model_format(model), "gguf") == 0 ? "safetensors" : "gguf");
    tenon_convert_options_init(&options);
    st = convert(model, target, &options, &err);
    note(st == TENON_OK ? "converted" : "refused");
    if (st != TENON_OK) {
        ck_assert_msg(st == TENON_ERR_CANNOT_REPRESENT && err.subject[0] != '\0', "%s: %s: %s",
                      names[_i], err.subject, err.message);
        options.rules = all;
        options.n_rules = 1;
        options.drop_metadata = true;
        err = (struct tenon_error){0};
        st = convert(model, target, &options, &err);
        note(st == TENON_OK ? "converted as F32" : "refused as F32");
        ck_assert_msg(st == TENON_OK || err.subject[0] != '\0', "%s: %s", names[_i], err.message);
        if (st != TENON_OK)
            printf("%s: '%s': %s\n", names[_i], err.subject, err.message);
    }
    if (st == TENON_OK) {
        check_values(model, target, names[_i]);
        check_way_back(model, target, names[_i]);
    }
    folder_remove(folder);
    tenon_model_free(model);
}
END_TEST

static size_t count(const char *what)
{
    char line[64];
    size_t n = 0;

    rewind(tally);
    while (fgets(line, sizeof(line), tally) != NULL)
        n += strncmp(line, what, strlen(what)) == 0 && line[strlen(what)] == '\n';
    return n;
}

int main(void)
{
    Suite *suite = suite_create("real_convert");
    TCase *tests = tcase_create("index");
    int failed;

    place = getenv("TENON_REAL_DIR");
    if (place == NULL || !read_index()) {
        puts("skipped: TENON_REAL_DIR names no folder with an INDEX.tsv");
        return SKIP;
    }
    tally = tmpfile();
    if (tally == NULL)
        return EXIT_FAILURE;
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, file_is_converted_or_refused, 0, (int)n_names);
    suite_add_tcase(suite, tests);
    failed = run_suite(suite);
    printf("%zu converted, %zu refused, of which %zu as F32\n", count("converted"),
           count("refused"), count("converted as F32"));
    return failed != 0 || count("converted") < 30;
}
