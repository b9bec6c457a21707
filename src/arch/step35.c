/* Step 3.5. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_step35 = {
    .name = "step35",
    .title = "Step 3.5",
    .model_types = "step3p5",
    .gguf_names = "step35",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .head_dim = 128,
    .local_theta = 10000,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &tenon_rules_llama,
};
