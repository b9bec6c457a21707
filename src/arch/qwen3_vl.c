/* Qwen 3 VL. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_qwen2_vl, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_qwen3_vl = {
    .name = "qwen3_vl",
    .title = "Qwen 3 VL",
    .model_types = "qwen3_vl qwen3_vl_text qwen3_vl_moe qwen3_vl_moe_text",
    .gguf_names = "qwen3vl qwen3vlmoe",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_SECTIONED,
    .rope_theta = 500000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_IMROPE,
    .rope_axes = TENON_AXES_INTERLEAVED,
    .head_dim = 128,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
