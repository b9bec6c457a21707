/* LLaDA. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("blocks.#.attn_norm", ATTN_NORM),
    NAME("blocks.#.attn_out", ATTN_OUTPUT),
    NAME("blocks.#.ff_norm", FFN_NORM),
    NAME("blocks.#.ff_out", FFN_DOWN),
    NAME("blocks.#.ff_proj", FFN_GATE),
    NAME("blocks.#.k_proj", ATTN_K),
    NAME("blocks.#.q_proj", ATTN_Q),
    NAME("blocks.#.up_proj", FFN_UP),
    NAME("blocks.#.v_proj", ATTN_V),
    NAME("ff_out", OUTPUT),
    NAME("ln_f", OUTPUT_NORM),
    NAME("wte", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.transformer.", "transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"wte.weight", "ff_out.weight", "blocks.0.ff_proj.weight", "blocks.0.up_proj.weight"},
};

const struct tenon_arch tenon_arch_llada = {
    .name = "llada",
    .title = "LLaDA",
    .model_types = "llada",
    .gguf_names = "llada",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 500000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_PERMUTED_QK,
    .rules = &rules,
};
