/* Laguna. */
#include "arch/arch_rules.h"

/* What the config class assumes when the file is silent. */
static const struct tenon_arch_rope rope_default = {
    .scaling = TENON_ROPE_DEFAULT,
    .partial = 0.5,
};

const struct tenon_arch tenon_arch_laguna = {
    .name = "laguna",
    .title = "Laguna",
    .model_types = "laguna",
    .gguf_names = "laguna",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 500000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .head_dim = 128,
    .local_theta = 10000,
    .layer_rule = TENON_LAYERS_FIRST_FULL,
    .layer_period = 4,
    .rope_default = &rope_default,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &tenon_rules_llama,
};
