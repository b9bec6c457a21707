/* GLM 5. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_glm_dsa = {
    .name = "glm_dsa",
    .title = "GLM 5",
    .model_types = "glm_moe_dsa",
    .gguf_names = "glm-dsa",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ROPE_TO_HALF | TENON_ARCH_LATENT,
    .rules = &tenon_rules_llama,
};
