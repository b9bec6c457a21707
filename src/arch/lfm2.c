/* LFM 2. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embed_tokens", TOKEN_EMBD),
    NAME("embedding_norm", OUTPUT_NORM),
    NAME("layers.#.feed_forward.experts.@.w1", FFN_GATE_EXPS),
    NAME("layers.#.feed_forward.experts.@.w2", FFN_DOWN_EXPS),
    NAME("layers.#.feed_forward.experts.@.w3", FFN_UP_EXPS),
    NAME("layers.#.feed_forward.gate", FFN_GATE_INP),
    NAME("layers.#.feed_forward.w1", FFN_GATE),
    NAME("layers.#.feed_forward.w2", FFN_DOWN),
    NAME("layers.#.feed_forward.w3", FFN_UP),
    NAME("layers.#.ffn_norm", FFN_NORM),
    NAME("layers.#.operator_norm", ATTN_NORM),
    NAME("layers.#.self_attn.k_layernorm", ATTN_K_NORM),
    NAME("layers.#.self_attn.k_proj", ATTN_K),
    NAME("layers.#.self_attn.out_proj", ATTN_OUTPUT),
    NAME("layers.#.self_attn.q_layernorm", ATTN_Q_NORM),
    NAME("layers.#.self_attn.q_proj", ATTN_Q),
    NAME("layers.#.self_attn.v_proj", ATTN_V),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("token_embd_norm", OUTPUT_NORM),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &gguf_names, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "embedding_norm.weight", "layers.0.operator_norm.weight"},
};

const struct tenon_arch tenon_arch_lfm2 = {
    .name = "lfm2",
    .title = "LFM 2",
    .model_types = "lfm2 lfm2_moe",
    .gguf_names = "lfm2 lfm2moe",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 1000000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
