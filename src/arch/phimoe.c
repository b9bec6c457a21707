/* Phi 3.5 MoE. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_phimoe = {
    .name = "phimoe",
    .title = "Phi 3.5 MoE",
    .model_types = "phimoe",
    .gguf_names = "phimoe",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 1000000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_HEAD_BIAS,
    .rules = &tenon_rules_llama,
};
