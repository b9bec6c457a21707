/* Families and architectures with rules of their own, and what loaders make of them. */
#include <string.h>

#include "model_build.h"
#include "text.h"
#include "tying_helpers.h"

START_TEST(the_flag_of_t5_does_not_untie_its_embeddings)
{
    begin();
    tiny_add(&tiny, "shared.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "encoder.embed_tokens.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "decoder.embed_tokens.weight", TENON_DTYPE_F32, ROWS, COLS, matrix_with(2, 1));
    tiny_add(&tiny, "lm_head.weight", TENON_DTYPE_F32, ROWS, COLS, unrelated());
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("t5"), TENON_VERDICT_DIFFERENT);
    ck_assert(tenon_str_equal(tying->input->name, "shared.weight"));
    ck_assert(tying->consistent);
    ck_assert(noted("whether the decoder's output is scaled"));
    ck_assert(noted("'encoder.embed_tokens.weight' is a further copy of 'shared.weight'"));
    ck_assert(noted("'decoder.embed_tokens.weight' is not equal to 'shared.weight'"));
    check_action(tying->transformers_v4, TENON_LOADER_KEEPS_BOTH);
    check_action(tying->transformers_v5, TENON_LOADER_KEEPS_BOTH);
}
END_TEST

START_TEST(t5_without_a_head_is_tied_in_version_5_whatever_the_flag)
{
    begin();
    tiny_add(&tiny, "shared.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "decoder.final_layer_norm.weight", TENON_DTYPE_F32, 0, COLS, NULL);
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("umt5"), TENON_VERDICT_ABSENT);
    check_action(tying->transformers_v5, TENON_LOADER_TIES);
}
END_TEST

START_TEST(what_else_is_tied_starts_at_random_where_the_flag_is_false)
{
    begin();
    tiny_add(&tiny, "model.shared.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "model.encoder.embed_tokens.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "lm_head.weight", TENON_DTYPE_F32, ROWS, COLS, unrelated());
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("bart"), TENON_VERDICT_DIFFERENT);
    ck_assert(noted("transformers 5 starts 'model.decoder.embed_tokens.weight' at random"));
    ck_assert(!noted("starts 'model.encoder.embed_tokens.weight' at random"));
}
END_TEST

