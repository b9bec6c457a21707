/* XLM and FlauBERT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("attentions.#.k_lin", ATTN_K),
    NAME("attentions.#.out_lin", ATTN_OUTPUT),
    NAME("attentions.#.q_lin", ATTN_Q),
    NAME("attentions.#.v_lin", ATTN_V),
    NAME("embeddings", TOKEN_EMBD),
    NAME("ffns.#.lin1", FFN_UP),
    NAME("ffns.#.lin2", FFN_DOWN),
    NAME("lang_embeddings", TOKEN_TYPE_EMBD),
    NAME("layer_norm1.#", ATTN_OUTPUT_NORM),
    NAME("layer_norm2.#", LAYER_OUTPUT_NORM),
    NAME("layer_norm_emb", EMBD_NORM),
    NAME("position_embeddings", POSITION_EMBD),
    NAME_AS("pred_layer.proj", OUTPUT, MAIN, RULE_TOP),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"embeddings.weight", "attentions.0.q_lin.weight", "ffns.0.lin1.weight"},
};

const struct tenon_arch tenon_arch_xlm = {
    .name = "xlm",
    .title = "XLM and FlauBERT",
    .model_types = "xlm flaubert",
    .gguf_names = "",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_UNKNOWN,
    .position = TENON_POSITION_LEARNED,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags =
        TENON_ARCH_HEAD_BIAS | TENON_ARCH_ENCODER | TENON_ARCH_TYPES_LAST | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
