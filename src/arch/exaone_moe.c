/* EXAONE MoE. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_exaone_moe = {
    .name = "exaone_moe",
    .title = "EXAONE MoE",
    .model_types = "exaone_moe",
    .gguf_names = "exaone-moe",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .layer_rule = TENON_LAYERS_LAST_FULL,
    .layer_period = 4,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ROPE_SLIDING_ONLY,
    .rules = &tenon_rules_llama,
};
