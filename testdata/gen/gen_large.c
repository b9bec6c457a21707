#include "gen_large.h"
#include "gen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VOCABULARY 151936
#define WIDTH      1024
#define LAYERS     57 /* seven tensors each, and the vocabulary matrix: 400 */

static void check(int good, const char *path)
{
    if (good)
        return;
    fprintf(stderr, "tenon_gen: %s: %s\n", path, strerror(errno));
    exit(1);
}

/* Writes `b`, then a hole up to `size`; releases `b`. Returns the bytes before the hole. */
static uint64_t write_holey(const char *path, struct gen_bytes *b, uint64_t size)
{
    uint64_t n = b->n;
    FILE *f = fopen(path, "wb");

    check(f != NULL && fwrite(b->data, 1, b->n, f) == b->n && fclose(f) == 0, path);
    check(truncate(path, (off_t)size) == 0, path);
    gen_bytes_release(b);
    return n;
}

static void put_tensor(struct gen_bytes *b, const char *name, uint64_t rows, uint64_t *offset)
{
    gen_str(b, name);
    gen_u32(b, 2);
    gen_u64(b, WIDTH);
    gen_u64(b, rows);
    gen_u32(b, 30); /* BF16 */
    gen_u64(b, *offset);
    *offset += rows * WIDTH * 2;
}

/* An array of strings: tokens, or merges, which have a blank between two of them. */
static void put_strings(struct gen_bytes *b, const char *key, bool merges)
{
    char text[64];

    gen_str(b, key);
    gen_u32(b, GEN_ARRAY);
    gen_u32(b, GEN_STRING);
    gen_u64(b, VOCABULARY);
    for (unsigned i = 0; i < VOCABULARY; i++) {
        snprintf(text, sizeof(text), merges ? "to %u" : "token%u", i);
        gen_str(b, text);
    }
}

uint64_t gen_large_vocabulary(const char *path)
{
    static const char *const parts[] = {"attn_q",   "attn_k", "attn_v",  "attn_output",
                                        "ffn_gate", "ffn_up", "ffn_down"};
    struct gen_bytes b = {0};
    uint64_t offset = 0;
    char name[64];

    gen_text(&b, "GGUF");
    gen_u32(&b, 3);
    gen_u64(&b, 1 + LAYERS * 7);
    gen_u64(&b, 4);
    gen_str(&b, "general.architecture");
    gen_u32(&b, GEN_STRING);
    gen_str(&b, "qwen2");
    put_strings(&b, "tokenizer.ggml.tokens", false);
    gen_str(&b, "tokenizer.ggml.token_type");
    gen_u32(&b, GEN_ARRAY);
    gen_u32(&b, GEN_I32);
    gen_u64(&b, VOCABULARY);
    for (unsigned i = 0; i < VOCABULARY; i++)
        gen_u32(&b, 1);
    put_strings(&b, "tokenizer.ggml.merges", true);
    put_tensor(&b, "token_embd.weight", VOCABULARY, &offset);
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            snprintf(name, sizeof(name), "blk.%u.%s.weight", layer, parts[i]);
            put_tensor(&b, name, WIDTH, &offset);
        }
    }
    gen_align(&b, 32);
    return write_holey(path, &b, b.n + offset);
}

uint64_t gen_large_tensors(const char *path, unsigned long n)
{
    struct gen_bytes header = {0}, b = {0};

    for (unsigned long i = 0; i < n; i++)
        gen_format(&header,
                   "%c\"layers.%lu.weight\":{\"dtype\":\"U8\",\"shape\":[1],"
                   "\"data_offsets\":[%lu,%lu]}",
                   i != 0 ? ',' : '{', i, i, i + 1);
    gen_u8(&header, '}');
    gen_u64(&b, header.n);
    gen_raw(&b, header.data, header.n);
    gen_bytes_release(&header);
    return write_holey(path, &b, b.n + n);
}

/* A mixture of experts: the layers have 256 with three matrices each. */
static const char *const expert_parts[] = {"gate", "up", "down"};

#define EXPERT_LAYER(i) ((i) / 768)
#define EXPERT(i)       ((i) / 3 % 256)
#define EXPERT_PART(i)  (expert_parts[(i) % 3])

#define EXPERT_ROWS  64
#define EXPERT_WIDTH 32
#define EXPERT_BYTES (EXPERT_ROWS * EXPERT_WIDTH * 2)

static void put_expert_name(struct gen_bytes *b, unsigned long i)
{
    gen_format(b, "model.layers.%lu.mlp.experts.%lu.%s_proj.weight", EXPERT_LAYER(i), EXPERT(i),
               EXPERT_PART(i));
}

static uint64_t write_experts(const char *path, unsigned long first, unsigned long n)
{
    struct gen_bytes header = {0}, b = {0};

    for (unsigned long i = 0; i < n; i++) {
        gen_text(&header, i != 0 ? ",\"" : "{\"");
        put_expert_name(&header, first + i);
        gen_format(&header, "\":{\"dtype\":\"BF16\",\"shape\":[%d,%d],\"data_offsets\":[%lu,%lu]}",
                   EXPERT_ROWS, EXPERT_WIDTH, i * EXPERT_BYTES, (i + 1) * EXPERT_BYTES);
    }
    gen_u8(&header, '}');
    gen_u64(&b, header.n);
    gen_raw(&b, header.data, header.n);
    gen_bytes_release(&header);
    return write_holey(path, &b, b.n + n * EXPERT_BYTES);
}

