/* Tensor names, shapes, metadata and configs of the tiny models. */
#include "gen_kinds.h"

#include <stdio.h>
#include <string.h>

/* One tensor: its two names ('#' stands for the layer), and its Hugging Face shape by letters:
 * V vocabulary, d width, f feed-forward, k key width, q three widths, p positions, t token types,
 * b relative buckets, h heads. */
struct row {
    const char *hf, *gguf, *shape;
    enum { PLAIN, CONV1D, ROTARY_Q, ROTARY_K, PLUS_ONE } how; /* what a converter does to it */
};

struct gen_kind {
    const char *arch;                /* general.architecture */
    const char *head_hf, *head_gguf; /* NULL: no output matrix */
    const struct row *rows;
    const char *config;
    void (*kv)(struct gen_model *m, const char *arch);
};

static const struct row llama_rows[] = {
    {"model.embed_tokens.weight", "token_embd.weight", "Vd", PLAIN},
    {"model.layers.#.input_layernorm.weight", "blk.#.attn_norm.weight", "d", PLAIN},
    {"model.layers.#.self_attn.q_proj.weight", "blk.#.attn_q.weight", "dd", ROTARY_Q},
    {"model.layers.#.self_attn.k_proj.weight", "blk.#.attn_k.weight", "kd", ROTARY_K},
    {"model.layers.#.self_attn.v_proj.weight", "blk.#.attn_v.weight", "kd", PLAIN},
    {"model.layers.#.self_attn.o_proj.weight", "blk.#.attn_output.weight", "dd", PLAIN},
    {"model.layers.#.post_attention_layernorm.weight", "blk.#.ffn_norm.weight", "d", PLAIN},
    {"model.layers.#.mlp.gate_proj.weight", "blk.#.ffn_gate.weight", "fd", PLAIN},
    {"model.layers.#.mlp.up_proj.weight", "blk.#.ffn_up.weight", "fd", PLAIN},
    {"model.layers.#.mlp.down_proj.weight", "blk.#.ffn_down.weight", "df", PLAIN},
    {"model.norm.weight", "output_norm.weight", "d", PLAIN},
    {NULL, NULL, NULL, PLAIN},
};

/* As llama, but neither permuted nor without attention biases. */
static const struct row qwen2_rows[] = {
    {"model.embed_tokens.weight", "token_embd.weight", "Vd", PLAIN},
    {"model.layers.#.input_layernorm.weight", "blk.#.attn_norm.weight", "d", PLAIN},
    {"model.layers.#.self_attn.q_proj.weight", "blk.#.attn_q.weight", "dd", PLAIN},
    {"model.layers.#.self_attn.q_proj.bias", "blk.#.attn_q.bias", "d", PLAIN},
    {"model.layers.#.self_attn.k_proj.weight", "blk.#.attn_k.weight", "kd", PLAIN},
    {"model.layers.#.self_attn.k_proj.bias", "blk.#.attn_k.bias", "k", PLAIN},
    {"model.layers.#.self_attn.v_proj.weight", "blk.#.attn_v.weight", "kd", PLAIN},
    {"model.layers.#.self_attn.v_proj.bias", "blk.#.attn_v.bias", "k", PLAIN},
    {"model.layers.#.self_attn.o_proj.weight", "blk.#.attn_output.weight", "dd", PLAIN},
    {"model.layers.#.post_attention_layernorm.weight", "blk.#.ffn_norm.weight", "d", PLAIN},
    {"model.layers.#.mlp.gate_proj.weight", "blk.#.ffn_gate.weight", "fd", PLAIN},
    {"model.layers.#.mlp.up_proj.weight", "blk.#.ffn_up.weight", "fd", PLAIN},
    {"model.layers.#.mlp.down_proj.weight", "blk.#.ffn_down.weight", "df", PLAIN},
    {"model.norm.weight", "output_norm.weight", "d", PLAIN},
    {NULL, NULL, NULL, PLAIN},
};

