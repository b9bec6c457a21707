/* Pocket TTS. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_pocket_tts = {
    .name = "pocket_tts",
    .title = "Pocket TTS",
    .model_types = "",
    .gguf_names = "pockettts",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_TIED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .rules = &tenon_rules_llama,
};
