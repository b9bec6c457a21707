/* Llama 3.2 Vision. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_mllama = {
    .name = "mllama",
    .title = "Llama 3.2 Vision",
    .model_types = "mllama",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 500000,
    .rope_partial = 1,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_ROWS_DIFFER | TENON_ARCH_PERMUTED_QK,
    .rules = &tenon_rules_llama,
};
