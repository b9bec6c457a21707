/* nanochat. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_nanochat = {
    .name = "nanochat",
    .title = "nanochat",
    .model_types = "nanochat",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .embd_norm = TENON_NORM_RMS_PLAIN,
    .norm = TENON_NORM_RMS_PLAIN,
    .norm_eps = 1e-06,
    .qk_norm = TENON_NORM_RMS_PLAIN,
    .flags = TENON_ARCH_ROPE_REVERSED | TENON_ARCH_QK_NORM_AFTER,
    .rules = &tenon_rules_llama,
};
