/* Falcon. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("h.#.input_layernorm", ATTN_NORM),
    NAME("h.#.ln_attn", ATTN_NORM_2),
    NAME_AS("h.#.ln_mlp", ATTN_NORM, MAIN, RULE_ALIAS),
    NAME("h.#.mlp.dense_4h_to_h", FFN_DOWN),
    NAME("h.#.mlp.dense_h_to_4h", FFN_UP),
    NAME("h.#.post_attention_layernorm", FFN_NORM),
    NAME("h.#.self_attention.dense", ATTN_OUTPUT),
    NAME("h.#.self_attention.query_key_value", ATTN_QKV),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("ln_f", OUTPUT_NORM),
    NAME("word_embeddings", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"word_embeddings.weight", "!word_embeddings_layernorm.weight",
              "h.0.self_attention.query_key_value.weight"},
};

const struct tenon_arch tenon_arch_falcon = {
    .name = "falcon",
    .title = "Falcon",
    .model_types = "falcon RefinedWeb RefinedWebModel",
    .gguf_names = "falcon",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qkv = TENON_QKV_GROUPS,
    .flags = TENON_ARCH_MULTI_QUERY | TENON_ARCH_NORM_SECOND | TENON_ARCH_IMPORT_TIES,
    .rules = &rules,
};
