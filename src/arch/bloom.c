/* BLOOM. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("h.#.input_layernorm", ATTN_NORM),
    NAME("h.#.mlp.dense_4h_to_h", FFN_DOWN),
    NAME("h.#.mlp.dense_h_to_4h", FFN_UP),
    NAME("h.#.post_attention_layernorm", FFN_NORM),
    NAME("h.#.self_attention.dense", ATTN_OUTPUT),
    NAME("h.#.self_attention.query_key_value", ATTN_QKV),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("ln_f", OUTPUT_NORM),
    NAME("word_embeddings", TOKEN_EMBD),
    NAME("word_embeddings_layernorm", EMBD_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"word_embeddings.weight", "word_embeddings_layernorm.weight",
              "h.0.self_attention.query_key_value.weight"},
};

const struct tenon_arch tenon_arch_bloom = {
    .name = "bloom",
    .title = "BLOOM",
    .model_types = "bloom",
    .gguf_names = "bloom",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ALIBI,
    .alibi_bias = 8,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qkv = TENON_QKV_GROUPS,
    .flags = TENON_ARCH_IMPORT_TIES,
    .rules = &rules,
};
