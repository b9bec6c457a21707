/* Qwen 1. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("h.#.mlp.w1", FFN_UP),
    NAME("h.#.mlp.w2", FFN_GATE),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gpt2, &tenon_names_gguf},
    .marks = {"wte.weight", "h.0.mlp.w1.weight", "h.0.mlp.w2.weight", "h.0.attn.c_attn.weight"},
};

const struct tenon_arch tenon_arch_qwen = {
    .name = "qwen",
    .title = "Qwen 1",
    .model_types = "qwen",
    .gguf_names = "qwen",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
