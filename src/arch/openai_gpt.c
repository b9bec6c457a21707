/* GPT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("h.#.attn.bias", ATTN_MASK, MAIN, RULE_BARE),
    NAME("h.#.attn.c_attn", ATTN_QKV),
    NAME("h.#.attn.c_proj", ATTN_OUTPUT),
    NAME("h.#.ln_1", ATTN_OUTPUT_NORM),
    NAME("h.#.ln_2", LAYER_OUTPUT_NORM),
    NAME("h.#.mlp.c_fc", FFN_UP),
    NAME("h.#.mlp.c_proj", FFN_DOWN),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("positions_embed", POSITION_EMBD),
    NAME("tokens_embed", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"tokens_embed.weight", "positions_embed.weight", "h.0.attn.c_attn.weight"},
};

const struct tenon_arch tenon_arch_openai_gpt = {
    .name = "openai_gpt",
    .title = "GPT",
    .model_types = "openai-gpt",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_CONV1D | TENON_ARCH_TYPES_LAST | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
