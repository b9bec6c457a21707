/* The text towers of CLIP and its relatives, stored alone: transformers 5 leaves out the name of
 * the module, transformers 4 and towers with a projection do not. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .sets = {&tenon_names_clip, &tenon_names_gguf},
    .within = "text_model.",
    .marks = {"embeddings.token_embedding.weight", "encoder.layers.0.layer_norm1.weight",
              "final_layer_norm.weight"},
};

static const struct tenon_arch_variant variants[] = {
    {.words = "siglip_text_model siglip2_text_model", .norm_eps = 1e-06},
    {.words = NULL},
};

const struct tenon_arch tenon_arch_clip_text = {
    .name = "clip_text",
    .title = "CLIP and SigLIP, text towers",
    .model_types = "clip_text_model clipseg_text_model metaclip_2_text_model siglip_text_model "
                   "siglip2_text_model",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO_HEAD,
    .tie_v5 = TENON_TIE_NO_HEAD,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_LAYER,
    .flags = TENON_ARCH_ENCODER,
    .rules = &rules,
    .variants = variants,
};