/* As llama, but not permuted, and norms are stored without the one that is added to them. */
static const struct row gemma_rows[] = {
    {"model.embed_tokens.weight", "token_embd.weight", "Vd", PLAIN},
    {"model.layers.#.input_layernorm.weight", "blk.#.attn_norm.weight", "d", PLUS_ONE},
    {"model.layers.#.self_attn.q_proj.weight", "blk.#.attn_q.weight", "dd", PLAIN},
    {"model.layers.#.self_attn.k_proj.weight", "blk.#.attn_k.weight", "kd", PLAIN},
    {"model.layers.#.self_attn.v_proj.weight", "blk.#.attn_v.weight", "kd", PLAIN},
    {"model.layers.#.self_attn.o_proj.weight", "blk.#.attn_output.weight", "dd", PLAIN},
    {"model.layers.#.post_attention_layernorm.weight", "blk.#.ffn_norm.weight", "d", PLUS_ONE},
    {"model.layers.#.mlp.gate_proj.weight", "blk.#.ffn_gate.weight", "fd", PLAIN},
    {"model.layers.#.mlp.up_proj.weight", "blk.#.ffn_up.weight", "fd", PLAIN},
    {"model.layers.#.mlp.down_proj.weight", "blk.#.ffn_down.weight", "df", PLAIN},
    {"model.norm.weight", "output_norm.weight", "d", PLUS_ONE},
    {NULL, NULL, NULL, PLAIN},
};

static const struct row gpt2_rows[] = {
    {"wte.weight", "token_embd.weight", "Vd", PLAIN},
    {"wpe.weight", "position_embd.weight", "pd", PLAIN},
    {"h.#.ln_1.weight", "blk.#.attn_norm.weight", "d", PLAIN},
    {"h.#.ln_1.bias", "blk.#.attn_norm.bias", "d", PLAIN},
    {"h.#.attn.c_attn.weight", "blk.#.attn_qkv.weight", "dq", CONV1D},
    {"h.#.attn.c_attn.bias", "blk.#.attn_qkv.bias", "q", PLAIN},
    {"h.#.attn.c_proj.weight", "blk.#.attn_output.weight", "dd", CONV1D},
    {"h.#.attn.c_proj.bias", "blk.#.attn_output.bias", "d", PLAIN},
    {"h.#.ln_2.weight", "blk.#.ffn_norm.weight", "d", PLAIN},
    {"h.#.ln_2.bias", "blk.#.ffn_norm.bias", "d", PLAIN},
    {"h.#.mlp.c_fc.weight", "blk.#.ffn_up.weight", "df", CONV1D},
    {"h.#.mlp.c_fc.bias", "blk.#.ffn_up.bias", "f", PLAIN},
    {"h.#.mlp.c_proj.weight", "blk.#.ffn_down.weight", "fd", CONV1D},
    {"h.#.mlp.c_proj.bias", "blk.#.ffn_down.bias", "d", PLAIN},
    {"ln_f.weight", "output_norm.weight", "d", PLAIN},
    {"ln_f.bias", "output_norm.bias", "d", PLAIN},
    {NULL, NULL, NULL, PLAIN},
};

