/* Phi 3 and 4. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.ffn_up", FFN_GATE_UP),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&gguf_names, &tenon_names_llama, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.self_attn.qkv_proj.weight",
              "layers.0.mlp.gate_up_proj.weight", "!layers.0.post_mlp_layernorm.weight",
              "!layers.0.post_feedforward_layernorm.weight"},
};

const struct tenon_arch tenon_arch_phi3 = {
    .name = "phi3",
    .title = "Phi 3 and 4",
    .model_types = "phi3 phi3small phi3_v phi4mm phi4_multimodal",
    .gguf_names = "phi3",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
