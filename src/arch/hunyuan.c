/* HunYuan dense. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_hunyuan = {
    .name = "hunyuan",
    .title = "HunYuan dense",
    .model_types = "hunyuan_v1_dense hunyuan",
    .gguf_names = "hunyuan-dense hunyuan_vl",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_GGUF_SECTIONS | TENON_ARCH_QK_NORM_AFTER,
    .rules = &tenon_rules_llama,
};
