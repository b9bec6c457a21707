/* GLM 4 0414. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("layers.#.post_mlp_layernorm", FFN_POST_NORM),
    NAME("layers.#.post_self_attn_layernorm", ATTN_POST_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.ffn_up", FFN_GATE_UP),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &gguf_names, &tenon_names_llama, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.post_self_attn_layernorm.weight",
              "layers.0.post_mlp_layernorm.weight"},
};

const struct tenon_arch tenon_arch_glm4 = {
    .name = "glm4",
    .title = "GLM 4 0414",
    .model_types = "glm4",
    .gguf_names = "glm4",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 0.5,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .head_dim = 128,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1.5625e-07,
    .flags = TENON_ARCH_GGUF_SECTIONS,
    .rules = &rules,
};
