/* Does the library compute what the reference computes in front of the first block?
 *
 *     test_goldens FOLDER [GGUF_FOLDER]
 *
 * For each golden file of the folder the checkpoint is made in a folder of its own, opened, and
 * every matrix of the file compared. With GGUF_FOLDER that is the file that the reference converter
 * makes of it, for the models that it knows, and ggml's arithmetic. One line a model: the largest
 * difference in a row over the largest value of that row, of the input, queries and keys. */
#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_golden.h"
#include "tenon/tenon.h"

/* Relative, in float32. */
#define BOUND 1e-6

/* One model: what is wanted, and what it is called. */
struct job {
    const char *name;
    const struct gen_golden *golden;
    const struct gen_gguf *gguf; /* NULL: the checkpoint itself */
    size_t tokens;               /* that are compared */
};

struct counts {
    size_t passed, failed, exact, turned, refused;
    double worst;
};

static bool note(struct counts *counts, bool good, const char *name, const char *what)
{
    counts->passed += good;
    counts->failed += !good;
    if (!good)
        printf("FAILED %s: %s\n", name, what);
    return good;
}

static double *new_doubles(size_t n)
{
    double *values = calloc(n > 0 ? n : 1, sizeof(*values));

    if (values == NULL)
        exit(1);
    return values;
}

/* --- the two arithmetics apart from each other ---------------------------------------------- */

/* What pair `i` of `pairs` may differ by at a position, per unit: both profiles against exact
 * arithmetic, in units of the angle's float32 rounding; twice, for both members of the pair. */
static double profiles_apart(const struct gen_gguf *gguf, double position, size_t i, size_t pairs)
{
    double angle = position * pow(gguf->theta, -(double)i / (double)pairs);
    double hf = 4 + ((pairs & (pairs - 1)) != 0 ? log(gguf->theta) : 0);

    return 2 * ((hf + 2 * ((double)i + 1)) * ldexp(angle, -24) + ldexp(1, -22));
}

/* For element `e` of a head, whatever the pairing: half split or interleaved. */
static double head_bound(const struct job *job, double position, size_t e, size_t width)
{
    size_t rotary = job->gguf->rotary_dim != 0 ? job->gguf->rotary_dim : width, pairs = rotary / 2;

    if (e >= rotary)
        return 0;
    return fmax(profiles_apart(job->gguf, position, e % pairs, pairs),
                profiles_apart(job->gguf, position, e / 2, pairs));
}

static double position_of(const struct gen_golden *g, size_t token)
{
    uint64_t most = 0;

    if (g->n_streams == 0)
        return (double)token;
    for (size_t i = 0; i < g->n_streams; i++)
        most = g->positions[i][token] > most ? g->positions[i][token] : most;
    return (double)most;
}

/* Where element `e` of a row stands in the file's arrangement of rows: both halves of each of
 * `heads` side by side, 0 heads as they are. */
static size_t place_of(size_t e, unsigned heads, size_t cols)
{
    size_t width = heads != 0 ? cols / heads : cols, at = e % width;

    return heads == 0 ? e : e - at + at % (width / 2) * 2 + at / (width / 2);
}

/* --- comparisons ---------------------------------------------------------------------------- */

/* How far a matrix is from the wanted one: the largest difference in a row over the row's largest
 * value; and what of it is more than two arithmetics may differ by. */
struct apart {
    double all, beyond;
};

/* How the rows of a matrix are made up. */
struct layout {
    unsigned permuted; /* heads whose halves stand side by side; 0: none */
    size_t head_dim;   /* of rotated heads in another arithmetic; 0: the same arithmetic */
    double scale;      /* of the wanted values */
};

static void measure_row(struct apart *apart, const struct job *job, const struct gen_matrix *wanted,
                        const struct layout *layout, size_t row, const double *found)
{
    const float *from = wanted->values + row * wanted->cols;
    double largest = DBL_MIN;

    for (size_t i = 0; i < wanted->cols; i++)
        largest = fmax(largest, fabs((double)from[i]));
    for (size_t i = 0; i < wanted->cols; i++) {
        size_t at = place_of(i, layout->permuted, wanted->cols);
        double far = fabs((double)from[i] - layout->scale * found[at]) / largest, beyond = far;

        if (layout->head_dim != 0)
            beyond -= head_bound(job, position_of(job->golden, row), i % layout->head_dim,
                                 layout->head_dim);
        /* Written so that a NaN counts as far away. */
        apart->all = far <= apart->all ? apart->all : far;
        apart->beyond = beyond <= apart->beyond ? apart->beyond : beyond;
    }
}

