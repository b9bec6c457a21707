/* What configs and GGUF metadata say about positions. The configs are cut-down forms of released
 * ones and of what the config classes of transformers 5.24 write; the expected values are what
 * those classes make of them. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cooked.h"
#include "resolved.h"

/* The only rotation of such a config. */
static const struct tenon_rope *one_rope(const char *config)
{
    ck_ok(resolve(config), err);
    ck_assert_int_eq(positions->kind, TENON_POSITION_ROPE);
    ck_assert_uint_eq(positions->n_ropes, 1);
    return &positions->ropes[0].rope;
}

#define WIDTHS "\"hidden_size\":4096,\"num_attention_heads\":32,\"num_hidden_layers\":4"

/* What a row of the table leaves at 0 is not compared. */
static const struct {
    const char *config;
    double theta;
    uint32_t rotary_dim, head_dim;
    enum tenon_rope_scaling scaling;
    enum tenon_rope_pairing pairing;
    double factor, original;
} rows[] = {
    {"{\"model_type\":\"llama\"," WIDTHS "}", 10000, 128, 128, TENON_ROPE_DEFAULT, TENON_PAIR_HALF,
     0, 0},
    {"{\"model_type\":\"llama\"," WIDTHS ",\"rope_theta\":1e4,\"rope_parameters\":{\"rope_type\":"
     "\"default\",\"rope_theta\":5e5}}",
     500000, 128, 128, TENON_ROPE_DEFAULT, TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"llama\"," WIDTHS ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":4}}",
     10000, 128, 128, TENON_ROPE_LINEAR, TENON_PAIR_HALF, 4, 0},
    {"{\"model_type\":\"mixtral\"," WIDTHS "}", 1000000, 128, 128, TENON_ROPE_DEFAULT,
     TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"qwen3\",\"hidden_size\":1024,\"num_attention_heads\":16,"
     "\"num_hidden_layers\":2,\"rope_theta\":1000000}",
     1000000, 128, 128, TENON_ROPE_DEFAULT, TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"gpt_neox\"," WIDTHS ",\"rotary_pct\":0.25,\"rotary_emb_base\":10000}",
     10000, 32, 128, TENON_ROPE_DEFAULT, TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"gptj\",\"n_embd\":4096,\"n_head\":16,\"n_layer\":2,\"rotary_dim\":64}",
     10000, 64, 256, TENON_ROPE_DEFAULT, TENON_PAIR_INTERLEAVED, 0, 0},
    {"{\"model_type\":\"stablelm\"," WIDTHS "}", 10000, 32, 128, TENON_ROPE_DEFAULT,
     TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"phi\",\"hidden_size\":2560,\"num_attention_heads\":32,"
     "\"num_hidden_layers\":2,\"partial_rotary_factor\":0.4}",
     10000, 32, 80, TENON_ROPE_DEFAULT, TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"fuyu\"," WIDTHS "}", 25000, 64, 128, TENON_ROPE_DEFAULT, TENON_PAIR_HALF, 0,
     0},
    {"{\"model_type\":\"cohere\",\"hidden_size\":8192,\"num_attention_heads\":64}", 500000, 128,
     128, TENON_ROPE_DEFAULT, TENON_PAIR_INTERLEAVED, 0, 0},
    {"{\"model_type\":\"glm4\"," WIDTHS "}", 10000, 64, 128, TENON_ROPE_DEFAULT,
     TENON_PAIR_INTERLEAVED, 0, 0},
    {"{\"model_type\":\"glm4_moe\"," WIDTHS ",\"head_dim\":128}", 10000, 64, 128,
     TENON_ROPE_DEFAULT, TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"qwen3_next\"," WIDTHS ",\"rope_theta\":10000000,\"layer_types\":["
     "\"linear_attention\",\"linear_attention\",\"linear_attention\",\"full_attention\"]}",
     10000000, 64, 256, TENON_ROPE_DEFAULT, TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"gpt_oss\"," WIDTHS ",\"head_dim\":64,\"rope_theta\":150000,"
     "\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":32,\"beta_fast\":32,\"beta_slow\":1,"
     "\"original_max_position_embeddings\":4096,\"truncate\":false}}",
     150000, 64, 64, TENON_ROPE_YARN, TENON_PAIR_HALF, 32, 4096},
    {"{\"model_type\":\"deepseek_v3\"," WIDTHS ",\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,"
     "\"rope_scaling\":{\"type\":\"yarn\",\"factor\":40,\"mscale\":1.0,\"mscale_all_dim\":1.0,"
     "\"original_max_position_embeddings\":4096}}",
     10000, 64, 64, TENON_ROPE_YARN, TENON_PAIR_INTERLEAVED_TO_HALF, 40, 4096},
    {"{\"model_type\":\"deepseek_v2\"," WIDTHS ",\"qk_rope_head_dim\":64}", 10000, 64, 64,
     TENON_ROPE_DEFAULT, TENON_PAIR_INTERLEAVED, 0, 0},
    {"{\"model_type\":\"nanochat\"," WIDTHS "}", 10000, 128, 128, TENON_ROPE_DEFAULT,
     TENON_PAIR_REVERSED, 0, 0},
    {"{\"model_type\":\"nomic_bert\",\"hidden_size\":768,\"num_attention_heads\":12}", 1000, 64, 64,
     TENON_ROPE_DEFAULT, TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"hunyuan_v1_dense\"," WIDTHS ",\"rope_scaling\":{\"type\":\"dynamic\","
     "\"factor\":1.0,\"alpha\":1000.0}}",
     10000, 128, 128, TENON_ROPE_NTK, TENON_PAIR_HALF, 1, 0},
    {"{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"mistral\"," WIDTHS
     ",\"rope_theta\":1000000}}",
     1000000, 128, 128, TENON_ROPE_DEFAULT, TENON_PAIR_HALF, 0, 0},
    {"{\"model_type\":\"phi3\"," WIDTHS ",\"max_position_embeddings\":131072,\"rope_scaling\":{"
     "\"rope_type\":\"yarn\",\"factor\":null,\"original_max_position_embeddings\":32768}}",
     10000, 128, 128, TENON_ROPE_YARN, TENON_PAIR_HALF, 4, 32768},
};

