/* Command R. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_cohere = {
    .name = "cohere",
    .title = "Command R",
    .model_types = "cohere",
    .gguf_names = "command-r",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_TIED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 500000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_LAYER,
    .rules = &tenon_rules_llama,
};
