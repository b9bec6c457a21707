/* DeepSeek 2 and 3. */
#include "arch/arch_rules.h"

static const struct tenon_arch_variant variants[] = {
    {.words = "deepseek_v3 kimi_k2", .flags_on = TENON_ARCH_ROPE_TO_HALF},
    {.words = NULL},
};

const struct tenon_arch tenon_arch_deepseek2 = {
    .name = "deepseek2",
    .title = "DeepSeek 2 and 3",
    .model_types = "deepseek_v2 deepseek_v3 kimi_k2",
    .gguf_names = "deepseek2 deepseek2-ocr deepseek32",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_LATENT,
    .variants = variants,
    .rules = &tenon_rules_llama,
};
