/* BERT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule bert_rows[] = {
    NAME_AS("classifier", CLASSIFIER, MAIN, RULE_TOP),
    NAME("embeddings.LayerNorm", EMBD_NORM),
    NAME("embeddings.position_embeddings", POSITION_EMBD),
    NAME("embeddings.token_type_embeddings", TOKEN_TYPE_EMBD),
    NAME("embeddings.word_embeddings", TOKEN_EMBD),
    NAME("encoder.layer.#.attention.output.LayerNorm", ATTN_OUTPUT_NORM),
    NAME("encoder.layer.#.attention.output.dense", ATTN_OUTPUT),
    NAME("encoder.layer.#.attention.self.key", ATTN_K),
    NAME("encoder.layer.#.attention.self.query", ATTN_Q),
    NAME("encoder.layer.#.attention.self.value", ATTN_V),
    NAME("encoder.layer.#.intermediate.dense", FFN_UP),
    NAME("encoder.layer.#.output.LayerNorm", LAYER_OUTPUT_NORM),
    NAME("encoder.layer.#.output.dense", FFN_DOWN),
    NAME("pooler.dense", POOLER),
};
const struct tenon_name_set tenon_names_bert = NAME_SET(bert_rows, HF);

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("cls.predictions.bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("cls.predictions.decoder", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.LayerNorm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

const struct tenon_tie_row tenon_ties_bert[] = {
    TIE_ROW_BERT,
    {{NULL}},
};

static const struct tenon_arch_rules rules = {
    .prefixes = {"bert."},
    .sets = {&own_names, &tenon_names_bert, &tenon_names_gguf},
    .marks = {"bert.embeddings.token_type_embeddings.weight",
              "bert.embeddings.word_embeddings.weight",
              "bert.encoder.layer.0.attention.self.query.weight"},
    .ties = tenon_ties_bert,
};

const struct tenon_arch tenon_arch_bert = {
    .name = "bert",
    .title = "BERT",
    .model_types = "bert",
    .gguf_names = "bert",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_NONE,
    .position = TENON_POSITION_LEARNED,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
