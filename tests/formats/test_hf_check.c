/* Do config, tokenizer and weights agree? */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "mem.h"

#define LLAMA "{\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\","

static char dir[512];
static struct tenon_model *model;

static void set_up(void)
{
    folder_make(dir);
    model = NULL;
}

static void tear_down(void)
{
    tenon_model_free(model);
    folder_remove(dir);
}

static void open_folder(const char *config)
{
    struct tenon_error err = {0};

    folder_text(dir, "config.json", config);
    tenon_model_free(model);
    model = NULL;
    ck_assert_msg(tenon_model_open(dir, NULL, &model, &err) == TENON_OK, "%s", err.message);
}

/* Writes F32 matrices: name, rows, columns (0: a vector) for each. */
struct matrix {
    const char *name;
    size_t rows, cols;
};

static void write_matrices(const struct matrix *m, size_t n)
{
    static char file[65536];
    size_t used = 8, pos = 0;

    memset(file, 0, sizeof(file));
    used += (size_t)snprintf(file + used, sizeof(file) - used, "{");
    for (size_t i = 0; i < n; i++) {
        char shape[64];
        size_t bytes = 4 * m[i].rows * (m[i].cols != 0 ? m[i].cols : 1);

        if (m[i].cols != 0)
            snprintf(shape, sizeof(shape), "%zu,%zu", m[i].rows, m[i].cols);
        else
            snprintf(shape, sizeof(shape), "%zu", m[i].rows);
        used += (size_t)snprintf(
            file + used, sizeof(file) - used,
            "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
            i != 0 ? "," : "", m[i].name, shape, pos, pos + bytes);
        pos += bytes;
    }
    used += (size_t)snprintf(file + used, sizeof(file) - used, "}");
    while (used % 8 != 0)
        file[used++] = ' ';
    for (size_t i = 0; i < 8; i++)
        file[i] = (char)((used - 8) >> (8 * i));
    memset(file + used, 0, sizeof(file) - used);
    ck_assert_uint_le(used + pos, sizeof(file));
    folder_write(dir, "model.safetensors", file, used + pos);
}

/* A model of 10 rows, width 8, 2 heads of 4, one for keys, 1 layer. */
static void write_model(void)
{
    static const struct matrix m[] = {{"model.embed_tokens.weight", 10, 8},
                                      {"model.layers.0.self_attn.q_proj.weight", 8, 8},
                                      {"model.layers.0.self_attn.k_proj.weight", 4, 8}};

    write_matrices(m, 3);
}

#define FITS                                                                                       \
    "\"vocab_size\":10,\"hidden_size\":8,\"num_attention_heads\":2,\"num_key_value_heads\":1,"     \
    "\"num_hidden_layers\":1}"

START_TEST(parts_that_agree_draw_no_finding)
{
    write_model();
    folder_text(dir, "tokenizer.json", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":7}}}");
    open_folder(LLAMA FITS);
    ck_assert_uint_eq(tenon_model_n_findings(model), 0);
}
END_TEST

START_TEST(a_token_without_a_row_is_an_error)
{
    write_model();
    folder_text(dir, "tokenizer.json",
                "{\"added_tokens\":[{\"id\":10}],\"model\":{\"vocab\":{\"a\":7}}}");
    open_folder(LLAMA FITS);
    ck_assert_uint_eq(tenon_model_n_findings(model), 1);
    ck_assert(has_finding(model, "tokens_beyond_rows", "model.embed_tokens.weight"));
}
END_TEST

/* One member of the config changed, and the finding it must draw. */
static const struct {
    const char *config, *code, *subject;
} cases[] = {
    {"\"vocab_size\":12}", "vocab_size_beyond_rows", "model.embed_tokens.weight"},
    {"\"vocab_size\":9}", "rows_beyond_vocab_size", "model.embed_tokens.weight"},
    {"\"hidden_size\":16}", "width_wrong", "model.embed_tokens.weight"},
    {"\"num_attention_heads\":2,\"num_key_value_heads\":1,\"head_dim\":5}", "heads_wrong",
     "model.layers.0.self_attn.q_proj.weight"},
    {"\"num_attention_heads\":1,\"num_key_value_heads\":1,\"head_dim\":4}", NULL, NULL},
    {"\"num_attention_heads\":2,\"num_key_value_heads\":3,\"head_dim\":4}", "heads_wrong",
     "model.layers.0.self_attn.k_proj.weight"},
    {"\"num_hidden_layers\":2}", "layers_missing", ""},
    {"\"num_hidden_layers\":0}", NULL, NULL},
};

