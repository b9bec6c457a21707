/* GPT-Neo. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("h.#.attn.attention.bias", ATTN_MASK, MAIN, RULE_BARE),
    NAME("h.#.attn.attention.k_proj", ATTN_K),
    NAME_AS("h.#.attn.attention.masked_bias", ATTN_MASK, MAIN, RULE_BARE | RULE_ALIAS),
    NAME("h.#.attn.attention.out_proj", ATTN_OUTPUT),
    NAME("h.#.attn.attention.q_proj", ATTN_Q),
    NAME("h.#.attn.attention.v_proj", ATTN_V),
    NAME("h.#.ln_1", ATTN_NORM),
    NAME("h.#.ln_2", FFN_NORM),
    NAME("h.#.mlp.c_fc", FFN_UP),
    NAME("h.#.mlp.c_proj", FFN_DOWN),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("ln_f", OUTPUT_NORM),
    NAME("wpe", POSITION_EMBD),
    NAME("wte", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"wte.weight", "wpe.weight", "h.0.attn.attention.q_proj.weight"},
};

const struct tenon_arch tenon_arch_gpt_neo = {
    .name = "gpt_neo",
    .title = "GPT-Neo",
    .model_types = "gpt_neo",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_TYPES_LAST,
    .rules = &rules,
};
