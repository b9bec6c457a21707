/* StableLM. */
#include "arch/arch_rules.h"

/* Each head has a norm of its own. */
static const struct tenon_name_rule own_names_rows[] = {
    NAME("layers.#.self_attn.k_layernorm.norms.@", ATTN_K_NORM),
    NAME("layers.#.self_attn.q_layernorm.norms.@", ATTN_Q_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&own_names, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_stablelm = {
    .name = "stablelm",
    .title = "StableLM",
    .model_types = "stablelm stablelm_epoch",
    .gguf_names = "stablelm",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 0.25,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_LAYER,
    .rules = &rules,
};
