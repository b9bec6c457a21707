/* DeBERTa. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("cls.predictions.bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("cls.predictions.decoder", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.LayerNorm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
    NAME("embeddings.embed_proj", EMBD_PROJ),
    NAME("encoder.LayerNorm", OUTPUT_NORM),
    NAME("encoder.layer.#.attention.self.in_proj", ATTN_QKV),
    NAME_AS("encoder.layer.#.attention.self.key_proj", ATTN_K, MAIN, RULE_ALIAS),
    NAME_AS("encoder.layer.#.attention.self.query_proj", ATTN_Q, MAIN, RULE_ALIAS),
    NAME_AS("encoder.layer.#.attention.self.value_proj", ATTN_V, MAIN, RULE_ALIAS),
    NAME("encoder.rel_embeddings", REL_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"deberta."},
    .sets = {&own_names, &tenon_names_bert, &tenon_names_gguf},
    .marks = {"deberta.embeddings.word_embeddings.weight", "deberta.encoder.rel_embeddings.weight"},
    .ties = tenon_ties_bert,
};

const struct tenon_arch tenon_arch_deberta = {
    .name = "deberta",
    .title = "DeBERTa",
    .model_types = "deberta deberta-v2",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_RELATIVE,
    .embd_norm = TENON_NORM_LAYER,
    .embd_proj = TENON_PROJ_BEFORE_NORM,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-07,
    .flags =
        TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_TYPES_LAST | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
