/* Apertus. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("layers.#.attention_layernorm", ATTN_NORM),
    NAME("layers.#.feedforward_layernorm", FFN_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &tenon_names_llama, &tenon_names_gguf},
};

/* What the config class assumes when the file is silent. */
static const struct tenon_arch_rope rope_default = {
    .scaling = TENON_ROPE_LLAMA3,
    .factor = 8,
    .original = 8192,
    .low_freq_factor = 1,
    .high_freq_factor = 4,
};

const struct tenon_arch tenon_arch_apertus = {
    .name = "apertus",
    .title = "Apertus",
    .model_types = "apertus",
    .gguf_names = "apertus",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 12000000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .rope_default = &rope_default,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
