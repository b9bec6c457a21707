/* Verdicts where only one of the two matrices is stored. */
#include <string.h>

#include "model_build.h"
#include "tying_helpers.h"

START_TEST(a_missing_output_under_a_true_flag_is_tied)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    check_verdict(judge("llama"), TENON_VERDICT_ABSENT);
    ck_assert_int_eq(tying->declared, TENON_YES);
    ck_assert_str_eq(tying->declared_by, TOP);
    ck_assert(tying->consistent);
    ck_assert_ptr_null(tying->output);
    ck_assert_uint_eq(tying->saving_bytes, 128);
    ck_assert_uint_eq(tying->saving_parameters, 32);
    ck_assert_double_eq(tying->saving_fraction, 0.5);
    ck_assert(tying->has_input_hash && !tying->has_output_hash);
    check_action(tying->transformers_v4, TENON_LOADER_TIES);
    check_action(tying->transformers_v5, TENON_LOADER_TIES);
    check_action(tying->llama_cpp, TENON_LOADER_UNKNOWN);
}
END_TEST

START_TEST(a_missing_output_under_a_false_flag_is_a_contradiction)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("qwen2"), TENON_VERDICT_MISSING);
    ck_assert(!tying->consistent);
    ck_assert(noted("contradiction"));
    ck_assert_uint_eq(tying->saving_bytes, 0);
    check_action(tying->transformers_v4, TENON_LOADER_RANDOM_OUTPUT);
    check_action(tying->transformers_v5, TENON_LOADER_RANDOM_OUTPUT);
}
END_TEST

START_TEST(a_nested_flag_counts_where_the_top_is_silent)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, NESTED, false, true);
    check_verdict(judge("llava"), TENON_VERDICT_MISSING);
    ck_assert_str_eq(tying->declared_by, NESTED);
}
END_TEST

START_TEST(the_top_flag_wins_over_a_nested_one_and_the_conflict_is_told)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, NESTED, false, true);
    tiny_flag(&tiny, TOP, true, false);
    check_verdict(judge("llava"), TENON_VERDICT_ABSENT);
    ck_assert_str_eq(tying->declared_by, TOP);
    ck_assert(noted("contradicts itself"));
}
END_TEST

START_TEST(a_silent_config_means_the_default_of_the_family)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    check_verdict(judge("gemma"), TENON_VERDICT_ABSENT);
    ck_assert_int_eq(tying->declared, TENON_SILENT);
    ck_assert_ptr_null(tying->declared_by);
    ck_assert(noted("default of the family"));
    tear_down();
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    check_verdict(judge("llama"), TENON_VERDICT_MISSING);
    ck_assert(noted("default of the family"));
}
END_TEST

START_TEST(without_config_and_family_what_is_stored_decides)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    check_verdict(judge(""), TENON_VERDICT_ABSENT);
    ck_assert(noted("what is stored decides"));
    check_action(tying->transformers_v4, TENON_LOADER_UNKNOWN);
}
END_TEST

START_TEST(an_unknown_family_ties_in_one_version_and_not_in_the_other)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    judge("of-tomorrow");
    ck_assert(noted("transformers 5 as not tied"));
    check_action(tying->transformers_v4, TENON_LOADER_TIES);
    check_action(tying->transformers_v5, TENON_LOADER_RANDOM_OUTPUT);
}
END_TEST

START_TEST(a_lone_output_serves_as_the_input_where_tied)
{
    begin();
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    check_verdict(judge("llama"), TENON_VERDICT_ABSENT);
    ck_assert_ptr_null(tying->input);
    ck_assert(noted("only the output matrix is stored"));
    ck_assert_uint_eq(tying->saving_bytes, 128);
    check_action(tying->transformers_v4, TENON_LOADER_RANDOM_OUTPUT);
    check_action(tying->transformers_v5, TENON_LOADER_TIES);
}
END_TEST

START_TEST(a_lone_output_is_not_enough_where_not_tied)
{
    begin();
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("llama"), TENON_VERDICT_MISSING);
    ck_assert(noted("the input matrix is not stored"));
}
END_TEST

START_TEST(a_class_without_a_head_is_headless)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tenon_model_edit_hparams(tiny.model)->class_name =
        (struct tenon_str){"LlamaForSequenceClassification", 30};
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("llama"), TENON_VERDICT_HEADLESS);
    ck_assert(tying->consistent);
    check_action(tying->transformers_v5, TENON_LOADER_UNKNOWN);
}
END_TEST

/* Classes of transformers and of checkpoints that bring their own code: what they end with. */
START_TEST(a_class_with_a_head_that_ends_in_model_is_not_headless)
{
    static const struct {
        const char *class_name, *family, *matrix;
        enum tenon_verdict verdict;
    } cases[] = {
        {"GPT2LMHeadModel", "gpt2", "transformer.wte.weight", TENON_VERDICT_ABSENT},
        {"MarianMTModel", "marian", "model.shared.weight", TENON_VERDICT_ABSENT},
        {"ChatGLMModel", "chatglm", "transformer.embedding.word_embeddings.weight",
         TENON_VERDICT_MISSING},
        {"MarianModel", "marian", "shared.weight", TENON_VERDICT_HEADLESS},
        {"GPT2Model", "gpt2", "wte.weight", TENON_VERDICT_HEADLESS},
        {"Wav2Vec2ForAudioClassification", "gpt2", "wte.weight", TENON_VERDICT_HEADLESS},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin();
        tiny_add(&tiny, cases[i].matrix, TENON_DTYPE_F32, ROWS, COLS, matrix());
        tenon_model_edit_hparams(tiny.model)->class_name =
            (struct tenon_str){cases[i].class_name, strlen(cases[i].class_name)};
        check_verdict(judge(cases[i].family), cases[i].verdict);
        tear_down();
    }
    begin();
}
END_TEST

