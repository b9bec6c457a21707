/* Qwen 2 and 2.5 VL. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule qwen2_vl_rows[] = {
    NAME_AS("visual.blocks.#.attn.proj", ATTN_OUTPUT, VISION, 0),
    NAME_AS("visual.blocks.#.attn.qkv", ATTN_QKV, VISION, 0),
    NAME_AS("visual.blocks.#.mlp.down_proj", FFN_DOWN, VISION, 0),
    NAME_AS("visual.blocks.#.mlp.fc1", FFN_UP, VISION, RULE_ALIAS),
    NAME_AS("visual.blocks.#.mlp.fc2", FFN_DOWN, VISION, RULE_ALIAS),
    NAME_AS("visual.blocks.#.mlp.gate_proj", FFN_GATE, VISION, 0),
    NAME_AS("visual.blocks.#.mlp.linear_fc1", FFN_UP, VISION, RULE_ALIAS),
    NAME_AS("visual.blocks.#.mlp.linear_fc2", FFN_DOWN, VISION, RULE_ALIAS),
    NAME_AS("visual.blocks.#.mlp.up_proj", FFN_UP, VISION, 0),
    NAME_AS("visual.blocks.#.norm1", ATTN_NORM, VISION, 0),
    NAME_AS("visual.blocks.#.norm2", FFN_NORM, VISION, 0),
    NAME_AS("visual.patch_embed.proj", PATCH_EMBD, VISION, 0),
    NAME_AS("visual.pos_embed", POSITION_EMBD, VISION, 0),
};
const struct tenon_name_set tenon_names_qwen2_vl = NAME_SET(qwen2_vl_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&tenon_names_qwen2_vl, &tenon_names_llama, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_qwen2_vl = {
    .name = "qwen2_vl",
    .title = "Qwen 2 and 2.5 VL",
    .model_types = "qwen2_vl qwen2_5_vl qwen2_vl_text qwen2_5_vl_text",
    .gguf_names = "qwen2vl",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_SECTIONED,
    .rope_theta = 1000000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_MROPE,
    .rope_axes = TENON_AXES_CHUNKED,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
