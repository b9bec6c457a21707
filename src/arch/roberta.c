/* RoBERTa, XLM-RoBERTa, CamemBERT. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"roberta."},
    .sets = {&tenon_names_bert_generation, &tenon_names_bert, &tenon_names_gguf},
    .marks = {"roberta.embeddings.word_embeddings.weight",
              "roberta.embeddings.position_embeddings.weight"},
};

const struct tenon_arch tenon_arch_roberta = {
    .name = "roberta",
    .title = "RoBERTa, XLM-RoBERTa, CamemBERT",
    .model_types = "roberta xlm-roberta xlm-roberta-xl camembert xmod roberta-prelayernorm",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .position_offset = 2,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS,
    .rules = &rules,
};
