/* Talkie. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_talkie = {
    .name = "talkie",
    .title = "Talkie",
    .model_types = "",
    .gguf_names = "talkie",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .embd_norm = TENON_NORM_RMS_PLAIN,
    .norm = TENON_NORM_RMS_PLAIN,
    .norm_eps = 1e-06,
    .qk_norm = TENON_NORM_RMS_PLAIN,
    .flags = TENON_ARCH_QK_NORM_AFTER,
    .rules = &tenon_rules_llama,
};
