/* Refact. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("h.#.attn.k", ATTN_K),
    NAME("h.#.attn.kv", ATTN_KV),
    NAME("h.#.attn.q", ATTN_Q),
    NAME("h.#.attn.v", ATTN_V),
    NAME("h.#.mlp.gate_up_proj", FFN_GATE_UP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gpt2, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_refact = {
    .name = "refact",
    .title = "Refact",
    .model_types = "gpt_refact",
    .gguf_names = "refact",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ALIBI,
    .alibi_bias = 8,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
