/* Grok 1 and 2. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("decoder_layer.#.multi_head_attention.key", ATTN_K),
    NAME("decoder_layer.#.multi_head_attention.linear", ATTN_OUTPUT),
    NAME("decoder_layer.#.multi_head_attention.query", ATTN_Q),
    NAME("decoder_layer.#.multi_head_attention.value", ATTN_V),
    NAME("decoder_layer.#.rms_norm", ATTN_NORM),
    NAME("decoder_layer.#.rms_norm_1", ATTN_OUTPUT_NORM),
    NAME("decoder_layer.#.rms_norm_2", FFN_NORM),
    NAME("decoder_layer.#.rms_norm_3", LAYER_OUTPUT_NORM),
    NAME("decoder_layer.#.router", FFN_GATE_INP),
    NAME_AS("embed_tokens", TOKEN_EMBD, MAIN, RULE_ALIAS),
    NAME("in_out_embed", TOKEN_EMBD),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("rms_norm", OUTPUT_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer.", "model."},
    .sets = {&own_names, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_grok = {
    .name = "grok",
    .title = "Grok 1 and 2",
    .model_types = "grok-1 grok",
    .gguf_names = "grok",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .embed_scale = TENON_SCALE_CONFIG_VALUE,
    .embed_scale_default = 78.38367176906169,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
