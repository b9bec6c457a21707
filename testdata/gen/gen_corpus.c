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
}