START_TEST(one_rotation_is_found)
{
    const struct tenon_rope *rope = one_rope(rows[_i].config);

    ck_assert_double_eq(rope->theta, rows[_i].theta);
    ck_assert_uint_eq(rope->rotary_dim, rows[_i].rotary_dim);
    ck_assert_uint_eq(rope->head_dim, rows[_i].head_dim);
    ck_assert_int_eq(rope->scaling, rows[_i].scaling);
    ck_assert_int_eq(rope->pairing, rows[_i].pairing);
    if (rows[_i].factor > 0)
        ck_assert_double_eq(rope->factor, rows[_i].factor);
    if (rows[_i].original > 0)
        ck_assert_double_eq(rope->original, rows[_i].original);
}
END_TEST

/* The base of layer `i`, 0 where it does not rotate. */
static double theta_of(size_t i)
{
    const struct tenon_rope_use *use = tenon_positions_rope(positions, i);

    return use != NULL ? use->rope.theta : 0;
}

/* Layers in which every row of the table differs; bases for each, as many as the config has. */
static const struct {
    const char *config;
    size_t n;
    double theta[8];
} layers[] = {
    /* gemma-3-1b and -4b, in the old and the new spelling */
    {"{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":7,\"hidden_size\":1152,"
     "\"num_attention_heads\":4,\"rope_theta\":1000000,\"rope_local_base_freq\":10000,"
     "\"sliding_window_pattern\":6}",
     7,
     {1e4, 1e4, 1e4, 1e4, 1e4, 1e6, 1e4}},
    {"{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\","
     "\"num_hidden_layers\":2,\"hidden_size\":2560,\"num_attention_heads\":8,\"layer_types\":["
     "\"sliding_attention\",\"full_attention\"],\"rope_parameters\":{\"full_attention\":{"
     "\"rope_type\":\"linear\",\"factor\":8.0,\"rope_theta\":1000000.0},\"sliding_attention\":{"
     "\"rope_type\":\"default\",\"rope_theta\":20000.0}}}}",
     2,
     {2e4, 1e6}},
    /* ModernBERT: layers 0, 3 ... are global */
    {"{\"model_type\":\"modernbert\",\"num_hidden_layers\":5,\"hidden_size\":768,"
     "\"num_attention_heads\":12,\"global_rope_theta\":160000.0,\"local_rope_theta\":10000.0,"
     "\"global_attn_every_n_layers\":3}",
     5,
     {160000, 1e4, 1e4, 160000, 1e4}},
    /* Command R7B: full layers do not rotate */
    {"{\"model_type\":\"cohere2\"," WIDTHS ",\"rope_theta\":50000,\"sliding_window\":4096,"
     "\"sliding_window_pattern\":4}",
     4,
     {50000, 50000, 50000, 0}},
    /* EXAONE 4 1.2B has no window, and rotates everywhere */
    {"{\"model_type\":\"exaone4\"," WIDTHS ",\"rope_theta\":1000000,\"sliding_window\":null,"
     "\"layer_types\":[\"full_attention\",\"full_attention\",\"full_attention\","
     "\"full_attention\"]}",
     4,
     {1e6, 1e6, 1e6, 1e6}},
    {"{\"model_type\":\"smollm3\"," WIDTHS "}", 4, {2e6, 2e6, 2e6, 0}},
    {"{\"model_type\":\"smollm3\"," WIDTHS ",\"no_rope_layers\":[1,0,1,0],\"rope_theta\":5e6}",
     4,
     {5e6, 0, 5e6, 0}},
    {"{\"model_type\":\"llama4\",\"text_config\":{\"model_type\":\"llama4_text\"," WIDTHS
     ",\"no_rope_layers\":[]}}",
     4,
     {5e5, 5e5, 5e5, 0}},
    /* Step 3.5: a list with one base for each layer */
    {"{\"model_type\":\"step3p5\"," WIDTHS ",\"layer_types\":[\"full_attention\","
     "\"sliding_attention\",\"sliding_attention\",\"full_attention\"],\"rope_theta\":[5000000.0,"
     "10000.0,10000.0,5000000.0],\"partial_rotary_factors\":[0.5,1.0,1.0,0.5]}",
     4,
     {5e6, 1e4, 1e4, 5e6}},
    {"{\"model_type\":\"qwen3_next\"," WIDTHS ",\"layer_types\":[\"linear_attention\","
     "\"full_attention\"]}",
     2,
     {0, 1e4}},
    {"{\"model_type\":\"olmo3\"," WIDTHS ",\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":8,"
     "\"original_max_position_embeddings\":8192},\"sliding_window\":4096}",
     4,
     {5e5, 5e5, 5e5, 5e5}},
};

