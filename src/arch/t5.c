/* T5, Flan-T5, ByT5. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule t5_rows[] = {
    NAME_AS("decoder.block.#.layer.0.SelfAttention.k", ATTN_K, DECODER, 0),
    NAME_AS("decoder.block.#.layer.0.SelfAttention.o", ATTN_OUTPUT, DECODER, 0),
    NAME_AS("decoder.block.#.layer.0.SelfAttention.q", ATTN_Q, DECODER, 0),
    NAME_AS("decoder.block.#.layer.0.SelfAttention.relative_attention_bias", ATTN_REL_B, DECODER,
            0),
    NAME_AS("decoder.block.#.layer.0.SelfAttention.v", ATTN_V, DECODER, 0),
    NAME_AS("decoder.block.#.layer.0.layer_norm", ATTN_NORM, DECODER, 0),
    NAME_AS("decoder.block.#.layer.1.EncDecAttention.k", CROSS_ATTN_K, DECODER, 0),
    NAME_AS("decoder.block.#.layer.1.EncDecAttention.o", CROSS_ATTN_OUTPUT, DECODER, 0),
    NAME_AS("decoder.block.#.layer.1.EncDecAttention.q", CROSS_ATTN_Q, DECODER, 0),
    NAME_AS("decoder.block.#.layer.1.EncDecAttention.v", CROSS_ATTN_V, DECODER, 0),
    NAME_AS("decoder.block.#.layer.1.layer_norm", CROSS_ATTN_NORM, DECODER, 0),
    NAME_AS("decoder.block.#.layer.2.DenseReluDense.wi", FFN_UP, DECODER, RULE_ALIAS),
    NAME_AS("decoder.block.#.layer.2.DenseReluDense.wi_0", FFN_GATE, DECODER, 0),
    NAME_AS("decoder.block.#.layer.2.DenseReluDense.wi_1", FFN_UP, DECODER, 0),
    NAME_AS("decoder.block.#.layer.2.DenseReluDense.wo", FFN_DOWN, DECODER, 0),
    NAME_AS("decoder.block.#.layer.2.layer_norm", FFN_NORM, DECODER, 0),
    NAME_AS("decoder.embed_tokens", TOKEN_EMBD, DECODER, 0),
    NAME_AS("decoder.final_layer_norm", OUTPUT_NORM, DECODER, 0),
    NAME_AS("encoder.block.#.layer.0.SelfAttention.k", ATTN_K, ENCODER, 0),
    NAME_AS("encoder.block.#.layer.0.SelfAttention.o", ATTN_OUTPUT, ENCODER, 0),
    NAME_AS("encoder.block.#.layer.0.SelfAttention.q", ATTN_Q, ENCODER, 0),
    NAME_AS("encoder.block.#.layer.0.SelfAttention.relative_attention_bias", ATTN_REL_B, ENCODER,
            0),
    NAME_AS("encoder.block.#.layer.0.SelfAttention.v", ATTN_V, ENCODER, 0),
    NAME_AS("encoder.block.#.layer.0.layer_norm", ATTN_NORM, ENCODER, 0),
    NAME_AS("encoder.block.#.layer.1.DenseReluDense.wi", FFN_UP, ENCODER, RULE_ALIAS),
    NAME_AS("encoder.block.#.layer.1.DenseReluDense.wi_0", FFN_GATE, ENCODER, 0),
    NAME_AS("encoder.block.#.layer.1.DenseReluDense.wi_1", FFN_UP, ENCODER, 0),
    NAME_AS("encoder.block.#.layer.1.DenseReluDense.wo", FFN_DOWN, ENCODER, 0),
    NAME_AS("encoder.block.#.layer.1.layer_norm", FFN_NORM, ENCODER, 0),
    NAME_AS("encoder.embed_tokens", TOKEN_EMBD, ENCODER, 0),
    NAME_AS("encoder.final_layer_norm", OUTPUT_NORM, ENCODER, 0),
    NAME("lm_head", OUTPUT),
    NAME("shared", TOKEN_EMBD),
};
const struct tenon_name_set tenon_names_t5 = NAME_SET(t5_rows, HF);

static const struct tenon_arch_rules rules = {
    .sets = {&tenon_names_t5, &tenon_names_gguf},
    .marks = {"encoder.block.0.layer.0.SelfAttention.q.weight",
              "decoder.block.0.layer.1.EncDecAttention.q.weight",
              "decoder.block.0.layer.2.DenseReluDense.wo.weight",
              "!encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight"},
};

const struct tenon_arch tenon_arch_t5 = {
    .name = "t5",
    .title = "T5, Flan-T5, ByT5",
    .model_types = "t5",
    .gguf_names = "t5 t5encoder",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_ALWAYS,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_RELATIVE,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .flags = TENON_ARCH_FLAG_NOT_TYING | TENON_ARCH_SHARED_EMBED | TENON_ARCH_ENCODER_DECODER,
    .rules = &rules,
};
