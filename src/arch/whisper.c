/* Whisper. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("decoder.layers.#.final_layer_norm", FFN_NORM, DECODER, 0),
    NAME_AS("decoder.layers.#.self_attn_layer_norm", ATTN_NORM, DECODER, 0),
    NAME_AS("encoder.conv1", PATCH_EMBD, AUDIO, 0),
    NAME_AS("encoder.layers.#.final_layer_norm", FFN_NORM, ENCODER, 0),
    NAME_AS("encoder.layers.#.self_attn_layer_norm", ATTN_NORM, ENCODER, 0),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP | RULE_ALIAS),
    NAME_AS("proj_out", OUTPUT, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&own_names, &tenon_names_bart, &tenon_names_gguf},
    .marks = {"model.decoder.embed_tokens.weight", "model.encoder.conv1.weight",
              "model.encoder.conv2.weight"},
};

const struct tenon_arch tenon_arch_whisper = {
    .name = "whisper",
    .title = "Whisper",
    .model_types = "whisper",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ENCODER_DECODER,
    .rules = &rules,
};
