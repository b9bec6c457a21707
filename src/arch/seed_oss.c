/* Seed-OSS. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.post_attention_norm", FFN_NORM),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&gguf_names, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_seed_oss = {
    .name = "seed_oss",
    .title = "Seed-OSS",
    .model_types = "seed_oss",
    .gguf_names = "seed_oss",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .head_dim = 128,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