START_TEST(a_disagreement_is_named)
{
    char config[512];

    write_model();
    snprintf(config, sizeof(config), LLAMA "%s", cases[_i].config);
    open_folder(config);
    if (cases[_i].code == NULL)
        ck_assert_uint_eq(tenon_model_n_findings(model), 0);
    else
        ck_assert_msg(has_finding(model, cases[_i].code, cases[_i].subject), "%s",
                      cases[_i].config);
}
END_TEST

#define ALBERT "{\"architectures\":[\"AlbertModel\"],\"model_type\":\"albert\","

START_TEST(layers_that_share_tensors_are_counted_by_groups)
{
    static const struct matrix m[] = {
        {"embeddings.word_embeddings.weight", 10, 8},
        {"encoder.albert_layer_groups.0.albert_layers.0.ffn.weight", 8, 8}};

    write_matrices(m, 2);
    open_folder(ALBERT "\"num_hidden_layers\":12,\"num_hidden_groups\":1}");
    ck_assert_uint_eq(tenon_model_n_findings(model), 0);
    open_folder(ALBERT "\"num_hidden_layers\":12}");
    ck_assert_uint_eq(tenon_model_n_findings(model), 0);
    open_folder(ALBERT "\"num_hidden_layers\":12,\"num_hidden_groups\":2}");
    ck_assert(has_finding(model, "layers_missing", ""));
}
END_TEST

START_TEST(flags_of_two_levels_that_differ_are_a_conflict)
{
    write_model();
    open_folder(LLAMA "\"tie_word_embeddings\":false,"
                      "\"text_config\":{\"tie_word_embeddings\":true}}");
    ck_assert(has_finding(model, "config_conflict", "tie_word_embeddings"));
    open_folder(LLAMA "\"tie_word_embeddings\":true,"
                      "\"text_config\":{\"tie_word_embeddings\":true}}");
    ck_assert_uint_eq(tenon_model_n_findings(model), 0);
}
END_TEST

START_TEST(an_explicit_head_dim_goes_before_the_quotient)
{
    static const struct matrix m[] = {{"model.layers.0.self_attn.q_proj.weight", 128, 16}};

    write_matrices(m, 1);
    open_folder(LLAMA "\"hidden_size\":16,\"num_attention_heads\":4,\"head_dim\":32}");
    ck_assert_uint_eq(tenon_model_n_findings(model), 0);
    open_folder(LLAMA "\"hidden_size\":16,\"num_attention_heads\":4}");
    ck_assert(has_finding(model, "heads_wrong", NULL));
}
END_TEST

START_TEST(empty_placeholders_are_counted)
{
    static const struct matrix m[] = {
        {"a.weight", 0, 0}, {"b.weight", 0, 0}, {"norm.weight", 8, 0}};

    write_matrices(m, 3);
    open_folder("{}");
    ck_assert(has_finding(model, "empty_placeholders", "a.weight"));
    write_matrices(m, 1);
    open_folder("{}");
    ck_assert_uint_eq(tenon_model_n_findings(model), 0);
}
END_TEST

static const struct {
    const char *names, *says;
} schemes[] = {
    {"w.weight w.weight.absmax w.weight.quant_state.bitsandbytes__nf4", "bitsandbytes nf4"},
    {"w.weight w.SCB", "bitsandbytes int8"},
    {"w.qweight w.qzeros w.scales w.g_idx", "GPTQ"},
    {"w.qweight w.qzeros w.scales", "GPTQ or AWQ"},
    {"w.weight w.weight_scale_inv", "FP8"},
    {"w.weight_packed w.weight_scale w.weight_shape", "compressed-tensors"},
    {"lm_head.weight._data lm_head.weight._scale", "quanto"},
    {"m.experts.gate_up_proj_blocks m.experts.gate_up_proj_scales", "MXFP4"},
};

START_TEST(the_quantizer_is_named_by_its_tensors)
{
    const struct tenon_finding *last;

    folder_shard(dir, "model.safetensors", schemes[_i].names, 1);
    open_folder(LLAMA "\"x\":1}");
    last = tenon_model_finding(model, tenon_model_n_findings(model) - 1);
    ck_assert_str_eq(last->code, "quantizer_leftovers");
    ck_assert_msg(strstr(last->message, schemes[_i].says) != NULL, "%s", last->message);
    open_folder(LLAMA "\"quantization_config\":{\"quant_method\":\"x\"}}");
    ck_assert(has_finding(model, "quantizer", NULL));
}
END_TEST

