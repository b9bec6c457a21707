/* Ling 1. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule bailing_moe_rows[] = {
    NAME_AS("embed_tokens", TOKEN_EMBD, MAIN, RULE_ALIAS),
    NAME("layers.#.attention.dense", ATTN_OUTPUT),
    NAME("layers.#.attention.key_layernorm", ATTN_K_NORM),
    NAME("layers.#.attention.query_key_value", ATTN_QKV),
    NAME("layers.#.attention.query_layernorm", ATTN_Q_NORM),
    NAME("word_embeddings", TOKEN_EMBD),
};
const struct tenon_name_set tenon_names_bailing_moe = NAME_SET(bailing_moe_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_bailing_moe, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_bailing_moe = {
    .name = "bailing_moe",
    .title = "Ling 1",
    .model_types = "bailing_moe",
    .gguf_names = "bailingmoe",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 600000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_PERMUTED_QK,
    .rules = &rules,
};