static struct apart measure(const struct job *job, const struct gen_matrix *wanted,
                            const struct layout *layout, const double *found)
{
    struct apart apart = {0, 0};

    for (size_t row = 0; row < job->tokens; row++)
        measure_row(&apart, job, wanted, layout, row, found + row * wanted->cols);
    return apart;
}

/* In the type that the reference ran in. */
static void round_values(const struct gen_golden *g, double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = tenon_value_round(g->bfloat ? TENON_DTYPE_BF16 : TENON_DTYPE_F32, values[i]);
}

static bool same_bits(const struct gen_golden *g, const double *found, size_t tokens)
{
    for (size_t i = 0; i < tokens * g->input.cols; i++) {
        if ((double)g->input.values[i] != found[i])
            return false;
    }
    return true;
}

/* One matrix; `differs`: it must not be the same. */
static void judge(struct counts *counts, const struct job *job, const char *what,
                  const struct apart *apart, bool differs)
{
    char text[128];

    printf(" %s %.1e", what, apart->all);
    snprintf(text, sizeof(text), "%s is %.3g away", what, apart->beyond);
    note(counts, (apart->beyond <= BOUND) != differs, job->name, text);
    if (!differs && apart->beyond > counts->worst)
        counts->worst = apart->beyond;
}

static void compare_input(struct counts *counts, const struct job *job,
                          const struct tenon_input *input, const struct tenon_tokens *tokens)
{
    const struct gen_golden *g = job->golden;
    const struct layout layout = {.scale = 1};
    double *found = new_doubles(g->input.rows * g->input.cols);
    struct tenon_error err = {0};

    if (note(counts, tenon_input_width(input) == g->input.cols, job->name, "width of the input") &&
        note(counts, tenon_input_rows(input, tokens, found, &err) == TENON_OK, job->name,
             err.message)) {
        struct apart apart;

        round_values(g, found, g->input.rows * g->input.cols);
        apart = measure(job, &g->input, &layout, found);
        judge(counts, job, "input", &apart, job->gguf != NULL && job->gguf->other_input);
        if (g->lookup) {
            counts->exact++;
            note(counts, same_bits(g, found, job->tokens), job->name, "rows are not the matrix's");
        }
    }
    free(found);
}

static void judge_heads(struct counts *counts, const struct job *job, bool queries, size_t head_dim,
                        const double *found)
{
    const struct gen_golden *g = job->golden;
    struct layout layout = {.scale = 1};
    struct apart apart;

    if (queries && g->scaled)
        layout.scale = 1 / sqrt((double)head_dim);
    if (job->gguf != NULL) {
        layout.permuted = queries ? job->gguf->q_heads : job->gguf->k_heads;
        layout.head_dim = head_dim;
    }
    apart = measure(job, queries ? &g->q : &g->k, &layout, found);
    judge(counts, job, queries ? "q" : "k", &apart, job->gguf != NULL && job->gguf->other_qk);
}

static void compare_qk(struct counts *counts, const struct job *job, const struct tenon_qk *qk,
                       const struct tenon_tokens *tokens)
{
    const struct gen_golden *g = job->golden;
    struct tenon_qk_shape shape = tenon_qk_shape(qk);
    double *q = new_doubles(g->q.rows * g->q.cols), *k = new_doubles(g->k.rows * g->k.cols);
    struct tenon_error err = {0};

    if (note(counts,
             g->q.cols == (size_t)shape.heads * shape.head_dim &&
                 g->k.cols == (size_t)shape.kv_heads * shape.head_dim,
             job->name, "shape of heads") &&
        note(counts, tenon_qk_rows(qk, tokens, q, k, NULL, &err) == TENON_OK, job->name,
             err.message)) {
        judge_heads(counts, job, true, shape.head_dim, q);
        judge_heads(counts, job, false, shape.head_dim, k);
        counts->turned++;
    }
    free(q);
    free(k);
}

