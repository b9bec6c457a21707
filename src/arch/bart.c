/* BART. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule bart_rows[] = {
    NAME_AS("decoder.embed_positions", POSITION_EMBD, DECODER, 0),
    NAME_AS("decoder.embed_tokens", TOKEN_EMBD, DECODER, 0),
    NAME_AS("decoder.layer_norm", OUTPUT_NORM, DECODER, 0),
    NAME_AS("decoder.layernorm_embedding", EMBD_NORM, DECODER, 0),
    NAME_AS("decoder.layers.#.encoder_attn.k_proj", CROSS_ATTN_K, DECODER, 0),
    NAME_AS("decoder.layers.#.encoder_attn.out_proj", CROSS_ATTN_OUTPUT, DECODER, 0),
    NAME_AS("decoder.layers.#.encoder_attn.q_proj", CROSS_ATTN_Q, DECODER, 0),
    NAME_AS("decoder.layers.#.encoder_attn.v_proj", CROSS_ATTN_V, DECODER, 0),
    NAME_AS("decoder.layers.#.encoder_attn_layer_norm", CROSS_ATTN_NORM, DECODER, 0),
    NAME_AS("decoder.layers.#.fc1", FFN_UP, DECODER, 0),
    NAME_AS("decoder.layers.#.fc2", FFN_DOWN, DECODER, 0),
    NAME_AS("decoder.layers.#.final_layer_norm", LAYER_OUTPUT_NORM, DECODER, 0),
    NAME_AS("decoder.layers.#.self_attn.k_proj", ATTN_K, DECODER, 0),
    NAME_AS("decoder.layers.#.self_attn.out_proj", ATTN_OUTPUT, DECODER, 0),
    NAME_AS("decoder.layers.#.self_attn.q_proj", ATTN_Q, DECODER, 0),
    NAME_AS("decoder.layers.#.self_attn.v_proj", ATTN_V, DECODER, 0),
    NAME_AS("decoder.layers.#.self_attn_layer_norm", ATTN_OUTPUT_NORM, DECODER, 0),
    NAME_AS("encoder.embed_positions", POSITION_EMBD, ENCODER, 0),
    NAME_AS("encoder.embed_tokens", TOKEN_EMBD, ENCODER, 0),
    NAME_AS("encoder.layer_norm", OUTPUT_NORM, ENCODER, 0),
    NAME_AS("encoder.layernorm_embedding", EMBD_NORM, ENCODER, 0),
    NAME_AS("encoder.layers.#.fc1", FFN_UP, ENCODER, 0),
    NAME_AS("encoder.layers.#.fc2", FFN_DOWN, ENCODER, 0),
    NAME_AS("encoder.layers.#.final_layer_norm", LAYER_OUTPUT_NORM, ENCODER, 0),
    NAME_AS("encoder.layers.#.self_attn.k_proj", ATTN_K, ENCODER, 0),
    NAME_AS("encoder.layers.#.self_attn.out_proj", ATTN_OUTPUT, ENCODER, 0),
    NAME_AS("encoder.layers.#.self_attn.q_proj", ATTN_Q, ENCODER, 0),
    NAME_AS("encoder.layers.#.self_attn.v_proj", ATTN_V, ENCODER, 0),
    NAME_AS("encoder.layers.#.self_attn_layer_norm", ATTN_OUTPUT_NORM, ENCODER, 0),
    NAME_AS("final_logits_bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("shared", TOKEN_EMBD),
};
const struct tenon_name_set tenon_names_bart = NAME_SET(bart_rows, HF);

const struct tenon_tie_row tenon_ties_bart[] = {
    TIE_ROW_BART,
    {{NULL}},
};

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&tenon_names_bart, &tenon_names_gguf},
    .marks = {"model.shared.weight", "model.encoder.layers.0.self_attn_layer_norm.weight",
              "model.encoder.layernorm_embedding.weight", "!model.encoder.layer_norm.weight"},
    .ties = tenon_ties_bart,
};

const struct tenon_arch tenon_arch_bart = {
    .name = "bart",
    .title = "BART",
    .model_types = "bart",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .position_offset = 2,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_SHARED_EMBED | TENON_ARCH_ENCODER_DECODER | TENON_ARCH_POSITION_EXTRA |
             TENON_ARCH_POST_NORM,
    .rules = &rules,
};
