/* mBART. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule mbart_rows[] = {
    NAME_AS("decoder.layers.#.final_layer_norm", FFN_NORM, DECODER, 0),
    NAME_AS("decoder.layers.#.self_attn_layer_norm", ATTN_NORM, DECODER, 0),
    NAME_AS("encoder.layers.#.final_layer_norm", FFN_NORM, ENCODER, 0),
    NAME_AS("encoder.layers.#.self_attn_layer_norm", ATTN_NORM, ENCODER, 0),
};
const struct tenon_name_set tenon_names_mbart = NAME_SET(mbart_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&tenon_names_mbart, &tenon_names_bart, &tenon_names_gguf},
    .ties = tenon_ties_bart,
};

const struct tenon_arch tenon_arch_mbart = {
    .name = "mbart",
    .title = "mBART",
    .model_types = "mbart",
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
    .flags = TENON_ARCH_SHARED_EMBED | TENON_ARCH_ENCODER_DECODER | TENON_ARCH_POSITION_EXTRA,
    .rules = &rules,
};
