/* Gemma 4. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_sandwich_norm, &tenon_names_llama, &tenon_names_gguf},
};

/* What the config class assumes when the file is silent. */
static const struct tenon_arch_rope rope_default = {
    .scaling = TENON_ROPE_PROPORTIONAL,
    .partial = 0.25,
};

const struct tenon_arch tenon_arch_gemma4 = {
    .name = "gemma4",
    .title = "Gemma 4",
    .model_types = "gemma4 gemma4_text",
    .gguf_names = "gemma4",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 1000000,
    .rope_partial = 1,
    .embed_scale = TENON_SCALE_SQRT_WIDTH,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .head_dim = 256,
    .local_theta = 10000,
    .layer_rule = TENON_LAYERS_LAST_FULL,
    .layer_period = 6,
    .rope_default = &rope_default,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
