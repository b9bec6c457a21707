/* ViT and DeiT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule vit_rows[] = {
    NAME_AS("classifier", CLASSIFIER, VISION, RULE_TOP),
    NAME_AS("embeddings.cls_token", CLASS_EMBD, VISION, RULE_BARE),
    NAME_AS("embeddings.patch_embeddings.projection", PATCH_EMBD, VISION, 0),
    NAME_AS("embeddings.position_embeddings", POSITION_EMBD, VISION, RULE_BARE),
    NAME_AS("embeddings.register_tokens", REGISTER_EMBD, VISION, RULE_BARE),
    NAME_AS("encoder.layer.#.attention.attention.key", ATTN_K, VISION, 0),
    NAME_AS("encoder.layer.#.attention.attention.query", ATTN_Q, VISION, 0),
    NAME_AS("encoder.layer.#.attention.attention.value", ATTN_V, VISION, 0),
    NAME_AS("encoder.layer.#.attention.output.dense", ATTN_OUTPUT, VISION, 0),
    NAME_AS("encoder.layer.#.intermediate.dense", FFN_UP, VISION, 0),
    NAME_AS("encoder.layer.#.layer_scale1.lambda1", LAYER_SCALE, VISION, RULE_BARE),
    NAME_AS("encoder.layer.#.layer_scale2.lambda1", LAYER_SCALE_2, VISION, RULE_BARE),
    NAME_AS("encoder.layer.#.layernorm_after", FFN_NORM, VISION, 0),
    NAME_AS("encoder.layer.#.layernorm_before", ATTN_NORM, VISION, 0),
    NAME_AS("encoder.layer.#.mlp.fc1", FFN_UP, VISION, RULE_ALIAS),
    NAME_AS("encoder.layer.#.mlp.fc2", FFN_DOWN, VISION, RULE_ALIAS),
    NAME_AS("encoder.layer.#.norm1", ATTN_NORM, VISION, RULE_ALIAS),
    NAME_AS("encoder.layer.#.norm2", FFN_NORM, VISION, RULE_ALIAS),
    NAME_AS("encoder.layer.#.output.dense", FFN_DOWN, VISION, 0),
    NAME_AS("layernorm", OUTPUT_NORM, VISION, 0),
    NAME_AS("pooler.dense", POOLER, VISION, 0),
};
const struct tenon_name_set tenon_names_vit = NAME_SET(vit_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"vit.", "deit."},
    .sets = {&tenon_names_vit, &tenon_names_gguf},
    .marks = {"embeddings.cls_token", "encoder.layer.0.attention.attention.query.weight",
              "encoder.layer.0.layernorm_before.weight"},
};

const struct tenon_arch tenon_arch_vit = {
    .name = "vit",
    .title = "ViT and DeiT",
    .model_types = "vit deit",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_NO_HEAD,
    .tie_v5 = TENON_TIE_NO_HEAD,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .qk_norm = TENON_NORM_LAYER,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_VISION,
    .rules = &rules,
};
