/* What lies beside weights: config and tokenizer files. The configs are cut-down forms of what the
 * config classes of transformers write. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "folder.h"
#include "mem.h"
#include "text.h"

static char dir[512];
static struct tenon_model *model;

static void set_up(void)
{
    folder_make(dir);
    folder_shard(dir, "model.safetensors", "w", 1);
    model = NULL;
}

static void tear_down(void)
{
    tenon_model_free(model);
    folder_remove(dir);
}

/* Opens the folder with that config. */
static const struct tenon_hparams *with_config(const char *config)
{
    struct tenon_error err = {0};

    if (config != NULL)
        folder_text(dir, "config.json", config);
    tenon_model_free(model);
    model = NULL;
    ck_assert_msg(tenon_model_open(dir, NULL, &model, &err) == TENON_OK, "%s", err.message);
    return tenon_model_hparams(model);
}

START_TEST(a_llama_config_is_read)
{
    const struct tenon_hparams *h = with_config(
        "{\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\",\"vocab_size\":128256,"
        "\"hidden_size\":2048,\"num_hidden_layers\":16,\"num_attention_heads\":32,"
        "\"num_key_value_heads\":8,\"head_dim\":64,\"intermediate_size\":8192,"
        "\"max_position_embeddings\":131072,\"rope_theta\":500000.0,\"rope_scaling\":{\"factor\":"
        "32."
        "0,\"high_freq_factor\":4.0,\"low_freq_factor\":1.0,\"original_max_position_embeddings\":"
        "8192,\"rope_type\":\"llama3\"},\"tie_word_embeddings\":true,\"torch_dtype\":\"bfloat16\","
        "\"transformers_version\":\"4.45.0\",\"pad_token_id\":null}");

    ck_assert(tenon_str_equal(h->model_type, "llama"));
    ck_assert(tenon_str_equal(h->class_name, "LlamaForCausalLM"));
    ck_assert(tenon_str_equal(h->torch_dtype, "bfloat16"));
    ck_assert(tenon_str_equal(h->transformers_version, "4.45.0"));
    ck_assert_int_eq(h->vocab_size, 128256);
    ck_assert_int_eq(h->hidden_size, 2048);
    ck_assert_int_eq(h->layers, 16);
    ck_assert_int_eq(h->heads, 32);
    ck_assert_int_eq(h->kv_heads, 8);
    ck_assert_int_eq(h->head_dim, 64);
    ck_assert_int_eq(h->intermediate_size, 8192);
    ck_assert_int_eq(h->context_length, 131072);
    ck_assert_int_eq(h->pad_token_id, TENON_UNKNOWN);
    ck_assert_double_eq(h->rope_theta, 500000);
    ck_assert(tenon_str_equal(h->rope_scaling, "llama3"));
    ck_assert_double_eq(h->rope_factor, 32);
    ck_assert_int_eq(h->rope_original_context, 8192);
    ck_assert_uint_eq(h->n_tie_flags, 1);
    ck_assert(h->tie_flags[0].value && !h->tie_flags[0].nested);
    ck_assert_str_eq(h->tie_flags[0].where, "config.json: tie_word_embeddings");
    ck_assert(!h->quantized && !h->alibi);
}
END_TEST

START_TEST(other_families_use_other_names)
{
    const struct tenon_hparams *h =
        with_config("{\"n_embd\":768,\"n_layer\":12,\"n_head\":12,\"n_positions\":1024,"
                    "\"n_inner\":null,\"vocab_size\":50257,\"rotary_pct\":0.25,"
                    "\"rotary_emb_base\":10000}");

    ck_assert_int_eq(h->hidden_size, 768);
    ck_assert_int_eq(h->layers, 12);
    ck_assert_int_eq(h->heads, 12);
    ck_assert_int_eq(h->context_length, 1024);
    ck_assert_int_eq(h->intermediate_size, TENON_UNKNOWN);
    ck_assert_double_eq(h->rope_partial_factor, 0.25);
    ck_assert_double_eq(h->rope_theta, 10000);
    h = with_config("{\"d_model\":512,\"num_layers\":6,\"num_decoder_layers\":7,\"num_heads\":8,"
                    "\"d_kv\":64,\"d_ff\":2048}");
    ck_assert_int_eq(h->hidden_size, 512);
    ck_assert_int_eq(h->layers, 6);
    ck_assert_int_eq(h->decoder_layers, 7);
    ck_assert_int_eq(h->head_dim, 64);
    ck_assert_int_eq(h->intermediate_size, 2048);
    h = with_config("{\"attn_config\":{\"alibi\":true,\"kv_n_heads\":3},\"n_heads\":24}");
    ck_assert(h->alibi);
    ck_assert_int_eq(h->kv_heads, 3);
}
END_TEST

