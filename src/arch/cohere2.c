/* Command R7B and A. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_cohere2 = {
    .name = "cohere2",
    .title = "Command R7B and A",
    .model_types = "cohere2",
    .gguf_names = "cohere2",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_TIED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .layer_rule = TENON_LAYERS_LAST_FULL,
    .layer_period = 4,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_LAYER,
    .flags = TENON_ARCH_ROPE_SLIDING_ONLY,
    .rules = &tenon_rules_llama,
};