START_TEST(an_encoder_is_headless_unless_traces_of_a_head_are_stored)
{
    begin();
    tiny_add(&tiny, "bert.embeddings.word_embeddings.weight", TENON_DTYPE_F32, ROWS, COLS,
             matrix());
    check_verdict(judge("bert"), TENON_VERDICT_HEADLESS);
    tear_down();
    begin();
    tiny_add(&tiny, "bert.embeddings.word_embeddings.weight", TENON_DTYPE_F32, ROWS, COLS,
             matrix());
    tiny_add(&tiny, "cls.predictions.bias", TENON_DTYPE_F32, 0, ROWS, NULL);
    check_verdict(judge("bert"), TENON_VERDICT_ABSENT);
    ck_assert(noted("has a bias"));
}
END_TEST

START_TEST(a_text_tower_has_no_head)
{
    begin();
    tiny_add(&tiny, "text_model.embeddings.token_embedding.weight", TENON_DTYPE_F32, ROWS, COLS,
             matrix());
    check_verdict(judge("clip"), TENON_VERDICT_HEADLESS);
}
END_TEST

START_TEST(the_encoder_of_an_encoder_decoder_alone_is_headless)
{
    begin();
    tiny_add(&tiny, "shared.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "encoder.final_layer_norm.weight", TENON_DTYPE_F32, 0, COLS, NULL);
    check_verdict(judge("t5"), TENON_VERDICT_HEADLESS);
}
END_TEST

static void add_meta(const char *key, const char *value)
{
    struct tenon_error err = {0};
    struct tenon_meta_entry entry = {
        .key = {key, strlen(key)},
        .type = TENON_META_STRING,
        .item = TENON_META_STRING,
        .count = 1,
        .value = {.type = TENON_META_STRING, .as.str = {value, strlen(value)}},
    };

    ck_ok(tenon_model_add_meta(tiny.model, &entry, &err), err);
}

START_TEST(a_recorded_alias_decides_where_the_config_is_silent)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    add_meta("format", "pt");
    add_meta("lm_head.weight", "model.embed_tokens.weight");
    check_verdict(judge("llama"), TENON_VERDICT_ABSENT);
    ck_assert(noted("left out as another name of 'model.embed_tokens.weight'"));
}
END_TEST

START_TEST(a_recorded_alias_does_not_overrule_the_flag)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    add_meta("lm_head.weight", "model.embed_tokens.weight");
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("llama"), TENON_VERDICT_MISSING);
    ck_assert(noted("left out"));
}
END_TEST

START_TEST(empty_placeholders_are_called_that)
{
    begin();
    input(TENON_DTYPE_F32, 0, 0, NULL);
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    check_verdict(judge("llama"), TENON_VERDICT_INCOMPATIBLE);
    ck_assert(noted("placeholder"));
    tear_down();
    begin();
    input(TENON_DTYPE_F32, 0, 0, NULL);
    tiny_flag(&tiny, TOP, true, false);
    check_verdict(judge("llama"), TENON_VERDICT_INCOMPATIBLE);
    ck_assert(noted("placeholder"));
}
END_TEST

START_TEST(a_packed_output_is_no_missing_one)
{
    begin();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "lm_head.qweight", TENON_DTYPE_I32, 1, ROWS, NULL);
    tiny_flag(&tiny, TOP, false, false);
    check_verdict(judge("llama"), TENON_VERDICT_INCOMPATIBLE);
    ck_assert(noted("packed by a quantizer"));
}
END_TEST

START_TEST(a_model_without_embeddings_is_an_error)
{
    struct tenon_error err = {0};

    begin();
    tiny_add(&tiny, "weight", TENON_DTYPE_F32, 2, 2, NULL);
    ck_fails(tenon_tying_analyse(tiny_end(&tiny, ""), NULL, &tying, &err), TENON_ERR_NOT_FOUND,
             err);
    ck_assert_ptr_null(tying);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tying_absent");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, a_missing_output_under_a_true_flag_is_tied);
    tcase_add_test(tests, a_missing_output_under_a_false_flag_is_a_contradiction);
    tcase_add_test(tests, a_nested_flag_counts_where_the_top_is_silent);
    tcase_add_test(tests, the_top_flag_wins_over_a_nested_one_and_the_conflict_is_told);
    tcase_add_test(tests, a_silent_config_means_the_default_of_the_family);
    tcase_add_test(tests, without_config_and_family_what_is_stored_decides);
    tcase_add_test(tests, an_unknown_family_ties_in_one_version_and_not_in_the_other);
    tcase_add_test(tests, a_lone_output_serves_as_the_input_where_tied);
    tcase_add_test(tests, a_lone_output_is_not_enough_where_not_tied);
    tcase_add_test(tests, a_class_without_a_head_is_headless);
    tcase_add_test(tests, a_class_with_a_head_that_ends_in_model_is_not_headless);
    tcase_add_test(tests, an_encoder_is_headless_unless_traces_of_a_head_are_stored);
    tcase_add_test(tests, a_text_tower_has_no_head);
    tcase_add_test(tests, the_encoder_of_an_encoder_decoder_alone_is_headless);
    tcase_add_test(tests, a_recorded_alias_decides_where_the_config_is_silent);
    tcase_add_test(tests, a_recorded_alias_does_not_overrule_the_flag);
    tcase_add_test(tests, empty_placeholders_are_called_that);
    tcase_add_test(tests, a_packed_output_is_no_missing_one);
    tcase_add_test(tests, a_model_without_embeddings_is_an_error);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
