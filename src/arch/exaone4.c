/* EXAONE 4. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_sandwich_norm, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_exaone4 = {
    .name = "exaone4",
    .title = "EXAONE 4",
    .model_types = "exaone4",
    .gguf_names = "exaone4",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .layer_rule = TENON_LAYERS_LAST_FULL,
    .layer_period = 4,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ROPE_SLIDING_ONLY | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