START_TEST(multi_query_models_keep_one_head_for_keys)
{
    ck_assert_int_eq(
        with_config("{\"multi_query\":true,\"num_kv_heads\":71,\"num_attention_heads\":71}")
            ->kv_heads,
        1);
    ck_assert_int_eq(with_config("{\"multi_query\":true,\"new_decoder_architecture\":true,"
                                 "\"num_kv_heads\":8}")
                         ->kv_heads,
                     8);
}
END_TEST

START_TEST(a_nested_language_model_goes_before_the_top_level)
{
    const struct tenon_hparams *h =
        with_config("{\"model_type\":\"llava\",\"vocab_size\":1,\"hidden_size\":7,"
                    "\"tie_word_embeddings\":false,\"text_config\":{\"model_type\":\"mistral\","
                    "\"vocab_size\":32000,\"tie_word_embeddings\":true,\"dtype\":\"float16\"},"
                    "\"vision_config\":{\"tie_word_embeddings\":true}}");

    ck_assert(tenon_str_equal(h->model_type, "llava"));
    ck_assert(tenon_str_equal(h->text_model_type, "mistral"));
    ck_assert(tenon_str_equal(h->torch_dtype, "float16"));
    ck_assert_int_eq(h->vocab_size, 32000);
    ck_assert_int_eq(h->hidden_size, 7);
    ck_assert_uint_eq(h->n_tie_flags, 2);
    ck_assert(!h->tie_flags[0].value && !h->tie_flags[0].nested);
    ck_assert(h->tie_flags[1].value && h->tie_flags[1].nested);
    ck_assert_str_eq(h->tie_flags[1].where, "config.json: text_config.tie_word_embeddings");
}
END_TEST

START_TEST(deeper_nesting_and_lfm2s_own_flag_are_seen)
{
    const struct tenon_hparams *h =
        with_config("{\"tie_embedding\":true,\"thinker_config\":{\"text_config\":{"
                    "\"hidden_size\":3584,\"tie_word_embeddings\":false}}}");

    ck_assert_int_eq(h->hidden_size, 3584);
    ck_assert_uint_eq(h->n_tie_flags, 2);
    ck_assert_str_eq(h->tie_flags[0].where, "config.json: tie_embedding");
    ck_assert_str_eq(h->tie_flags[1].where,
                     "config.json: thinker_config.text_config.tie_word_embeddings");
}
END_TEST

START_TEST(rope_parameters_of_transformers_5_are_read)
{
    const struct tenon_hparams *h =
        with_config("{\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":1000000.0,"
                    "\"partial_rotary_factor\":0.5}}");

    ck_assert_double_eq(h->rope_theta, 1000000);
    ck_assert_double_eq(h->rope_partial_factor, 0.5);
    ck_assert_uint_eq(h->rope_scaling.len, 0);
    h = with_config("{\"rope_parameters\":{\"sliding_attention\":{\"rope_type\":\"default\","
                    "\"rope_theta\":10000.0},\"full_attention\":{\"rope_type\":\"linear\","
                    "\"factor\":8.0,\"rope_theta\":1000000.0}}}");
    ck_assert_double_eq(h->rope_theta, 1000000);
    ck_assert_double_eq(h->rope_factor, 8);
    ck_assert(tenon_str_equal(h->rope_scaling, "linear"));
}
END_TEST

