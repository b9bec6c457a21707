/* DistilBERT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("classifier", CLASSIFIER, MAIN, RULE_TOP),
    NAME("embeddings.LayerNorm", EMBD_NORM),
    NAME("embeddings.position_embeddings", POSITION_EMBD),
    NAME("embeddings.word_embeddings", TOKEN_EMBD),
    NAME_AS("pre_classifier", POOLER, MAIN, RULE_TOP),
    NAME("transformer.layer.#.attention.k_lin", ATTN_K),
    NAME("transformer.layer.#.attention.out_lin", ATTN_OUTPUT),
    NAME("transformer.layer.#.attention.q_lin", ATTN_Q),
    NAME("transformer.layer.#.attention.v_lin", ATTN_V),
    NAME("transformer.layer.#.ffn.lin1", FFN_UP),
    NAME("transformer.layer.#.ffn.lin2", FFN_DOWN),
    NAME("transformer.layer.#.output_layer_norm", LAYER_OUTPUT_NORM),
    NAME("transformer.layer.#.sa_layer_norm", ATTN_OUTPUT_NORM),
    NAME_AS("vocab_layer_norm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME_AS("vocab_projector", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("vocab_transform", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"distilbert."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"distilbert.embeddings.word_embeddings.weight",
              "distilbert.transformer.layer.0.attention.q_lin.weight"},
};

const struct tenon_arch tenon_arch_distilbert = {
    .name = "distilbert",
    .title = "DistilBERT",
    .model_types = "distilbert",
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
