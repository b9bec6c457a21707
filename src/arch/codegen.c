/* CodeGen. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("h.#.attn.causal_mask", ATTN_MASK, MAIN, RULE_BARE),
    NAME("h.#.attn.out_proj", ATTN_OUTPUT),
    NAME("h.#.attn.qkv_proj", ATTN_QKV),
    NAME("h.#.ln_1", ATTN_NORM),
    NAME("h.#.mlp.fc_in", FFN_UP),
    NAME("h.#.mlp.fc_out", FFN_DOWN),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("ln_f", OUTPUT_NORM),
    NAME("wte", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"wte.weight", "h.0.attn.qkv_proj.weight", "h.0.mlp.fc_in.weight"},
};

const struct tenon_arch tenon_arch_codegen = {
    .name = "codegen",
    .title = "CodeGen",
    .model_types = "codegen",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qkv = TENON_QKV_CODEGEN,
    .flags = TENON_ARCH_HEAD_BIAS,
    .rules = &rules,
};
