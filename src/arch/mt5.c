/* mT5. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .sets = {&tenon_names_t5, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_mt5 = {
    .name = "mt5",
    .title = "mT5",
    .model_types = "mt5",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_ALWAYS,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_RELATIVE,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_FLAG_NOT_TYING | TENON_ARCH_SHARED_EMBED | TENON_ARCH_ENCODER_DECODER,
    .rules = &rules,
};
