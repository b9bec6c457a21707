/* DeepSeek 2 and 3. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_deepseek2 = {
    .name = "deepseek2",
    .title = "DeepSeek 2 and 3",
    .model_types = "deepseek_v2 deepseek_v3 kimi_k2",
    .gguf_names = "deepseek2 deepseek2-ocr deepseek32",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .rules = &tenon_rules_llama,
};
