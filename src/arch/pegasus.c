/* Pegasus. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&tenon_names_mbart, &tenon_names_bart, &tenon_names_gguf},
    .ties = tenon_ties_bart,
};

const struct tenon_arch tenon_arch_pegasus = {
    .name = "pegasus",
    .title = "Pegasus",
    .model_types = "pegasus pegasus_x",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_SINUSOIDAL,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .sinusoid = TENON_SINUSOID_HALF,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_SHARED_EMBED | TENON_ARCH_ENCODER_DECODER,
    .rules = &rules,
};