START_TEST(layers_have_their_own)
{
    ck_ok(resolve(layers[_i].config), err);
    ck_assert_int_eq(positions->kind, TENON_POSITION_ROPE);
    for (size_t i = 0; i < layers[_i].n; i++)
        ck_assert_msg(theta_of(i) == layers[_i].theta[i], "layer %zu: %g, not %g", i, theta_of(i),
                      layers[_i].theta[i]);
}
END_TEST

START_TEST(linear_scaling_of_gemma_is_for_full_layers)
{
    ck_ok(resolve("{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":6,\"hidden_size\":2560,"
                  "\"num_attention_heads\":8,\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":"
                  "8.0},\"rope_theta\":1000000.0}"),
          err);
    ck_assert_int_eq(tenon_positions_rope(positions, 0)->rope.scaling, TENON_ROPE_DEFAULT);
    ck_assert_int_eq(tenon_positions_rope(positions, 5)->rope.scaling, TENON_ROPE_LINEAR);
    ck_assert_str_eq(tenon_positions_rope(positions, 5)->layer_type, "full_attention");
    ck_assert_uint_eq(tenon_positions_rope(positions, 0)->rope.rotary_dim, 256);
}
END_TEST

START_TEST(yarn_of_olmo_3_is_for_full_layers)
{
    ck_ok(resolve(layers[10].config), err);
    ck_assert_int_eq(tenon_positions_rope(positions, 0)->rope.scaling, TENON_ROPE_DEFAULT);
    ck_assert_int_eq(tenon_positions_rope(positions, 3)->rope.scaling, TENON_ROPE_YARN);
}
END_TEST

