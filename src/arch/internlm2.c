/* InternLM 2 and 3. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("layers.#.attention.wo", ATTN_OUTPUT), NAME("layers.#.attention.wqkv", ATTN_QKV),
    NAME("layers.#.attention_norm", ATTN_NORM), NAME("layers.#.feed_forward.w1", FFN_GATE),
    NAME("layers.#.feed_forward.w2", FFN_DOWN), NAME("layers.#.feed_forward.w3", FFN_UP),
    NAME("layers.#.ffn_norm", FFN_NORM),        NAME("norm", OUTPUT_NORM),
    NAME_AS("output", OUTPUT, MAIN, RULE_TOP),  NAME("tok_embeddings", TOKEN_EMBD),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model.", "language_model.model.", "model.language_model.", "language_model."},
    .sets = {&own_names, &tenon_names_gguf},
    .marks = {"tok_embeddings.weight", "layers.0.attention.wqkv.weight",
              "layers.0.feed_forward.w1.weight"},
};

const struct tenon_arch tenon_arch_internlm2 = {
    .name = "internlm2",
    .title = "InternLM 2 and 3",
    .model_types = "internlm2 internlm3",
    .gguf_names = "internlm2",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_REQUIRED,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-05,
    .qkv = TENON_QKV_GROUPS,
    .flags = TENON_ARCH_PERMUTED_QK,
    .rules = &rules,
};
