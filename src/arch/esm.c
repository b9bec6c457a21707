/* ESM. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("embeddings.layer_norm", EMBD_NORM, MAIN, RULE_ALIAS),
    NAME("encoder.emb_layer_norm_after", OUTPUT_NORM),
    NAME("encoder.layer.#.LayerNorm", FFN_NORM),
    NAME("encoder.layer.#.attention.LayerNorm", ATTN_NORM),
    NAME_AS("lm_head.bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("lm_head.decoder", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("lm_head.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
    NAME_AS("lm_head.layer_norm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"esm."},
    .sets = {&own_names, &tenon_names_bert, &tenon_names_gguf},
    .marks = {"esm.embeddings.word_embeddings.weight",
              "esm.encoder.layer.0.attention.self.query.weight"},
};

const struct tenon_arch tenon_arch_esm = {
    .name = "esm",
    .title = "ESM",
    .model_types = "esm",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags = TENON_ARCH_POSITION_PAD | TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS |
             TENON_ARCH_EMBD_NORM_MAY,
    .rules = &rules,
};
