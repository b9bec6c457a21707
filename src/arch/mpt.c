/* MPT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("blocks.#.attn.Wqkv", ATTN_QKV),
    NAME("blocks.#.attn.k_ln", ATTN_K_NORM),
    NAME("blocks.#.attn.out_proj", ATTN_OUTPUT),
    NAME("blocks.#.attn.q_ln", ATTN_Q_NORM),
    NAME("blocks.#.ffn.down_proj", FFN_DOWN),
    NAME("blocks.#.ffn.up_proj", FFN_UP),
    NAME("blocks.#.norm_1", ATTN_NORM),
    NAME("blocks.#.norm_2", FFN_NORM),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("norm_f", OUTPUT_NORM),
    NAME("wpe", POSITION_EMBD),
    NAME("wte", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"wte.weight", "blocks.0.attn.Wqkv.weight", "blocks.0.ffn.up_proj.weight"},
};

const struct tenon_arch tenon_arch_mpt = {
    .name = "mpt",
    .title = "MPT",
    .model_types = "mpt",
    .gguf_names = "mpt",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ALIBI,
    .alibi_bias = 8,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .rules = &rules,
};
