/* SmolLM 3. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_smollm3 = {
    .name = "smollm3",
    .title = "SmolLM 3",
    .model_types = "smollm3",
    .gguf_names = "smollm3",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 2000000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .no_rope_period = 4,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_PERMUTED_QK,
    .rules = &tenon_rules_llama,
};
