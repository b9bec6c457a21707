/* Falcon-H1. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_bamba, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.mamba.A_log", "layers.0.self_attn.q_proj.weight",
              "layers.0.pre_ff_layernorm.weight"},
};

const struct tenon_arch tenon_arch_falcon_h1 = {
    .name = "falcon_h1",
    .title = "Falcon-H1",
    .model_types = "falcon_h1",
    .gguf_names = "falcon-h1",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .embed_scale = TENON_SCALE_CONFIG_VALUE,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
