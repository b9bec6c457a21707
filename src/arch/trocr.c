/* TrOCR decoder. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP | RULE_ALIAS),
    NAME_AS("output_projection", OUTPUT, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "decoder.model."},
    .sets = {&own_names, &tenon_names_bart, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_trocr = {
    .name = "trocr",
    .title = "TrOCR decoder",
    .model_types = "trocr",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .position_offset = 2,
    .embed_scale = TENON_SCALE_IF_CONFIG,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_POSITION_EXTRA | TENON_ARCH_EMBD_NORM_MAY | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
