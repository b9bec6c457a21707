/* ERNIE 4.5. */
#include "arch/arch_rules.h"

static const struct tenon_arch_variant variants[] = {
    {.words = "paddleocr",
     .rope_layout = TENON_ROPE_HALF,
     .gguf_rope = TENON_GGUF_ROPE_MROPE,
     .rope_axes = TENON_AXES_CHUNKED},
    {.words = NULL},
};

const struct tenon_arch tenon_arch_ernie4_5 = {
    .name = "ernie4_5",
    .title = "ERNIE 4.5",
    .model_types = "ernie4_5 ernie4_5_moe",
    .gguf_names = "ernie4_5 ernie4_5-moe paddleocr",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 500000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .head_dim = 128,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .variants = variants,
    .rules = &tenon_rules_llama,
};
