/* Command MoE. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_cohere2_moe = {
    .name = "cohere2_moe",
    .title = "Command MoE",
    .model_types = "cohere2_moe",
    .gguf_names = "cohere2moe",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .head_dim = 128,
    .layer_rule = TENON_LAYERS_LAST_FULL,
    .layer_period = 4,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ROPE_SLIDING_ONLY,
    .rules = &tenon_rules_llama,
};
