/* Moonshine. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("decoder.layers.#.encoder_attn.o_proj", CROSS_ATTN_OUTPUT, DECODER, 0),
    NAME_AS("decoder.layers.#.self_attn.o_proj", ATTN_OUTPUT, DECODER, 0),
    NAME_AS("decoder.norm", OUTPUT_NORM, DECODER, 0),
    NAME_AS("encoder.layers.#.self_attn.o_proj", ATTN_OUTPUT, ENCODER, 0),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP | RULE_ALIAS),
    NAME_AS("proj_out", OUTPUT, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&own_names, &tenon_names_bart, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_moonshine = {
    .name = "moonshine",
    .title = "Moonshine",
    .model_types = "moonshine",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 0.9,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ENCODER_DECODER,
    .rules = &rules,
};
