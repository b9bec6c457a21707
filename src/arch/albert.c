/* ALBERT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embeddings.LayerNorm", EMBD_NORM),
    NAME("embeddings.position_embeddings", POSITION_EMBD),
    NAME("embeddings.token_type_embeddings", TOKEN_TYPE_EMBD),
    NAME("embeddings.word_embeddings", TOKEN_EMBD),
    NAME("encoder.albert_layer_groups.#.albert_layers.@.attention.LayerNorm", ATTN_OUTPUT_NORM),
    NAME("encoder.albert_layer_groups.#.albert_layers.@.attention.dense", ATTN_OUTPUT),
    NAME("encoder.albert_layer_groups.#.albert_layers.@.attention.key", ATTN_K),
    NAME("encoder.albert_layer_groups.#.albert_layers.@.attention.query", ATTN_Q),
    NAME("encoder.albert_layer_groups.#.albert_layers.@.attention.value", ATTN_V),
    NAME("encoder.albert_layer_groups.#.albert_layers.@.ffn", FFN_UP),
    NAME("encoder.albert_layer_groups.#.albert_layers.@.ffn_output", FFN_DOWN),
    NAME("encoder.albert_layer_groups.#.albert_layers.@.full_layer_layer_norm", LAYER_OUTPUT_NORM),
    NAME("encoder.embedding_hidden_mapping_in", EMBD_PROJ),
    NAME("pooler", POOLER),
    NAME_AS("predictions.LayerNorm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME_AS("predictions.bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("predictions.decoder", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("predictions.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_tie_row ties[] = {
    {{"predictions.bias", "predictions.decoder.bias"}},
    {{NULL}},
};

static const struct tenon_arch_rules rules = {
    .prefixes = {"albert."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"albert.embeddings.word_embeddings.weight",
              "albert.encoder.embedding_hidden_mapping_in.weight"},
    .ties = ties,
};

const struct tenon_arch tenon_arch_albert = {
    .name = "albert",
    .title = "ALBERT",
    .model_types = "albert",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .layer_groups = "num_hidden_groups",
    .flags =
        TENON_ARCH_FACTORISED | TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
