/* RWKV 4 to 6. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("blocks.#.ln0", EMBD_NORM, MAIN, RULE_ALIAS),
    NAME("blocks.#.ln1", ATTN_NORM),
    NAME("blocks.#.ln2", ATTN_NORM_2),
    NAME("blocks.#.pre_ln", EMBD_NORM),
    NAME_AS("emb", TOKEN_EMBD, MAIN, RULE_ALIAS),
    NAME("embeddings", TOKEN_EMBD),
    NAME_AS("head", OUTPUT, MAIN, RULE_TOP),
    NAME("ln_out", OUTPUT_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"rwkv.", "model."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"head.weight", "ln_out.weight", "blocks.0.ln1.weight", "blocks.0.ln2.weight"},
};

const struct tenon_arch tenon_arch_rwkv = {
    .name = "rwkv",
    .title = "RWKV 4 to 6",
    .model_types = "rwkv rwkv5 rwkv6",
    .gguf_names = "rwkv6",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_NONE,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .rules = &rules,
};
