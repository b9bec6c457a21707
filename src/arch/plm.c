/* PLM. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_plm = {
    .name = "plm",
    .title = "PLM",
    .model_types = "plm",
    .gguf_names = "plm",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_TIED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_LATENT,
    .rules = &tenon_rules_llama,
};
