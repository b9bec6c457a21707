/* What enters the first block of real models, against testdata/golden.
 *
 *     test_real_inputs GOLDEN_FOLDER
 *
 * Skipped without TENON_MODELS_DIR. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_lines.h"
#include "tenon/tenon.h"

#define MOST 512

struct counts {
    size_t sentences, rows, values, failed;
    double worst;
};

struct opened {
    struct tenon_model *model;
    struct tenon_input *input;
    size_t width;
};

static void close_model(struct opened *m)
{
    tenon_input_free(m->input);
    tenon_model_free(m->model);
    *m = (struct opened){0};
}

static bool open_model(struct opened *m, const char *folder, const char *name)
{
    struct tenon_input_options options;
    struct tenon_error err = {0};
    char path[4096];

    *m = (struct opened){0};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (tenon_model_open(path, NULL, &m->model, &err) == TENON_OK) {
        tenon_input_options_init(&options);
        options.precision = tenon_model_precision(m->model);
        if (tenon_input_new(m->model, &options, &m->input, &err) == TENON_OK) {
            m->width = tenon_input_width(m->input);
            return true;
        }
    }
    printf("%s: %s\n", path, err.message);
    return false;
}

/* A golden row: its largest value, then columns and their values. */
static void judge_row(struct counts *counts, const double *row, size_t width, char *rest)
{
    double largest = strtod(gen_word_take(&rest), NULL);

    counts->rows++;
    for (char *word; (word = gen_word_take(&rest)) != NULL;) {
        char *colon;
        size_t column = strtoul(word, &colon, 10);
        double wanted = strtod(colon + 1, NULL), apart;

        apart = column < width ? fabs(row[column] - wanted) / largest : 1;
        counts->values++;
        counts->worst = apart <= counts->worst ? counts->worst : apart;
        if (!(apart <= 1e-6)) {
            counts->failed++;
            printf("column %zu is %.9g instead of %.9g\n", column, row[column], wanted);
        }
    }
}

/* Sentence by sentence: ids, then a row for each. */
static void compare_minilm(struct counts *counts, const struct opened *m, struct gen_lines *lines)
{
    uint64_t ids[MOST];
    double *rows = calloc(MOST * m->width, sizeof(*rows));
    struct tenon_error err = {0};
    size_t at = 0;

    for (char *rest; rows != NULL && (rest = gen_line_take(lines)) != NULL;) {
        const char *word = gen_word_need(lines, &rest);

        if (strcmp(word, "ids") == 0) {
            struct tenon_tokens tokens = {.ids = ids};

            for (char *id; tokens.n < MOST && (id = gen_word_take(&rest)) != NULL;)
                ids[tokens.n++] = strtoull(id, NULL, 10);
            if (tenon_input_rows(m->input, &tokens, rows, &err) != TENON_OK) {
                counts->failed++;
                printf("%s\n", err.message);
            }
            counts->sentences++;
            at = 0;
        } else if (strcmp(word, "row") == 0 && at < MOST)
            judge_row(counts, rows + at++ * m->width, m->width, rest);
    }
    free(rows);
}

static uint64_t hash_row(const double *row, size_t width)
{
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < width; i++) {
        float value = (float)row[i];
        uint32_t bits;

        memcpy(&bits, &value, sizeof(bits));
        for (unsigned k = 0; k < 32; k += 8)
            hash = (hash ^ (bits >> k & 0xff)) * 1099511628211u;
    }
    return hash;
}

static void compare_gemma(struct counts *counts, const struct opened *m, struct gen_lines *lines)
{
    double *row = calloc(m->width, sizeof(*row));
    struct tenon_error err = {0};

    for (char *rest; row != NULL && (rest = gen_line_take(lines)) != NULL;) {
        if (strcmp(gen_word_need(lines, &rest), "id") == 0) {
            uint64_t id = strtoull(gen_word_need(lines, &rest), NULL, 10);
            uint64_t wanted = strtoull(gen_word_need(lines, &rest), NULL, 16);
            struct tenon_tokens tokens = {.n = 1, .ids = &id};

            counts->rows++;
            if (tenon_input_rows(m->input, &tokens, row, &err) != TENON_OK ||
                hash_row(row, m->width) != wanted) {
                counts->failed++;
                printf("row of id %llu begins with %.9g instead of %s %s\n", (unsigned long long)id,
                       row[0], rest, err.message);
            }
        }
    }
    free(row);
}

static bool run(struct counts *counts, const char *golden, const char *models, const char *model,
                void (*compare)(struct counts *, const struct opened *, struct gen_lines *))
{
    struct gen_lines lines;
    struct opened opened;
    bool good = open_model(&opened, models, model);

    *counts = (struct counts){0};
    gen_lines_open(&lines, golden);
    if (good)
        compare(counts, &opened, &lines);
    gen_lines_release(&lines);
    close_model(&opened);
    return good && counts->failed == 0 && counts->rows > 0;
}

int main(int argc, char **argv)
{
    const char *models = getenv("TENON_MODELS_DIR");
    struct counts counts;
    char path[4096];
    bool good;

    if (argc != 2)
        return 2;
    if (models == NULL) {
        printf("TENON_MODELS_DIR is not set\n");
        return 77;
    }
    snprintf(path, sizeof(path), "%s/minilm.txt", argv[1]);
    good = run(&counts, path, models, "all-minilm-l6-v2", compare_minilm);
    printf("MiniLM: %zu sentences, %zu tokens, %zu values, the farthest %.1e of its row\n",
           counts.sentences, counts.rows, counts.values, counts.worst);
    snprintf(path, sizeof(path), "%s/gemma.txt", argv[1]);
    good = run(&counts, path, models, "gemma-3-270m-q4_k_m.gguf", compare_gemma) && good;
    printf("Gemma: %zu scaled rows, %zu of them not bit for bit\n", counts.rows, counts.failed);
    return good ? 0 : 1;
}
