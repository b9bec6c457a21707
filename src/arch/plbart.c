/* PLBart. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&tenon_names_bart, &tenon_names_gguf},
    .ties = tenon_ties_bart,
};

const struct tenon_arch tenon_arch_plbart = {
    .name = "plbart",
    .title = "PLBart",
    .model_types = "plbart",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .position_offset = 2,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .embed_scale_default = 1,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_SHARED_EMBED | TENON_ARCH_ENCODER_DECODER | TENON_ARCH_POSITION_EXTRA |
             TENON_ARCH_POST_NORM,
    .rules = &rules,
};
