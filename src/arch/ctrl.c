/* CTRL. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("h.#.ffn.0", FFN_UP),
    NAME("h.#.ffn.2", FFN_DOWN),
    NAME("h.#.layernorm1", ATTN_NORM),
    NAME("h.#.layernorm2", FFN_NORM),
    NAME("h.#.multi_head_attention.Wk", ATTN_K),
    NAME("h.#.multi_head_attention.Wq", ATTN_Q),
    NAME("h.#.multi_head_attention.Wv", ATTN_V),
    NAME("h.#.multi_head_attention.dense", ATTN_OUTPUT),
    NAME("layernorm", OUTPUT_NORM),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("w", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"w.weight", "h.0.multi_head_attention.Wq.weight", "h.0.layernorm1.weight"},
};

const struct tenon_arch tenon_arch_ctrl = {
    .name = "ctrl",
    .title = "CTRL",
    .model_types = "ctrl",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_SINUSOIDAL,
    .embed_scale = TENON_SCALE_SQRT_WIDTH,
    .sinusoid = TENON_SINUSOID_HALF,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_HEAD_BIAS,
    .rules = &rules,
};
