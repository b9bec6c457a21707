/* DINOv2. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("encoder.layer.#.mlp.fc1", FFN_UP, VISION, 0),
    NAME_AS("encoder.layer.#.mlp.fc2", FFN_DOWN, VISION, 0),
    NAME_AS("encoder.layer.#.norm1", ATTN_NORM, VISION, 0),
    NAME_AS("encoder.layer.#.norm2", FFN_NORM, VISION, 0),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"dinov2."},
    .sets = {&own_names, &tenon_names_vit, &tenon_names_gguf},
    .marks = {"embeddings.cls_token", "encoder.layer.0.layer_scale1.lambda1",
              "encoder.layer.0.norm1.weight"},
};

const struct tenon_arch tenon_arch_dinov2 = {
    .name = "dinov2",
    .title = "DINOv2",
    .model_types = "dinov2 dinov2_with_registers",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO_HEAD,
    .tie_v5 = TENON_TIE_NO_HEAD,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_VISION,
    .rules = &rules,
};
