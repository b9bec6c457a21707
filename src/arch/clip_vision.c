/* The vision towers of CLIP and its relatives, stored alone: transformers 5 leaves out the name of
 * the module, transformers 4 and towers with a projection do not. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .sets = {&tenon_names_clip, &tenon_names_gguf},
    .within = "vision_model.",
    .marks = {"embeddings.patch_embedding.weight", "encoder.layers.0.layer_norm1.weight",
              "post_layernorm.weight"},
};

static const struct tenon_arch_variant variants[] = {
    {.words = "siglip_vision_model siglip2_vision_model", .norm_eps = 1e-06},
    {.words = NULL},
};

const struct tenon_arch tenon_arch_clip_vision = {
    .name = "clip_vision",
    .title = "CLIP and SigLIP, vision towers",
    .model_types =
        "altclip_vision_model chinese_clip_vision_model clip_vision_model clipseg_vision_model "
        "metaclip_2_vision_model siglip_vision_model siglip2_vision_model",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO_HEAD,
    .tie_v5 = TENON_TIE_NO_HEAD,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_LAYER,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_VISION,
    .rules = &rules,
    .variants = variants,
};
