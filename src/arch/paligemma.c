/* PaliGemma. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_llava, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_paligemma = {
    .name = "paligemma",
    .title = "PaliGemma",
    .model_types = "paligemma",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .embed_scale = TENON_SCALE_SQRT_WIDTH,
    .head_dim = 256,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_NORM_PLUS_ONE | TENON_ARCH_VISION,
    .rules = &rules,
};
