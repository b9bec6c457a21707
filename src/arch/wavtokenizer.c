/* WavTokenizer. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_wavtokenizer = {
    .name = "wavtokenizer",
    .title = "WavTokenizer",
    .model_types = "",
    .gguf_names = "wavtokenizer-dec",
    .tie_v4 = TENON_TIE_NEVER,
    .tie_v5 = TENON_TIE_NEVER,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_NONE,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_HEAD_BIAS | TENON_ARCH_ROWS_DIFFER,
    .rules = &tenon_rules_llama,
};
