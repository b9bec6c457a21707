/* Blenderbot. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&tenon_names_mbart, &tenon_names_bart, &tenon_names_gguf},
    .ties = tenon_ties_bart,
};

static const struct tenon_arch_variant variants[] = {
    {.words = "blenderbot-small", .flags_on = TENON_ARCH_POST_NORM},
    {.words = NULL},
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
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_SHARED_EMBED | TENON_ARCH_ENCODER_DECODER | TENON_ARCH_EMBD_NORM_MAY,
    .variants = variants,
    .rules = &rules,
};
