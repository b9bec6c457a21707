/* Writes samples, and files described by recipes (see testdata/README.md). */
#include "gen.h"

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

int main(int argc, char **argv)
{
    const struct gen_sample *sample;
    struct gen_files files = {0};

    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < gen_n_samples; i++)
            printf("%s\t%s\n", gen_samples[i].name, gen_samples[i].shows);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--all") == 0) {
        write_all(argv[2]);
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "--recipe") == 0) {
        gen_recipe_make(argv[2], &files);
        write_files(&files, argv[3]);
        return 0;
    }
    if (argc != 3) {
        fputs("usage: tenon_gen --list | --all FOLDER | --recipe TEXT OUT | NAME OUT\n", stderr);
        return 2;
    }
    sample = gen_sample_find(argv[1], strlen(argv[1]));
    if (sample == NULL)
        die("no such sample", argv[1]);
    write_sample(sample, argv[2]);
    return 0;
}