START_TEST(longrope_takes_its_lists)
{
    const struct tenon_rope *rope =
        one_rope("{\"model_type\":\"phi3\",\"hidden_size\":8,\"num_attention_heads\":1,"
                 "\"max_position_embeddings\":131072,\"original_max_position_embeddings\":4096,"
                 "\"rope_theta\":10000.0,\"rope_scaling\":{\"type\":\"su\",\"short_factor\":[1.0,"
                 "1.0,1.0,1.0],\"long_factor\":[1.0,2.0,4.0,8.0]}}");
    struct tenon_rope_table table;

    ck_assert_int_eq(rope->scaling, TENON_ROPE_LONGROPE);
    ck_assert_double_eq(rope->factor, 32);
    ck_assert_double_eq(rope->original, 4096);
    ck_assert_double_eq(rope->long_factors[3], 8);
    /* sqrt(1 + ln 32 / ln 4096) */
    ck_ok(tenon_rope_table_init(&table, rope, TENON_PRECISION_EXACT, 0, &err), err);
    ck_assert_double_eq_tol(table.attention_factor, 1.1902380714238083, 1e-15);
    tenon_rope_table_release(&table);
}
END_TEST

START_TEST(sections_are_told_with_their_order)
{
    const struct tenon_rope *rope =
        one_rope("{\"model_type\":\"qwen2_vl\",\"hidden_size\":1536,\"num_attention_heads\":12,"
                 "\"rope_theta\":1000000.0,\"rope_scaling\":{\"type\":\"mrope\",\"mrope_section\":["
                 "16,24,24]}}");

    ck_assert_int_eq(rope->axes, TENON_AXES_CHUNKED);
    ck_assert_int_eq(rope->scaling, TENON_ROPE_DEFAULT);
    ck_assert_uint_eq(rope->n_sections, 3);
    ck_assert_uint_eq(rope->sections[2], 24);
    rope = one_rope("{\"model_type\":\"qwen3_vl_text\",\"hidden_size\":2048,"
                    "\"num_attention_heads\":16,\"head_dim\":128,\"rope_theta\":5000000,"
                    "\"rope_scaling\":{\"rope_type\":\"default\",\"mrope_interleaved\":true,"
                    "\"mrope_section\":[24,20,20]}}");
    ck_assert_int_eq(rope->axes, TENON_AXES_INTERLEAVED);
    ck_assert_int_eq(rope->pairing, TENON_PAIR_HALF);
    ck_assert_uint_eq(rope->sections[0], 24);
}
END_TEST

START_TEST(proportional_keeps_the_width_of_its_layers)
{
    ck_ok(
        resolve("{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":6,\"hidden_size\":2304,"
                "\"num_attention_heads\":8,\"global_head_dim\":512,\"rope_parameters\":{"
                "\"sliding_attention\":{\"rope_type\":\"default\",\"rope_theta\":10000.0},"
                "\"full_attention\":{\"rope_type\":\"proportional\",\"partial_rotary_factor\":0.25,"
                "\"rope_theta\":1000000.0}}}"),
        err);
    ck_assert_int_eq(tenon_positions_rope(positions, 5)->rope.scaling, TENON_ROPE_PROPORTIONAL);
    ck_assert_uint_eq(tenon_positions_rope(positions, 5)->rope.head_dim, 512);
    ck_assert_double_eq(tenon_positions_rope(positions, 5)->rope.proportion, 0.25);
    ck_assert_uint_eq(tenon_positions_rope(positions, 0)->rope.head_dim, 256);
    ck_assert_uint_eq(tenon_positions_rope(positions, 0)->rope.rotary_dim, 256);
}
END_TEST

START_TEST(learned_tables_know_their_offset)
{
    ck_ok(resolve("{\"model_type\":\"bert\",\"hidden_size\":768,\"max_position_embeddings\":512}"),
          err);
    ck_assert_int_eq(positions->kind, TENON_POSITION_LEARNED);
    ck_assert_int_eq(positions->rows, 512);
    ck_assert_int_eq(positions->offset, 0);
    ck_ok(resolve("{\"model_type\":\"opt\",\"hidden_size\":1024,\"max_position_embeddings\":2048}"),
          err);
    ck_assert_int_eq(positions->rows, 2050);
    ck_assert_int_eq(positions->offset, 2);
    ck_assert_int_eq(positions->max_positions, 2048);
    ck_ok(resolve("{\"model_type\":\"xlm-roberta\",\"hidden_size\":768,"
                  "\"max_position_embeddings\":514,\"pad_token_id\":1}"),
          err);
    ck_assert_int_eq(positions->rows, 514);
    ck_assert_int_eq(positions->offset, 2);
    ck_assert_int_eq(positions->max_positions, 512);
    ck_assert_int_eq(positions->ids, TENON_IDS_AFTER_PADDING);
}
END_TEST

