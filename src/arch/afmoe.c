/* Arcee Trinity. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("layers.#.post_attention_layernorm", ATTN_POST_NORM),
    NAME("layers.#.post_mlp_layernorm", FFN_POST_NORM),
    NAME("layers.#.pre_mlp_layernorm", FFN_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_afmoe = {
    .name = "afmoe",
    .title = "Arcee Trinity",
    .model_types = "afmoe",
    .gguf_names = "afmoe",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .head_dim = 128,
    .layer_rule = TENON_LAYERS_LAST_FULL,
    .layer_period = 4,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ROPE_SLIDING_ONLY,
    .rules = &rules,
};
