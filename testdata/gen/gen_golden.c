/* Reads the files of testdata/golden; their form is in the README there. */
#include "gen_golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_lines.h"

static uint64_t *take_numbers(const struct gen_lines *r, char *rest, size_t *n)
{
    uint64_t *numbers = gen_lines_must(malloc((strlen(rest) / 2 + 1) * sizeof(*numbers)), r->path);

    *n = 0;
    for (char *word; (word = gen_word_take(&rest)) != NULL;)
        numbers[(*n)++] = strtoull(word, NULL, 10);
    return numbers;
}

static void take_matrix(struct gen_lines *r, char *rest, struct gen_matrix *m)
{
    m->rows = strtoull(rest, &rest, 10);
    m->cols = strtoull(rest, &rest, 10);
    m->values = gen_lines_must(calloc(m->rows * m->cols, sizeof(*m->values)), r->path);
    for (size_t row = 0; row < m->rows; row++) {
        char *line = gen_line_take(r);

        for (size_t col = 0; col < m->cols; col++) {
            char *word = line == NULL ? NULL : gen_word_take(&line);

            if (word == NULL)
                gen_lines_die(r->path, "a matrix is cut");
            m->values[row * m->cols + col] = strtof(word, NULL);
        }
    }
}

static uint64_t seed_of(const char *name)
{
    uint64_t seed = 1469598103934665603u;

    for (; *name != '\0'; name++)
        seed = (seed ^ (unsigned char)*name) * 1099511628211u;
    return seed;
}

void gen_golden_fill(struct gen_tensor *t)
{
    gen_tensor_values(t, seed_of(t->name), 1);
}

static void take_tensor(const struct gen_lines *r, char *rest, struct gen_model *model)
{
    const char *name = gen_word_need(r, &rest), *dtype = gen_word_need(r, &rest);
    uint64_t dims[GEN_MAX_DIMS];
    unsigned n_dims = gen_shape_read(rest, dims);

    gen_golden_fill(gen_tensor_add(model, name, dtype, n_dims, dims));
}

/* The lines with one thing each; false for a word that is none of them. */
static bool take_input(struct gen_lines *r, struct gen_golden *g, const char *word, char *rest)
{
    size_t n;

    if (strcmp(word, "ids") == 0)
        g->ids = take_numbers(r, rest, &g->n_ids);
    else if (strcmp(word, "types") == 0)
        g->types = take_numbers(r, rest, &n);
    else if (strcmp(word, "positions") == 0 && g->n_streams < GEN_MAX_STREAMS)
        g->positions[g->n_streams++] = take_numbers(r, rest, &n);
    else if (strcmp(word, "compute") == 0)
        g->bfloat = strcmp(rest, "BF16") == 0;
    else if (strcmp(word, "side") == 0)
        g->decoder = strcmp(rest, "decoder") == 0;
    else if (strcmp(word, "pixels") == 0) {
        for (int i = 0; i < 3; i++)
            g->pixels[i] = strtoull(rest, &rest, 10);
    } else
        return false;
    return true;
}

static bool take_output(struct gen_lines *r, struct gen_golden *g, const char *word, char *rest)
{
    if (strcmp(word, "input") == 0)
        take_matrix(r, rest, &g->input);
    else if (strcmp(word, "q") == 0)
        take_matrix(r, rest, &g->q);
    else if (strcmp(word, "k") == 0)
        take_matrix(r, rest, &g->k);
    else if (strcmp(word, "lookup") == 0)
        g->lookup = true;
    else if (strcmp(word, "scaled") == 0)
        g->scaled = true;
    else
        return false;
    return true;
}

void gen_golden_read(struct gen_golden *g, const char *path)
{
    struct gen_lines r;
    bool ended = false;

    *g = (struct gen_golden){0};
    gen_lines_open(&r, path);
    for (char *rest; !ended && (rest = gen_line_take(&r)) != NULL;) {
        const char *word = gen_word_take(&rest);

        if (word == NULL)
            gen_lines_die(path, "an empty line");
        if (strcmp(word, "end") == 0)
            ended = true;
        else if (strcmp(word, "class") == 0)
            snprintf(g->class_name, sizeof(g->class_name), "%s", rest);
        else if (strcmp(word, "config") == 0)
            g->config = gen_lines_must(strdup(rest), path);
        else if (strcmp(word, "tensor") == 0)
            take_tensor(&r, rest, &g->model);
        else if (!take_input(&r, g, word, rest) && !take_output(&r, g, word, rest))
            gen_lines_die(path, "a line of no known kind");
    }
    if (!ended || g->config == NULL || g->input.rows == 0)
        gen_lines_die(path, "something is missing");
    gen_lines_release(&r);
}

void gen_golden_release(struct gen_golden *g)
{
    gen_model_release(&g->model);
    free(g->config);
    free(g->ids);
    free(g->types);
    for (size_t i = 0; i < g->n_streams; i++)
        free(g->positions[i]);
    free(g->input.values);
    free(g->q.values);
    free(g->k.values);
    *g = (struct gen_golden){0};
}

void gen_golden_folder(struct gen_files *out, const struct gen_golden *g)
{
    out->folder = true;
    gen_text(gen_files_add(out, "config.json"), g->config);
    gen_write_safetensors(gen_files_add(out, "model.safetensors"), &g->model, 0, g->model.n_tensors,
                          "{\"format\":\"pt\"}");
}

float *gen_golden_image(const struct gen_golden *g)
{
    uint64_t n = g->pixels[0] * g->pixels[1] * g->pixels[2];
    float *image = gen_lines_must(malloc((size_t)n * sizeof(*image)), "pixels");

    for (uint64_t i = 0; i < n; i++)
        image[i] = gen_value(seed_of("pixel_values"), i);
    return image;
}