START_TEST(other_kinds_are_told)
{
    ck_ok(resolve("{\"model_type\":\"marian\",\"d_model\":512,\"max_position_embeddings\":512}"),
          err);
    ck_assert_int_eq(positions->kind, TENON_POSITION_SINUSOIDAL);
    ck_assert_int_eq(positions->sinusoid, TENON_SINUSOID_HALF);
    ck_ok(resolve("{\"model_type\":\"mpt\",\"n_heads\":32,\"attn_config\":{\"alibi\":true,"
                  "\"alibi_bias_max\":16}}"),
          err);
    ck_assert_int_eq(positions->kind, TENON_POSITION_ALIBI);
    ck_assert_double_eq(positions->alibi_max_bias, 16);
    ck_assert_int_eq(positions->heads, 32);
    ck_ok(resolve("{\"model_type\":\"falcon\",\"hidden_size\":2048,\"num_attention_heads\":32,"
                  "\"alibi\":true}"),
          err);
    ck_assert_int_eq(positions->kind, TENON_POSITION_ALIBI);
    ck_assert_int_eq(positions->alibi_form, TENON_ALIBI_ROUNDED);
    ck_ok(resolve("{\"model_type\":\"t5\",\"relative_attention_num_buckets\":32,"
                  "\"relative_attention_max_distance\":64}"),
          err);
    ck_assert_int_eq(positions->relative, TENON_RELATIVE_T5);
    ck_assert_int_eq(positions->buckets, 32);
    ck_assert_int_eq(positions->max_distance, 64);
    ck_ok(resolve("{\"model_type\":\"deberta-v2\",\"position_buckets\":256,"
                  "\"max_relative_positions\":-1,\"max_position_embeddings\":512}"),
          err);
    ck_assert_int_eq(positions->relative, TENON_RELATIVE_DEBERTA);
    ck_assert_int_eq(positions->relative_span, 512);
    ck_assert_int_eq(positions->buckets, 256);
    ck_ok(resolve("{\"model_type\":\"esm\",\"hidden_size\":320,\"num_attention_heads\":20,"
                  "\"position_embedding_type\":\"rotary\"}"),
          err);
    ck_assert_int_eq(positions->kind, TENON_POSITION_ROPE);
    ck_ok(resolve("{\"model_type\":\"granitemoehybrid\"," WIDTHS
                  ",\"position_embedding_type\":\"nope\"}"),
          err);
    ck_assert_int_eq(positions->kind, TENON_POSITION_NONE);
}
END_TEST

