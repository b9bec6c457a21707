/* GPT-J. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("h.#.attn.bias", ATTN_MASK, MAIN, RULE_BARE),
    NAME("h.#.attn.k_proj", ATTN_K),
    NAME_AS("h.#.attn.masked_bias", ATTN_MASK, MAIN, RULE_BARE | RULE_ALIAS),
    NAME("h.#.attn.out_proj", ATTN_OUTPUT),
    NAME("h.#.attn.q_proj", ATTN_Q),
    NAME("h.#.attn.v_proj", ATTN_V),
    NAME("h.#.ln_1", ATTN_NORM),
    NAME("h.#.mlp.fc_in", FFN_UP),
    NAME("h.#.mlp.fc_out", FFN_DOWN),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("ln_f", OUTPUT_NORM),
    NAME("wte", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"wte.weight", "h.0.attn.q_proj.weight", "h.0.mlp.fc_in.weight"},
};

const struct tenon_arch tenon_arch_gptj = {
    .name = "gptj",
    .title = "GPT-J",
    .model_types = "gptj",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 0.25,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_HEAD_BIAS,
    .rules = &rules,
};
