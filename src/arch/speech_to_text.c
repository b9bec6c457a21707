/* Speech2Text. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&tenon_names_mbart, &tenon_names_bart, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_speech_to_text = {
    .name = "speech_to_text",
    .title = "Speech2Text",
    .model_types = "speech_to_text",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_SINUSOIDAL,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .embed_scale_default = 1,
    .sinusoid = TENON_SINUSOID_HALF_TIMESCALE,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ENCODER_DECODER | TENON_ARCH_POSITION_PAD,
    .rules = &rules,
};
