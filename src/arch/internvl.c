/* InternVL. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"language_model.model.", "model.language_model.", "language_model.", "model."},
    .sets = {&tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_internvl = {
    .name = "internvl",
    .title = "InternVL",
    .model_types = "internvl internvl_chat",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_VISION,
    .rules = &rules,
};
