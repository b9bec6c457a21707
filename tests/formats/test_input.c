/* From token ids to the first layer, on models of a few numbers. What whole families compute is
 * compared with the reference in test_goldens; here are the rules one by one, with numbers that
 * follow by hand from what the matrices hold. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cooked.h"
#include "folder.h"
#include "tenon/tenon.h"

#define MOST_TENSORS 16
#define MOST_VALUES  4096

static char dir[512];
static struct tenon_model *model;
static struct tenon_error err;
static double out[MOST_VALUES], keys[MOST_VALUES];

/* Tensors of the checkpoint that is being made. */
static char header[8192];
static size_t header_len, payload_len;
static unsigned char payload[4 * MOST_VALUES];

static void set_up(void)
{
    folder_make(dir);
    model = NULL;
    err = (struct tenon_error){0};
    header_len = payload_len = 0;
}

static void tear_down(void)
{
    tenon_model_free(model);
    folder_remove(dir);
}

static void put_entry(const char *name, const char *dtype, size_t rows, size_t cols, size_t bytes)
{
    char shape[64];

    if (rows > 0)
        snprintf(shape, sizeof(shape), "%zu,%zu", rows, cols);
    else
        snprintf(shape, sizeof(shape), "%zu", cols);
    header_len += (size_t)snprintf(header + header_len, sizeof(header) - header_len,
                                   "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":["
                                   "%zu,%zu]}",
                                   header_len == 0 ? "{" : ",", name, dtype, shape, payload_len,
                                   payload_len + bytes);
    payload_len += bytes;
}

/* A matrix (rows 0: a vector) whose element i is first + i * step. */
static void put(const char *name, size_t rows, size_t cols, float first, float step)
{
    size_t n = (rows > 0 ? rows : 1) * cols, at = payload_len;

    put_entry(name, "F32", rows, cols, 4 * n);
    for (size_t i = 0; i < n; i++) {
        float value = first + (float)i * step;

        memcpy(payload + at + 4 * i, &value, 4);
    }
}

static void open_model(const char *config)
{
    unsigned char file[sizeof(header) + sizeof(payload)];

    header_len += (size_t)snprintf(header + header_len, sizeof(header) - header_len, "}");
    for (size_t i = 0; i < 8; i++)
        file[i] = (unsigned char)(header_len >> (8 * i));
    memcpy(file + 8, header, header_len);
    memcpy(file + 8 + header_len, payload, payload_len);
    folder_write(dir, "model.safetensors", file, 8 + header_len + payload_len);
    folder_text(dir, "config.json", config);
    ck_assert_msg(tenon_model_open(dir, NULL, &model, &err) == TENON_OK, "%s", err.message);
}

static enum tenon_status make_input(const struct tenon_input_options *options,
                                    const struct tenon_tokens *tokens)
{
    struct tenon_input *input = NULL;
    enum tenon_status st = tenon_input_new(model, options, &input, &err);

    if (st == TENON_OK)
        st = tenon_input_rows(input, tokens, out, &err);
    tenon_input_free(input);
    return st;
}

static void open_gpt2(void)
{
    put("wte.weight", 4, 2, 0, 1);   /* rows 0 1, 2 3, 4 5, 6 7 */
    put("wpe.weight", 3, 2, 10, 10); /* rows 10 20, 30 40, 50 60 */
    open_model("{\"model_type\":\"gpt2\",\"n_embd\":2,\"n_head\":1,\"n_layer\":1}");
}

START_TEST(learned_positions_are_added)
{
    static const uint64_t ids[] = {3, 0};
    const struct tenon_tokens tokens = {.n = 2, .ids = ids, .start = 1};

    open_gpt2();
    ck_ok(make_input(NULL, &tokens), err);
    ck_assert_double_eq(out[0], 6 + 30);
    ck_assert_double_eq(out[1], 7 + 40);
    ck_assert_double_eq(out[2], 0 + 50);
    ck_assert_double_eq(out[3], 1 + 60);
}
END_TEST

START_TEST(a_position_beyond_the_table_is_named)
{
    static const uint64_t ids[] = {1, 1};
    const struct tenon_tokens tokens = {.n = 2, .ids = ids, .start = 2};

    open_gpt2();
    ck_assert_int_eq(make_input(NULL, &tokens), TENON_ERR_MISUSE);
    ck_assert_str_eq(err.subject, "wpe.weight");
    ck_assert_msg(strstr(err.message, "position 3 ") && strstr(err.message, "0 to 2"), "%s",
                  err.message);
}
END_TEST

START_TEST(a_position_that_is_no_row_is_refused)
{
    static const uint64_t ids[] = {1};
    static const double half[] = {0.5};
    const struct tenon_tokens tokens = {.n = 1, .ids = ids, .n_streams = 1, .positions = {half}};

    open_gpt2();
    ck_assert_int_eq(make_input(NULL, &tokens), TENON_ERR_MISUSE);
    ck_assert_msg(strstr(err.message, "position 0.5 ") != NULL, "%s", err.message);
}
END_TEST

START_TEST(an_id_outside_is_named)
{
    static const uint64_t ids[] = {4};
    const struct tenon_tokens tokens = {.n = 1, .ids = ids};

    open_gpt2();
    ck_assert_int_eq(make_input(NULL, &tokens), TENON_ERR_MISUSE);
    ck_assert_msg(strstr(err.message, "id 4") && strstr(err.message, "4 rows"), "%s", err.message);
}
END_TEST

START_TEST(token_types_of_gpt2_are_words)
{
    static const uint64_t ids[] = {1}, types[] = {2};
    const struct tenon_tokens tokens = {.n = 1, .ids = ids, .types = types};

    open_gpt2();
    ck_ok(make_input(NULL, &tokens), err);
    ck_assert_double_eq(out[0], 2 + 10 + 4);
}
END_TEST

START_TEST(positions_can_be_left_out)
{
    static const uint64_t ids[] = {1};
    const struct tenon_tokens tokens = {.n = 1, .ids = ids, .start = 9};
    struct tenon_input_options options;

    open_gpt2();
    tenon_input_options_init(&options);
    options.positions = TENON_INPUT_NONE;
    ck_ok(make_input(&options, &tokens), err);
    ck_assert_double_eq(out[0], 2);
}
END_TEST

static void open_roberta(void)
{
    put("roberta.embeddings.word_embeddings.weight", 6, 2, 1, 0);
    put("roberta.embeddings.position_embeddings.weight", 5, 2, 0, 1);
    put("roberta.embeddings.token_type_embeddings.weight", 1, 2, 0.5F, 0);
    put("roberta.embeddings.LayerNorm.weight", 0, 2, 1, 0);
    put("roberta.embeddings.LayerNorm.bias", 0, 2, 0, 0);
    open_model("{\"model_type\":\"roberta\",\"hidden_size\":2,\"num_attention_heads\":1,"
               "\"num_hidden_layers\":1,\"max_position_embeddings\":5,\"pad_token_id\":1,"
               "\"type_vocab_size\":1,\"layer_norm_eps\":1e-5}");
}

START_TEST(a_layer_norm_follows_with_its_own_epsilon)
{
    static const uint64_t ids[] = {5};
    const struct tenon_tokens tokens = {.n = 1, .ids = ids};

    open_roberta();
    ck_ok(make_input(NULL, &tokens), err);
    /* the two values of a row differ by 1: -+0.5 / sqrt(0.25 + 1e-5) */
    ck_assert_double_eq_tol(out[0], -0.5 / sqrt(0.25 + 1e-5), 1e-7);
    ck_assert_double_eq_tol(out[1], 0.5 / sqrt(0.25 + 1e-5), 1e-7);
}
END_TEST

START_TEST(positions_count_from_the_padding_on)
{
    static const uint64_t ids[] = {5, 1, 5, 5, 5};
    struct tenon_tokens tokens = {.n = 4, .ids = ids};

    open_roberta(); /* rows 2 to 4 are for tokens */
    ck_ok(make_input(NULL, &tokens), err);
    tokens.n = 5; /* a fourth that is no padding */
    ck_assert_int_eq(make_input(NULL, &tokens), TENON_ERR_MISUSE);
    ck_assert_msg(strstr(err.message, "position 3 ") && strstr(err.message, "0 to 2"), "%s",
                  err.message);
}
END_TEST

START_TEST(a_token_type_outside_is_named)
{
    static const uint64_t ids[] = {5}, types[] = {1};
    const struct tenon_tokens tokens = {.n = 1, .ids = ids, .types = types};

    open_roberta();
    ck_assert_int_eq(make_input(NULL, &tokens), TENON_ERR_MISUSE);
    ck_assert_str_eq(err.subject, "roberta.embeddings.token_type_embeddings.weight");
    ck_assert_msg(strstr(err.message, "token type 1 ") && strstr(err.message, "0 to 0"), "%s",
                  err.message);
}
END_TEST

/* Gemma of width 48 in bfloat16; the row of id 1 is 1.5, that of id 0 is 1. */
static void open_gemma(void)
{
    size_t at = payload_len;

    put_entry("model.embed_tokens.weight", "BF16", 2, 48, 2 * 96);
    for (size_t i = 0; i < 96; i++) {
        uint16_t bits = i < 48 ? 0x3f80 : 0x3fc0;

        memcpy(payload + at + 2 * i, &bits, 2);
    }
    put("model.layers.0.input_layernorm.weight", 0, 48, 0, 0);
    put("model.layers.0.self_attn.q_proj.weight", 4, 48, 0, 0.01F);
    put("model.layers.0.self_attn.k_proj.weight", 4, 48, 0, 0.01F);
    open_model("{\"model_type\":\"gemma\",\"hidden_size\":48,\"num_attention_heads\":1,"
               "\"num_key_value_heads\":1,\"head_dim\":4,\"num_hidden_layers\":1}");
}

/* sqrt(48) = 6.92820323; nearest bfloat16 6.9375; 1.5 * 6.9375 = 10.40625, a tie between 10.375
 * and 10.4375 which goes to the even one; float32(sqrt(48)) = 6.92820310592651367 */
static const struct {
    enum tenon_precision precision;
    double scaled, tolerance;
} scales[] = {
    {TENON_PRECISION_HF, 10.375, 1e-14},
    {TENON_PRECISION_GGML, 1.5 * 6.92820310592651367, 1e-6},
    {TENON_PRECISION_EXACT, 10.392304845413264, 1e-14},
};

START_TEST(gemma_scales_by_a_root_in_the_dtype_of_its_weights)
{
    static const uint64_t ids[] = {1};
    const struct tenon_tokens tokens = {.n = 1, .ids = ids};
    struct tenon_input_options options;

    open_gemma();
    tenon_input_options_init(&options);
    options.precision = scales[_i].precision;
    ck_ok(make_input(&options, &tokens), err);
    ck_assert_double_eq_tol(out[0], scales[_i].scaled, scales[_i].tolerance);
    ck_assert_double_eq(out[47], out[0]);
}
END_TEST

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

START_TEST(inner_products_depend_on_the_distance_alone)
{
    static const uint64_t ids[] = {0, 1, 0, 1};
    static const double places[] = {3, 8, 1003, 1008};
    const struct tenon_tokens tokens = {.n = 4, .ids = ids, .n_streams = 1, .positions = {places}};
    struct tenon_input_options options;
    struct tenon_qk *qk = NULL;
    struct tenon_rope_table table = {0};

    open_gemma();
    tenon_input_options_init(&options);
    options.precision = TENON_PRECISION_EXACT;
    ck_ok(tenon_qk_new(model, &options, &qk, &err), err);
    ck_assert_uint_eq(tenon_qk_shape(qk).head_dim, 4);
    ck_ok(tenon_qk_rows(qk, &tokens, out, keys, &table, &err), err);
    ck_assert_double_eq_tol(dot(out, keys + 4, 4), dot(out + 8, keys + 12, 4), 1e-9);
    ck_assert_double_ne(dot(out, keys + 4, 4), dot(out, keys + 12, 4));
    ck_assert_uint_eq(table.n_pairs, 2);
    tenon_rope_table_release(&table);
    tenon_qk_free(qk);
}
END_TEST

START_TEST(rows_can_be_turned_on_request)
{
    static const uint64_t ids[] = {1};
    const struct tenon_tokens tokens = {.n = 1, .ids = ids, .start = 1};
    struct tenon_input_options options;

    open_gpt2();
    tenon_input_options_init(&options);
    options.precision = TENON_PRECISION_EXACT;
    options.positions = TENON_INPUT_ROPE;
    options.overrides.rotary = true;
    ck_ok(make_input(&options, &tokens), err);
    /* one pair, one radian: (2, 3) */
    ck_assert_double_eq_tol(out[0], 2 * cos(1) - 3 * sin(1), 1e-14);
    ck_assert_double_eq_tol(out[1], 3 * cos(1) + 2 * sin(1), 1e-14);
}
END_TEST

START_TEST(computed_sinusoids_can_be_asked_for)
{
    static const uint64_t ids[] = {0};
    const struct tenon_tokens tokens = {.n = 1, .ids = ids, .start = 2};
    struct tenon_input_options options;

    open_gpt2();
    tenon_input_options_init(&options);
    options.precision = TENON_PRECISION_EXACT;
    options.positions = TENON_INPUT_SINUSOIDAL;
    options.sinusoid = TENON_SINUSOID_HALF;
    ck_ok(make_input(&options, &tokens), err);
    ck_assert_double_eq_tol(out[0], 0 + sin(2), 1e-14);
    ck_assert_double_eq_tol(out[1], 1 + cos(2), 1e-14);
}
END_TEST

/* Configs that go with the matrices of open_other, and what is wrong with them. */
static const struct {
    const char *config, *said;
    enum tenon_status status;
    bool qk;
} faults[] = {
    {"{\"model_type\":\"bert\",\"hidden_size\":2}", "table of positions", TENON_ERR_NOT_FOUND,
     false},
    {"{\"model_type\":\"bloom\",\"hidden_size\":2,\"n_head\":1}", "norm of the input",
     TENON_ERR_NOT_FOUND, false},
    {"{\"model_type\":\"gemma3n_text\",\"hidden_size\":2,\"num_attention_heads\":1,\"head_dim\":2}",
     "several vectors", TENON_ERR_UNSUPPORTED_FEATURE, false},
    {"{\"model_type\":\"martian\",\"hidden_size\":2}", "not known", TENON_ERR_UNSUPPORTED_FEATURE,
     false},
    {"{\"model_type\":\"llama\",\"hidden_size\":2,\"num_attention_heads\":1}", "norm before",
     TENON_ERR_NOT_FOUND, true},
    {"{\"model_type\":\"olmo\",\"hidden_size\":2,\"num_attention_heads\":1}", "projections",
     TENON_ERR_UNSUPPORTED_FEATURE, true},
    {"{\"model_type\":\"mamba\",\"hidden_size\":2}", "heads", TENON_ERR_MISMATCH, true},
    {"{\"model_type\":\"llama\",\"hidden_size\":2,\"num_attention_heads\":2}", "even",
     TENON_ERR_MISMATCH, true},
};

START_TEST(what_is_missing_is_named)
{
    struct tenon_input *input = NULL;
    struct tenon_qk *qk = NULL;
    enum tenon_status st;

    put("model.embed_tokens.weight", 3, 2, 0, 1);
    put("embeddings.word_embeddings.weight", 3, 2, 0, 1);
    put("word_embeddings.weight", 3, 2, 0, 1);
    put("backbone.embeddings.weight", 3, 2, 0, 1);
    open_model(faults[_i].config);
    st = faults[_i].qk ? tenon_qk_new(model, NULL, &qk, &err)
                       : tenon_input_new(model, NULL, &input, &err);
    ck_assert_msg(st == faults[_i].status, "%d %s", (int)st, err.message);
    ck_assert_msg(strstr(err.message, faults[_i].said) != NULL, "%s", err.message);
}
END_TEST

START_TEST(a_projection_of_another_shape_is_named)
{
    struct tenon_qk *qk = NULL;

    put("model.embed_tokens.weight", 3, 4, 0, 1);
    put("model.layers.0.input_layernorm.weight", 0, 4, 1, 0);
    put("model.layers.0.self_attn.q_proj.weight", 4, 4, 0, 1);
    put("model.layers.0.self_attn.k_proj.weight", 3, 4, 0, 1);
    open_model("{\"model_type\":\"llama\",\"hidden_size\":4,\"num_attention_heads\":2,"
               "\"num_hidden_layers\":1}");
    ck_assert_int_eq(tenon_qk_new(model, NULL, &qk, &err), TENON_ERR_MISMATCH);
    ck_assert_str_eq(err.subject, "model.layers.0.self_attn.k_proj.weight");
    ck_assert_msg(strstr(err.message, "need 4") != NULL, "%s", err.message);
}
END_TEST

/* ESM 2: masked tokens become zeros, and all others are scaled by how many there are of them. */
START_TEST(masked_tokens_count_for_the_whole_sequence)
{
    static const uint64_t ids[] = {2, 2, 2, 5};
    const struct tenon_tokens tokens = {.n = 4, .ids = ids};
    struct tenon_input *input = NULL;

    put("esm.embeddings.word_embeddings.weight", 6, 4, 1, 0);
    open_model("{\"model_type\":\"esm\",\"hidden_size\":4,\"num_attention_heads\":2,"
               "\"position_embedding_type\":\"rotary\",\"token_dropout\":true,"
               "\"mask_token_id\":5,\"pad_token_id\":1}");
    ck_ok(make_input(NULL, &tokens), err);
    ck_assert_double_eq_tol(out[0], 0.88 / 0.75, 1e-6);
    ck_assert_double_eq(out[12], 0);
    ck_ok(tenon_input_new(model, NULL, &input, &err), err);
    ck_assert(tenon_input_needs_all(input));
    tenon_input_free(input);
}
END_TEST

START_TEST(a_sequence_that_counts_its_padding_is_made_whole)
{
    struct tenon_input *input = NULL;

    if (_i == 0)
        open_gpt2();
    else
        open_roberta();
    ck_ok(tenon_input_new(model, NULL, &input, &err), err);
    ck_assert_int_eq(tenon_input_needs_all(input), _i == 1);
    tenon_input_free(input);
}
END_TEST

static void open_albert(void)
{
    put("albert.embeddings.word_embeddings.weight", 4, 2, 0, 1);
    put("albert.embeddings.position_embeddings.weight", 4, 2, 0, 1);
    put("albert.embeddings.token_type_embeddings.weight", 2, 2, 0, 1);
    put("albert.embeddings.LayerNorm.weight", 0, 2, 1, 0);
    put("albert.embeddings.LayerNorm.bias", 0, 2, 0, 0);
    put("albert.encoder.embedding_hidden_mapping_in.weight", 4, 2, 0, 1);
    put("albert.encoder.embedding_hidden_mapping_in.bias", 0, 4, 0, 1);
    open_model("{\"model_type\":\"albert\",\"embedding_size\":2,\"hidden_size\":4,"
               "\"num_attention_heads\":2,\"max_position_embeddings\":4}");
}

static void open_turned(void)
{
    put("model.embed_tokens.weight", 4, 4, 0, 1);
    open_model("{\"model_type\":\"llama\",\"hidden_size\":4,\"num_attention_heads\":2,"
               "\"rope_scaling\":{\"type\":\"longrope\",\"factor\":2,\"short_factor\":[1],"
               "\"long_factor\":[2],\"original_max_position_embeddings\":16}}");
}

static void open_marian(void)
{
    put("model.shared.weight", 4, 4, 0, 1);
    open_model("{\"model_type\":\"marian\",\"d_model\":4,\"scale_embedding\":true}");
}

/* Inputs with everything that one can have. */
static const struct {
    void (*open)(void);
    enum tenon_input_positions positions;
} inputs[] = {
    {open_gpt2, TENON_INPUT_AUTO},   {open_roberta, TENON_INPUT_AUTO},
    {open_albert, TENON_INPUT_AUTO}, {open_turned, TENON_INPUT_ROPE},
    {open_marian, TENON_INPUT_AUTO},
};

START_TEST(every_allocation_of_an_input_may_fail)
{
    static const uint64_t ids[] = {0, 2};
    const struct tenon_tokens tokens = {.n = 2, .ids = ids};
    struct tenon_input_options options;
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    inputs[_i].open();
    tenon_input_options_init(&options);
    options.positions = inputs[_i].positions;
    for (uint64_t n = 1; st != TENON_OK; n++) {
        struct tenon_input *input = NULL;

        tenon_mem_fail_at(n, true);
        st = tenon_input_new(model, &options, &input, &err);
        if (st == TENON_OK)
            st = tenon_input_rows(input, &tokens, out, &err);
        tenon_mem_fail_at(0, false);
        tenon_input_free(input);
        ck_assert_msg(st == TENON_OK ? n > 1 : st == TENON_ERR_NO_MEMORY, "%s", err.message);
        ck_assert_uint_lt(n, 1000);
    }
}
END_TEST

static void open_latent(void)
{
    put("model.embed_tokens.weight", 4, 4, 0, 1);
    put("model.layers.0.input_layernorm.weight", 0, 4, 1, 0);
    put("model.layers.0.self_attn.q_a_proj.weight", 3, 4, 0, 1);
    put("model.layers.0.self_attn.q_a_layernorm.weight", 0, 3, 1, 0);
    put("model.layers.0.self_attn.q_b_proj.weight", 8, 3, 0, 1);
    put("model.layers.0.self_attn.kv_a_proj_with_mqa.weight", 5, 4, 0, 1);
    put("model.layers.0.self_attn.kv_a_layernorm.weight", 0, 3, 1, 0);
    put("model.layers.0.self_attn.kv_b_proj.weight", 8, 3, 0, 1);
    open_model("{\"model_type\":\"deepseek_v3\",\"hidden_size\":4,\"num_attention_heads\":2,"
               "\"num_hidden_layers\":1,\"qk_rope_head_dim\":2,\"qk_nope_head_dim\":2,"
               "\"v_head_dim\":2,\"q_lora_rank\":3,\"kv_lora_rank\":3}");
}

static void open_fused(void)
{
    put("wte.weight", 4, 4, 0, 1);
    put("wpe.weight", 4, 4, 0, 1);
    put("h.0.ln_1.weight", 0, 4, 1, 0);
    put("h.0.ln_1.bias", 0, 4, 0, 0);
    put("h.0.attn.c_attn.weight", 4, 12, 0, 1);
    put("h.0.attn.c_attn.bias", 0, 12, 0, 1);
    open_model("{\"model_type\":\"gpt2\",\"n_embd\":4,\"n_head\":2,\"n_layer\":1}");
}

static void open_headed(void)
{
    put("model.embed_tokens.weight", 4, 4, 0, 1);
    put("model.layers.0.input_layernorm.weight", 0, 4, 1, 0);
    put("model.layers.0.self_attn.q_proj.weight", 4, 4, 0, 1);
    put("model.layers.0.self_attn.k_proj.weight", 4, 4, 0, 1);
    put("model.layers.0.self_attn.q_norm.weight", 0, 2, 1, 0);
    put("model.layers.0.self_attn.k_norm.weight", 0, 2, 1, 0);
    open_model("{\"model_type\":\"qwen3\",\"hidden_size\":4,\"num_attention_heads\":2,"
               "\"head_dim\":2,\"num_hidden_layers\":1}");
}

static void (*const heads[])(void) = {open_latent, open_fused, open_headed};

START_TEST(every_allocation_of_queries_may_fail)
{
    static const uint64_t ids[] = {0, 2};
    const struct tenon_tokens tokens = {.n = 2, .ids = ids};
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    heads[_i]();
    for (uint64_t n = 1; st != TENON_OK; n++) {
        struct tenon_rope_table table = {0};
        struct tenon_qk *qk = NULL;

        tenon_mem_fail_at(n, true);
        st = tenon_qk_new(model, NULL, &qk, &err);
        if (st == TENON_OK)
            st = tenon_qk_rows(qk, &tokens, out, keys, &table, &err);
        tenon_mem_fail_at(0, false);
        tenon_rope_table_release(&table);
        tenon_qk_free(qk);
        ck_assert_msg(st == TENON_OK ? n > 1 : st == TENON_ERR_NO_MEMORY, "%s", err.message);
        ck_assert_uint_lt(n, 1000);
    }
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    static const uint64_t ids[] = {0, 1};
    const struct tenon_tokens tokens = {.n = 2, .ids = ids};
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    open_gemma();
    for (uint64_t n = 1; st != TENON_OK; n++) {
        struct tenon_qk *qk = NULL;

        tenon_mem_fail_at(n, true);
        st = tenon_qk_new(model, NULL, &qk, NULL);
        if (st == TENON_OK)
            st = tenon_qk_rows(qk, &tokens, out, keys, NULL, NULL);
        tenon_mem_fail_at(0, false);
        tenon_qk_free(qk);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
        ck_assert_uint_lt(n, 1000);
    }
}
END_TEST

START_TEST(ids_beyond_the_tokenizer_are_counted)
{
    static const uint64_t ids[] = {1, 2, 3};
    struct tenon_input *input = NULL;

    folder_text(dir, "tokenizer.json",
                "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[]}}");
    open_gpt2();
    ck_ok(tenon_input_new(model, NULL, &input, &err), err);
    ck_assert_uint_eq(tenon_input_beyond_tokenizer(input, ids, 3), 2);
    tenon_input_free(input);
}
END_TEST

#define N(rows) ((int)(sizeof(rows) / sizeof((rows)[0])))

int main(void)
{
    Suite *suite = suite_create("input");
    TCase *all = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, learned_positions_are_added);
    tcase_add_test(all, a_position_beyond_the_table_is_named);
    tcase_add_test(all, a_position_that_is_no_row_is_refused);
    tcase_add_test(all, an_id_outside_is_named);
    tcase_add_test(all, token_types_of_gpt2_are_words);
    tcase_add_test(all, positions_can_be_left_out);
    tcase_add_test(all, a_layer_norm_follows_with_its_own_epsilon);
    tcase_add_test(all, positions_count_from_the_padding_on);
    tcase_add_test(all, a_token_type_outside_is_named);
    tcase_add_loop_test(all, gemma_scales_by_a_root_in_the_dtype_of_its_weights, 0, N(scales));
    tcase_add_test(all, inner_products_depend_on_the_distance_alone);
    tcase_add_test(all, rows_can_be_turned_on_request);
    tcase_add_test(all, computed_sinusoids_can_be_asked_for);
    tcase_add_loop_test(all, what_is_missing_is_named, 0, N(faults));
    tcase_add_test(all, a_projection_of_another_shape_is_named);
    tcase_add_test(all, masked_tokens_count_for_the_whole_sequence);
    tcase_add_loop_test(all, a_sequence_that_counts_its_padding_is_made_whole, 0, 2);
    tcase_add_test(all, every_allocation_may_fail);
    tcase_add_loop_test(all, every_allocation_of_an_input_may_fail, 0, N(inputs));
    tcase_add_loop_test(all, every_allocation_of_queries_may_fail, 0, N(heads));
    tcase_add_test(all, ids_beyond_the_tokenizer_are_counted);
    suite_add_tcase(suite, all);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
