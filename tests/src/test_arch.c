/* Tensor names and what they mean. The lists of names are those of released checkpoints of each
 * kind (one layer of each), beside the GGUF names that llama.cpp's converter gives them. */
#include "tenon/arch.h"

#include <stdio.h>
#include <string.h>

#include "arch/arch_rules.h"
#include "check_error.h"
#include "tiny_model.h"

/* One tensor in both dialects. */
struct pair {
    const char *hf, *gguf;
};

static const struct tenon_arch *arch_of(const char *name)
{
    const struct tenon_arch *arch = tenon_arch_find(name, strlen(name));

    ck_assert_msg(arch != NULL, "no family '%s'", name);
    return arch;
}

static struct tenon_name_match match(const char *arch, const char *name)
{
    return tenon_arch_match(arch != NULL ? arch_of(arch) : NULL, name, strlen(name));
}

/* Reads `from`, writes it in the dialect `to`, and wants `wanted`. */
static void check_way(const char *arch, const char *from, enum tenon_dialect to, const char *wanted)
{
    struct tenon_name_match m = match(arch, from);
    char name[128] = "";

    ck_assert_msg(m.role != TENON_ROLE_NONE, "%s: '%s' has no role", arch, from);
    m.dialect = to;
    ck_assert_msg(tenon_arch_tensor_name(arch_of(arch), &m, name, sizeof(name)),
                  "%s: '%s' has no name in %s", arch, from, tenon_dialect_name(to));
    ck_assert_str_eq(name, wanted);
}

static void check_pairs(const char *arch, const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check_way(arch, pairs[i].hf, TENON_DIALECT_GGUF, pairs[i].gguf);
        check_way(arch, pairs[i].gguf, TENON_DIALECT_HF, pairs[i].hf);
        check_way(arch, pairs[i].hf, TENON_DIALECT_HF, pairs[i].hf);
    }
}

#define CHECK_PAIRS(arch, pairs) check_pairs(arch, pairs, sizeof(pairs) / sizeof((pairs)[0]))