START_TEST(contradicting_rope_types_are_a_finding)
{
    with_config("{\"rope_scaling\":{\"type\":\"linear\",\"rope_type\":\"yarn\",\"factor\":4}}");
    ck_assert(has_finding(model, "config_conflict", "rope_scaling"));
    ck_assert(tenon_str_equal(tenon_model_hparams(model)->rope_scaling, "yarn"));
}
END_TEST

START_TEST(quantization_schemes_are_named)
{
    static const struct {
        const char *config, *method;
    } cases[] = {{"{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4}}", "gptq"},
                 {"{\"quantization_config\":{\"load_in_4bit\":true}}", "bitsandbytes"},
                 {"{\"quantization\":{\"bits\":4,\"group_size\":64}}", "mlx"},
                 {"{\"compression_config\":{}}", "compressed-tensors"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tenon_hparams *h = with_config(cases[i].config);

        ck_assert(h->quantized);
        ck_assert(tenon_str_equal(h->quant_method, cases[i].method));
    }
}
END_TEST

START_TEST(lists_with_one_number_for_each_layer_give_the_first)
{
    ck_assert_int_eq(with_config("{\"num_key_value_heads\":[3,4,5]}")->kv_heads, 3);
}
END_TEST

/* Values that cannot be used, with the code of the finding. */
static const struct {
    const char *config, *code, *subject;
} faults[] = {
    {"{\"hidden_size\":\"x\"}", "config_type", "hidden_size"},
    {"{\"hidden_size\":2.5}", "config_type", "hidden_size"},
    {"{\"hidden_size\":{}}", "config_type", "hidden_size"},
    {"{\"hidden_size\":[]}", "config_type", "hidden_size"},
    {"{\"hidden_size\":9007199254740993}", "config_type", "hidden_size"},
    {"{\"rope_theta\":\"1e6\"}", "config_type", "rope_theta"},
    {"{\"rope_theta\":1e999}", "config_type", "rope_theta"},
    {"{\"model_type\":7}", "config_type", "model_type"},
    {"{\"architectures\":[1]}", "config_type", "architectures"},
    {"{\"tie_word_embeddings\":\"yes\"}", "config_type", "tie_word_embeddings"},
    {"{\"tie_word_embeddings\":1}", "config_type", "tie_word_embeddings"},
    {"{\"rope_scaling\":\"linear\"}", "config_type", "rope_scaling"},
    {"{\"quantization_config\":4}", "config_type", "quantization_config"},
    {"[]", "side_file_unusable", "config.json"},
    {"", "side_file_unusable", "config.json"},
    {"{\"a\":1,\"a\":2}", "side_file_unusable", "config.json"},
    {"{\"a\":1} x", "side_file_unusable", "config.json"},
};

START_TEST(what_cannot_be_used_is_a_finding)
{
    with_config(faults[_i].config);
    ck_assert_uint_eq(tenon_model_n_findings(model), 1);
    ck_assert_msg(has_finding(model, faults[_i].code, faults[_i].subject), "%s", faults[_i].config);
}
END_TEST

START_TEST(a_model_file_alone_gets_the_config_of_its_folder)
{
    struct tenon_error err = {0};
    char path[1024];

    folder_text(dir, "config.json", "{\"hidden_size\":5}");
    snprintf(path, sizeof(path), "%smodel.safetensors", dir);
    ck_assert_int_eq(tenon_model_open(path, NULL, &model, &err), TENON_OK);
    ck_assert_int_eq(tenon_model_hparams(model)->hidden_size, 5);
}
END_TEST

/* --- tokenizers --- */

static const struct tenon_tokenizer *open_tokenizer(void)
{
    with_config(NULL);
    return tenon_model_tokenizer(model);
}

START_TEST(a_bpe_tokenizer_is_counted)
{
    const struct tenon_tokenizer *t;

    folder_text(dir, "tokenizer.json",
                "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":"
                "[\"a b\",[\"a\",\"b\"]]},\"pre_tokenizer\":{\"type\":\"Sequence\","
                "\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"}},"
                "{\"type\":\"ByteLevel\"}]},\"added_tokens\":[{\"id\":0,\"content\":\"a\"},"
                "{\"id\":7,\"content\":\"<x>\"}]}");
    folder_text(dir, "tokenizer_config.json",
                "{\"added_tokens_decoder\":{\"7\":{\"content\":\"<x>\"},\"9\":{}}}");
    folder_text(dir, "added_tokens.json", "{\"<y>\":8}");
    t = open_tokenizer();
    ck_assert(tenon_str_equal(t->model, "BPE"));
    ck_assert(tenon_str_equal(t->pre, "Split+ByteLevel"));
    ck_assert_int_eq(t->tokens, 3);
    ck_assert_int_eq(t->merges, 2);
    ck_assert_int_eq(t->added, 3);
    ck_assert_int_eq(t->max_id, 9);
}
END_TEST

