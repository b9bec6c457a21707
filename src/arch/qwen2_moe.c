/* Qwen 2 MoE. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_qwen2_moe = {
    .name = "qwen2_moe",
    .title = "Qwen 2 MoE",
    .model_types = "qwen2_moe",
    .gguf_names = "qwen2moe",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &tenon_rules_llama,
};
