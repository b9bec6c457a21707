/* ELECTRA. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embeddings_project", EMBD_PROJ),
    NAME_AS("generator_lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("generator_predictions.LayerNorm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME_AS("generator_predictions.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"electra."},
    .sets = {&own_names, &tenon_names_bert, &tenon_names_gguf},
    .marks = {"electra.embeddings.word_embeddings.weight",
              "electra.embeddings.position_embeddings.weight"},
};

const struct tenon_arch tenon_arch_electra = {
    .name = "electra",
    .title = "ELECTRA",
    .model_types = "electra",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags =
        TENON_ARCH_FACTORISED | TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
