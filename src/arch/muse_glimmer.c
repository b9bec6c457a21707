/* Muse Glimmer. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_muse_glimmer = {
    .name = "muse_glimmer",
    .title = "Muse Glimmer",
    .model_types = "muse_glimmer muse_glimmer_text",
    .gguf_names = "muse-glimmer",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .head_dim = 128,
    .layer_rule = TENON_LAYERS_BACKWARD_FULL,
    .layer_period = 4,
    .embd_norm = TENON_NORM_RMS_PLAIN,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_RMS_PLAIN,
    .flags = TENON_ARCH_NORM_PLUS_ONE | TENON_ARCH_PERMUTED_QK | TENON_ARCH_ROPE_SLIDING_ONLY,
    .rules = &tenon_rules_llama,
};
