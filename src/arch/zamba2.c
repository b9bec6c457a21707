/* Zamba 2. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embed_tokens", TOKEN_EMBD),
    NAME("final_layernorm", OUTPUT_NORM),
    NAME("layers.#.input_layernorm", ATTN_NORM),
    NAME_AS("layers.#.mamba.A_log", SSM_A, MAIN, RULE_BARE),
    NAME_AS("layers.#.mamba.D", SSM_D, MAIN, RULE_BARE),
    NAME("layers.#.mamba.b_layernorm", SSM_B_NORM),
    NAME("layers.#.mamba.c_layernorm", SSM_C_NORM),
    NAME("layers.#.mamba.conv1d", SSM_CONV1D),
    NAME_AS("layers.#.mamba.dt_bias", SSM_DT, MAIN, RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME("layers.#.mamba.dt_layernorm", SSM_DT_NORM),
    NAME("layers.#.mamba.dt_proj", SSM_DT),
    NAME("layers.#.mamba.in_proj", SSM_IN),
    NAME("layers.#.mamba.norm", SSM_NORM),
    NAME("layers.#.mamba.out_proj", SSM_OUT),
    NAME("layers.#.mamba.x_proj", SSM_X),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_zamba2 = {
    .name = "zamba2",
    .title = "Zamba 2",
    .model_types = "zamba2 zamba",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
