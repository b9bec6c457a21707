/* BitNet b1.58. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("layers.#.mlp.ffn_sub_norm", FFN_SUB_NORM),
    NAME("layers.#.self_attn.attn_sub_norm", ATTN_SUB_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &tenon_names_llama, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.self_attn.attn_sub_norm.weight",
              "layers.0.mlp.ffn_sub_norm.weight"},
};

const struct tenon_arch tenon_arch_bitnet = {
    .name = "bitnet",
    .title = "BitNet b1.58",
    .model_types = "bitnet",
    .gguf_names = "bitnet",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_TIED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 500000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
