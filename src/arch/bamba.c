/* Bamba. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule bamba_rows[] = {
    NAME("embed_tokens", TOKEN_EMBD),
    NAME("final_layernorm", OUTPUT_NORM),
    NAME("layers.#.feed_forward.down_proj", FFN_DOWN),
    NAME("layers.#.feed_forward.gate_proj", FFN_GATE),
    NAME("layers.#.feed_forward.up_proj", FFN_UP),
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
    NAME("layers.#.pre_ff_layernorm", FFN_NORM),
    NAME("layers.#.self_attn.k_proj", ATTN_K),
    NAME("layers.#.self_attn.o_proj", ATTN_OUTPUT),
    NAME("layers.#.self_attn.q_proj", ATTN_Q),
    NAME("layers.#.self_attn.v_proj", ATTN_V),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
};
const struct tenon_name_set tenon_names_bamba = NAME_SET(bamba_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_bamba, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_bamba = {
    .name = "bamba",
    .title = "Bamba",
    .model_types = "bamba",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 0.5,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