static const struct {
    const char *config, *subject, *said;
    enum tenon_status status;
} faults[] = {
    {"{\"model_type\":\"llama\"," WIDTHS ",\"rope_scaling\":{\"rope_type\":\"spiral\"}}",
     "rope_type", "known are default", TENON_ERR_UNSUPPORTED_FEATURE},
    {"{\"model_type\":\"llama\"," WIDTHS ",\"rope_scaling\":{\"rope_type\":\"linear\"}}", "factor",
     "without a positive factor", TENON_ERR_NOT_FOUND},
    {"{\"model_type\":\"llama\"," WIDTHS ",\"rope_scaling\":7}", "rope_scaling", "an object is due",
     TENON_ERR_MISMATCH},
    {"{\"model_type\":\"gptj\"," WIDTHS ",\"rotary_dim\":63}", "rotary_dim", "even",
     TENON_ERR_MISMATCH},
    {"{\"model_type\":\"gptj\"," WIDTHS ",\"rotary_dim\":256}", "rotary_dim", "a head has 128",
     TENON_ERR_MISMATCH},
    {"{\"model_type\":\"gptj\"," WIDTHS ",\"rotary_dim\":99999999999}", "rotary_dim", "",
     TENON_ERR_MISMATCH},
    {"{\"model_type\":\"glm4\"," WIDTHS ",\"partial_rotary_factor\":1.5}", "partial_rotary_factor",
     "at most 1", TENON_ERR_MISMATCH},
    {"{\"model_type\":\"qwen2_vl\"," WIDTHS ",\"rope_scaling\":{\"type\":\"mrope\","
     "\"mrope_section\":[16,24,20]}}",
     "mrope_section", "has 64", TENON_ERR_MISMATCH},
    {"{\"model_type\":\"qwen2_vl\"," WIDTHS ",\"rope_scaling\":{\"type\":\"mrope\","
     "\"mrope_section\":[16,24,20,1,1,1]}}",
     "mrope_section", "1 to 4", TENON_ERR_MISMATCH},
    {"{\"model_type\":\"phi3\"," WIDTHS ",\"rope_scaling\":{\"type\":\"longrope\","
     "\"short_factor\":[1,1],\"long_factor\":[1,1]}}",
     "short_factor", "needs 64", TENON_ERR_MISMATCH},
    {"{\"model_type\":\"phi3\"," WIDTHS ",\"rope_scaling\":{\"type\":\"longrope\"}}",
     "short_factor", "64 numbers", TENON_ERR_NOT_FOUND},
    {"{\"model_type\":\"llama\"}", "head_dim", "how wide", TENON_ERR_MISMATCH},
    {"{\"model_type\":\"llama\"," WIDTHS ",\"rope_theta\":-3}", "rope_theta", "positive",
     TENON_ERR_MISMATCH},
    {"{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":4,"
     "\"num_hidden_layers\":1000000000}",
     "num_hidden_layers", "at most 4096", TENON_ERR_LIMIT},
    {"{\"model_type\":\"qwen3_next\"," WIDTHS ",\"layer_types\":[3]}", "layer_types", "a string",
     TENON_ERR_MISMATCH},
};

START_TEST(what_makes_no_sense_is_named)
{
    ck_assert_int_eq(resolve(faults[_i].config), faults[_i].status);
    ck_assert_str_eq(err.subject, faults[_i].subject);
    ck_assert_msg(strstr(err.message, faults[_i].said) != NULL, "%s", err.message);
    ck_assert_ptr_null(positions);
}
END_TEST

/* --- GGUF --- */

/* The start of a header with 5 + EXTRA pairs: 128 values a token, 4 heads of 32. */
#define GGUF(arch, n)                                                                              \
    "gguf:3,0," #n " kv:'general.architecture',8 str:'" arch "' kv:'" arch                         \
    ".block_count',4 u32:6 kv:'" arch ".embedding_length',4 u32:128 kv:'" arch                     \
    ".attention.head_count',4 u32:4 kv:'" arch ".context_length',4 u32:4096 "

