/* Does the library compute what the reference computes in front of the first block?
 *
 *     test_goldens FOLDER [GGUF_FOLDER]
 *
 * For each golden file of the folder the checkpoint is made in a folder of its own, opened, and
 * every matrix of the file compared. With GGUF_FOLDER that is the file that the reference converter
 * makes of it, for the models that it knows. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_golden.h"
#include "tenon/tenon.h"

struct counts {
    size_t passed, failed, exact;
};

static bool note(struct counts *counts, bool good, const char *name, const char *what)
{
    counts->passed += good;
    counts->failed += !good;
    if (!good)
        printf("FAILED %s: %s\n", name, what);
    return good;
}

static void compare_rows(struct counts *counts, const char *name, const struct gen_golden *g,
                         const struct tenon_model *model)
{
    struct tenon_error err = {0};
    struct tenon_embed embed;
    float *rows = calloc(g->input.rows * g->input.cols, sizeof(*rows));
    bool good = rows != NULL && tenon_embed_init(&embed, model, &err) == TENON_OK &&
                embed.cols == g->input.cols && g->n_ids == g->input.rows &&
                tenon_embed_rows(&embed, g->ids, g->n_ids, rows, &err) == TENON_OK;

    if (note(counts, good, name, err.message)) {
        good = memcmp(rows, g->input.values, g->input.rows * g->input.cols * sizeof(*rows)) == 0;
        note(counts, good, name, "rows are not those of the matrix");
        counts->exact += good;
    }
    free(rows);
}

static void compare_model(struct counts *counts, const char *name, const struct gen_golden *g,
                          const char *path)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};

    if (note(counts, tenon_model_open(path, NULL, &model, &err) == TENON_OK, name, err.message) &&
        g->lookup)
        compare_rows(counts, name, g, model);
    tenon_model_free(model);
}

/* Makes the files, opens what they are, compares. */
static void compare_files(struct counts *counts, const char *name, const struct gen_golden *g,
                          struct gen_files *files)
{
    char folder[] = "goldens-XXXXXX", path[4096];

    if (note(counts, mkdtemp(folder) != NULL, name, "no folder for it")) {
        gen_files_write(files, folder, path, sizeof(path));
        compare_model(counts, name, g, path);
        gen_files_remove(files, folder);
        remove(folder);
    }
    gen_files_release(files);
}

/* `facts` is the folder of the facts about its GGUF form, or NULL for the checkpoint itself. */
static void run_golden(struct counts *counts, const char *folder, const char *facts,
                       const char *name)
{
    struct gen_files files = {0};
    struct gen_golden g;
    struct gen_gguf gguf;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    gen_golden_read(&g, path);
    if (facts == NULL)
        gen_golden_folder(&files, &g);
    else {
        snprintf(path, sizeof(path), "%s/%s", facts, name);
        gen_golden_gguf_read(&gguf, &g, path);
        gen_write_gguf(gen_files_add(&files, "model.gguf"), &gguf.model, 3, 32);
        gen_golden_gguf_release(&gguf);
    }
    compare_files(counts, name, &g, &files);
    gen_golden_release(&g);
}

static int is_golden(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);

    return n > 4 && strcmp(entry->d_name + n - 4, ".txt") == 0;
}

int main(int argc, char **argv)
{
    const char *facts = argc > 2 ? argv[2] : NULL;
    struct counts counts = {0};
    struct dirent **entries = NULL;
    int n = argc > 1 ? scandir(argv[argc - 1], &entries, is_golden, alphasort) : 0;

    for (int i = 0; i < n; i++) {
        run_golden(&counts, argv[1], facts, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    printf("%d models, %zu pure lookups bit for bit\n%zu passed, %zu failed\n", n, counts.exact,
           counts.passed, counts.failed);
    return counts.failed != 0 || n <= 0;
}