static const struct row bert_rows[] = {
    {"embeddings.word_embeddings.weight", "token_embd.weight", "Vd", PLAIN},
    {"embeddings.position_embeddings.weight", "position_embd.weight", "pd", PLAIN},
    {"embeddings.token_type_embeddings.weight", "token_types.weight", "td", PLAIN},
    {"embeddings.LayerNorm.weight", "token_embd_norm.weight", "d", PLAIN},
    {"embeddings.LayerNorm.bias", "token_embd_norm.bias", "d", PLAIN},
    {"encoder.layer.#.attention.self.query.weight", "blk.#.attn_q.weight", "dd", PLAIN},
    {"encoder.layer.#.attention.self.query.bias", "blk.#.attn_q.bias", "d", PLAIN},
    {"encoder.layer.#.attention.self.key.weight", "blk.#.attn_k.weight", "dd", PLAIN},
    {"encoder.layer.#.attention.self.key.bias", "blk.#.attn_k.bias", "d", PLAIN},
    {"encoder.layer.#.attention.self.value.weight", "blk.#.attn_v.weight", "dd", PLAIN},
    {"encoder.layer.#.attention.self.value.bias", "blk.#.attn_v.bias", "d", PLAIN},
    {"encoder.layer.#.attention.output.dense.weight", "blk.#.attn_output.weight", "dd", PLAIN},
    {"encoder.layer.#.attention.output.dense.bias", "blk.#.attn_output.bias", "d", PLAIN},
    {"encoder.layer.#.attention.output.LayerNorm.weight", "blk.#.attn_output_norm.weight", "d",
     PLAIN},
    {"encoder.layer.#.attention.output.LayerNorm.bias", "blk.#.attn_output_norm.bias", "d", PLAIN},
    {"encoder.layer.#.intermediate.dense.weight", "blk.#.ffn_up.weight", "fd", PLAIN},
    {"encoder.layer.#.intermediate.dense.bias", "blk.#.ffn_up.bias", "f", PLAIN},
    {"encoder.layer.#.output.dense.weight", "blk.#.ffn_down.weight", "df", PLAIN},
    {"encoder.layer.#.output.dense.bias", "blk.#.ffn_down.bias", "d", PLAIN},
    {"encoder.layer.#.output.LayerNorm.weight", "blk.#.layer_output_norm.weight", "d", PLAIN},
    {"encoder.layer.#.output.LayerNorm.bias", "blk.#.layer_output_norm.bias", "d", PLAIN},
    {NULL, NULL, NULL, PLAIN},
};

static const struct row t5_rows[] = {
    {"shared.weight", "token_embd.weight", "Vd", PLAIN},
    {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
     "enc.blk.0.attn_rel_b.weight", "bh", PLAIN},
    {"encoder.block.#.layer.0.SelfAttention.q.weight", "enc.blk.#.attn_q.weight", "dd", PLAIN},
    {"encoder.block.#.layer.0.SelfAttention.k.weight", "enc.blk.#.attn_k.weight", "dd", PLAIN},
    {"encoder.block.#.layer.0.SelfAttention.v.weight", "enc.blk.#.attn_v.weight", "dd", PLAIN},
    {"encoder.block.#.layer.0.SelfAttention.o.weight", "enc.blk.#.attn_o.weight", "dd", PLAIN},
    {"encoder.block.#.layer.0.layer_norm.weight", "enc.blk.#.attn_norm.weight", "d", PLAIN},
    {"encoder.block.#.layer.1.DenseReluDense.wi.weight", "enc.blk.#.ffn_up.weight", "fd", PLAIN},
    {"encoder.block.#.layer.1.DenseReluDense.wo.weight", "enc.blk.#.ffn_down.weight", "df", PLAIN},
    {"encoder.block.#.layer.1.layer_norm.weight", "enc.blk.#.ffn_norm.weight", "d", PLAIN},
    {"encoder.final_layer_norm.weight", "enc.output_norm.weight", "d", PLAIN},
    {"decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
     "dec.blk.0.attn_rel_b.weight", "bh", PLAIN},
    {"decoder.block.#.layer.0.SelfAttention.q.weight", "dec.blk.#.attn_q.weight", "dd", PLAIN},
    {"decoder.block.#.layer.0.SelfAttention.k.weight", "dec.blk.#.attn_k.weight", "dd", PLAIN},
    {"decoder.block.#.layer.0.SelfAttention.v.weight", "dec.blk.#.attn_v.weight", "dd", PLAIN},
    {"decoder.block.#.layer.0.SelfAttention.o.weight", "dec.blk.#.attn_o.weight", "dd", PLAIN},
    {"decoder.block.#.layer.0.layer_norm.weight", "dec.blk.#.attn_norm.weight", "d", PLAIN},
    {"decoder.block.#.layer.1.EncDecAttention.q.weight", "dec.blk.#.cross_attn_q.weight", "dd",
     PLAIN},
    {"decoder.block.#.layer.1.EncDecAttention.k.weight", "dec.blk.#.cross_attn_k.weight", "dd",
     PLAIN},
    {"decoder.block.#.layer.1.EncDecAttention.v.weight", "dec.blk.#.cross_attn_v.weight", "dd",
     PLAIN},
    {"decoder.block.#.layer.1.EncDecAttention.o.weight", "dec.blk.#.cross_attn_o.weight", "dd",
     PLAIN},
    {"decoder.block.#.layer.1.layer_norm.weight", "dec.blk.#.cross_attn_norm.weight", "d", PLAIN},
    {"decoder.block.#.layer.2.DenseReluDense.wi.weight", "dec.blk.#.ffn_up.weight", "fd", PLAIN},
    {"decoder.block.#.layer.2.DenseReluDense.wo.weight", "dec.blk.#.ffn_down.weight", "df", PLAIN},
    {"decoder.block.#.layer.2.layer_norm.weight", "dec.blk.#.ffn_norm.weight", "d", PLAIN},
    {"decoder.final_layer_norm.weight", "dec.output_norm.weight", "d", PLAIN},
    {NULL, NULL, NULL, PLAIN},
};

