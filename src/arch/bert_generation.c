/* BERT generation. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule bert_generation_rows[] = {
    NAME_AS("lm_head.bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("lm_head.decoder", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("lm_head.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
    NAME_AS("lm_head.layer_norm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
};
const struct tenon_name_set tenon_names_bert_generation = NAME_SET(bert_generation_rows, HF);

const struct tenon_tie_row tenon_ties_bert_generation[] = {
    TIE_ROW_LM_HEAD,
    {{NULL}},
};

static const struct tenon_arch_rules rules = {
    .prefixes = {"bert."},
    .sets = {&tenon_names_bert_generation, &tenon_names_bert, &tenon_names_gguf},
    .ties = tenon_ties_bert_generation,
};

const struct tenon_arch tenon_arch_bert_generation = {
    .name = "bert_generation",
    .title = "BERT generation",
    .model_types = "bert-generation",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
