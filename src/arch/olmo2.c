/* OLMo 2 and 3. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_sandwich_norm, &tenon_names_llama, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.post_attention_layernorm.weight",
              "layers.0.post_feedforward_layernorm.weight", "!layers.0.input_layernorm.weight",
              "layers.0.self_attn.q_norm.weight"},
};

static const struct tenon_arch_variant variants[] = {
    {.words = "olmo3",
     .rope_theta = 500000,
     .local_theta = 500000,
     .layer_rule = TENON_LAYERS_LAST_FULL,
     .layer_period = 4},
    {.words = NULL},
};

const struct tenon_arch tenon_arch_olmo2 = {
    .name = "olmo2",
    .title = "OLMo 2 and 3",
    .model_types = "olmo2 olmo3",
    .gguf_names = "olmo2",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_POST_NORM,
    .variants = variants,
    .rules = &rules,
};
