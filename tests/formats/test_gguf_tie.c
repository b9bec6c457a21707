/* GGUF models untied and tied again, through plans and files: the first file comes back. */
#include "steps.h"
#include "tenon/tie.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Carries out what `plan_tie` or `plan_untie` makes of the model at in->path. */
static void change(const struct step *in, bool tie, struct step *out)
{
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};
    const char *name = strrchr(in->path, '/');

    folder_make(out->folder);
    snprintf(out->path, sizeof(out->path), "%s%s", out->folder, name + 1);
    ck_ok(tenon_model_open(in->path, NULL, &model, &err), err);
    if (tie)
        ck_ok(tenon_plan_tie(model, out->path, NULL, &plan, &err), err);
    else
        ck_ok(tenon_plan_untie(model, out->path, NULL, &plan, &err), err);
    ck_assert(!tenon_plan_is_empty(plan));
    step_run(plan);
    tenon_model_free(model);
}

/* Opens it; its output must be a copy of the input. Returns how many findings are no mere remarks.
 */
static size_t check_verdict(const struct step *step, enum tenon_verdict verdict)
{
    struct tenon_model *model = NULL;
    struct tenon_tying *tying = NULL;
    struct tenon_error err = {0};
    size_t n = 0;

    ck_ok(tenon_model_open(step->path, NULL, &model, &err), err);
    ck_ok(tenon_tying_analyse(model, NULL, &tying, &err), err);
    ck_assert_int_eq(tying->verdict, verdict);
    for (size_t i = 0; i < tenon_model_n_findings(model); i++)
        n += tenon_model_finding(model, i)->severity >= TENON_SEVERITY_WARNING;
    tenon_tying_free(tying);
    tenon_model_free(model);
    return n;
}

static void check_way_back(const char *recipe)
{
    struct step first, untied, tied;

    step_input(recipe, &first);
    change(&first, false, &untied);
    ck_assert_uint_le(check_verdict(&untied, TENON_VERDICT_IDENTICAL),
                      check_verdict(&first, TENON_VERDICT_ABSENT));
    change(&untied, true, &tied);
    step_compare(recipe, &first, &tied);
    folder_remove(first.folder);
    folder_remove(untied.folder);
    folder_remove(tied.folder);
}

START_TEST(untie_and_tie_give_back_the_first_file)
{
    static const char *const samples[] = {"tied_gguf",    "tied_q8_0_gguf",    "tied_be_gguf",
                                          "tied_v2_gguf", "tied_q8_0_be_gguf", "gpt2_gguf",
                                          "qwen2_gguf",   "split_gguf"};

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        char recipe[64];

        snprintf(recipe, sizeof(recipe), "sample:%s", samples[i]);
        check_way_back(recipe);
    }
}
END_TEST

/* The last payload of this sample has 128 bytes: cutting takes data, so another one is put behind.
 * Its padding is missing, or is not zero, or more stands behind it. */
START_TEST(untie_and_tie_keep_an_odd_end)
{
    static const char head[] =
        "gguf:3,3,1 kv:'general.architecture',8 str:'llama' tensor:'rope_freqs.weight',[3],0,0 "
        "tensor:'output_norm.weight',[8],0,32 tensor:'token_embd.weight',[3,7],0,64 align:32 "
        "zeros:64 {u32:0x3f800000}*21";
    static const char *const ends[] = {"", "zeros:12", "'padding.not.'", "'padding.not.and.more'"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char recipe[512];

        snprintf(recipe, sizeof(recipe), "%s %s", head, ends[i]);
        check_way_back(recipe);
    }
}
END_TEST

START_TEST(an_alignment_is_kept)
{
    check_way_back("gguf:3,2,2 kv:'general.architecture',8 str:'llama' "
                   "kv:'general.alignment',4 u32:128 tensor:'output_norm.weight',[8],0,0 "
                   "tensor:'token_embd.weight',[3,7],0,128 align:128 zeros:128 "
                   "{u32:0x3f800000}*21 align:128");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gguf_tie");
    TCase *tests = tcase_create("gguf_tie");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tests, untie_and_tie_give_back_the_first_file);
    tcase_add_test(tests, untie_and_tie_keep_an_odd_end);
    tcase_add_test(tests, an_alignment_is_kept);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
