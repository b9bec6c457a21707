/* GPT-NeoX, Pythia. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embed_in", TOKEN_EMBD),
    NAME_AS("embed_out", OUTPUT, MAIN, RULE_TOP),
    NAME("final_layer_norm", OUTPUT_NORM),
    NAME_AS("layers.#.attention.bias", ATTN_MASK, MAIN, RULE_BARE),
    NAME("layers.#.attention.dense", ATTN_OUTPUT),
    NAME_AS("layers.#.attention.masked_bias", ATTN_MASK, MAIN, RULE_BARE | RULE_ALIAS),
    NAME("layers.#.attention.query_key_value", ATTN_QKV),
    NAME_AS("layers.#.attention.rotary_emb.inv_freq", ROPE_INV_FREQ, MAIN, RULE_BARE),
    NAME("layers.#.input_layernorm", ATTN_NORM),
    NAME("layers.#.mlp.dense_4h_to_h", FFN_DOWN),
    NAME("layers.#.mlp.dense_h_to_4h", FFN_UP),
    NAME("layers.#.post_attention_layernorm", FFN_NORM),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP | RULE_ALIAS),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"gpt_neox."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"embed_in.weight", "layers.0.attention.query_key_value.weight"},
};

const struct tenon_arch tenon_arch_gpt_neox = {
    .name = "gpt_neox",
    .title = "GPT-NeoX, Pythia",
    .model_types = "gpt_neox",
    .gguf_names = "gptneox",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 0.25,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qkv = TENON_QKV_GROUPS,
    .rules = &rules,
};
