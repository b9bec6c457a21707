/* Command R. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_cohere = {
    .name = "cohere",
    .title = "Command R",
    .model_types = "cohere",
    .gguf_names = "command-r",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_TIED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 500000,
    .rope_partial = 1,
    .rules = &rules,
};
