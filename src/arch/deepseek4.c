/* DeepSeek 4. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_deepseek4 = {
    .name = "deepseek4",
    .title = "DeepSeek 4",
    .model_types = "deepseek_v4",
    .gguf_names = "deepseek4",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .head_dim = 512,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_ROPE_TRAILING,
    .rules = &tenon_rules_llama,
};
