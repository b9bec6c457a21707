/* LLaVA. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule llava_rows[] = {
    NAME_AS("vision_tower.vision_model.embeddings.class_embedding", CLASS_EMBD, VISION, RULE_BARE),
    NAME_AS("vision_tower.vision_model.embeddings.patch_embedding", PATCH_EMBD, VISION, 0),
    NAME_AS("vision_tower.vision_model.embeddings.position_embedding", POSITION_EMBD, VISION, 0),
    NAME_AS("vision_tower.vision_model.encoder.layers.#.layer_norm1", ATTN_NORM, VISION, 0),
    NAME_AS("vision_tower.vision_model.encoder.layers.#.layer_norm2", FFN_NORM, VISION, 0),
    NAME_AS("vision_tower.vision_model.encoder.layers.#.mlp.fc1", FFN_UP, VISION, 0),
    NAME_AS("vision_tower.vision_model.encoder.layers.#.mlp.fc2", FFN_DOWN, VISION, 0),
    NAME_AS("vision_tower.vision_model.encoder.layers.#.self_attn.k_proj", ATTN_K, VISION, 0),
    NAME_AS("vision_tower.vision_model.encoder.layers.#.self_attn.out_proj", ATTN_OUTPUT, VISION,
            0),
    NAME_AS("vision_tower.vision_model.encoder.layers.#.self_attn.q_proj", ATTN_Q, VISION, 0),
    NAME_AS("vision_tower.vision_model.encoder.layers.#.self_attn.v_proj", ATTN_V, VISION, 0),
    NAME_AS("vision_tower.vision_model.post_layernorm", OUTPUT_NORM, VISION, 0),
    NAME_AS("vision_tower.vision_model.pre_layrnorm", EMBD_NORM, VISION, 0),
};
const struct tenon_name_set tenon_names_llava = NAME_SET(llava_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"language_model.model.", "model.language_model.", "language_model.", "model."},
    .sets = {&tenon_names_llava, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_llava = {
    .name = "llava",
    .title = "LLaVA",
    .model_types = "llava llava_next vipllava llava_onevision llava_next_video",
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
