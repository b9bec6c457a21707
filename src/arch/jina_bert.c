/* Jina BERT 2. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("cls.predictions.bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("cls.predictions.decoder", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.LayerNorm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
    NAME("encoder.layer.#.layer_norm_1", ATTN_NORM_2),
    NAME_AS("encoder.layer.#.layer_norm_2", LAYER_OUTPUT_NORM, MAIN, RULE_ALIAS),
    NAME_AS("encoder.layer.#.mlp.down_layer", FFN_DOWN, MAIN, RULE_ALIAS),
    NAME("encoder.layer.#.mlp.gated_layers", FFN_GATE_UP),
    NAME_AS("encoder.layer.#.mlp.up_gated_layer", FFN_GATE_UP, MAIN, RULE_ALIAS),
    NAME_AS("encoder.layer.#.mlp.wo", FFN_DOWN, MAIN, RULE_ALIAS),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"bert."},
    .sets = {&own_names, &tenon_names_bert, &tenon_names_gguf},
    .ties = tenon_ties_bert,
};

const struct tenon_arch tenon_arch_jina_bert = {
    .name = "jina_bert",
    .title = "Jina BERT 2",
    .model_types = "",
    .gguf_names = "jina-bert-v2 jina-bert",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_NONE,
    .position = TENON_POSITION_ALIBI,
    .alibi_bias = 8,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
