/* DBRX. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("blocks.#.ffn.experts.mlp.v1", FFN_UP_EXPS, MAIN, RULE_BARE),
    NAME_AS("blocks.#.ffn.experts.mlp.w1", FFN_GATE_EXPS, MAIN, RULE_BARE),
    NAME_AS("blocks.#.ffn.experts.mlp.w2", FFN_DOWN_EXPS, MAIN, RULE_BARE),
    NAME("blocks.#.ffn.router.layer", FFN_GATE_INP),
    NAME("blocks.#.norm_attn_norm.attn.Wqkv", ATTN_QKV),
    NAME("blocks.#.norm_attn_norm.attn.out_proj", ATTN_OUTPUT),
    NAME("blocks.#.norm_attn_norm.norm_1", ATTN_NORM),
    NAME("blocks.#.norm_attn_norm.norm_2", ATTN_OUTPUT_NORM),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("norm_f", OUTPUT_NORM),
    NAME("wte", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"wte.weight", "blocks.0.norm_attn_norm.norm_1.weight",
              "blocks.0.ffn.router.layer.weight"},
};

const struct tenon_arch tenon_arch_dbrx = {
    .name = "dbrx",
    .title = "DBRX",
    .model_types = "dbrx",
    .gguf_names = "dbrx",
    .tie_v4 = TENON_TIE_NEVER,
    .tie_v5 = TENON_TIE_NEVER,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .rules = &rules,
};