START_TEST(a_unigram_vocabulary_is_a_list)
{
    const struct tenon_tokenizer *t;

    folder_text(dir, "tokenizer.json",
                "{\"added_tokens\":[{\"id\":1}],\"model\":{\"type\":\"Unigram\",\"unk_id\":0,"
                "\"vocab\":[[\"<unk>\",0.0],[\"a\",-1.5]]}}");
    t = open_tokenizer();
    ck_assert(tenon_str_equal(t->model, "Unigram"));
    ck_assert_int_eq(t->tokens, 2);
    ck_assert_int_eq(t->added, 0);
    ck_assert_int_eq(t->max_id, 1);
    ck_assert_int_eq(t->merges, TENON_UNKNOWN);
}
END_TEST

START_TEST(older_vocabularies_are_counted)
{
    /* pieces: {"<unk>"}, {"a"}; trainer_spec: {model_type: 2} */
    static const char pieces[] = "\x0a\x07\x0a\x05<unk>\x0a\x03\x0a\x01"
                                 "a\x12\x02\x18\x02";
    const struct tenon_tokenizer *t;

    folder_text(dir, "vocab.txt", "[PAD]\n[UNK]\na");
    t = open_tokenizer();
    ck_assert(tenon_str_equal(t->model, "WordPiece"));
    ck_assert_int_eq(t->tokens, 3);
    folder_write(dir, "tokenizer.model", pieces, sizeof(pieces) - 1);
    t = open_tokenizer();
    ck_assert(tenon_str_equal(t->model, "BPE"));
    ck_assert_int_eq(t->tokens, 2);
    folder_text(dir, "tokenizer.model", "IQ== 0\nIg== 1\nIw== 2\n");
    t = open_tokenizer();
    ck_assert(tenon_str_equal(t->model, "tiktoken"));
    ck_assert_int_eq(t->max_id, 2);
    folder_text(dir, "vocab.json", "{\"a\":0,\"b\":1,\"c\":5}");
    folder_text(dir, "merges.txt", "#version: 0.2\na b\n");
    t = open_tokenizer();
    ck_assert(tenon_str_equal(t->model, "BPE"));
    ck_assert_int_eq(t->tokens, 3);
    ck_assert_int_eq(t->max_id, 5);
    ck_assert_int_eq(t->merges, 1);
}
END_TEST

START_TEST(without_tokenizer_files_nothing_is_said)
{
    const struct tenon_tokenizer *t = open_tokenizer();

    ck_assert_uint_eq(t->model.len, 0);
    ck_assert_int_eq(t->tokens, TENON_UNKNOWN);
}
END_TEST

