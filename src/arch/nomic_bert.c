/* Nomic BERT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("cls.predictions.bias", OUTPUT, MAIN, RULE_TOP | RULE_BARE | RULE_BIAS | RULE_ALIAS),
    NAME_AS("cls.predictions.decoder", OUTPUT, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.LayerNorm", OUTPUT_TRANSFORM_NORM, MAIN, RULE_TOP),
    NAME_AS("cls.predictions.transform.dense", OUTPUT_TRANSFORM, MAIN, RULE_TOP),
    NAME("emb_ln", EMBD_NORM),
    NAME("embeddings.position_embeddings", POSITION_EMBD),
    NAME("embeddings.token_type_embeddings", TOKEN_TYPE_EMBD),
    NAME("embeddings.word_embeddings", TOKEN_EMBD),
    NAME("encoder.layers.#.attn.Wqkv", ATTN_QKV),
    NAME("encoder.layers.#.attn.out_proj", ATTN_OUTPUT),
    NAME_AS("encoder.layers.#.mixer.Wqkv", ATTN_QKV, MAIN, RULE_ALIAS),
    NAME_AS("encoder.layers.#.mixer.out_proj", ATTN_OUTPUT, MAIN, RULE_ALIAS),
    NAME_AS("encoder.layers.#.mlp.fc1", FFN_UP, MAIN, RULE_ALIAS),
    NAME("encoder.layers.#.mlp.fc11", FFN_UP),
    NAME("encoder.layers.#.mlp.fc12", FFN_GATE),
    NAME("encoder.layers.#.mlp.fc2", FFN_DOWN),
    NAME("encoder.layers.#.mlp.router.layer", FFN_GATE_INP),
    NAME("encoder.layers.#.norm1", ATTN_OUTPUT_NORM),
    NAME("encoder.layers.#.norm2", LAYER_OUTPUT_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"nomic_bert."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"embeddings.word_embeddings.weight", "emb_ln.weight",
              "encoder.layers.0.mlp.fc11.weight"},
    .ties = tenon_ties_bert,
};

const struct tenon_arch tenon_arch_nomic_bert = {
    .name = "nomic_bert",
    .title = "Nomic BERT",
    .model_types = "nomic_bert",
    .gguf_names = "nomic-bert nomic-bert-moe",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_NONE,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 1000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-12,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
