/* MPNet. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embeddings.LayerNorm", EMBD_NORM),
    NAME("embeddings.position_embeddings", POSITION_EMBD),
    NAME("embeddings.word_embeddings", TOKEN_EMBD),
    NAME("encoder.layer.#.attention.LayerNorm", ATTN_OUTPUT_NORM),
    NAME("encoder.layer.#.attention.attn.k", ATTN_K),
    NAME("encoder.layer.#.attention.attn.o", ATTN_OUTPUT),
    NAME("encoder.layer.#.attention.attn.q", ATTN_Q),
    NAME("encoder.layer.#.attention.attn.v", ATTN_V),
    NAME("encoder.layer.#.intermediate.dense", FFN_UP),
    NAME("encoder.layer.#.output.LayerNorm", LAYER_OUTPUT_NORM),
    NAME("encoder.layer.#.output.dense", FFN_DOWN),
    NAME("encoder.relative_attention_bias", REL_EMBD),
    NAME_AS("lm_head.bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("lm_head.decoder", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("lm_head.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
    NAME_AS("lm_head.layer_norm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME("pooler.dense", POOLER),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"mpnet."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"mpnet.embeddings.word_embeddings.weight",
              "mpnet.encoder.relative_attention_bias.weight"},
    .ties = tenon_ties_bert_generation,
};

const struct tenon_arch tenon_arch_mpnet = {
    .name = "mpnet",
    .title = "MPNet",
    .model_types = "mpnet",
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
    .rules = &rules,
};
