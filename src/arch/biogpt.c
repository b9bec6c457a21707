/* BioGPT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embed_positions", POSITION_EMBD),
    NAME("embed_tokens", TOKEN_EMBD),
    NAME("final_layer_norm", OUTPUT_NORM),
    NAME_AS("layer_norm", OUTPUT_NORM, MAIN, RULE_ALIAS),
    NAME("layers.#.fc1", FFN_UP),
    NAME("layers.#.fc2", FFN_DOWN),
    NAME("layers.#.final_layer_norm", FFN_NORM),
    NAME("layers.#.self_attn.k_proj", ATTN_K),
    NAME("layers.#.self_attn.out_proj", ATTN_OUTPUT),
    NAME("layers.#.self_attn.q_proj", ATTN_Q),
    NAME("layers.#.self_attn.v_proj", ATTN_V),
    NAME("layers.#.self_attn_layer_norm", ATTN_NORM),
    NAME_AS("output_projection", OUTPUT, MAIN, RULE_TOP),
    NAME("project_in", EMBD_PROJ),
    NAME("project_out", OUTPUT_PROJ),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"biogpt."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"biogpt.embed_tokens.weight", "output_projection.weight"},
};

const struct tenon_arch tenon_arch_biogpt = {
    .name = "biogpt",
    .title = "BioGPT",
    .model_types = "biogpt",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .position_offset = 2,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .embed_scale_default = 1,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags = TENON_ARCH_POSITION_EXTRA,
    .rules = &rules,
};
