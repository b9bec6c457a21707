/* Vision towers against transformers: `test_tower FOLDER` takes those golden files of the folder
 * that are about pictures, makes their checkpoints (and of CLIP and SigLIP the GGUF files that
 * llama.cpp calls mmproj), and compares what enters the first block. One line a model: the largest
 * difference in a row over the largest value of that row. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_golden.h"
#include "tenon/tenon.h"

#define BOUND 1e-6

static size_t passed, failed;

static bool note(bool good, const char *name, const char *what)
{
    passed += good;
    failed += !good;
    if (!good)
        printf("FAILED %s: %s\n", name, what);
    return good;
}

/* The largest difference in a row over the largest value of it. */
static double compare_rows(const struct gen_matrix *wanted, const double *rows)
{
    double worst = 0;

    for (size_t r = 0; r < wanted->rows; r++) {
        double largest = 0, apart = 0;

        for (size_t c = 0; c < wanted->cols; c++) {
            double value = (double)wanted->values[r * wanted->cols + c];

            largest = fmax(largest, fabs(value));
            apart = fmax(apart, fabs(value - rows[r * wanted->cols + c]));
        }
        worst = fmax(worst, largest > 0 ? apart / largest : apart);
    }
    return worst;
}

static void compare_model(const char *name, const struct gen_golden *g, const char *path)
{
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_tower *tower = NULL;
    float *image = gen_golden_image(g);
    const struct tenon_tower_picture picture = {image, (uint32_t)g->pixels[1],
                                                (uint32_t)g->pixels[2]};
    uint64_t n = 0;
    double *rows = NULL, worst;

    if (!note(tenon_model_open(path, NULL, &model, &err) == TENON_OK &&
                  tenon_tower_new(model, TENON_PRECISION_HF, &tower, &err) == TENON_OK &&
                  tenon_tower_tokens(tower, &picture, &n, &err) == TENON_OK,
              name, err.message))
        goto out;
    if (!note(n == g->input.rows && tenon_tower_shape(tower).width == g->input.cols, name,
              "another shape"))
        goto out;
    rows = calloc(g->input.rows * g->input.cols + 1, sizeof(*rows));
    if (!note(rows != NULL && tenon_tower_rows(tower, &picture, rows, &err) == TENON_OK, name,
              err.message))
        goto out;
    worst = compare_rows(&g->input, rows);
    printf("%-36s %4zu tokens of %zu, %.2g apart\n", name, g->input.rows, g->input.cols, worst);
    note(worst <= BOUND, name, "further apart than 1e-6");
out:
    free(rows);
    free(image);
    tenon_tower_free(tower);
    tenon_model_free(model);
}

/* The names of a tower's first tensors in HF folders and in GGUF files. */
static const char *const renamed[][2] = {
    {"vision_model.embeddings.class_embedding", "v.class_embd"},
    {"vision_model.embeddings.patch_embedding.weight", "v.patch_embd.weight"},
    {"vision_model.embeddings.patch_embedding.bias", "v.patch_embd.bias"},
    {"vision_model.embeddings.position_embedding.weight", "v.position_embd.weight"},
    {"vision_model.pre_layrnorm.weight", "v.pre_ln.weight"},
    {"vision_model.pre_layrnorm.bias", "v.pre_ln.bias"},
};

/* The same tower as a GGUF file; false for towers that such files do not hold. */
static bool make_gguf(const struct gen_golden *g, struct gen_files *files)
{
    struct gen_model model = {0};

    gen_kv_str(&model, "general.architecture", "clip");
    gen_kv_bool(&model, "clip.has_vision_encoder", true);
    gen_kv_f32(&model, "clip.vision.attention.layer_norm_epsilon",
               strstr(g->config, "siglip") != NULL ? 1e-6f : 1e-5f);
    for (size_t i = 0; i < g->model.n_tensors; i++)
        for (size_t k = 0; k < sizeof(renamed) / sizeof(renamed[0]); k++) {
            const struct gen_tensor *from = &g->model.tensors[i];
            struct gen_tensor *to;

            if (strcmp(from->name, renamed[k][0]) != 0)
                continue;
            to = gen_tensor_add(&model, renamed[k][1], from->dtype->name, from->n_dims, from->dims);
            gen_raw(&to->data, from->data.data, from->data.n);
        }
    if (model.n_tensors > 0)
        gen_write_gguf(gen_files_add(files, "mmproj.gguf"), &model, 3, 32);
    gen_model_release(&model);
    return files->n > 0;
}

/* Writes the files into a folder of their own, compares, removes them. */
static void compare_files(const char *name, const struct gen_golden *g, struct gen_files *files)
{
    char path[4096], place[] = "tower-XXXXXX";

    if (note(mkdtemp(place) != NULL, name, "no folder for it")) {
        gen_files_write(files, place, path, sizeof(path));
        compare_model(name, g, path);
        gen_files_remove(files, place);
        remove(place);
    }
    gen_files_release(files);
}

static bool run_golden(const char *folder, const char *name)
{
    struct gen_golden g;
    struct gen_files files = {0}, gguf = {0};
    char path[4096];
    bool picture;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    gen_golden_read(&g, path);
    picture = g.n_ids == 0;
    if (picture) {
        gen_golden_folder(&files, &g);
        compare_files(name, &g, &files);
    }
    if (picture && make_gguf(&g, &gguf)) {
        snprintf(path, sizeof(path), "%s as GGUF", name);
        compare_files(path, &g, &gguf);
    }
    gen_golden_release(&g);
    return picture;
}

static int is_golden(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);

    return n > 4 && strcmp(entry->d_name + n - 4, ".txt") == 0;
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    int n = argc > 1 ? scandir(argv[1], &entries, is_golden, alphasort) : 0, pictures = 0;

    for (int i = 0; i < n; i++) {
        pictures += run_golden(argv[1], entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    printf("%d towers\n%zu passed, %zu failed\n", pictures, passed, failed);
    return failed != 0 || pictures == 0;
}
