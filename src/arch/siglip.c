/* SigLIP. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .sets = {&tenon_names_clip, &tenon_names_gguf},
    .marks = {"text_model.embeddings.token_embedding.weight",
              "vision_model.head.attention.in_proj_weight",
              "!vision_model.embeddings.class_embedding"},
};

const struct tenon_arch tenon_arch_siglip = {
    .name = "siglip",
    .title = "SigLIP",
    .model_types = "siglip siglip2",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO_HEAD,
    .tie_v5 = TENON_TIE_NO_HEAD,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-06,
    .qk_norm = TENON_NORM_LAYER,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_VISION,
    .rules = &rules,
};
