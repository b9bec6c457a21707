/* XGLM. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&tenon_names_opt, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_xglm = {
    .name = "xglm",
    .title = "XGLM",
    .model_types = "xglm",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_SINUSOIDAL,
    .position_offset = 2,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .embed_scale_default = 1,
    .sinusoid = TENON_SINUSOID_HALF_TIMESCALE,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .rules = &rules,
};
