/* Llama 4. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_llama4 = {
    .name = "llama4",
    .title = "Llama 4",
    .model_types = "llama4 llama4_text",
    .gguf_names = "llama4",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 500000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .head_dim = 128,
    .no_rope_period = 4,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_L2,
    .flags = TENON_ARCH_QK_NORM_AFTER,
    .rules = &tenon_rules_llama,
};
