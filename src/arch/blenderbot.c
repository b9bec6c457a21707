/* Blenderbot. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&tenon_names_mbart, &tenon_names_bart, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_blenderbot = {
    .name = "blenderbot",
    .title = "Blenderbot",
    .model_types = "blenderbot blenderbot-small",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .flags = TENON_ARCH_SHARED_EMBED | TENON_ARCH_ENCODER_DECODER,
    .rules = &rules,
};
