/* RWKV 7. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embeddings", TOKEN_EMBD),
    NAME("layers.#.attn_norm", ATTN_NORM),
    NAME("layers.#.ffn_norm", ATTN_NORM_2),
    NAME("layers.#.pre_norm", EMBD_NORM),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("norm", OUTPUT_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&own_names, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_rwkv7 = {
    .name = "rwkv7",
    .title = "RWKV 7",
    .model_types = "rwkv7",
    .gguf_names = "rwkv7",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_NONE,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .rules = &rules,
};
