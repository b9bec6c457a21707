/* Jais. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&tenon_names_gpt2, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_jais = {
    .name = "jais",
    .title = "Jais",
    .model_types = "jais",
    .gguf_names = "jais",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ALIBI,
    .embed_scale = TENON_SCALE_CONFIG_VALUE,
    .alibi_bias = 8,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_CONV1D,
    .rules = &rules,
};
