/* RecurrentGemma. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embed_tokens", TOKEN_EMBD),
    NAME("final_norm", OUTPUT_NORM),
    NAME("layers.#.channel_pre_norm", FFN_NORM),
    NAME("layers.#.mlp_block.down_proj", FFN_DOWN),
    NAME("layers.#.mlp_block.gate_proj", FFN_GATE),
    NAME("layers.#.mlp_block.up_proj", FFN_UP),
    NAME("layers.#.temporal_block.k_proj", ATTN_K),
    NAME("layers.#.temporal_block.o_proj", ATTN_OUTPUT),
    NAME("layers.#.temporal_block.q_proj", ATTN_Q),
    NAME("layers.#.temporal_block.v_proj", ATTN_V),
    NAME("layers.#.temporal_pre_norm", ATTN_NORM),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.temporal_pre_norm.weight",
              "layers.0.channel_pre_norm.weight"},
};

const struct tenon_arch tenon_arch_recurrent_gemma = {
    .name = "recurrent_gemma",
    .title = "RecurrentGemma",
    .model_types = "recurrent_gemma",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 0.5,
    .embed_scale = TENON_SCALE_SQRT_WIDTH_BF16,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_NORM_PLUS_ONE,
    .rules = &rules,
};
