/* EXAONE 3. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("h.#.attn.attention.k_proj", ATTN_K),
    NAME("h.#.attn.attention.out_proj", ATTN_OUTPUT),
    NAME("h.#.attn.attention.q_proj", ATTN_Q),
    NAME("h.#.attn.attention.v_proj", ATTN_V),
    NAME("h.#.ln_1", ATTN_NORM),
    NAME("h.#.ln_2", FFN_NORM),
    NAME("h.#.mlp.c_fc_0", FFN_GATE),
    NAME("h.#.mlp.c_fc_1", FFN_UP),
    NAME("h.#.mlp.c_proj", FFN_DOWN),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("ln_f", OUTPUT_NORM),
    NAME("wte", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"wte.weight", "h.0.mlp.c_fc_0.weight", "h.0.attn.attention.q_proj.weight"},
};

const struct tenon_arch tenon_arch_exaone = {
    .name = "exaone",
    .title = "EXAONE 3",
    .model_types = "exaone",
    .gguf_names = "exaone",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 500000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