static const struct {
    const char *name, *text;
} bad_tokenizers[] = {
    {"tokenizer.json", "[]"},
    {"tokenizer.json", "{\"model\":{\"vocab\":3}}"},
    {"tokenizer.json", "{\"model\":{\"vocab\":{\"a\":-1}}}"},
    {"tokenizer.json", "{\"model\":{\"vocab\":{\"a\":1.5}}}"},
    {"tokenizer.json", "{\"added_tokens\":[{\"id\":\"0\"}]}"},
    {"tokenizer.json", "{\"added_tokens\":[{\"id\":18446744073709551615}]}"},
    {"tokenizer.json", "{\"model\":{\"vocab\":{\"a\":0}"},
    {"tokenizer_config.json", "{"},
    {"added_tokens.json", "{\"a\":\"b\"}"},
    {"tokenizer.model", "\x0a\x7f"},
    {"tokenizer.model", "\x03"},
    {"tokenizer.model", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
};

START_TEST(a_damaged_tokenizer_is_a_finding)
{
    folder_text(dir, bad_tokenizers[_i].name, bad_tokenizers[_i].text);
    open_tokenizer();
    ck_assert_msg(has_finding(model, "side_file_unusable", bad_tokenizers[_i].name), "%s",
                  bad_tokenizers[_i].text);
    ck_assert_uint_eq(tenon_model_n_findings(model), 1);
}
END_TEST

static void *counted_malloc(size_t n)
{
    return tenon_mem_alloc(n, 1);
}

/* Opens the folder with each allocation failing in turn, until none does. */
static void fail_in_turn(void)
{
    enum tenon_status st = TENON_ERR_NO_MEMORY;
    uint64_t n = 0;

    while (st != TENON_OK) {
        struct tenon_error err = {0};

        ck_assert_uint_lt(n, 1000);
        tenon_mem_fail_at(++n, false);
        st = tenon_model_open(dir, NULL, &model, &err);
        tenon_mem_fail_at(0, false);
        if (st != TENON_OK)
            ck_assert_msg(st == TENON_ERR_NO_MEMORY, "%d: %s", (int)n, err.message);
    }
    ck_assert_uint_gt(n, 20);
    tenon_model_free(model);
    model = NULL;
}

START_TEST(every_failing_allocation_is_survived)
{
    cJSON_Hooks hooks = {counted_malloc, tenon_mem_free};

    cJSON_InitHooks(&hooks);
    folder_text(
        dir, "config.json",
        "{\"model_type\":\"a\",\"architectures\":[\"b\"],\"text_config\":{\"model_type\":\"c\","
        "\"tie_word_embeddings\":true},\"rope_scaling\":{\"type\":\"x\",\"rope_type\":\"y\"},"
        "\"quantization_config\":{\"quant_method\":\"q\"},\"hidden_size\":\"z\"}");
    folder_text(dir, "tokenizer_config.json", "{\"added_tokens_decoder\":{\"7\":{},\"8\":{}}}");
    folder_text(dir, "added_tokens.json", "{\"<y>\":8}");
    folder_text(dir, "vocab.json", "{\"a\":-1}");
    folder_text(dir, "tokenizer.model", "\x0a\x7f");
    folder_text(dir, "vocab.txt", "a\nb\n");
    fail_in_turn();
    folder_text(dir, "tokenizer.json", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}");
    fail_in_turn();
    cJSON_InitHooks(NULL);
}
END_TEST

#define COUNT(array) (sizeof(array) / sizeof(array[0]))

int main(void)
{
    Suite *suite = suite_create("hf_config");
    TCase *tc = tcase_create("hf_config");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_llama_config_is_read);
    tcase_add_test(tc, other_families_use_other_names);
    tcase_add_test(tc, multi_query_models_keep_one_head_for_keys);
    tcase_add_test(tc, a_nested_language_model_goes_before_the_top_level);
    tcase_add_test(tc, deeper_nesting_and_lfm2s_own_flag_are_seen);
    tcase_add_test(tc, rope_parameters_of_transformers_5_are_read);
    tcase_add_test(tc, contradicting_rope_types_are_a_finding);
    tcase_add_test(tc, quantization_schemes_are_named);
    tcase_add_test(tc, lists_with_one_number_for_each_layer_give_the_first);
    tcase_add_loop_test(tc, what_cannot_be_used_is_a_finding, 0, COUNT(faults));
    tcase_add_test(tc, a_model_file_alone_gets_the_config_of_its_folder);
    tcase_add_test(tc, a_bpe_tokenizer_is_counted);
    tcase_add_test(tc, a_unigram_vocabulary_is_a_list);
    tcase_add_test(tc, older_vocabularies_are_counted);
    tcase_add_test(tc, without_tokenizer_files_nothing_is_said);
    tcase_add_loop_test(tc, a_damaged_tokenizer_is_a_finding, 0, COUNT(bad_tokenizers));
    tcase_add_test(tc, every_failing_allocation_is_survived);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
