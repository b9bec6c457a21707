/* Qwen 3.5. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.post_attention_norm", FFN_NORM),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_qwen2_vl, &gguf_names, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_qwen3_5 = {
    .name = "qwen3_5",
    .title = "Qwen 3.5",
    .model_types = "qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text",
    .gguf_names = "qwen35 qwen35moe",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 0.25,
    .gguf_rope = TENON_GGUF_ROPE_IMROPE,
    .rope_axes = TENON_AXES_INTERLEAVED,
    .head_dim = 256,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_NORM_PLUS_ONE | TENON_ARCH_Q_GATED,
    .rules = &rules,
};