START_TEST(what_else_is_tied_needs_no_storage_where_the_flag_is_true)
{
    begin();
    tiny_add(&tiny, "model.shared.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    check_verdict(judge("bart"), TENON_VERDICT_ABSENT);
    ck_assert(!noted("at random"));
}
END_TEST

START_TEST(a_head_goes_with_the_decoder_where_tables_are_apart)
{
    begin();
    tiny_add(&tiny, "model.encoder.embed_tokens.weight", TENON_DTYPE_F32, ROWS, COLS, unrelated());
    tiny_add(&tiny, "model.decoder.embed_tokens.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "lm_head.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    check_verdict(judge("marian"), TENON_VERDICT_IDENTICAL);
    ck_assert(tenon_str_equal(tying->input->name, "model.decoder.embed_tokens.weight"));
}
END_TEST

START_TEST(a_family_that_refuses_tying_says_so)
{
    begin();
    tiny_add(&tiny, "transformer.wte.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    check_verdict(judge("dbrx"), TENON_VERDICT_MISSING);
    ck_assert(noted("cannot be tied"));
    check_action(tying->transformers_v5, TENON_LOADER_RANDOM_OUTPUT);
}
END_TEST

/* --- GGUF: presence is the flag, the architecture decides --- */

static enum tenon_verdict judge_gguf(const char *arch, bool has_input, bool has_output)
{
    begin();
    tenon_model_set_format(tiny.model, "gguf");
    if (has_input)
        tiny_add(&tiny, "token_embd.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    if (has_output)
        tiny_add(&tiny, "output.weight", TENON_DTYPE_F32, ROWS, COLS, matrix_with(0, 2));
    return judge(arch);
}

/* One architecture of each group: what llama.cpp makes of the three ways to store them. */
START_TEST(gguf_architectures_decide_what_a_missing_output_means)
{
    static const struct {
        const char *arch;
        enum tenon_verdict input_only;
        enum tenon_loader_action only_input, both, only_output;
    } cases[] = {
        {"qwen2", TENON_VERDICT_ABSENT, TENON_LOADER_TIES, TENON_LOADER_KEEPS_BOTH,
         TENON_LOADER_REFUSES},
        {"gemma2", TENON_VERDICT_ABSENT, TENON_LOADER_TIES, TENON_LOADER_REFUSES,
         TENON_LOADER_REFUSES},
        {"gptneox", TENON_VERDICT_MISSING, TENON_LOADER_REFUSES, TENON_LOADER_KEEPS_BOTH,
         TENON_LOADER_REFUSES},
        {"codeshell", TENON_VERDICT_MISSING, TENON_LOADER_REFUSES, TENON_LOADER_KEEPS_BOTH,
         TENON_LOADER_TIES},
        {"bert", TENON_VERDICT_HEADLESS, TENON_LOADER_UNKNOWN, TENON_LOADER_REFUSES,
         TENON_LOADER_REFUSES},
        {"unheard-of", TENON_VERDICT_ABSENT, TENON_LOADER_UNKNOWN, TENON_LOADER_UNKNOWN,
         TENON_LOADER_UNKNOWN},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_verdict(judge_gguf(cases[i].arch, true, false), cases[i].input_only);
        check_action(tying->llama_cpp, cases[i].only_input);
        ck_assert_int_eq(tying->consistent, cases[i].input_only != TENON_VERDICT_MISSING);
        tear_down();
        check_verdict(judge_gguf(cases[i].arch, true, true), TENON_VERDICT_PARTIAL);
        check_action(tying->llama_cpp, cases[i].both);
        tear_down();
        judge_gguf(cases[i].arch, false, true);
        check_action(tying->llama_cpp, cases[i].only_output);
        tear_down();
    }
}
END_TEST

START_TEST(codeshell_takes_its_input_from_the_output)
{
    check_verdict(judge_gguf("codeshell", false, true), TENON_VERDICT_ABSENT);
    ck_assert(noted("serves as the input too"));
}
END_TEST

START_TEST(the_gguf_import_of_transformers_goes_by_presence_but_for_some)
{
    judge_gguf("qwen2", true, false);
    check_action(tying->transformers_v5, TENON_LOADER_TIES);
    tear_down();
    judge_gguf("qwen2", true, true);
    check_action(tying->transformers_v5, TENON_LOADER_KEEPS_BOTH);
    tear_down();
    judge_gguf("falcon", true, true);
    check_action(tying->transformers_v5, TENON_LOADER_DROPS_OUTPUT);
    tear_down();
    judge_gguf("bloom", true, true);
    check_action(tying->transformers_v4, TENON_LOADER_DROPS_OUTPUT);
}
END_TEST

START_TEST(what_the_loader_refuses_needs_no_known_family)
{
    begin();
    tenon_model_set_format(tiny.model, "gguf");
    tiny_add(&tiny, "token_embd.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "output.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    ck_assert_int_eq(tenon_model_find_fault(tiny.model, "gap", TENON_NO_INDEX, TENON_NO_OFFSET,
                                            NULL, 0, "%s", ""),
                     TENON_OK);
    check_verdict(judge("unheard-of"), TENON_VERDICT_IDENTICAL);
    check_action(tying->llama_cpp, TENON_LOADER_REFUSES);
}
END_TEST

START_TEST(gguf_shapes_that_differ_are_refused)
{
    begin();
    tenon_model_set_format(tiny.model, "gguf");
    tiny_add(&tiny, "token_embd.weight", TENON_DTYPE_F32, ROWS - 1, COLS, matrix());
    tiny_add(&tiny, "output.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    check_verdict(judge("qwen2"), TENON_VERDICT_PARTIAL);
    check_action(tying->llama_cpp, TENON_LOADER_REFUSES);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tying_loaders");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, what_else_is_tied_starts_at_random_where_the_flag_is_false);
    tcase_add_test(tests, what_else_is_tied_needs_no_storage_where_the_flag_is_true);
    tcase_add_test(tests, the_flag_of_t5_does_not_untie_its_embeddings);
    tcase_add_test(tests, t5_without_a_head_is_tied_in_version_5_whatever_the_flag);
    tcase_add_test(tests, a_head_goes_with_the_decoder_where_tables_are_apart);
    tcase_add_test(tests, a_family_that_refuses_tying_says_so);
    tcase_add_test(tests, gguf_architectures_decide_what_a_missing_output_means);
    tcase_add_test(tests, codeshell_takes_its_input_from_the_output);
    tcase_add_test(tests, the_gguf_import_of_transformers_goes_by_presence_but_for_some);
    tcase_add_test(tests, what_the_loader_refuses_needs_no_known_family);
    tcase_add_test(tests, gguf_shapes_that_differ_are_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
