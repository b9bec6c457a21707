/* Writes samples, and files described by recipes (see testdata/README.md). */
#include "gen.h"
#include "gen_corpus.h"
#include "gen_golden.h"
#include "gen_large.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void die(const char *what, const char *path)
{
    fprintf(stderr, "tenon_gen: %s: %s\n", path, what);
    exit(1);
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        die(strerror(errno), path);
}

/* A file at `path`, or a folder there. */
static void write_files(struct gen_files *files, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char folder[4096] = ".", made[4096];

    if (files->folder) {
        make_folder(path);
        gen_files_write(files, path, made, sizeof(made));
    } else {
        if ((size_t)(name - path) >= sizeof(folder) || strlen(name) >= sizeof(files->file[0].name))
            die("path too long", path);
        if (slash != NULL)
            snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path);
        strcpy(files->file[0].name, name);
        gen_files_write(files, folder, made, sizeof(made));
    }
    gen_files_release(files);
}

static void write_sample(const struct gen_sample *sample, const char *path)
{
    struct gen_files files = {0};

    gen_sample_make(sample, &files);
    write_files(&files, path);
}

/* FOLDER/NAME for folders, else FOLDER/NAME with the ending of the format for its last part. */
static void write_all(const char *folder)
{
    char path[4096];

    make_folder(folder);
    for (size_t i = 0; i < gen_n_samples; i++) {
        const struct gen_sample *sample = &gen_samples[i];
        const char *ending = strrchr(sample->name, '_');
        int n = sample->folder ? snprintf(path, sizeof(path), "%s/%s", folder, sample->name)
                               : snprintf(path, sizeof(path), "%s/%.*s.%s", folder,
                                          (int)(ending - sample->name), sample->name, ending + 1);

        if (n < 0 || (size_t)n >= sizeof(path))
            die("path too long", folder);
        write_sample(sample, path);
    }
}

static const struct gen_sample *need_sample(const char *name)
{
    const struct gen_sample *sample = gen_sample_find(name, strlen(name));

    if (sample == NULL)
        die("no such sample", name);
    return sample;
}

static void list_samples(char **args)
{
    (void)args;
    for (size_t i = 0; i < gen_n_samples; i++)
        printf("%s\t%s\n", gen_samples[i].name, gen_samples[i].shows);
}

static void write_everything(char **args)
{
    write_all(args[0]);
}

static void write_corpus(char **args)
{
    gen_corpus_write(args[0]);
}

static void write_recipe(char **args)
{
    struct gen_files files = {0};

    gen_recipe_make(args[0], &files);
    write_files(&files, args[1]);
}

static void write_damage(char **args)
{
    const struct gen_damage *damage = gen_damage_find(args[0]);
    struct gen_files files = {0};

    if (damage == NULL)
        die("no such row", args[0]);
    gen_recipe_make(damage->recipe, &files);
    write_files(&files, args[1]);
}

/* Files of hundreds of MiB, for benchmarks. */
static void write_large(char **args)
{
    if (strcmp(args[0], "vocabulary") == 0)
        gen_large_vocabulary(args[1]);
    else if (strcmp(args[0], "tensors") == 0)
        gen_large_tensors(args[1], 1000000);
    else if (strcmp(args[0], "experts") == 0)
        gen_large_experts(args[1], 800000);
    else if (strcmp(args[0], "records") == 0)
        gen_large_records(args[1], 1000000);
    else if (strcmp(args[0], "folder") == 0)
        gen_large_folder(args[1], 1000000, 8);
    else if (strcmp(args[0], "sparse") == 0)
        gen_large_sparse(args[1]);
    else if (strcmp(args[0], "bf16") == 0)
        gen_large_bf16(args[1], 1024);
    else
        die("vocabulary, tensors, experts, records, folder, sparse or bf16 expected", args[0]);
}

static void write_named(char **args)
{
    write_sample(need_sample(args[0]), args[1]);
}

static void write_golden(char **args)
{
    struct gen_files files = {0};
    struct gen_golden golden;

    gen_golden_read(&golden, args[0]);
    gen_golden_folder(&files, &golden);
    write_files(&files, args[1]);
    gen_golden_release(&golden);
}

static void write_golden_gguf(char **args)
{
    struct gen_files files = {0};
    struct gen_golden golden;
    struct gen_gguf gguf;

    gen_golden_read(&golden, args[0]);
    gen_golden_gguf_read(&gguf, &golden, args[1]);
    gen_write_gguf(gen_files_add(&files, "model.gguf"), &gguf.model, 3, 32);
    write_files(&files, args[2]);
    gen_golden_gguf_release(&gguf);
    gen_golden_release(&golden);
}

static const struct {
    const char *name; /* NULL: without a verb */
    int n_args;
    const char *args;
    void (*run)(char **args);
} verbs[] = {
    {"--all", 1, "FOLDER", write_everything},
    {"--corpus", 1, "FOLDER", write_corpus},
    {"--damage", 2, "ID OUT", write_damage},
    {"--large", 2, "KIND OUT", write_large},
    {"--golden", 2, "FILE OUT", write_golden},
    {"--golden-gguf", 3, "FILE FACTS OUT", write_golden_gguf},
    {"--list", 0, "", list_samples},
    {"--recipe", 2, "TEXT OUT", write_recipe},
    {NULL, 2, "NAME OUT", write_named},
};

int main(int argc, char **argv)
{
    const size_t n = sizeof(verbs) / sizeof(verbs[0]);

    for (size_t i = 0; i < n; i++) {
        int skip = verbs[i].name != NULL ? 2 : 1;

        if (argc == skip + verbs[i].n_args && (skip == 1 || strcmp(argv[1], verbs[i].name) == 0)) {
            verbs[i].run(argv + skip);
            return 0;
        }
    }
    fputs("usage:\n", stderr);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "  tenon_gen %s %s\n", verbs[i].name != NULL ? verbs[i].name : "",
                verbs[i].args);
    return 2;
}
