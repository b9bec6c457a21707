/* Nemotron 3 and 4, Minitron. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_nemotron = {
    .name = "nemotron",
    .title = "Nemotron 3 and 4, Minitron",
    .model_types = "nemotron",
    .gguf_names = "nemotron",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 0.5,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_NORM_PLUS_ONE,
    .rules = &tenon_rules_llama,
};
