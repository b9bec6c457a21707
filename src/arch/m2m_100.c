/* M2M-100 and NLLB. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&tenon_names_mbart, &tenon_names_bart, &tenon_names_gguf},
    .ties = tenon_ties_bart,
};

const struct tenon_arch tenon_arch_m2m_100 = {
    .name = "m2m_100",
    .title = "M2M-100 and NLLB",
    .model_types = "m2m_100 nllb-moe",
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
    .flags = TENON_ARCH_SHARED_EMBED | TENON_ARCH_ENCODER_DECODER | TENON_ARCH_POSITION_PAD,
    .rules = &rules,
};