uint64_t gen_large_experts(const char *path, unsigned long n)
{
    return write_experts(path, 0, n);
}

uint64_t gen_large_records(const char *path, unsigned long n)
{
    struct gen_bytes b = {0}, name = {0};

    gen_text(&b, "GGUF");
    gen_u32(&b, 3);
    gen_u64(&b, n);
    gen_u64(&b, 1);
    gen_str(&b, "general.architecture");
    gen_u32(&b, GEN_STRING);
    gen_str(&b, "llama");
    for (unsigned long i = 0; i < n; i++) {
        name.n = 0;
        gen_format(&name, "blk.%lu.ffn.%lu.%s.weight", EXPERT_LAYER(i), EXPERT(i), EXPERT_PART(i));
        gen_u64(&b, name.n);
        gen_raw(&b, name.data, name.n);
        gen_u32(&b, 2);
        gen_u64(&b, EXPERT_WIDTH);
        gen_u64(&b, EXPERT_ROWS);
        gen_u32(&b, 30); /* BF16 */
        gen_u64(&b, i * EXPERT_BYTES);
    }
    gen_bytes_release(&name);
    gen_align(&b, 32);
    return write_holey(path, &b, b.n + n * EXPERT_BYTES);
}

uint64_t gen_large_folder(const char *path, unsigned long n, unsigned long n_shards)
{
    struct gen_bytes index = {0};
    uint64_t headers = 0;
    char file[4096];

    check(mkdir(path, 0777) == 0, path);
    gen_format(&index, "{\"metadata\":{\"total_size\":%lu},\"weight_map\":{", n * EXPERT_BYTES);
    for (unsigned long s = 0; s < n_shards; s++) {
        unsigned long first = n / n_shards * s, end = s + 1 < n_shards ? n / n_shards * (s + 1) : n;

        snprintf(file, sizeof(file), "%s/model-%05lu-of-%05lu.safetensors", path, s + 1, n_shards);
        headers += write_experts(file, first, end - first);
        for (unsigned long i = first; i < end; i++) {
            gen_text(&index, i != 0 ? ",\"" : "\"");
            put_expert_name(&index, i);
            gen_format(&index, "\":\"%s\"", file + strlen(path) + 1);
        }
    }
    gen_text(&index, "}}");
    snprintf(file, sizeof(file), "%s/model.safetensors.index.json", path);
    return headers + write_holey(file, &index, index.n);
}

uint64_t gen_large_sparse(const char *path)
{
    const uint64_t rows = UINT64_C(100000000000) / (2 * WIDTH);
    struct gen_bytes b = {0};
    uint64_t offset = 0;

    gen_text(&b, "GGUF");
    gen_u32(&b, 3);
    gen_u64(&b, 1);
    gen_u64(&b, 1);
    gen_str(&b, "general.architecture");
    gen_u32(&b, GEN_STRING);
    gen_str(&b, "llama");
    put_tensor(&b, "token_embd.weight", rows, &offset);
    gen_align(&b, 32);
    return write_holey(path, &b, b.n + offset);
}

/* Random bits with the exponent of numbers between 2^-15 and 2: what weights look like. */
static void fill_bf16(unsigned char *bytes, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t bits = gen_random(state);

        bits = (bits & UINT64_C(0x87ff87ff87ff87ff)) | UINT64_C(0x3800380038003800);
        memcpy(bytes + i, &bits, 8);
    }
}

uint64_t gen_large_bf16(const char *path, unsigned long mib)
{
    const uint64_t quarter = (uint64_t)mib << 18;
    static unsigned char piece[1 << 20];
    struct gen_bytes header = {0}, b = {0};
    uint64_t state = 1, n;
    FILE *f;

    for (uint64_t i = 0; i < 4; i++)
        gen_format(&header,
                   "%c\"w%llu\":{\"dtype\":\"BF16\",\"shape\":[%llu,512],"
                   "\"data_offsets\":[%llu,%llu]}",
                   i != 0 ? ',' : '{', (unsigned long long)i, (unsigned long long)quarter / 1024,
                   (unsigned long long)(i * quarter), (unsigned long long)((i + 1) * quarter));
    gen_u8(&header, '}');
    gen_fill(&header, ' ', (8 - header.n % 8) % 8);
    gen_u64(&b, header.n);
    gen_raw(&b, header.data, header.n);
    gen_bytes_release(&header);
    n = write_holey(path, &b, b.n);
    f = fopen(path, "ab");
    check(f != NULL, path);
    for (unsigned long i = 0; i < mib; i++) {
        fill_bf16(piece, sizeof(piece), &state);
        check(fwrite(piece, 1, sizeof(piece), f) == sizeof(piece), path);
    }
    check(fclose(f) == 0, path);
    return n;
}
