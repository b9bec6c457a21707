/* RWKV on Qwen 2. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_rwkv_hybrid = {
    .name = "rwkv_hybrid",
    .title = "RWKV on Qwen 2",
    .model_types = "rwkv6qwen2 arwkv7",
    .gguf_names = "rwkv6qwen2 arwkv7",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_NONE,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &tenon_rules_llama,
};
