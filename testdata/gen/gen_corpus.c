#include "gen_corpus.h"
#include "gen_kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Larger inputs slow a fuzzer down and show it nothing more. */
#define MOST_BYTES 8192

static void die(const char *path)
{
    fprintf(stderr, "tenon_gen: %s: %s\n", path, strerror(errno));
    exit(1);
}

static void write_input(const char *folder, const char *target, const char *name, const void *bytes,
                        size_t n)
{
    char path[4096];
    FILE *f;

    if (n > MOST_BYTES)
        return;
    snprintf(path, sizeof(path), "%s/%s", folder, target);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        die(path);
    snprintf(path, sizeof(path), "%s/%s/%s", folder, target, name);
    f = fopen(path, "wb");
    if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        die(path);
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* JSON is read by one target and edited by another. */
static void write_json(const char *folder, const char *name, const void *bytes, size_t n)
{
    write_input(folder, "json", name, bytes, n);
    write_input(folder, "json_edit", name, bytes, n);
}

/* The header of a safetensors file is JSON of its own, whatever the payload's size. */
static void write_header(const char *folder, const char *name, const struct gen_bytes *b)
{
    uint64_t n = 0;

    if (b->n < 8)
        return;
    for (int i = 8; i-- > 0;)
        n = n << 8 | b->data[i];
    if (n <= b->n - 8)
        write_json(folder, name, b->data + 8, (size_t)n);
}

static void write_file(const char *folder, const char *id, const struct gen_file *file)
{
    const struct gen_bytes *b = &file->bytes;
    char name[512];

    if (file->kind != GEN_FILE_REGULAR)
        return;
    snprintf(name, sizeof(name), "%s-%s", id, file->name);
    if (b->n >= 4 && memcmp(b->data, "GGUF", 4) == 0) {
        write_input(folder, "gguf", name, b->data, b->n);
        write_input(folder, "gguf_write", name, b->data, b->n);
        write_input(folder, "position", name, b->data, b->n);
    } else if (ends_with(file->name, ".json")) {
        write_json(folder, name, b->data, b->n);
    } else {
        write_input(folder, "safetensors", name, b->data, b->n);
        write_header(folder, name, b);
    }
}

/* Tensor names: a first byte that chooses the family, then the name. */
static void write_names(const char *folder)
{
    static const struct gen_kind *const kinds[] = {&gen_llama, &gen_gemma, &gen_qwen2,
                                                   &gen_gpt2,  &gen_bert,  &gen_t5};
    char text[160];

    for (size_t k = 0; k < 2 * sizeof(kinds) / sizeof(kinds[0]); k++) {
        struct gen_model m = {0};

        gen_kind_tensors(&m, kinds[k / 2], k % 2 == 0, "F32", GEN_HEAD_DIFFERENT);
        for (size_t i = 0; i < m.n_tensors; i++) {
            int n = snprintf(text, sizeof(text), "%c%s", 1, m.tensors[i].name);

            write_input(folder, "names", m.tensors[i].name, text, (size_t)n);
        }
        gen_model_release(&m);
    }
}

/* Command lines: arguments, each ended by NUL. */
static void write_options(const char *folder)
{
    static const struct {
        const char *name, *args;
        size_t n;
    } lines[] = {
#define LINE(name, args) {name, args, sizeof(args)}
        LINE("long", "--output\0x\0--threads=4\0--sort\0name\0model"),
        LINE("letters", "-qvj2\0-o\0x\0--\0-q"),
        LINE("repeated", "--ids\0001,2-5\0--ids=7\0-"),
        LINE("sizes", "--max-size\0005GB\0--tolerance\0001e-3"),
        LINE("unknown", "--threds\0002"),
        LINE("bare", "-j"),
#undef LINE
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        write_input(folder, "options", lines[i].name, lines[i].args, lines[i].n);
}

/* Configs that say much about positions, for weights 32 wide with 4 heads; cut-down forms of
 * released ones. */
static void write_configs(const char *folder)
{
#define WIDTHS "\"hidden_size\":32,\"num_attention_heads\":4,\"num_key_value_heads\":2"
    static const struct {
        const char *name, *config;
    } configs[] = {
        {"llama3", "{\"model_type\":\"llama\"," WIDTHS
                   ",\"num_hidden_layers\":2,\"rope_theta\":500000.0,\"rope_scaling\":{"
                   "\"rope_type\":\"llama3\",\"factor\":8.0,\"low_freq_factor\":1.0,"
                   "\"high_freq_factor\":4.0,\"original_max_position_embeddings\":64}}"},
        {"yarn", "{\"model_type\":\"qwen2\"," WIDTHS
                 ",\"max_position_embeddings\":128,\"rope_scaling\":{\"type\":\"yarn\","
                 "\"factor\":4,\"beta_fast\":32,\"beta_slow\":1,\"mscale\":1,"
                 "\"mscale_all_dim\":0.7,\"truncate\":false}}"},
        {"longrope", "{\"model_type\":\"phi3\"," WIDTHS
                     ",\"max_position_embeddings\":4096,\"original_max_position_embeddings\":64,"
                     "\"rope_scaling\":{\"type\":\"longrope\",\"short_factor\":[1,1,1,1],"
                     "\"long_factor\":[1,2,4,8.5]}}"},
        {"dynamic", "{\"model_type\":\"llama\"," WIDTHS
                    ",\"max_position_embeddings\":16,\"rope_scaling\":{\"type\":\"dynamic\","
                    "\"factor\":2,\"alpha\":1000}}"},
        {"layers", "{\"model_type\":\"gemma3_text\"," WIDTHS
                   ",\"head_dim\":8,\"layer_types\":[\"sliding_attention\",\"full_attention\"],"
                   "\"rope_parameters\":{\"full_attention\":{\"rope_type\":\"linear\","
                   "\"factor\":8,\"rope_theta\":1e6},\"sliding_attention\":{\"rope_type\":"
                   "\"default\",\"rope_theta\":1e4}}}"},
        {"proportional", "{\"model_type\":\"gemma4_text\"," WIDTHS
                         ",\"global_head_dim\":16,\"num_hidden_layers\":6,\"rope_parameters\":{"
                         "\"full_attention\":{\"rope_type\":\"proportional\","
                         "\"partial_rotary_factor\":0.25},\"sliding_attention\":null}}"},
        {"sections",
         "{\"model_type\":\"qwen3_vl\",\"text_config\":{\"model_type\":"
         "\"qwen3_vl_text\"," WIDTHS ",\"head_dim\":8,\"rope_scaling\":{\"mrope_section\":[2,1,1],"
         "\"mrope_interleaved\":true}}}"},
        {"latent", "{\"model_type\":\"deepseek_v3\",\"hidden_size\":32,"
                   "\"num_attention_heads\":4,\"qk_rope_head_dim\":4,\"qk_nope_head_dim\":8,"
                   "\"v_head_dim\":8,\"q_lora_rank\":16,\"kv_lora_rank\":16}"},
        {"lists", "{\"model_type\":\"smollm3\"," WIDTHS
                  ",\"num_hidden_layers\":3,\"no_rope_layers\":[1,0,1],\"rope_theta\":[5,6,7],"
                  "\"partial_rotary_factors\":[0.5,1,1]}"},
        {"gpt2", "{\"model_type\":\"gpt2\",\"n_embd\":32,\"n_head\":4,\"n_positions\":64}"},
        {"roberta", "{\"model_type\":\"roberta\",\"hidden_size\":32,\"num_attention_heads\":4,"
                    "\"pad_token_id\":1,\"position_embedding_type\":\"absolute\","
                    "\"layer_norm_eps\":1e-5}"},
        {"esm", "{\"model_type\":\"esm\",\"hidden_size\":32,\"num_attention_heads\":4,"
                "\"position_embedding_type\":\"rotary\",\"token_dropout\":true,"
                "\"mask_token_id\":2}"},
        {"m2m", "{\"model_type\":\"m2m_100\",\"d_model\":32,\"scale_embedding\":true,"
                "\"pad_token_id\":1}"},
        {"alibi", "{\"model_type\":\"mpt\",\"d_model\":32,\"n_heads\":4,\"attn_config\":{"
                  "\"alibi\":true,\"alibi_bias_max\":8}}"},
    };
#undef WIDTHS

    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++)
        write_input(folder, "position", configs[i].name, configs[i].config,
                    strlen(configs[i].config));
}

void gen_corpus_write(const char *folder)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        die(folder);
    for (size_t i = 0; i < gen_n_samples; i++) {
        struct gen_files files = {0};

        gen_sample_make(&gen_samples[i], &files);
        for (size_t k = 0; k < files.n; k++)
            write_file(folder, gen_samples[i].name, &files.file[k]);
        gen_files_release(&files);
    }
    for (size_t i = 0; i < gen_n_damages; i++) {
        struct gen_files files = {0};

        gen_recipe_make(gen_damages[i].recipe, &files);
        for (size_t k = 0; k < files.n; k++)
            write_file(folder, gen_damages[i].id, &files.file[k]);
        gen_files_release(&files);
    }
    write_names(folder);
    write_options(folder);
    write_configs(folder);
}
