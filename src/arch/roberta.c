/* RoBERTa, XLM-RoBERTa, CamemBERT. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"roberta."},
    .sets = {&tenon_names_bert_generation, &tenon_names_bert, &tenon_names_gguf},
    .marks = {"roberta.embeddings.word_embeddings.weight",
              "roberta.embeddings.position_embeddings.weight"},
    .ties = tenon_ties_bert_generation,
};

static const struct tenon_arch_variant variants[] = {
    {.words = "roberta-prelayernorm", .flags_off = TENON_ARCH_POST_NORM},
    {.words = "xlm-roberta-xl",
     .norm_eps = 1e-05,
     .flags_on = TENON_ARCH_EMBD_NORM_MAY,
     .flags_off = TENON_ARCH_POST_NORM},
    {.words = NULL},
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
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags =
        TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_POSITION_PAD | TENON_ARCH_POST_NORM,
    .variants = variants,
    .rules = &rules,
};
