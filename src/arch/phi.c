/* Phi 1, 1.5 and 2. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("embd.wte", TOKEN_EMBD, MAIN, RULE_ALIAS),
    NAME("embed_tokens", TOKEN_EMBD),
    NAME("final_layernorm", OUTPUT_NORM),
    NAME_AS("h.#.ln", ATTN_NORM, MAIN, RULE_ALIAS),
    NAME_AS("h.#.mixer.Wqkv", ATTN_QKV, MAIN, RULE_ALIAS),
    NAME_AS("h.#.mixer.out_proj", ATTN_OUTPUT, MAIN, RULE_ALIAS),
    NAME_AS("h.#.mlp.fc1", FFN_UP, MAIN, RULE_ALIAS),
    NAME_AS("h.#.mlp.fc2", FFN_DOWN, MAIN, RULE_ALIAS),
    NAME("layers.#.input_layernorm", ATTN_NORM),
    NAME("layers.#.mlp.fc1", FFN_UP),
    NAME("layers.#.mlp.fc2", FFN_DOWN),
    NAME("layers.#.self_attn.dense", ATTN_OUTPUT),
    NAME("layers.#.self_attn.k_layernorm", ATTN_K_NORM),
    NAME("layers.#.self_attn.k_proj", ATTN_K),
    NAME("layers.#.self_attn.q_layernorm", ATTN_Q_NORM),
    NAME("layers.#.self_attn.q_proj", ATTN_Q),
    NAME("layers.#.self_attn.v_proj", ATTN_V),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("lm_head.linear", OUTPUT, MAIN, RULE_TOP | RULE_ALIAS),
    NAME_AS("lm_head.ln", OUTPUT_NORM, MAIN, RULE_TOP | RULE_ALIAS),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.self_attn.dense.weight", "layers.0.mlp.fc1.weight",
              "lm_head.bias", "!layers.0.self_attn.query_key_value.weight"},
};

const struct tenon_arch tenon_arch_phi = {
    .name = "phi",
    .title = "Phi 1, 1.5 and 2",
    .model_types = "phi phi-msft",
    .gguf_names = "phi2",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 0.5,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_LAYER,
    .flags = TENON_ARCH_HEAD_BIAS,
    .rules = &rules,
};
