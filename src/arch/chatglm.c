/* ChatGLM 2 to 4. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embedding.word_embeddings", TOKEN_EMBD),
    NAME("encoder.final_layernorm", OUTPUT_NORM),
    NAME("encoder.layers.#.input_layernorm", ATTN_NORM),
    NAME("encoder.layers.#.mlp.dense_4h_to_h", FFN_DOWN),
    NAME("encoder.layers.#.mlp.dense_h_to_4h", FFN_GATE_UP),
    NAME("encoder.layers.#.post_attention_layernorm", FFN_NORM),
    NAME("encoder.layers.#.self_attention.dense", ATTN_OUTPUT),
    NAME("encoder.layers.#.self_attention.query_key_value", ATTN_QKV),
    NAME("output_layer", OUTPUT),
    NAME_AS("rotary_pos_emb.inv_freq", ROPE_FREQS, MAIN, RULE_BARE),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.ffn_up", FFN_GATE_UP),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &gguf_names, &tenon_names_gguf},
    .marks = {"embedding.word_embeddings.weight",
              "encoder.layers.0.self_attention.query_key_value.weight", "output_layer.weight"},
};

const struct tenon_arch tenon_arch_chatglm = {
    .name = "chatglm",
    .title = "ChatGLM 2 to 4",
    .model_types = "chatglm",
    .gguf_names = "chatglm",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 0.5,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
