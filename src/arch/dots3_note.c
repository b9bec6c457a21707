/* dots3-note. */
#include "arch/arch_rules.h"

const struct tenon_arch tenon_arch_dots3_note = {
    .name = "dots3_note",
    .title = "dots3-note",
    .model_types = "dots3_note dots3_note_text",
    .gguf_names = "dots3note",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 80000000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .local_theta = 50000,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_LATENT,
    .rules = &tenon_rules_llama,
};
