/* gpt-oss. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.post_attention_norm", FFN_NORM),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&gguf_names, &tenon_names_llama, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.self_attn.sinks", "layers.0.mlp.router.weight"},
};

/* What the config class assumes when the file is silent. */
static const struct tenon_arch_rope rope_default = {
    .scaling = TENON_ROPE_YARN,
    .factor = 32,
    .original = 4096,
    .no_truncate = true,
};

const struct tenon_arch tenon_arch_gpt_oss = {
    .name = "gpt_oss",
    .title = "gpt-oss",
    .model_types = "gpt_oss",
    .gguf_names = "gpt-oss openai-moe",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 150000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .head_dim = 64,
    .layer_rule = TENON_LAYERS_LAST_FULL,
    .layer_period = 2,
    .rope_default = &rope_default,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
