/* EuroBERT. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_eurobert = {
    .name = "eurobert",
    .title = "EuroBERT",
    .model_types = "eurobert",
    .gguf_names = "eurobert",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_NONE,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ENCODER,
    .rules = &tenon_rules_llama,
};
