/* Does the library compute what the reference computes in front of the first block?
 *
 *     test_goldens FOLDER
 *
 * For each golden file of the folder the checkpoint is made in a folder of its own, opened, and
 * every matrix of the file compared. One line a model: the largest difference in a row over the
 * largest value of that row, for each stage. */
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

static void run_golden(struct counts *counts, const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash == NULL ? file : slash + 1;
    char folder[] = "goldens-XXXXXX", path[4096];
    struct gen_files files = {0};
    struct gen_golden g;

    gen_golden_read(&g, file);
    gen_golden_folder(&files, &g);
    if (note(counts, mkdtemp(folder) != NULL, name, "no folder for it")) {
        gen_files_write(&files, folder, path, sizeof(path));
        compare_model(counts, name, &g, path);
        gen_files_remove(&files, folder);
        remove(folder);
    }
    gen_files_release(&files);
    gen_golden_release(&g);
}

static int is_golden(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);

    return n > 4 && strcmp(entry->d_name + n - 4, ".txt") == 0;
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    struct dirent **entries = NULL;
    int n = argc == 2 ? scandir(argv[1], &entries, is_golden, alphasort) : 0;

    for (int i = 0; i < n; i++) {
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", argv[1], entries[i]->d_name);
        run_golden(&counts, path);
        free(entries[i]);
    }
    free(entries);
    printf("%d models, %zu pure lookups bit for bit\n%zu passed, %zu failed\n", n, counts.exact,
           counts.passed, counts.failed);
    return counts.failed != 0 || n <= 0;
}
