/* Mamba and Falcon Mamba. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule mamba_rows[] = {
    NAME_AS("embedding", TOKEN_EMBD, MAIN, RULE_ALIAS),
    NAME("embeddings", TOKEN_EMBD),
    NAME_AS("layers.#.mixer.A_log", SSM_A, MAIN, RULE_BARE),
    NAME_AS("layers.#.mixer.D", SSM_D, MAIN, RULE_BARE),
    NAME("layers.#.mixer.conv1d", SSM_CONV1D),
    NAME_AS("layers.#.mixer.dt_bias", SSM_DT, MAIN, RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME("layers.#.mixer.dt_proj", SSM_DT),
    NAME("layers.#.mixer.in_proj", SSM_IN),
    NAME("layers.#.mixer.norm", SSM_NORM),
    NAME("layers.#.mixer.out_proj", SSM_OUT),
    NAME("layers.#.mixer.x_proj", SSM_X),
    NAME("layers.#.norm", ATTN_NORM),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("norm_f", OUTPUT_NORM),
};
const struct tenon_name_set tenon_names_mamba = NAME_SET(mamba_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"backbone."},
    .sets = {&tenon_names_mamba, &tenon_names_gguf},
    .marks = {"layers.0.mixer.A_log", "layers.0.mixer.x_proj.weight",
              "layers.0.mixer.dt_proj.weight", "!layers.0.mixer.dt_bias"},
};

const struct tenon_arch tenon_arch_mamba = {
    .name = "mamba",
    .title = "Mamba and Falcon Mamba",
    .model_types = "mamba falcon_mamba",
    .gguf_names = "mamba",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_NONE,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .rules = &rules,
};
