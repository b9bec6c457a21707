/* RoFormer. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("cls.predictions.bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("cls.predictions.decoder", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.LayerNorm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
    NAME("embeddings_project", EMBD_PROJ),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"roformer."},
    .sets = {&own_names, &tenon_names_bert, &tenon_names_gguf},
    .ties = tenon_ties_bert,
};

const struct tenon_arch tenon_arch_roformer = {
    .name = "roformer",
    .title = "RoFormer",
    .model_types = "roformer",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags =
        TENON_ARCH_FACTORISED | TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