static void kv_arch_u32(struct gen_model *m, const char *arch, const char *key, uint32_t value)
{
    char name[96];

    snprintf(name, sizeof(name), "%s.%s", arch, key);
    gen_kv_u32(m, name, value);
}

static void kv_arch_f32(struct gen_model *m, const char *arch, const char *key, float value)
{
    char name[96];

    snprintf(name, sizeof(name), "%s.%s", arch, key);
    gen_kv_f32(m, name, value);
}

static void kv_common(struct gen_model *m, const char *arch)
{
    kv_arch_u32(m, arch, "context_length", GEN_POSITIONS);
    kv_arch_u32(m, arch, "embedding_length", GEN_WIDTH);
    kv_arch_u32(m, arch, "block_count", GEN_LAYERS);
    kv_arch_u32(m, arch, "feed_forward_length", GEN_FF);
    kv_arch_u32(m, arch, "attention.head_count", GEN_HEADS);
}

static void kv_rope(struct gen_model *m, const char *arch)
{
    kv_common(m, arch);
    kv_arch_u32(m, arch, "attention.head_count_kv", GEN_KV_HEADS);
    kv_arch_f32(m, arch, "attention.layer_norm_rms_epsilon", 1e-5f);
    kv_arch_f32(m, arch, "rope.freq_base", 10000.0f);
    kv_arch_u32(m, arch, "rope.dimension_count", GEN_WIDTH / GEN_HEADS);
    kv_arch_u32(m, arch, "vocab_size", GEN_VOCAB);
}

static void kv_gpt2(struct gen_model *m, const char *arch)
{
    kv_common(m, arch);
    kv_arch_f32(m, arch, "attention.layer_norm_epsilon", 1e-5f);
}

static void kv_bert(struct gen_model *m, const char *arch)
{
    kv_common(m, arch);
    kv_arch_f32(m, arch, "attention.layer_norm_epsilon", 1e-12f);
    gen_kv_bool(m, "bert.attention.causal", false);
    kv_arch_u32(m, arch, "pooling_type", 1);
}

static void kv_t5(struct gen_model *m, const char *arch)
{
    kv_common(m, arch);
    kv_arch_f32(m, arch, "attention.layer_norm_rms_epsilon", 1e-6f);
    kv_arch_u32(m, arch, "attention.relative_buckets_count", 8);
    kv_arch_u32(m, arch, "decoder_start_token_id", 0);
}

#define CONFIG_ROPE(class_name, type)                                                              \
    "{\"architectures\":[\"" class_name "\"],\"model_type\":\"" type "\",\"vocab_size\":40,"       \
    "\"hidden_size\":32,\"intermediate_size\":64,\"num_hidden_layers\":2,"                         \
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":8,"                          \
    "\"max_position_embeddings\":24,\"rms_norm_eps\":1e-05,\"rope_theta\":10000.0,"                \
    "\"torch_dtype\":\"float16\",\"bos_token_id\":1,\"eos_token_id\":2"

