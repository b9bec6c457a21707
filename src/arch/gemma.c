/* Gemma. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_gemma = {
    .name = "gemma",
    .title = "Gemma",
    .model_types = "gemma",
    .gguf_names = "gemma",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_TIED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .embed_scale = TENON_SCALE_SQRT_WIDTH,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .head_dim = 256,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_NORM_PLUS_ONE,
    .rules = &tenon_rules_llama,
};