/* 4.0 is 0x40800000, 10000.0 is 0x461c4000, 1000000.0 is 0x49742400 */
static const struct {
    const char *recipe;
    double theta[6]; /* of each layer */
    enum tenon_rope_scaling scaling;
    double factor; /* of the last layer that turns; 0: none */
    enum tenon_rope_pairing pairing;
    uint32_t rotary_dim;
} files[] = {
    /* nothing said: base 10000, linear with factor 1 */
    {GGUF("llama", 5),
     {1e4, 1e4, 1e4, 1e4, 1e4, 1e4},
     TENON_ROPE_DEFAULT,
     0,
     TENON_PAIR_INTERLEAVED,
     32},
    {GGUF("qwen2", 6) "kv:'qwen2.rope.freq_base',6 u32:0x49742400",
     {1e6, 1e6, 1e6, 1e6, 1e6, 1e6},
     TENON_ROPE_DEFAULT,
     0,
     TENON_PAIR_HALF,
     32},
    /* the older key, and the type left out */
    {GGUF("llama", 6) "kv:'llama.rope.scale_linear',6 u32:0x40800000",
     {1e4, 1e4, 1e4, 1e4, 1e4, 1e4},
     TENON_ROPE_LINEAR,
     4,
     TENON_PAIR_INTERLEAVED,
     32},
    {GGUF("llama", 7) "kv:'llama.rope.scaling.type',8 str:'none' "
                      "kv:'llama.rope.scaling.factor',6 u32:0x40800000",
     {1e4, 1e4, 1e4, 1e4, 1e4, 1e4},
     TENON_ROPE_DEFAULT,
     0,
     TENON_PAIR_INTERLEAVED,
     32},
    {GGUF("llama", 7) "kv:'llama.rope.scaling.type',8 str:'yarn' "
                      "kv:'llama.rope.scaling.factor',6 u32:0x40800000",
     {1e4, 1e4, 1e4, 1e4, 1e4, 1e4},
     TENON_ROPE_YARN,
     4,
     TENON_PAIR_INTERLEAVED,
     32},
    {GGUF("gptneox", 6) "kv:'gptneox.rope.dimension_count',4 u32:8",
     {1e4, 1e4, 1e4, 1e4, 1e4, 1e4},
     TENON_ROPE_DEFAULT,
     0,
     TENON_PAIR_HALF,
     8},
    /* Gemma 3: sliding layers have base 10000 and are not stretched */
    {GGUF("gemma3", 8) "kv:'gemma3.rope.freq_base',6 u32:0x49742400 "
                       "kv:'gemma3.rope.scaling.factor',6 u32:0x40800000 "
                       "kv:'gemma3.attention.sliding_window',4 u32:512",
     {1e4, 1e4, 1e4, 1e4, 1e4, 1e6},
     TENON_ROPE_LINEAR,
     4,
     TENON_PAIR_HALF,
     32},
    /* SmolLM3: each fourth layer does not turn */
    {GGUF("smollm3", 5),
     {1e4, 1e4, 1e4, 0, 1e4, 1e4},
     TENON_ROPE_DEFAULT,
     0,
     TENON_PAIR_INTERLEAVED,
     32},
    /* Command R7B: full layers do not */
    {GGUF("cohere2", 6) "kv:'cohere2.attention.sliding_window',4 u32:4096",
     {1e4, 1e4, 1e4, 0, 1e4, 1e4},
     TENON_ROPE_DEFAULT,
     0,
     TENON_PAIR_INTERLEAVED,
     32},
};

START_TEST(metadata_tell_the_same)
{
    struct cooked c;
    const struct tenon_rope *last = NULL;

    cooked_open(&c, files[_i].recipe, NULL);
    ck_ok(c.status, c.err);
    ck_ok(tenon_positions_resolve(c.model, NULL, &positions, &err), err);
    ck_assert_int_eq(positions->kind, TENON_POSITION_ROPE);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_msg(theta_of(i) == files[_i].theta[i], "layer %zu: %g", i, theta_of(i));
        if (theta_of(i) > 0)
            last = &tenon_positions_rope(positions, i)->rope;
    }
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(last->scaling, files[_i].scaling);
    ck_assert_int_eq(last->pairing, files[_i].pairing);
    ck_assert_uint_eq(last->rotary_dim, files[_i].rotary_dim);
    if (files[_i].factor > 0)
        ck_assert_double_eq(last->factor, files[_i].factor);
    cooked_release(&c);
}
END_TEST

START_TEST(unknown_types_in_metadata_are_named)
{
    struct cooked c;

    cooked_open(&c, GGUF("llama", 6) "kv:'llama.rope.scaling.type',8 str:'spiral'", NULL);
    ck_ok(c.status, c.err);
    ck_assert_int_eq(tenon_positions_resolve(c.model, NULL, &positions, &err),
                     TENON_ERR_UNSUPPORTED_FEATURE);
    ck_assert_str_eq(err.subject, "rope.scaling.type");
    ck_assert_msg(strstr(err.message, "none, linear, yarn and longrope") != NULL, "%s",
                  err.message);
    cooked_release(&c);
}
END_TEST

/* --- settings --- */

