/* Kimi Linear and K3. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_kimi_linear = {
    .name = "kimi_linear",
    .title = "Kimi Linear and K3",
    .model_types = "kimi_linear",
    .gguf_names = "kimi-linear kimi-k3",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_LATENT,
    .rules = &tenon_rules_llama,
};