const struct gen_kind gen_llama = {"llama",
                                   "lm_head.weight",
                                   "output.weight",
                                   llama_rows,
                                   CONFIG_ROPE("LlamaForCausalLM", "llama"),
                                   kv_rope};
const struct gen_kind gen_gemma = {"gemma",
                                   "lm_head.weight",
                                   "output.weight",
                                   gemma_rows,
                                   CONFIG_ROPE("GemmaForCausalLM", "gemma"),
                                   kv_rope};
const struct gen_kind gen_qwen2 = {"qwen2",
                                   "lm_head.weight",
                                   "output.weight",
                                   qwen2_rows,
                                   CONFIG_ROPE("Qwen2ForCausalLM", "qwen2"),
                                   kv_rope};
const struct gen_kind gen_gpt2 = {
    "gpt2",
    "lm_head.weight",
    "output.weight",
    gpt2_rows,
    "{\"architectures\":[\"GPT2LMHeadModel\"],\"model_type\":\"gpt2\",\"vocab_size\":40,"
    "\"n_positions\":24,\"n_ctx\":24,\"n_embd\":32,\"n_layer\":2,\"n_head\":4,\"n_inner\":64,"
    "\"layer_norm_epsilon\":1e-05",
    kv_gpt2};
const struct gen_kind gen_bert = {
    "bert",
    NULL,
    NULL,
    bert_rows,
    "{\"architectures\":[\"BertModel\"],\"model_type\":\"bert\",\"vocab_size\":40,"
    "\"hidden_size\":32,\"num_hidden_layers\":2,\"num_attention_heads\":4,"
    "\"intermediate_size\":64,\"max_position_embeddings\":24,\"type_vocab_size\":2,"
    "\"layer_norm_eps\":1e-12,\"pad_token_id\":0",
    kv_bert};
const struct gen_kind gen_t5 = {
    "t5",
    "lm_head.weight",
    "output.weight",
    t5_rows,
    "{\"architectures\":[\"T5ForConditionalGeneration\"],\"model_type\":\"t5\",\"vocab_size\":40,"
    "\"d_model\":32,\"d_kv\":8,\"d_ff\":64,\"num_layers\":2,\"num_decoder_layers\":2,"
    "\"num_heads\":4,\"relative_attention_num_buckets\":8,\"is_encoder_decoder\":true,"
    "\"pad_token_id\":0,\"eos_token_id\":1",
    kv_t5};

static uint64_t letter_size(const struct gen_kind *kind, char letter)
{
    switch (letter) {
    case 'V':
        return GEN_VOCAB;
    case 'f':
        return GEN_FF;
    case 'k':
        return kind == &gen_gpt2 ? GEN_WIDTH : GEN_WIDTH / GEN_HEADS * GEN_KV_HEADS;
    case 'q':
        return 3 * GEN_WIDTH;
    case 'p':
        return GEN_POSITIONS;
    case 't':
        return 2;
    case 'b':
        return 8;
    case 'h':
        return GEN_HEADS;
    default:
        return GEN_WIDTH;
    }
}

static void expand(char *out, size_t size, const char *pattern, unsigned layer)
{
    size_t n = 0;

    for (; *pattern != '\0' && n + 1 < size; pattern++)
        out[n++] = *pattern == '#' ? (char)('0' + layer) : *pattern;
    out[n] = '\0';
}

/* Seed of a tensor's values: of its Hugging Face name, so that both dialects agree. */
static uint64_t seed_of(const char *name)
{
    uint64_t seed = 1469598103934665603u;

    for (; *name != '\0'; name++)
        seed = (seed ^ (unsigned char)*name) * 1099511628211u;
    return seed;
}

