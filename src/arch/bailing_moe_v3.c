/* Ling 3. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_bailing_moe, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_bailing_moe_v3 = {
    .name = "bailing_moe_v3",
    .title = "Ling 3",
    .model_types = "bailing_moe_v3",
    .gguf_names = "bailingmoe3",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 600000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_GGUF_SECTIONS,
    .rules = &rules,
};
