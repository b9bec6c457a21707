/* Mistral and Ministral. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_llama, &tenon_names_gguf, &tenon_names_meta},
};

/* What the config class assumes when the file is silent. */
static const struct tenon_arch_rope rope_default = {
    .scaling = TENON_ROPE_YARN,
    .factor = 16,
    .original = 16384,
    .mscale = 1,
    .mscale_all_dim = 1,
    .temperature = 0.1,
};

static const struct tenon_arch_variant variants[] = {
    {.words = "ministral3",
     .rope_default = &rope_default,
     .rope_theta = 1000000,
     .norm_eps = 1e-05,
     .head_dim = 128},
    {.words = NULL},
};

const struct tenon_arch tenon_arch_mistral = {
    .name = "mistral",
    .title = "Mistral and Ministral",
    .model_types = "mistral ministral ministral3 mixtral_dense",
    .gguf_names = "mistral3",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_PERMUTED_QK,
    .variants = variants,
    .rules = &rules,
};
