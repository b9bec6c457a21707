/* Idefics 2 and 3, SmolVLM. */
#include "arch/arch_rules.h"

/* The matrices of added tokens that the first Idefics has. */
static const struct tenon_tie_row ties[] = {
    {{"model.embed_tokens.additional_embedding.weight", "lm_head.additional_fc.weight"}},
    {{NULL}},
};

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.text_model.", "text_model.", "model."},
    .sets = {&tenon_names_llama, &tenon_names_gguf},
    .ties = ties,
};

const struct tenon_arch tenon_arch_idefics = {
    .name = "idefics",
    .title = "Idefics 2 and 3, SmolVLM",
    .model_types = "idefics idefics2 idefics3 smolvlm",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_VISION,
    .rules = &rules,
};
