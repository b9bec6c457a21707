/* CodeShell. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&tenon_names_gpt2, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_codeshell = {
    .name = "codeshell",
    .title = "CodeShell",
    .model_types = "codeshell",
    .gguf_names = "codeshell",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_REVERSED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .rules = &rules,
};
