/* Jina Embeddings 3: XLM-RoBERTa with rotary positions. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("emb_ln", EMBD_NORM),
    NAME("embeddings.token_type_embeddings", TOKEN_TYPE_EMBD),
    NAME("embeddings.word_embeddings", TOKEN_EMBD),
    NAME("encoder.layers.#.mixer.Wqkv", ATTN_QKV),
    NAME("encoder.layers.#.mixer.out_proj", ATTN_OUTPUT),
    NAME("encoder.layers.#.mlp.fc1", FFN_UP),
    NAME("encoder.layers.#.mlp.fc2", FFN_DOWN),
    NAME("encoder.layers.#.norm1", ATTN_OUTPUT_NORM),
    NAME("encoder.layers.#.norm2", LAYER_OUTPUT_NORM),
    NAME("pooler.dense", POOLER),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"roberta."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"embeddings.word_embeddings.weight", "emb_ln.weight",
              "encoder.layers.0.mixer.Wqkv.weight"},
    .ties = tenon_ties_bert_generation,
};

const struct tenon_arch tenon_arch_jina_bert_v3 = {
    .name = "jina_bert_v3",
    .title = "Jina Embeddings 3",
    .model_types = "jina_embeddings_v3",
    .gguf_names = "jina-bert-v3",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_NONE,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 20000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .embd_norm = TENON_NORM_LAYER,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS | TENON_ARCH_POST_NORM,
    .rules = &rules,
};