/* Where element (row, column) of a converted matrix comes from in the Hugging Face one. */
static uint64_t source_index(const struct row *r, uint64_t rows, uint64_t cols, uint64_t row,
                             uint64_t col)
{
    uint64_t heads = r->how == ROTARY_Q ? GEN_HEADS : GEN_KV_HEADS;
    uint64_t width, head, in_head;

    if (r->how == CONV1D)
        return col * rows + row;
    if (r->how == PLAIN || r->how == PLUS_ONE)
        return row * cols + col;
    /* Halves of a head become pairs: row 2j comes from j, row 2j + 1 from j + width / 2. */
    width = rows / heads;
    head = row / width;
    in_head = row % width;
    return (head * width + in_head % 2 * (width / 2) + in_head / 2) * cols + col;
}

static void fill_tensor(struct gen_tensor *t, const struct row *r, bool gguf, uint64_t seed)
{
    uint64_t rows = t->n_dims == 2 ? t->dims[0] : 1;
    uint64_t cols = t->dims[t->n_dims - 1];
    struct row same = {NULL, NULL, NULL, PLAIN};
    float values[256];

    for (uint64_t row = 0; row < rows; row++) {
        for (uint64_t col = 0; col < cols; col++)
            values[col] = gen_value(seed, source_index(gguf ? r : &same, rows, cols, row, col)) +
                          (gguf && r->how == PLUS_ONE ? 1.0f : 0.0f);
        gen_tensor_floats(t, values, cols);
    }
}

static void add_row(struct gen_model *m, const struct gen_kind *kind, const struct row *r,
                    bool gguf, const char *dtype, unsigned layer)
{
    unsigned n = (unsigned)strlen(r->shape);
    uint64_t dims[2] = {letter_size(kind, r->shape[0]),
                        n == 2 ? letter_size(kind, r->shape[1]) : 0};
    uint64_t turned[2] = {dims[1], dims[0]};
    bool plain = gguf && (n == 1 || r->shape[0] == 'p' || r->shape[0] == 't' || r->shape[0] == 'b');
    char hf[128], name[128];
    struct gen_tensor *t;

    expand(hf, sizeof(hf), r->hf, layer);
    expand(name, sizeof(name), gguf ? r->gguf : r->hf, layer);
    t = gen_tensor_add(m, name, plain ? "F32" : dtype, n, gguf && r->how == CONV1D ? turned : dims);
    fill_tensor(t, r, gguf, seed_of(hf));
}

static void add_head(struct gen_model *m, const struct gen_kind *kind, bool gguf, const char *dtype,
                     enum gen_head head)
{
    uint64_t seed = seed_of(kind->rows[0].hf), other = seed_of(kind->head_hf);
    uint64_t dims[2] = {GEN_VOCAB, GEN_WIDTH};
    uint64_t turned[2] = {GEN_WIDTH, GEN_VOCAB};
    float values[GEN_WIDTH];
    struct gen_tensor *t;

    if (head == GEN_HEAD_ABSENT)
        return;
    dims[0] += head == GEN_HEAD_MORE_ROWS ? 8 : 0;
    dims[1] /= head == GEN_HEAD_NARROW ? 2 : 1;
    if (head == GEN_HEAD_EQUAL)
        dtype = "F32";
    if (head == GEN_HEAD_QUANTIZED)
        dtype = "Q8_0";
    t = gen_tensor_add(m, gguf ? kind->head_gguf : kind->head_hf, dtype, 2,
                       head == GEN_HEAD_TRANSPOSED ? turned : dims);
    if (head == GEN_HEAD_SHARED)
        t->alias = 0;
    else if (head >= GEN_HEAD_DIFFERENT)
        gen_tensor_values(t, other, 1.0f);
    for (uint64_t row = 0; row < t->dims[0] && head < GEN_HEAD_DIFFERENT && t->alias < 0; row++) {
        uint64_t from = head == GEN_HEAD_PARTIAL && row >= GEN_VOCAB - 4 ? other : seed;

        for (uint64_t col = 0; col < GEN_WIDTH && head != GEN_HEAD_TRANSPOSED; col++)
            values[col] =
                gen_value(from, row * GEN_WIDTH + col) * (head == GEN_HEAD_SCALED ? 0.5f : 1.0f);
        if (head != GEN_HEAD_TRANSPOSED)
            gen_tensor_floats(t, values, GEN_WIDTH);
        for (uint64_t id = 0; id < GEN_VOCAB && head == GEN_HEAD_TRANSPOSED; id++) {
            float value = gen_value(seed, id * GEN_WIDTH + row);

            gen_tensor_floats(t, &value, 1);
        }
    }
}

