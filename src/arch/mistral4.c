/* Mistral 4. */
#include "arch/arch_rules.h"

/* What the config class assumes when the file is silent. */
static const struct tenon_arch_rope rope_default = {
    .scaling = TENON_ROPE_YARN,
    .factor = 128,
    .original = 8192,
    .mscale = 1,
    .mscale_all_dim = 1,
    .temperature = 0.1,
};

const struct tenon_arch tenon_arch_mistral4 = {
    .name = "mistral4",
    .title = "Mistral 4",
    .model_types = "mistral4",
    .gguf_names = "mistral4",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .rope_default = &rope_default,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_ROPE_TO_HALF | TENON_ARCH_LATENT,
    .rules = &tenon_rules_llama,
};
