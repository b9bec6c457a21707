/* MiniMax 01. */
#include "arch/arch_rules.h"

static const struct tenon_arch_variant variants[] = {
    {.words = "minimax", .rope_theta = 1000000, .rope_partial = 1},
    {.words = NULL},
};

const struct tenon_arch tenon_arch_minimax_m1 = {
    .name = "minimax_m1",
    .title = "MiniMax 01",
    .model_types = "minimax minimax_m1",
    .gguf_names = "minimax-01",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000000,
    .rope_partial = 0.5,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .variants = variants,
    .rules = &tenon_rules_llama,
};
