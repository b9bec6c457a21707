/* Nemotron-H. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("embed_tokens", TOKEN_EMBD, MAIN, RULE_ALIAS),
    NAME("layers.#.mixer.down_proj", FFN_DOWN),
    NAME("layers.#.mixer.experts.@.down_proj", FFN_DOWN_EXPS),
    NAME("layers.#.mixer.experts.@.up_proj", FFN_UP_EXPS),
    NAME("layers.#.mixer.gate", FFN_GATE_INP),
    NAME_AS("layers.#.mixer.gate.e_score_correction_bias", FFN_EXP_PROBS_B, MAIN,
            RULE_BARE | RULE_BIAS),
    NAME("layers.#.mixer.k_proj", ATTN_K),
    NAME("layers.#.mixer.o_proj", ATTN_OUTPUT),
    NAME("layers.#.mixer.q_proj", ATTN_Q),
    NAME("layers.#.mixer.shared_experts.down_proj", FFN_DOWN_SHEXP),
    NAME("layers.#.mixer.shared_experts.up_proj", FFN_UP_SHEXP),
    NAME("layers.#.mixer.up_proj", FFN_UP),
    NAME("layers.#.mixer.v_proj", ATTN_V),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"backbone.", "model."},
    .sets = {&own_names, &tenon_names_mamba, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_nemotron_h = {
    .name = "nemotron_h",
    .title = "Nemotron-H",
    .model_types = "nemotron_h",
    .gguf_names = "nemotron_h nemotron_h_moe nemotron-h",
    .tie_v4 = TENON_TIE_NEVER,
    .tie_v5 = TENON_TIE_NEVER,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_NONE,
    .head_dim = 128,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
