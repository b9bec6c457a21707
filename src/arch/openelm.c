/* OpenELM. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("layers.#.attn.k_norm", ATTN_K_NORM),  NAME("layers.#.attn.out_proj", ATTN_OUTPUT),
    NAME("layers.#.attn.q_norm", ATTN_Q_NORM),  NAME("layers.#.attn.qkv_proj", ATTN_QKV),
    NAME("layers.#.attn_norm", ATTN_NORM),      NAME("layers.#.ffn.proj_1", FFN_GATE_UP),
    NAME("layers.#.ffn.proj_2", FFN_DOWN),      NAME("layers.#.ffn_norm", FFN_NORM),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP), NAME("norm", OUTPUT_NORM),
    NAME("token_embeddings", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.ffn_up", FFN_GATE_UP),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &gguf_names, &tenon_names_gguf},
    .marks = {"token_embeddings.weight", "layers.0.attn.qkv_proj.weight",
              "layers.0.ffn.proj_1.weight"},
};

const struct tenon_arch tenon_arch_openelm = {
    .name = "openelm",
    .title = "OpenELM",
    .model_types = "openelm",
    .gguf_names = "openelm",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_TIED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
