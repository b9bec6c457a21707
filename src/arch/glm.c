/* GLM 4. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_glm = {
    .name = "glm",
    .title = "GLM 4",
    .model_types = "glm",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 0.5,
    .head_dim = 128,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1.5625e-07,
    .rules = &tenon_rules_llama,
};
