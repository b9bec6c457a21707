/* GPT-2. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule gpt2_rows[] = {
    NAME_AS("h.#.attn.bias", ATTN_MASK, MAIN, RULE_BARE),
    NAME("h.#.attn.c_attn", ATTN_QKV),
    NAME("h.#.attn.c_proj", ATTN_OUTPUT),
    NAME_AS("h.#.attn.masked_bias", ATTN_MASK, MAIN, RULE_BARE | RULE_ALIAS),
    NAME("h.#.ln_1", ATTN_NORM),
    NAME("h.#.ln_2", FFN_NORM),
    NAME("h.#.mlp.c_fc", FFN_UP),
    NAME("h.#.mlp.c_proj", FFN_DOWN),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("ln_f", OUTPUT_NORM),
    NAME_AS("word_embeddings", TOKEN_EMBD, MAIN, RULE_ALIAS),
    NAME("word_embeddings_layernorm", EMBD_NORM),
    NAME("wpe", POSITION_EMBD),
    NAME("wte", TOKEN_EMBD),
};
const struct tenon_name_set tenon_names_gpt2 = NAME_SET(gpt2_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&tenon_names_gpt2, &tenon_names_gguf},
    .marks = {"wte.weight", "wpe.weight", "h.0.attn.c_attn.weight", "h.0.attn.bias",
              "!h.0.mlp.w2.weight"},
};

const struct tenon_arch tenon_arch_gpt2 = {
    .name = "gpt2",
    .title = "GPT-2",
    .model_types = "gpt2",
    .gguf_names = "gpt2",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_CONV1D | TENON_ARCH_TYPES_LAST,
    .rules = &rules,
};
