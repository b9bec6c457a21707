/* ModernBERT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("classifier", CLASSIFIER, MAIN, RULE_TOP),
    NAME_AS("decoder", OUTPUT, MAIN, RULE_TOP),
    NAME("embeddings.norm", EMBD_NORM),
    NAME("embeddings.tok_embeddings", TOKEN_EMBD),
    NAME("final_norm", OUTPUT_NORM),
    NAME_AS("head.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
    NAME_AS("head.norm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME("layers.#.attn.Wo", ATTN_OUTPUT),
    NAME("layers.#.attn.Wqkv", ATTN_QKV),
    NAME("layers.#.attn_norm", ATTN_NORM),
    NAME("layers.#.mlp.Wi", FFN_GATE_UP),
    NAME("layers.#.mlp.Wo", FFN_DOWN),
    NAME("layers.#.mlp_norm", FFN_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.ffn_up", FFN_GATE_UP),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&own_names, &gguf_names, &tenon_names_gguf},
    .marks = {"embeddings.tok_embeddings.weight", "layers.0.attn.Wqkv.weight",
              "layers.0.mlp.Wi.weight"},
};

const struct tenon_arch tenon_arch_modernbert = {
    .name = "modernbert",
    .title = "ModernBERT",
    .model_types = "modernbert",
    .gguf_names = "modern-bert",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_NONE,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 160000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .local_theta = 10000,
    .layer_rule = TENON_LAYERS_FIRST_FULL,
    .layer_period = 3,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_FIRST_UNNORMED,
    .rules = &rules,
};
