/* NeoBERT. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME_AS("decoder", OUTPUT, MAIN, RULE_TOP),
    NAME("encoder", TOKEN_EMBD),
    NAME("layer_norm", OUTPUT_NORM),
    NAME("transformer_encoder.#.attention_norm", ATTN_NORM),
    NAME("transformer_encoder.#.ffn.w12", FFN_GATE_UP),
    NAME("transformer_encoder.#.ffn.w3", FFN_DOWN),
    NAME("transformer_encoder.#.ffn_norm", FFN_NORM),
    NAME("transformer_encoder.#.qkv", ATTN_QKV),
    NAME("transformer_encoder.#.wo", ATTN_OUTPUT),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.ffn_up", FFN_GATE_UP),
    NAME("enc.output_norm", OUTPUT_NORM),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&own_names, &gguf_names, &tenon_names_gguf},
    .marks = {"encoder.weight", "transformer_encoder.0.qkv.weight",
              "transformer_encoder.0.ffn.w12.weight"},
};

const struct tenon_arch tenon_arch_neobert = {
    .name = "neobert",
    .title = "NeoBERT",
    .model_types = "neobert",
    .gguf_names = "neo-bert",
    .tie_v4 = TENON_TIE_NO,
    .tie_v5 = TENON_TIE_NO,
    .gguf_head = TENON_GGUF_HEAD_NONE,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_INTERLEAVED,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NORM,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_ENCODER | TENON_ARCH_HEAD_BIAS,
    .rules = &rules,
};
