/* Gemma 3n. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_sandwich_norm, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_gemma3n = {
    .name = "gemma3n",
    .title = "Gemma 3n",
    .model_types = "gemma3n gemma3n_text",
    .gguf_names = "gemma3n",
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
    .layer_period = 5,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_INPUT_STACKED,
    .rules = &rules,
};
