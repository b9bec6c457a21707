/* OPT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule opt_rows[] = {
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
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("project_in", EMBD_PROJ),
    NAME("project_out", OUTPUT_PROJ),
};
const struct tenon_name_set tenon_names_opt = NAME_SET(opt_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.decoder.", "decoder."},
    .sets = {&tenon_names_opt, &tenon_names_gguf},
    .marks = {"model.decoder.embed_tokens.weight", "model.decoder.embed_positions.weight",
              "model.decoder.layers.0.fc1.weight", "!model.encoder.layers.0.fc1.weight",
              "!model.decoder.layers.0.encoder_attn.q_proj.weight"},
};

const struct tenon_arch tenon_arch_opt = {
    .name = "opt",
    .title = "OPT",
    .model_types = "opt",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .position_offset = 2,
    .embd_proj = TENON_PROJ_BEFORE_POSITION,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_FACTORISED | TENON_ARCH_POSITION_EXTRA,
    .rules = &rules,
};
