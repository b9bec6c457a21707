/* Helium. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_helium = {
    .name = "helium",
    .title = "Helium",
    .model_types = "helium",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 100000,
    .rope_partial = 1,
    .head_dim = 128,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-08,
    .rules = &tenon_rules_llama,
};