void gen_kind_tensors(struct gen_model *m, const struct gen_kind *kind, bool gguf,
                      const char *dtype, enum gen_head head)
{
    const struct row *r = kind->rows;

    while (r->hf != NULL) {
        const struct row *end = r;

        if (strchr(r->hf, '#') == NULL) {
            add_row(m, kind, r++, gguf, dtype, 0);
            continue;
        }
        /* A run of layer rows: layer by layer. */
        while (end->hf != NULL && strchr(end->hf, '#') != NULL)
            end++;
        for (unsigned layer = 0; layer < GEN_LAYERS; layer++) {
            for (const struct row *in = r; in < end; in++)
                add_row(m, kind, in, gguf, dtype, layer);
        }
        r = end;
    }
    if (kind->head_hf != NULL)
        add_head(m, kind, gguf, dtype, head);
}

static void token_text(char *out, size_t size, unsigned i)
{
    static const char *const special[] = {"<unk>", "<s>", "</s>"};

    if (i < 3)
        snprintf(out, size, "%s", special[i]);
    else
        snprintf(out, size, "t%u", i);
}

void gen_kind_kv(struct gen_model *m, const struct gen_kind *kind)
{
    char text[16];

    gen_kv_str(m, "general.architecture", kind->arch);
    gen_kv_str(m, "general.name", "tiny");
    kind->kv(m, kind->arch);
    gen_kv_str(m, "tokenizer.ggml.model", kind == &gen_gpt2 ? "gpt2" : "llama");
    gen_kv_array(m, "tokenizer.ggml.tokens", GEN_STRING, GEN_VOCAB);
    for (unsigned i = 0; i < GEN_VOCAB; i++) {
        token_text(text, sizeof(text), i);
        gen_kv_text(m, text);
    }
    gen_kv_array(m, "tokenizer.ggml.scores", GEN_F32, GEN_VOCAB);
    for (unsigned i = 0; i < GEN_VOCAB; i++)
        gen_f32(&m->kv, -(float)i);
    gen_kv_array(m, "tokenizer.ggml.token_type", GEN_I32, GEN_VOCAB);
    for (unsigned i = 0; i < GEN_VOCAB; i++)
        gen_u32(&m->kv, i == 0 ? 2 : i < 3 ? 3 : 1);
    gen_kv_u32(m, "tokenizer.ggml.bos_token_id", 1);
    gen_kv_u32(m, "tokenizer.ggml.eos_token_id", 2);
}

void gen_kind_config(struct gen_bytes *out, const struct gen_kind *kind, const char *flags)
{
    gen_text(out, kind->config);
    if (flags[0] != '\0')
        gen_u8(out, ',');
    gen_text(out, flags);
    gen_text(out, "}\n");
}

void gen_tokenizer_json(struct gen_bytes *out)
{
    char text[16];

    gen_text(out, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[");
    for (unsigned i = 0; i < 3; i++) {
        token_text(text, sizeof(text), i);
        gen_format(out, "%s{\"id\":%u,\"content\":\"%s\",\"special\":true}", i != 0 ? "," : "", i,
                   text);
    }
    gen_text(out, "],\"normalizer\":null,\"pre_tokenizer\":null,\"post_processor\":null,"
                  "\"decoder\":null,\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\","
                  "\"vocab\":{");
    for (unsigned i = 0; i < GEN_VOCAB; i++) {
        token_text(text, sizeof(text), i);
        gen_format(out, "%s\"%s\":%u", i != 0 ? "," : "", text, i);
    }
    gen_text(out, "},\"merges\":[]}}\n");
}