START_TEST(adapters_are_told_apart)
{
    folder_shard(dir, "adapter_model.safetensors",
                 "q.lora_A.weight q.lora_B.default.weight e.lora_embedding_A "
                 "q.lora_magnitude_vector q.base_layer.weight "
                 "lm_head.modules_to_save.default.weight lm_head.weight",
                 1);
    open_folder("{}");
    ck_assert(has_finding(model, "adapter", "q.lora_A.weight"));
    ck_assert(has_finding(model, "adapter", "q.lora_magnitude_vector"));
    ck_assert(has_finding(model, "adapter", "q.base_layer.weight"));
    ck_assert(has_finding(model, "adapter", "lm_head.modules_to_save.default.weight"));
    ck_assert(has_finding(model, "adapter", "lm_head.weight"));
    ck_assert_uint_eq(tenon_model_n_findings(model), 5);
}
END_TEST

START_TEST(names_that_only_resemble_an_adapter_are_none)
{
    folder_shard(dir, "model.safetensors", "flora_A.weight lora_Ax.weight x.lora_Apple", 1);
    open_folder("{}");
    ck_assert_uint_eq(tenon_model_n_findings(model), 0);
}
END_TEST

#define WHOLE "model.embed_tokens.weight model.layers.0.self_attn.q_proj.weight "

/* Names beside a config of Llama, and what is remarkable about them (NULL: nothing). */
static const struct {
    const char *names, *code, *subject;
} unread[] = {
    {WHOLE "lm_head.weight", NULL, NULL},
    {WHOLE "lm_head.lora_A.weight lm_head.lora_B.weight", "adapter_unmerged",
     "lm_head.lora_A.weight"},
    {"lm_head.lora_A.weight lm_head.lora_B.weight", NULL, NULL},
    {"_orig_mod.model.embed_tokens.weight _orig_mod.model.layers.0.self_attn.q_proj.weight",
     "wrapped_names", "_orig_mod.model.embed_tokens.weight"},
    {"module.model.embed_tokens.weight module.model.layers.0.mlp.up_proj.weight", "wrapped_names",
     "module.model.embed_tokens.weight"},
    {"model.embed_tokens.weight model._orig_mod.layers.0.self_attn.q_proj.weight", "wrapped_names",
     "model._orig_mod.layers.0.self_attn.q_proj.weight"},
    {"model.layers.0.self_attn.q_proj.weight", "embeddings_missing", ""},
    {"lm_head.weight model.layers.0.self_attn.q_proj.weight", NULL, NULL},
    {"x.weight", NULL, NULL},
};

START_TEST(what_loading_would_leave_out_is_named)
{
    static const char *const codes[] = {"adapter_unmerged", "wrapped_names", "embeddings_missing"};

    folder_shard(dir, "model.safetensors", unread[_i].names, 1);
    open_folder(LLAMA "\"vocab_size\":10}");
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        bool wanted = unread[_i].code != NULL && strcmp(codes[i], unread[_i].code) == 0;

        ck_assert_msg(has_finding(model, codes[i], wanted ? unread[_i].subject : NULL) == wanted,
                      "%s: %s", unread[_i].names, codes[i]);
    }
}
END_TEST

#define COUNT(array) (sizeof(array) / sizeof(array[0]))

int main(void)
{
    Suite *suite = suite_create("hf_check");
    TCase *tc = tcase_create("hf_check");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, parts_that_agree_draw_no_finding);
    tcase_add_test(tc, a_token_without_a_row_is_an_error);
    tcase_add_loop_test(tc, a_disagreement_is_named, 0, COUNT(cases));
    tcase_add_test(tc, layers_that_share_tensors_are_counted_by_groups);
    tcase_add_test(tc, flags_of_two_levels_that_differ_are_a_conflict);
    tcase_add_test(tc, an_explicit_head_dim_goes_before_the_quotient);
    tcase_add_test(tc, empty_placeholders_are_counted);
    tcase_add_loop_test(tc, the_quantizer_is_named_by_its_tensors, 0, COUNT(schemes));
    tcase_add_test(tc, adapters_are_told_apart);
    tcase_add_test(tc, names_that_only_resemble_an_adapter_are_none);
    tcase_add_loop_test(tc, what_loading_would_leave_out_is_named, 0, COUNT(unread));
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
