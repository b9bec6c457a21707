/* Mamba 2. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"backbone."},
    .sets = {&tenon_names_mamba, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_mamba2 = {
    .name = "mamba2",
    .title = "Mamba 2",
    .model_types = "mamba2",
    .gguf_names = "mamba2",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_NONE,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
