/* CLIP. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule clip_rows[] = {
    NAME("text_model.embeddings.position_embedding", POSITION_EMBD),
    NAME("text_model.embeddings.token_embedding", TOKEN_EMBD),
    NAME("text_model.encoder.layers.#.layer_norm1", ATTN_NORM),
    NAME("text_model.encoder.layers.#.layer_norm2", FFN_NORM),
    NAME("text_model.encoder.layers.#.mlp.fc1", FFN_UP),
    NAME("text_model.encoder.layers.#.mlp.fc2", FFN_DOWN),
    NAME("text_model.encoder.layers.#.self_attn.k_proj", ATTN_K),
    NAME("text_model.encoder.layers.#.self_attn.out_proj", ATTN_OUTPUT),
    NAME("text_model.encoder.layers.#.self_attn.q_proj", ATTN_Q),
    NAME("text_model.encoder.layers.#.self_attn.v_proj", ATTN_V),
    NAME("text_model.final_layer_norm", OUTPUT_NORM),
    NAME_AS("text_projection", OUTPUT_PROJ, MAIN, RULE_TOP),
    NAME_AS("vision_model.embeddings.class_embedding", CLASS_EMBD, VISION, RULE_BARE),
    NAME_AS("vision_model.embeddings.patch_embedding", PATCH_EMBD, VISION, 0),
    NAME_AS("vision_model.embeddings.position_embedding", POSITION_EMBD, VISION, 0),
    NAME_AS("vision_model.encoder.layers.#.layer_norm1", ATTN_NORM, VISION, 0),
    NAME_AS("vision_model.encoder.layers.#.layer_norm2", FFN_NORM, VISION, 0),
    NAME_AS("vision_model.encoder.layers.#.mlp.fc1", FFN_UP, VISION, 0),
    NAME_AS("vision_model.encoder.layers.#.mlp.fc2", FFN_DOWN, VISION, 0),
    NAME_AS("vision_model.encoder.layers.#.self_attn.k_proj", ATTN_K, VISION, 0),
    NAME_AS("vision_model.encoder.layers.#.self_attn.out_proj", ATTN_OUTPUT, VISION, 0),
    NAME_AS("vision_model.encoder.layers.#.self_attn.q_proj", ATTN_Q, VISION, 0),
    NAME_AS("vision_model.encoder.layers.#.self_attn.v_proj", ATTN_V, VISION, 0),
    NAME_AS("vision_model.post_layernorm", OUTPUT_NORM, VISION, 0),
    NAME_AS("vision_model.pre_layrnorm", EMBD_NORM, VISION, 0),
    NAME_AS("visual_projection", OUTPUT_PROJ, VISION, RULE_TOP),
};
const struct tenon_name_set tenon_names_clip = NAME_SET(clip_rows, HF);

static const struct tenon_arch_rules rules = {
    .sets = {&tenon_names_clip, &tenon_names_gguf},
    .marks = {"text_model.embeddings.token_embedding.weight",
              "vision_model.embeddings.class_embedding", "text_projection.weight"},
};

const struct tenon_arch tenon_arch_clip = {
    .name = "clip",
    .title = "CLIP",
    .model_types = "clip metaclip_2",
    .gguf_names = "clip",
    .tie_v4 = TENON_TIE_NO_HEAD,
    .tie_v5 = TENON_TIE_NO_HEAD,
    .gguf_head = TENON_GGUF_HEAD_NONE,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qk_norm = TENON_NORM_LAYER,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_VISION,
    .rules = &rules,
};