START_TEST(the_language_models_own_section_counts_first)
{
    struct tenon_setting s, item;
    double number = 0;
    bool flag = true;

    ck_ok(resolve("{\"model_type\":\"llava\",\"alpha\":1,\"beta\":2,\"gone\":null,\"list\":[3,"
                  "\"x\",false],\"text_config\":{\"model_type\":\"llama\",\"alpha\":7,"
                  "\"deep\":{\"er\":9}," WIDTHS "}}"),
          err);
    ck_assert(tenon_model_setting(model, "alpha", &s) && tenon_setting_number(&s, &number));
    ck_assert_double_eq(number, 7);
    ck_assert(tenon_model_setting(model, "beta", &s) && tenon_setting_number(&s, &number));
    ck_assert_double_eq(number, 2);
    ck_assert(tenon_model_setting(model, "deep.er", &s) && tenon_setting_number(&s, &number));
    ck_assert_double_eq(number, 9);
    ck_assert(!tenon_model_setting(model, "gone", &s));
    ck_assert(tenon_setting_is_null(model, "gone") && !tenon_setting_is_null(model, "never"));
    ck_assert(tenon_model_setting(model, "list", &s));
    ck_assert_uint_eq(s.count, 3);
    ck_assert(tenon_setting_item(&s, 1, &item, NULL) && tenon_setting_is(&item, "x"));
    ck_assert(tenon_setting_item(&s, 2, &item, NULL) && tenon_setting_bool(&item, &flag));
    ck_assert(!flag);
    ck_assert(!tenon_setting_item(&s, 3, &item, NULL));
    ck_assert(!tenon_setting_number(&s, &number));
}
END_TEST

START_TEST(a_caller_can_overrule)
{
    static const char json[] = "{\"rope_type\":\"linear\",\"factor\":2}";
    struct tenon_position_overrides over;
    struct tenon_settings *settings = NULL;
    struct tenon_setting root;

    ck_ok(resolve("{\"model_type\":\"llama\"," WIDTHS "}"), err);
    tenon_positions_free(positions);
    positions = NULL;
    ck_ok(tenon_settings_parse(json, strlen(json), &settings, &err), err);
    root = tenon_settings_root(settings);
    tenon_position_overrides_init(&over);
    over.theta = 77;
    over.rotary_dim = 32;
    over.heads = 64;
    over.pairing = TENON_PAIR_INTERLEAVED;
    over.rope_scaling = &root;
    ck_ok(tenon_positions_resolve(model, &over, &positions, &err), err);
    tenon_settings_free(settings);
    ck_assert_double_eq(positions->ropes[0].rope.theta, 77);
    ck_assert_uint_eq(positions->ropes[0].rope.rotary_dim, 32);
    ck_assert_uint_eq(positions->ropes[0].rope.head_dim, 64);
    ck_assert_int_eq(positions->ropes[0].rope.pairing, TENON_PAIR_INTERLEAVED);
    ck_assert_int_eq(positions->ropes[0].rope.scaling, TENON_ROPE_LINEAR);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    struct tenon_positions *none;
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    ck_ok(resolve(layers[1].config), err);
    for (uint64_t n = 1; st != TENON_OK; n++) {
        none = NULL;
        tenon_mem_fail_at(n, true);
        st = tenon_positions_resolve(model, NULL, &none, NULL);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || (st == TENON_ERR_NO_MEMORY && none == NULL));
        ck_assert_uint_lt(n, 1000);
    }
    tenon_positions_free(none);
}
END_TEST

#define N(rows) ((int)(sizeof(rows) / sizeof((rows)[0])))

int main(void)
{
    Suite *suite = suite_create("position");
    TCase *all = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_loop_test(all, one_rotation_is_found, 0, N(rows));
    tcase_add_loop_test(all, layers_have_their_own, 0, N(layers));
    tcase_add_test(all, linear_scaling_of_gemma_is_for_full_layers);
    tcase_add_test(all, yarn_of_olmo_3_is_for_full_layers);
    tcase_add_test(all, longrope_takes_its_lists);
    tcase_add_test(all, sections_are_told_with_their_order);
    tcase_add_test(all, proportional_keeps_the_width_of_its_layers);
    tcase_add_test(all, learned_tables_know_their_offset);
    tcase_add_test(all, other_kinds_are_told);
    tcase_add_loop_test(all, what_makes_no_sense_is_named, 0, N(faults));
    tcase_add_loop_test(all, metadata_tell_the_same, 0, N(files));
    tcase_add_test(all, unknown_types_in_metadata_are_named);
    tcase_add_test(all, the_language_models_own_section_counts_first);
    tcase_add_test(all, a_caller_can_overrule);
    tcase_add_test(all, every_allocation_may_fail);
    suite_add_tcase(suite, all);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
