/* OLMo 2 and 3. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_sandwich_norm, &tenon_names_llama, &tenon_names_gguf},
    .marks = {"embed_tokens.weight", "layers.0.post_attention_layernorm.weight",
              "layers.0.post_feedforward_layernorm.weight", "!layers.0.input_layernorm.weight",
              "layers.0.self_attn.q_norm.weight"},
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
    .rules = &rules,
};
