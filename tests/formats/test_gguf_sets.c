/* GGUF models split into sets and merged again, through plans and files: the first file comes back.
 */
#include "steps.h"
#include "tenon/split.h"

#include <check.h>
#include <stdlib.h>

/* Splits the model at in->path; out->path is the first file. Returns the number of files. */
static size_t split(const struct step *in, struct tenon_split_options options, struct step *out)
{
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};
    char prefix[600];
    size_t n;

    folder_make(out->folder);
    snprintf(prefix, sizeof(prefix), "%sset", out->folder);
    ck_ok(tenon_model_open(in->path, NULL, &model, &err), err);
    ck_ok(tenon_plan_split(model, prefix, &options, &plan, &err), err);
    n = tenon_plan_n_files(plan);
    snprintf(out->path, sizeof(out->path), "%s", tenon_plan_file(plan, 0)->path);
    step_run(plan);
    tenon_model_free(model);
    return n;
}

/* The name of the merged file is that of `first`. */
static void merge(const struct step *in, const struct step *first, struct step *out)
{
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};

    folder_make(out->folder);
    snprintf(out->path, sizeof(out->path), "%s%s", out->folder, strrchr(first->path, '/') + 1);
    ck_ok(tenon_model_open(in->path, NULL, &model, &err), err);
    ck_ok(tenon_plan_merge(model, out->path, NULL, &plan, &err), err);
    step_run(plan);
    tenon_model_free(model);
}

/* Every tensor of a member lies as its own header says, and the keys say what set it is. */
static void check_members(const struct step *set, size_t n_files, uint64_t alignment)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    size_t n_keys = 0;

    ck_ok(tenon_model_open(set->path, NULL, &model, &err), err);
    ck_assert_uint_eq(tenon_model_n_files(model), n_files);
    for (size_t i = 0; i < n_files; i++)
        ck_assert_uint_eq(tenon_model_file(model, i)->alignment, alignment);
    for (size_t i = 0; i < tenon_model_n_meta(model); i++)
        n_keys += tenon_model_meta(model, i)->file != 0;
    ck_assert_uint_eq(tenon_model_find_meta(model, "split.tensors.count")->value.as.i64,
                      (int64_t)tenon_model_n_tensors(model));
    ck_assert_uint_eq(n_keys, 0); /* of later members, only those of the set, and these once */
    tenon_model_free(model);
}

static void check_way_back(const char *recipe, struct tenon_split_options options, size_t n_files,
                           uint64_t alignment)
{
    struct step first, set, merged;

    step_input(recipe, &first);
    ck_assert_uint_eq(split(&first, options, &set), n_files);
    check_members(&set, n_files, alignment);
    merge(&set, &first, &merged);
    step_compare(recipe, &first, &merged);
    folder_remove(first.folder);
    folder_remove(set.folder);
    folder_remove(merged.folder);
}

/* tied_gguf has 20 tensors. */
START_TEST(split_and_merge_give_back_the_first_file)
{
    static const char *const samples[] = {"tied_gguf", "tied_q8_0_gguf", "tied_be_gguf",
                                          "tied_v2_gguf", "tied_q8_0_be_gguf"};

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        char recipe[64];

        snprintf(recipe, sizeof(recipe), "sample:%s", samples[i]);
        check_way_back(recipe, (struct tenon_split_options){.max_tensors = 1}, 20, 32);
        check_way_back(recipe, (struct tenon_split_options){.max_tensors = 7}, 3, 32);
        check_way_back(recipe, (struct tenon_split_options){.max_tensors = 20}, 1, 32);
    }
}
END_TEST

#define THREE                                                                                      \
    "gguf:3,3,1 kv:'general.alignment',4 u32:%u tensor:'a',[3],24,0 tensor:'b',[5],24,%u "         \
    "tensor:'c',[7],24,%u align:%u 'aaa' "

START_TEST(an_alignment_is_kept)
{
    char recipe[512];

    snprintf(recipe, sizeof(recipe), THREE "zeros:61 'bbbbb' zeros:59 'ccccccc' align:64", 64u, 64u,
             128u, 64u);
    check_way_back(recipe, (struct tenon_split_options){.max_tensors = 1}, 3, 64);
    check_way_back(recipe, (struct tenon_split_options){.max_bytes = 128}, 2, 64);
}
END_TEST

/* Gaps and padding that are not zero, an end without padding. */
START_TEST(what_has_no_name_goes_along)
{
    char recipe[512];

    snprintf(recipe, sizeof(recipe), THREE "{'x'}*61 'bbbbb' {'y'}*91 'ccccccc'", 32u, 64u, 160u,
             32u);
    check_way_back(recipe, (struct tenon_split_options){.max_tensors = 2}, 2, 32);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gguf_sets");
    TCase *tests = tcase_create("gguf_sets");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tests, split_and_merge_give_back_the_first_file);
    tcase_add_test(tests, an_alignment_is_kept);
    tcase_add_test(tests, what_has_no_name_goes_along);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
