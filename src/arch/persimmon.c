/* Persimmon and Fuyu. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("embedding.word_embeddings", TOKEN_EMBD, MAIN, RULE_ALIAS),
    NAME("final_layernorm", OUTPUT_NORM),
    NAME("layers.#.mlp.dense_4h_to_h", FFN_DOWN),
    NAME("layers.#.mlp.dense_h_to_4h", FFN_UP),
    NAME("layers.#.self_attn.dense", ATTN_OUTPUT),
    NAME("layers.#.self_attn.k_layernorm", ATTN_K_NORM),
    NAME("layers.#.self_attn.q_layernorm", ATTN_Q_NORM),
    NAME("layers.#.self_attn.query_key_value", ATTN_QKV),
    NAME_AS("word_embeddings_for_head", OUTPUT, MAIN, RULE_TOP | RULE_ALIAS),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &tenon_names_llama, &tenon_names_gguf},
};

static const struct tenon_arch_variant variants[] = {
    {.words = "fuyu", .rope_theta = 25000},
    {.words = NULL},
};

const struct tenon_arch tenon_arch_persimmon = {
    .name = "persimmon",
    .title = "Persimmon and Fuyu",
    .model_types = "persimmon fuyu",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 0.5,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_LAYER,
    .qkv = TENON_QKV_GROUPS,
    .variants = variants,
    .rules = &rules,
};
