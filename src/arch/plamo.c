/* PLaMo. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embed_tokens", TOKEN_EMBD),
    NAME("layers.layers.#.mlp.down_proj", FFN_DOWN),
    NAME("layers.layers.#.mlp.gate_proj", FFN_GATE),
    NAME("layers.layers.#.mlp.up_proj", FFN_UP),
    NAME("layers.layers.#.norm", ATTN_NORM),
    NAME("layers.layers.#.self_attn.k_proj", ATTN_K),
    NAME("layers.layers.#.self_attn.o_proj", ATTN_OUTPUT),
    NAME("layers.layers.#.self_attn.q_proj", ATTN_Q),
    NAME("layers.layers.#.self_attn.v_proj", ATTN_V),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("norm", OUTPUT_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&own_names, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_plamo = {
    .name = "plamo",
    .title = "PLaMo",
    .model_types = "plamo",
    .gguf_names = "plamo",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
