/* StarCoder 2. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("layers.#.mlp.c_fc", FFN_UP),
    NAME("layers.#.mlp.c_proj", FFN_DOWN),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &tenon_names_llama, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.mlp.c_fc.weight",
              "layers.0.self_attn.q_proj.weight"},
};

const struct tenon_arch tenon_arch_starcoder2 = {
    .name = "starcoder2",
    .title = "StarCoder 2",
    .model_types = "starcoder2",
    .gguf_names = "starcoder2",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .rules = &rules,
};
