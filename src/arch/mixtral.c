/* Mixtral. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_llama, &tenon_names_gguf, &tenon_names_meta},
    .marks = {"embed_tokens.weight", "layers.0.block_sparse_moe.experts.0.w1.weight",
              "layers.0.self_attn.q_proj.weight", "!layers.0.self_attn.q_norm.weight"},
};

const struct tenon_arch tenon_arch_mixtral = {
    .name = "mixtral",
    .title = "Mixtral",
    .model_types = "mixtral",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 1000000,
    .rope_partial = 1,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_PERMUTED_QK,
    .rules = &rules,
};
