/* MiniMax M2. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_minimax_m2 = {
    .name = "minimax_m2",
    .title = "MiniMax M2",
    .model_types = "minimax_m2",
    .gguf_names = "minimax-m2 minimax-m3",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 5000000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .head_dim = 128,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &tenon_rules_llama,
};
