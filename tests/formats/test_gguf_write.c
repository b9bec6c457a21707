/* GGUF files as they are laid out. Expected bytes come from the generator (testdata/gen), which
 * shares no code with the library. */
#include "cooked.h"
#include "planned.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static enum tenon_status lay_out(struct tenon_plan *plan, struct tenon_error *err)
{
    enum tenon_status st = tenon_plan_layout(plan, err);

    ck_assert_int_eq(st, err->status);
    return st;
}

/* The file that `plan` writes. */
static void carry_out(struct tenon_plan *plan, struct gen_bytes *out)
{
    struct tenon_error err = {0};

    ck_ok(lay_out(plan, &err), err);
    planned_bytes(plan, 0, out);
}

static void check_same(const char *name, const struct gen_bytes *a, const struct gen_bytes *b)
{
    size_t same = 0;

    while (same < a->n && same < b->n && a->data[same] == b->data[same])
        same++;
    ck_assert_msg(a->n == b->n && same == a->n, "%s: %zu and %zu bytes, different from %zu on",
                  name, a->n, b->n, same);
}

static void rewrite(const char *recipe, bool keep, struct gen_bytes *out)
{
    struct cooked c;
    struct tenon_plan *plan;

    cooked_open(&c, recipe, NULL);
    ck_ok(c.status, c.err);
    plan = planned_copy(c.model, keep);
    carry_out(plan, out);
    tenon_plan_free(plan);
    cooked_release(&c);
}

static void check_identity(const char *recipe, bool keep)
{
    struct gen_files files = {0};
    struct gen_bytes bytes = {0};

    gen_recipe_make(recipe, &files);
    rewrite(recipe, keep, &bytes);
    check_same(recipe, &bytes, &files.file[0].bytes);
    gen_bytes_release(&bytes);
    gen_files_release(&files);
}

static bool is_single_gguf(const struct gen_sample *sample)
{
    const char *end = strrchr(sample->name, '_');

    return end != NULL && strcmp(end, "_gguf") == 0 && strncmp(sample->name, "split_", 6) != 0;
}

START_TEST(every_sample_comes_back_byte_for_byte)
{
    size_t n = 0;

    for (size_t i = 0; i < gen_n_samples; i++) {
        char recipe[128];

        /* Version 1 is not written. */
        if (!is_single_gguf(&gen_samples[i]) || strcmp(gen_samples[i].name, "tied_v1_gguf") == 0)
            continue;
        snprintf(recipe, sizeof(recipe), "sample:%s", gen_samples[i].name);
        check_identity(recipe, true);
        n++;
    }
    ck_assert_uint_ge(n, 28);
}
END_TEST

START_TEST(a_new_file_of_a_canonical_one_is_the_same_file)
{
    size_t n = 0;

    for (size_t i = 0; i < gen_n_samples; i++) {
        char recipe[128];
        const char *name = gen_samples[i].name;

        /* Of shared_gguf two tensors have one range; the others lack the padding that a new file
         * has even without tensors. */
        if (!is_single_gguf(&gen_samples[i]) || strcmp(name, "tied_v1_gguf") == 0 ||
            strcmp(name, "shared_gguf") == 0 || strcmp(name, "vocab_gguf") == 0 ||
            strcmp(name, "empty_gguf") == 0 || strncmp(name, "meta_", 5) == 0)
            continue;
        snprintf(recipe, sizeof(recipe), "sample:%s", name);
        check_identity(recipe, false);
        n++;
    }
    ck_assert_uint_ge(n, 23);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gguf_write");
    TCase *tests = tcase_create("gguf_write");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tests, every_sample_comes_back_byte_for_byte);
    tcase_add_test(tests, a_new_file_of_a_canonical_one_is_the_same_file);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