static const struct pair llama_pairs[] = {
    {"model.embed_tokens.weight", "token_embd.weight"},
    {"model.layers.11.input_layernorm.weight", "blk.11.attn_norm.weight"},
    {"model.layers.11.self_attn.q_proj.weight", "blk.11.attn_q.weight"},
    {"model.layers.11.self_attn.k_proj.weight", "blk.11.attn_k.weight"},
    {"model.layers.11.self_attn.v_proj.weight", "blk.11.attn_v.weight"},
    {"model.layers.11.self_attn.o_proj.weight", "blk.11.attn_output.weight"},
    {"model.layers.11.post_attention_layernorm.weight", "blk.11.ffn_norm.weight"},
    {"model.layers.11.mlp.gate_proj.weight", "blk.11.ffn_gate.weight"},
    {"model.layers.11.mlp.up_proj.weight", "blk.11.ffn_up.weight"},
    {"model.layers.11.mlp.down_proj.weight", "blk.11.ffn_down.weight"},
    {"model.norm.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
};

START_TEST(llama_names_map_both_ways)
{
    CHECK_PAIRS("llama", llama_pairs);
    CHECK_PAIRS("mistral", llama_pairs);
}
END_TEST

START_TEST(llama_names_of_the_original_release_map_both_ways)
{
    static const struct pair pairs[] = {
        {"tok_embeddings.weight", "token_embd.weight"},
        {"layers.3.attention_norm.weight", "blk.3.attn_norm.weight"},
        {"layers.3.attention.wq.weight", "blk.3.attn_q.weight"},
        {"layers.3.attention.wk.weight", "blk.3.attn_k.weight"},
        {"layers.3.attention.wv.weight", "blk.3.attn_v.weight"},
        {"layers.3.attention.wo.weight", "blk.3.attn_output.weight"},
        {"layers.3.ffn_norm.weight", "blk.3.ffn_norm.weight"},
        {"layers.3.feed_forward.w1.weight", "blk.3.ffn_gate.weight"},
        {"layers.3.feed_forward.w2.weight", "blk.3.ffn_down.weight"},
        {"layers.3.feed_forward.w3.weight", "blk.3.ffn_up.weight"},
        {"norm.weight", "output_norm.weight"},
        {"output.weight", "output.weight"},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        check_way("llama", pairs[i].hf, TENON_DIALECT_GGUF, pairs[i].gguf);
        check_way("llama", pairs[i].gguf, TENON_DIALECT_META, pairs[i].hf);
    }
}
END_TEST

START_TEST(qwen_names_map_both_ways)
{
    static const struct pair qwen2[] = {
        {"model.layers.0.self_attn.q_proj.bias", "blk.0.attn_q.bias"},
        {"model.layers.0.self_attn.k_proj.bias", "blk.0.attn_k.bias"},
        {"model.layers.0.self_attn.v_proj.bias", "blk.0.attn_v.bias"},
    };
    static const struct pair qwen3[] = {
        {"model.layers.27.self_attn.q_norm.weight", "blk.27.attn_q_norm.weight"},
        {"model.layers.27.self_attn.k_norm.weight", "blk.27.attn_k_norm.weight"},
    };

    CHECK_PAIRS("qwen2", llama_pairs);
    CHECK_PAIRS("qwen2", qwen2);
    CHECK_PAIRS("qwen3", llama_pairs);
    CHECK_PAIRS("qwen3", qwen3);
}
END_TEST

START_TEST(gemma_names_map_both_ways)
{
    static const struct pair pairs[] = {
        {"model.embed_tokens.weight", "token_embd.weight"},
        {"model.layers.5.input_layernorm.weight", "blk.5.attn_norm.weight"},
        {"model.layers.5.self_attn.q_proj.weight", "blk.5.attn_q.weight"},
        {"model.layers.5.self_attn.q_norm.weight", "blk.5.attn_q_norm.weight"},
        {"model.layers.5.self_attn.k_norm.weight", "blk.5.attn_k_norm.weight"},
        {"model.layers.5.post_attention_layernorm.weight", "blk.5.post_attention_norm.weight"},
        {"model.layers.5.pre_feedforward_layernorm.weight", "blk.5.ffn_norm.weight"},
        {"model.layers.5.post_feedforward_layernorm.weight", "blk.5.post_ffw_norm.weight"},
        {"model.layers.5.mlp.gate_proj.weight", "blk.5.ffn_gate.weight"},
        {"model.norm.weight", "output_norm.weight"},
    };

    CHECK_PAIRS("gemma", llama_pairs);
    CHECK_PAIRS("gemma2", pairs);
    CHECK_PAIRS("gemma3", pairs);
}
END_TEST

START_TEST(gpt2_names_map_both_ways)
{
    static const struct pair pairs[] = {
        {"transformer.wte.weight", "token_embd.weight"},
        {"transformer.wpe.weight", "position_embd.weight"},
        {"transformer.h.0.ln_1.weight", "blk.0.attn_norm.weight"},
        {"transformer.h.0.ln_1.bias", "blk.0.attn_norm.bias"},
        {"transformer.h.0.attn.c_attn.weight", "blk.0.attn_qkv.weight"},
        {"transformer.h.0.attn.c_attn.bias", "blk.0.attn_qkv.bias"},
        {"transformer.h.0.attn.c_proj.weight", "blk.0.attn_output.weight"},
        {"transformer.h.0.ln_2.weight", "blk.0.ffn_norm.weight"},
        {"transformer.h.0.mlp.c_fc.weight", "blk.0.ffn_up.weight"},
        {"transformer.h.0.mlp.c_proj.bias", "blk.0.ffn_down.bias"},
        {"transformer.ln_f.weight", "output_norm.weight"},
        {"transformer.ln_f.bias", "output_norm.bias"},
        {"lm_head.weight", "output.weight"},
    };

    CHECK_PAIRS("gpt2", pairs);
    CHECK_PAIRS("gpt_bigcode", pairs);
    /* The mask that old files carry is no bias. */
    ck_assert_int_eq(match("gpt2", "h.0.attn.bias").role, TENON_ROLE_ATTN_MASK);
    ck_assert(!match("gpt2", "h.0.attn.bias").bias);
}
END_TEST

START_TEST(bert_names_map_both_ways)
{
    static const struct pair pairs[] = {
        {"bert.embeddings.word_embeddings.weight", "token_embd.weight"},
        {"bert.embeddings.position_embeddings.weight", "position_embd.weight"},
        {"bert.embeddings.token_type_embeddings.weight", "token_types.weight"},
        {"bert.embeddings.LayerNorm.weight", "token_embd_norm.weight"},
        {"bert.embeddings.LayerNorm.bias", "token_embd_norm.bias"},
        {"bert.encoder.layer.2.attention.self.query.weight", "blk.2.attn_q.weight"},
        {"bert.encoder.layer.2.attention.self.key.bias", "blk.2.attn_k.bias"},
        {"bert.encoder.layer.2.attention.self.value.weight", "blk.2.attn_v.weight"},
        {"bert.encoder.layer.2.attention.output.dense.weight", "blk.2.attn_output.weight"},
        {"bert.encoder.layer.2.attention.output.LayerNorm.weight", "blk.2.attn_output_norm.weight"},
        {"bert.encoder.layer.2.intermediate.dense.weight", "blk.2.ffn_up.weight"},
        {"bert.encoder.layer.2.output.dense.weight", "blk.2.ffn_down.weight"},
        {"bert.encoder.layer.2.output.LayerNorm.bias", "blk.2.layer_output_norm.bias"},
    };

    CHECK_PAIRS("bert", pairs);
}
END_TEST

START_TEST(bert_heads_and_old_norm_names_are_known)
{
    struct tenon_name_match m = match("bert", "cls.predictions.decoder.bias");

    ck_assert_int_eq(m.role, TENON_ROLE_OUTPUT);
    ck_assert(m.bias);
    m = match("bert", "cls.predictions.bias");
    ck_assert_int_eq(m.role, TENON_ROLE_OUTPUT);
    ck_assert(m.bias);
    m = match("bert", "bert.embeddings.LayerNorm.gamma");
    ck_assert_int_eq(m.role, TENON_ROLE_EMBD_NORM);
    ck_assert(!m.bias);
    ck_assert(match("bert", "bert.embeddings.LayerNorm.beta").bias);
    m = match("roberta", "lm_head.bias");
    ck_assert_int_eq(m.role, TENON_ROLE_OUTPUT);
    ck_assert(m.bias);
    ck_assert_int_eq(match("roberta", "lm_head.decoder.weight").role, TENON_ROLE_OUTPUT);
    ck_assert_int_eq(match("bert", "bert.embeddings.position_ids").role, TENON_ROLE_NONE);
}
END_TEST

START_TEST(phi_names_map_both_ways)
{
    static const struct pair pairs[] = {
        {"model.embed_tokens.weight", "token_embd.weight"},
        {"model.layers.1.input_layernorm.bias", "blk.1.attn_norm.bias"},
        {"model.layers.1.self_attn.q_proj.weight", "blk.1.attn_q.weight"},
        {"model.layers.1.self_attn.k_proj.bias", "blk.1.attn_k.bias"},
        {"model.layers.1.self_attn.v_proj.weight", "blk.1.attn_v.weight"},
        {"model.layers.1.self_attn.dense.weight", "blk.1.attn_output.weight"},
        {"model.layers.1.mlp.fc1.weight", "blk.1.ffn_up.weight"},
        {"model.layers.1.mlp.fc2.bias", "blk.1.ffn_down.bias"},
        {"model.final_layernorm.weight", "output_norm.weight"},
        {"lm_head.weight", "output.weight"},
        {"lm_head.bias", "output.bias"},
    };
    static const struct pair phi3[] = {
        {"model.layers.1.self_attn.qkv_proj.weight", "blk.1.attn_qkv.weight"},
        {"model.layers.1.self_attn.o_proj.weight", "blk.1.attn_output.weight"},
        {"model.layers.1.mlp.gate_up_proj.weight", "blk.1.ffn_up.weight"},
        {"model.layers.1.mlp.down_proj.weight", "blk.1.ffn_down.weight"},
    };

    CHECK_PAIRS("phi", pairs);
    CHECK_PAIRS("phi3", phi3);
}
END_TEST

START_TEST(neox_names_map_both_ways)
{
    static const struct pair pairs[] = {
        {"gpt_neox.embed_in.weight", "token_embd.weight"},
        {"gpt_neox.layers.4.input_layernorm.weight", "blk.4.attn_norm.weight"},
        {"gpt_neox.layers.4.attention.query_key_value.weight", "blk.4.attn_qkv.weight"},
        {"gpt_neox.layers.4.attention.query_key_value.bias", "blk.4.attn_qkv.bias"},
        {"gpt_neox.layers.4.attention.dense.weight", "blk.4.attn_output.weight"},
        {"gpt_neox.layers.4.post_attention_layernorm.bias", "blk.4.ffn_norm.bias"},
        {"gpt_neox.layers.4.mlp.dense_h_to_4h.weight", "blk.4.ffn_up.weight"},
        {"gpt_neox.layers.4.mlp.dense_4h_to_h.weight", "blk.4.ffn_down.weight"},
        {"gpt_neox.final_layer_norm.weight", "output_norm.weight"},
        {"embed_out.weight", "output.weight"},
    };

    CHECK_PAIRS("gpt_neox", pairs);
}
END_TEST

START_TEST(t5_names_map_both_ways)
{
    static const struct pair pairs[] = {
        {"shared.weight", "token_embd.weight"},
        {"encoder.block.0.layer.0.SelfAttention.q.weight", "enc.blk.0.attn_q.weight"},
        {"encoder.block.0.layer.0.SelfAttention.k.weight", "enc.blk.0.attn_k.weight"},
        {"encoder.block.0.layer.0.SelfAttention.v.weight", "enc.blk.0.attn_v.weight"},
        {"encoder.block.0.layer.0.SelfAttention.o.weight", "enc.blk.0.attn_o.weight"},
        {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
         "enc.blk.0.attn_rel_b.weight"},
        {"encoder.block.9.layer.0.layer_norm.weight", "enc.blk.9.attn_norm.weight"},
        {"encoder.block.9.layer.1.DenseReluDense.wi_0.weight", "enc.blk.9.ffn_gate.weight"},
        {"encoder.block.9.layer.1.DenseReluDense.wi_1.weight", "enc.blk.9.ffn_up.weight"},
        {"encoder.block.9.layer.1.DenseReluDense.wo.weight", "enc.blk.9.ffn_down.weight"},
        {"encoder.block.9.layer.1.layer_norm.weight", "enc.blk.9.ffn_norm.weight"},
        {"encoder.final_layer_norm.weight", "enc.output_norm.weight"},
        {"decoder.block.0.layer.0.SelfAttention.q.weight", "dec.blk.0.attn_q.weight"},
        {"decoder.block.0.layer.1.EncDecAttention.k.weight", "dec.blk.0.cross_attn_k.weight"},
        {"decoder.block.0.layer.1.EncDecAttention.o.weight", "dec.blk.0.cross_attn_o.weight"},
        {"decoder.block.0.layer.1.layer_norm.weight", "dec.blk.0.cross_attn_norm.weight"},
        {"decoder.block.0.layer.2.DenseReluDense.wi_0.weight", "dec.blk.0.ffn_gate.weight"},
        {"decoder.block.0.layer.2.layer_norm.weight", "dec.blk.0.ffn_norm.weight"},
        {"decoder.final_layer_norm.weight", "dec.output_norm.weight"},
        {"lm_head.weight", "output.weight"},
    };

    CHECK_PAIRS("t5", pairs);
    ck_assert_int_eq(match("t5", "encoder.embed_tokens.weight").part, TENON_PART_ENCODER);
    ck_assert_int_eq(match("t5", "decoder.embed_tokens.weight").part, TENON_PART_DECODER);
}
END_TEST

START_TEST(vit_names_map_both_ways)
{
    static const struct pair pairs[] = {
        {"vit.embeddings.cls_token", "v.class_embd"},
        {"vit.embeddings.patch_embeddings.projection.weight", "v.patch_embd.weight"},
        {"vit.embeddings.patch_embeddings.projection.bias", "v.patch_embd.bias"},
        {"vit.encoder.layer.6.layernorm_before.weight", "v.blk.6.ln1.weight"},
        {"vit.encoder.layer.6.layernorm_after.bias", "v.blk.6.ln2.bias"},
        {"vit.encoder.layer.6.attention.attention.query.weight", "v.blk.6.attn_q.weight"},
        {"vit.encoder.layer.6.attention.attention.key.weight", "v.blk.6.attn_k.weight"},
        {"vit.encoder.layer.6.attention.attention.value.bias", "v.blk.6.attn_v.bias"},
        {"vit.encoder.layer.6.attention.output.dense.weight", "v.blk.6.attn_out.weight"},
        {"vit.encoder.layer.6.intermediate.dense.weight", "v.blk.6.ffn_up.weight"},
        {"vit.encoder.layer.6.output.dense.weight", "v.blk.6.ffn_down.weight"},
        {"vit.layernorm.weight", "v.post_ln.weight"},
    };

    CHECK_PAIRS("vit", pairs);
    check_way("vit", "vit.embeddings.position_embeddings", TENON_DIALECT_GGUF,
              "v.position_embd.weight");
    check_way("clip", "vision_model.encoder.layers.3.self_attn.q_proj.weight", TENON_DIALECT_GGUF,
              "v.blk.3.attn_q.weight");
}
END_TEST

/* The names that transformers 5.24 and 4 give the same tensors. */
START_TEST(towers_stored_alone_may_leave_out_their_module)
{
    static const char *const names[][3] = {
        {"clip_vision", "embeddings.class_embedding", "vision_model.embeddings.class_embedding"},
        {"clip_vision", "embeddings.position_embedding.weight",
         "vision_model.embeddings.position_embedding.weight"},
        {"clip_vision", "encoder.layers.3.mlp.fc1.bias",
         "vision_model.encoder.layers.3.mlp.fc1.bias"},
        {"clip_vision", "pre_layrnorm.weight", "vision_model.pre_layrnorm.weight"},
        {"clip_text", "embeddings.token_embedding.weight",
         "text_model.embeddings.token_embedding.weight"},
        {"clip_text", "encoder.layers.3.self_attn.out_proj.weight",
         "text_model.encoder.layers.3.self_attn.out_proj.weight"},
        {"clip_text", "final_layer_norm.bias", "text_model.final_layer_norm.bias"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tenon_name_match alone = match(names[i][0], names[i][1]);
        struct tenon_name_match whole = match(names[i][0], names[i][2]);

        ck_assert_int_ne(alone.role, TENON_ROLE_NONE);
        ck_assert_int_eq(alone.role, whole.role);
        ck_assert_int_eq(alone.part, whole.part);
        ck_assert_int_eq(alone.layer, whole.layer);
        ck_assert_int_eq(alone.bias, whole.bias);
    }
    ck_assert_int_eq(match("clip_vision", "embeddings.position_embedding.weight").part,
                     TENON_PART_VISION);
    ck_assert_int_eq(match("clip_text", "embeddings.position_embedding.weight").part,
                     TENON_PART_MAIN);
    ck_assert_int_eq(match("clip", "embeddings.position_embedding.weight").role, TENON_ROLE_NONE);
}
END_TEST

START_TEST(layers_and_experts_are_numbered)
{
    struct tenon_name_match m =
        match("mixtral", "model.layers.31.block_sparse_moe.experts.7.w2.weight");

    ck_assert_int_eq(m.role, TENON_ROLE_FFN_DOWN_EXPS);
    ck_assert_int_eq(m.layer, 31);
    ck_assert_int_eq(m.expert, 7);
    ck_assert_int_eq(match("llama", "model.layers.125.mlp.up_proj.weight").layer, 125);
    ck_assert_int_eq(match("llama", "blk.999999999.ffn_up.weight").layer, 999999999);
    m = match("deepseek2", "model.layers.3.mlp.experts.255.gate_proj.weight");
    ck_assert_int_eq(m.role, TENON_ROLE_FFN_GATE_EXPS);
    ck_assert_int_eq(m.expert, 255);
    m = match("qwen3_moe", "blk.5.ffn_up_exps.weight");
    ck_assert_int_eq(m.role, TENON_ROLE_FFN_UP_EXPS);
    ck_assert_int_eq(m.expert, -1);
    m = match("t5", "decoder.block.11.layer.2.DenseReluDense.wo.weight");
    ck_assert_int_eq(m.layer, 11);
    ck_assert_int_eq(m.expert, -1);
}
END_TEST

START_TEST(wrappers_and_prefixes_do_not_hide_a_name)
{
    static const char *const names[] = {
        "model.layers.2.self_attn.q_proj.weight",
        "layers.2.self_attn.q_proj.weight",
        "module.model.layers.2.self_attn.q_proj.weight",
        "module.module.model.layers.2.self_attn.q_proj.weight",
        "_orig_mod.model.layers.2.self_attn.q_proj.weight",
        "model._orig_mod.layers.2._checkpoint_wrapped_module.self_attn.q_proj.weight",
        "base_model.model.model.layers.2.self_attn.q_proj.weight",
        "base_model.model.model.layers.2.self_attn.q_proj.base_layer.weight",
        "language_model.model.layers.2.self_attn.q_proj.weight",
        "model.language_model.layers.2.self_attn.q_proj.weight",
        "_fsdp_wrapped_module.module.model.layers.2.self_attn.q_proj.weight",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tenon_name_match m = match("qwen3", names[i]);

        ck_assert_msg(m.role == TENON_ROLE_ATTN_Q && m.layer == 2, "'%s'", names[i]);
    }
    ck_assert_int_eq(match("llava", "language_model.lm_head.weight").role, TENON_ROLE_OUTPUT);
    ck_assert_int_eq(match("bert", "encoder.layer.0.attention.self.query.weight").role,
                     TENON_ROLE_ATTN_Q);
    ck_assert_int_eq(match("gpt2", "wte.weight").role, TENON_ROLE_TOKEN_EMBD);
}
END_TEST

START_TEST(what_is_not_quite_a_name_matches_nothing)
{
    static const char *const names[] = {
        "",
        ".",
        "..",
        "weight",
        ".weight",
        "model.",
        "model.embed_tokens",
        "model.embed_tokens.",
        "model.embed_tokens.weight.",
        "model..embed_tokens.weight",
        "Model.embed_tokens.weight",
        "model.embed_tokens.weightx",
        "model.embed_tokens.qweight",
        "model.layers.x.self_attn.q_proj.weight",
        "model.layers.01.self_attn.q_proj.weight",
        "model.layers.-1.self_attn.q_proj.weight",
        "model.layers.99999999999999999999.self_attn.q_proj.weight",
        "model.layers.#.self_attn.q_proj.weight",
        "model.layers.61.embed_tokens.weight",
        "mtp.layers.0.self_attn.q_proj.weight",
        "model.layers.0.self_attn.q_proj.lora_A.weight",
        "module.module.module.",
        "lm_head",
        "x.lm_head.weight",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_msg(match("llama", names[i]).role == TENON_ROLE_NONE, "'%s' is %s", names[i],
                      tenon_role_name(match("llama", names[i]).role));
}
END_TEST

START_TEST(any_bytes_are_safe)
{
    static char name[70000];
    uint32_t state = 1;

    for (size_t i = 0; i < sizeof(name); i++) {
        state = state * 1664525u + 1013904223u;
        name[i] = (char)(i % 7 == 0 ? '.' : state >> 24);
    }
    for (size_t len = 0; len < 600; len++)
        (void)tenon_arch_match(NULL, name + len, len);
    ck_assert_int_eq(tenon_arch_match(NULL, name, sizeof(name)).role, TENON_ROLE_NONE);
    memset(name, '.', sizeof(name));
    ck_assert_int_eq(tenon_arch_match(NULL, name, sizeof(name)).role, TENON_ROLE_NONE);
    for (size_t i = 0; i + 7 < sizeof(name); i += 7)
        memcpy(name + i, "module.", 7);
    ck_assert_int_eq(tenon_arch_match(NULL, name, sizeof(name)).role, TENON_ROLE_NONE);
    /* A NUL inside must not end the comparison. */
    ck_assert_int_eq(tenon_arch_match(NULL, "lm_head\0.weight", 15).role, TENON_ROLE_NONE);
}
END_TEST

START_TEST(an_unknown_family_still_has_its_embeddings)
{
    ck_assert_int_eq(match(NULL, "model.embed_tokens.weight").role, TENON_ROLE_TOKEN_EMBD);
    ck_assert_int_eq(match(NULL, "transformer.wte.weight").role, TENON_ROLE_TOKEN_EMBD);
    ck_assert_int_eq(match(NULL, "tok_embeddings.weight").role, TENON_ROLE_TOKEN_EMBD);
    ck_assert_int_eq(match(NULL, "token_embd.weight").role, TENON_ROLE_TOKEN_EMBD);
    ck_assert_int_eq(match(NULL, "lm_head.weight").role, TENON_ROLE_OUTPUT);
    ck_assert_int_eq(match(NULL, "output.weight").role, TENON_ROLE_OUTPUT);
    ck_assert_int_eq(match(NULL, "embed_out.weight").role, TENON_ROLE_OUTPUT);
    ck_assert_int_eq(match(NULL, "blk.0.ffn_up.weight").role, TENON_ROLE_FFN_UP);
    ck_assert_int_eq(match(NULL, "model.layers.0.mlp.up_proj.weight").role, TENON_ROLE_FFN_UP);
}
END_TEST

START_TEST(a_role_is_written_with_part_and_bias)
{
    struct tenon_tensor t = {.role = TENON_ROLE_ATTN_Q, .part = TENON_PART_ENCODER};
    char name[64];

    ck_assert_str_eq(tenon_tensor_role_name(&t, name, sizeof(name)), "encoder.attn_q");
    t.flags = TENON_TENSOR_BIAS;
    ck_assert_str_eq(tenon_tensor_role_name(&t, name, sizeof(name)), "encoder.attn_q.bias");
    t.role = TENON_ROLE_NONE;
    ck_assert_str_eq(tenon_tensor_role_name(&t, name, sizeof(name)), "");
}
END_TEST

START_TEST(a_name_that_does_not_fit_is_refused)
{
    struct tenon_name_match m = match("llama", "model.layers.11.mlp.up_proj.weight");
    char name[35];

    ck_assert(tenon_arch_tensor_name(arch_of("llama"), &m, name, sizeof(name)));
    ck_assert(!tenon_arch_tensor_name(arch_of("llama"), &m, name, sizeof(name) - 1));
    ck_assert(!tenon_arch_tensor_name(arch_of("llama"), &m, name, 0));
    m.role = TENON_ROLE_SSM_A;
    ck_assert(!tenon_arch_tensor_name(arch_of("llama"), &m, name, sizeof(name)));
}
END_TEST

/* --- guessing --- */

static struct tiny_model tiny;

static const char *guess(const char *const *names)
{
    const struct tenon_arch *arch;

    tiny_begin(&tiny);
    for (size_t i = 0; names[i] != NULL; i++)
        tiny_name(&tiny, names[i]);
    arch = tenon_model_arch(tiny_end(&tiny, ""));
    tiny_free(&tiny);
    return arch != NULL ? arch->name : "";
}

#define GUESS(...) guess((const char *const[]){__VA_ARGS__, NULL})

START_TEST(families_are_guessed_from_names_that_only_they_have)
{
    ck_assert_str_eq(
        GUESS("gpt_neox.embed_in.weight", "gpt_neox.layers.0.attention.query_key_value.weight"),
        "gpt_neox");
    ck_assert_str_eq(GUESS("wte.weight", "wpe.weight", "h.0.attn.c_attn.weight", "h.0.attn.bias"),
                     "gpt2");
    ck_assert_str_eq(GUESS("bert.embeddings.word_embeddings.weight",
                           "bert.embeddings.token_type_embeddings.weight",
                           "bert.encoder.layer.0.attention.self.query.weight"),
                     "bert");
    ck_assert_str_eq(GUESS("tok_embeddings.weight", "output.weight", "layers.0.attention.wq.weight",
                           "layers.0.feed_forward.w3.weight"),
                     "llama");
    ck_assert_str_eq(GUESS("model.embed_tokens.weight",
                           "model.layers.0.pre_feedforward_layernorm.weight",
                           "model.layers.0.post_feedforward_layernorm.weight"),
                     "gemma2");
    ck_assert_str_eq(GUESS("model.embed_tokens.weight",
                           "model.layers.0.pre_feedforward_layernorm.weight",
                           "model.layers.0.post_feedforward_layernorm.weight",
                           "model.layers.0.self_attn.q_norm.weight"),
                     "gemma3");
    ck_assert_str_eq(GUESS("embeddings.class_embedding", "embeddings.patch_embedding.weight",
                           "encoder.layers.0.layer_norm1.weight", "post_layernorm.weight"),
                     "clip_vision");
}
END_TEST

START_TEST(names_that_many_families_share_decide_nothing)
{
    ck_assert_str_eq(GUESS("model.embed_tokens.weight"), "");
    ck_assert_str_eq(GUESS("lm_head.weight"), "");
    ck_assert_str_eq(GUESS("wte.weight", "wpe.weight"), "");
    ck_assert_str_eq(GUESS("weight"), "");
    /* Llama, Mistral, Gemma and many others: all of these names, other facts. */
    ck_assert_str_eq(
        GUESS("model.embed_tokens.weight", "model.norm.weight", "lm_head.weight",
              "model.layers.0.input_layernorm.weight", "model.layers.0.self_attn.q_proj.weight",
              "model.layers.0.self_attn.k_proj.weight", "model.layers.0.self_attn.v_proj.weight",
              "model.layers.0.self_attn.o_proj.weight",
              "model.layers.0.post_attention_layernorm.weight",
              "model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight",
              "model.layers.0.mlp.down_proj.weight"),
        "");
}
END_TEST

/* Each family's marks, taken as a model, lead to it alone: no other family claims them. */
/* A model that has just what a family is known by, under its usual prefix, is that family's. */
START_TEST(what_a_family_is_known_by_is_claimed_by_no_other)
{
    const struct tenon_arch *arch;
    size_t n = 0;

    for (size_t i = 0; (arch = tenon_arch_at(i)) != NULL; i++) {
        const struct tenon_arch_rules *rules = arch->rules;
        const struct tenon_arch *guessed;

        if (rules->marks[0] == NULL)
            continue;
        tiny_begin(&tiny);
        for (size_t k = 0; rules->marks[k] != NULL; k++)
            if (rules->marks[k][0] != '!')
                tiny_name(&tiny, rules->marks[k]);
        guessed = tenon_model_arch(tiny_end(&tiny, ""));
        ck_assert_msg(guessed == arch, "%s is taken for %s", arch->name,
                      guessed != NULL ? guessed->name : "none or several");
        tiny_free(&tiny);
        n++;
    }
    ck_assert_uint_ge(n, 40);
}
END_TEST

START_TEST(roles_and_dialect_of_a_model_are_worked_out)
{
    const struct tenon_model *model;

    tiny_begin(&tiny);
    tiny_name(&tiny, "token_embd.weight");
    tiny_name(&tiny, "blk.0.attn_q.weight");
    tiny_name(&tiny, "output.weight");
    model = tiny_end(&tiny, "llama");
    ck_assert_str_eq(tenon_model_arch(model)->name, "llama");
    ck_assert_int_eq(tenon_model_dialect(model), TENON_DIALECT_GGUF);
    ck_assert_ptr_eq(tenon_model_find_role(model, TENON_ROLE_OUTPUT, TENON_PART_MAIN, false),
                     tenon_model_tensor(model, 2));
    ck_assert_int_eq(tenon_model_tensor(model, 1)->layer, 0);
    tiny_free(&tiny);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arch");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, llama_names_map_both_ways);
    tcase_add_test(tests, llama_names_of_the_original_release_map_both_ways);
    tcase_add_test(tests, qwen_names_map_both_ways);
    tcase_add_test(tests, gemma_names_map_both_ways);
    tcase_add_test(tests, gpt2_names_map_both_ways);
    tcase_add_test(tests, bert_names_map_both_ways);
    tcase_add_test(tests, bert_heads_and_old_norm_names_are_known);
    tcase_add_test(tests, phi_names_map_both_ways);
    tcase_add_test(tests, neox_names_map_both_ways);
    tcase_add_test(tests, t5_names_map_both_ways);
    tcase_add_test(tests, vit_names_map_both_ways);
    tcase_add_test(tests, towers_stored_alone_may_leave_out_their_module);
    tcase_add_test(tests, layers_and_experts_are_numbered);
    tcase_add_test(tests, wrappers_and_prefixes_do_not_hide_a_name);
    tcase_add_test(tests, what_is_not_quite_a_name_matches_nothing);
    tcase_add_test(tests, any_bytes_are_safe);
    tcase_add_test(tests, an_unknown_family_still_has_its_embeddings);
    tcase_add_test(tests, a_role_is_written_with_part_and_bias);
    tcase_add_test(tests, a_name_that_does_not_fit_is_refused);
    tcase_add_test(tests, families_are_guessed_from_names_that_only_they_have);
    tcase_add_test(tests, names_that_many_families_share_decide_nothing);
    tcase_add_test(tests, what_a_family_is_known_by_is_claimed_by_no_other);
    tcase_add_test(tests, roles_and_dialect_of_a_model_are_worked_out);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