static void make_qk(struct counts *counts, const struct job *job, const struct tenon_model *model,
                    const struct tenon_input_options *options, const struct tenon_tokens *tokens)
{
    struct tenon_qk *qk = NULL;
    struct tenon_error err = {0};
    enum tenon_status status = tenon_qk_new(model, options, &qk, &err);

    if (job->gguf != NULL && job->gguf->no_qk) {
        note(counts, status == TENON_ERR_UNSUPPORTED_FEATURE, job->name, "queries are not refused");
        counts->refused++;
    } else if (note(counts, status == TENON_OK, job->name, err.message))
        compare_qk(counts, job, qk, tokens);
    tenon_qk_free(qk);
}

static void compare_model(struct counts *counts, const struct job *job,
                          const struct tenon_model *model, const struct tenon_tokens *tokens)
{
    const struct gen_golden *g = job->golden;
    struct tenon_input_options options;
    struct tenon_input *input = NULL;
    struct tenon_error err = {0};

    tenon_input_options_init(&options);
    options.precision = tenon_model_precision(model);
    if (g->decoder)
        options.side = TENON_PART_DECODER;
    printf("%s:", job->name);
    if (note(counts, tenon_input_new(model, &options, &input, &err) == TENON_OK, job->name,
             err.message))
        compare_input(counts, job, input, tokens);
    if (g->q.rows != 0)
        make_qk(counts, job, model, &options, tokens);
    printf("\n");
    tenon_input_free(input);
}

/* --- files ---------------------------------------------------------------------------------- */

static void run_model(struct counts *counts, const struct job *job, const char *path)
{
    const struct gen_golden *g = job->golden;
    double *positions[GEN_MAX_STREAMS] = {NULL};
    struct tenon_tokens tokens = {.n = g->n_ids, .ids = g->ids, .types = g->types};
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};

    for (size_t i = 0; i < g->n_streams; i++) {
        positions[i] = new_doubles(g->n_ids);
        for (size_t token = 0; token < g->n_ids; token++)
            positions[i][token] = (double)g->positions[i][token];
        tokens.positions[i] = positions[i];
    }
    tokens.n_streams = g->n_streams;
    if (note(counts, tenon_model_open(path, NULL, &model, &err) == TENON_OK, job->name,
             err.message) &&
        g->n_ids != 0)
        compare_model(counts, job, model, &tokens);
    tenon_model_free(model);
    for (size_t i = 0; i < g->n_streams; i++)
        free(positions[i]);
}

/* Makes the files, opens what they are, compares. */
static void run_files(struct counts *counts, const struct job *job, struct gen_files *files)
{
    char folder[] = "goldens-XXXXXX", path[4096];

    if (note(counts, mkdtemp(folder) != NULL, job->name, "no folder for it")) {
        gen_files_write(files, folder, path, sizeof(path));
        run_model(counts, job, path);
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
    struct job job = {.name = name, .golden = &g};
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    gen_golden_read(&g, path);
    job.tokens = g.n_ids;
    if (facts == NULL)
        gen_golden_folder(&files, &g);
    else {
        snprintf(path, sizeof(path), "%s/%s", facts, name);
        gen_golden_gguf_read(&gguf, &g, path);
        gen_write_gguf(gen_files_add(&files, "model.gguf"), &gguf.model, 3, 32);
        job.gguf = &gguf;
        job.tokens = gguf.tokens < job.tokens ? gguf.tokens : job.tokens;
    }
    run_files(counts, &job, &files);
    if (facts != NULL)
        gen_golden_gguf_release(&gguf);
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
    printf("%d models: %zu inputs are pure lookups, bit for bit; queries and keys of %zu, refused "
           "of %zu; the farthest value %.1e of its row\n%zu passed, %zu failed\n",
           n, counts.exact, counts.turned, counts.refused, counts.worst, counts.passed,
           counts.failed);
    return counts.failed != 0 || n <= 0;
}
