/* MiMo 2. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_mimo2 = {
    .name = "mimo2",
    .title = "MiMo 2",
    .model_types = "mimo_v2_flash",
    .gguf_names = "mimo2",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 5000000,
    .rope_partial = 0.334,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .head_dim = 192,
    .local_theta = 10000,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &tenon_rules_llama,
};
