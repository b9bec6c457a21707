/* XLNet. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("layer.#.ff.layer_1", FFN_UP),
    NAME("layer.#.ff.layer_2", FFN_DOWN),
    NAME("layer.#.ff.layer_norm", LAYER_OUTPUT_NORM),
    NAME_AS("layer.#.rel_attn.k", ATTN_K, MAIN, RULE_BARE),
    NAME("layer.#.rel_attn.layer_norm", ATTN_OUTPUT_NORM),
    NAME_AS("layer.#.rel_attn.o", ATTN_OUTPUT, MAIN, RULE_BARE),
    NAME_AS("layer.#.rel_attn.q", ATTN_Q, MAIN, RULE_BARE),
    NAME_AS("layer.#.rel_attn.r", ATTN_REL_B, MAIN, RULE_BARE),
    NAME_AS("layer.#.rel_attn.v", ATTN_V, MAIN, RULE_BARE),
    NAME_AS("lm_loss", OUTPUT, MAIN, RULE_TOP),
    NAME("word_embedding", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"word_embedding.weight", "layer.0.rel_attn.q", "layer.0.ff.layer_1.weight"},
};

const struct tenon_arch tenon_arch_xlnet = {
    .name = "xlnet",
    .title = "XLNet",
    .model_types = "xlnet",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_RELATIVE,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags = TENON_ARCH_HEAD_BIAS | TENON_ARCH_ENCODER | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
