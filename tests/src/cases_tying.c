/* Golden cases: what tying saves, and how two matrices compare. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model_build.h"
#include "position_cases.h"
#include "source.h"
#include "tenon/layer.h"
#include "tenon/tying.h"

#define INPUT  "model.embed_tokens.weight"
#define OUTPUT "lm_head.weight"

static struct tenon_tensor tensor_of(const char *name, enum tenon_dtype dtype, const uint64_t *dims,
                                     uint32_t n_dims)
{
    return (struct tenon_tensor){
        .name = {name, strlen(name)}, .dims = dims, .n_dims = n_dims, .dtype = (uint8_t)dtype};
}

/* --- tying: models of which only the shapes count, in a file without a single block --- */

struct shapes {
    uint64_t rows, cols; /* of the matrix */
    uint64_t others;     /* parameters beside the one or two matrices */
    bool tied;
};

static enum tenon_status open_empty(uint64_t bytes, struct tenon_source **out,
                                    struct tenon_error *err)
{
    char path[] = "cases-XXXXXX";
    int file = mkstemp(path);
    enum tenon_status st = TENON_ERR_IO;

    if (file >= 0 && ftruncate(file, (off_t)bytes) == 0)
        st = tenon_source_open_file(path, out, err);
    if (file >= 0) {
        unlink(path);
        close(file);
    }
    return st;
}

/* Tied: one matrix, in a family that ties. Else two names for one range, which is quick. */
static enum tenon_status build(const struct shapes *s, struct tenon_model *model,
                               struct tenon_error *err)
{
    const uint64_t dims[] = {s->rows, s->cols};
    struct tenon_tensor matrix = tensor_of(INPUT, TENON_DTYPE_BF16, dims, 2);
    struct tenon_tensor others = tensor_of("others", TENON_DTYPE_BF16, &s->others, 1);
    const char *family = s->tied ? "gemma" : "llama";
    struct tenon_source *source = NULL;
    uint64_t bytes = 2 * s->rows * s->cols;
    enum tenon_status st = open_empty(bytes + 2 * s->others, &source, err);
    uint32_t file;

    tenon_model_edit_hparams(model)->model_type = (struct tenon_str){family, strlen(family)};
    others.offset = bytes;
    if (st == TENON_OK)
        st = tenon_model_add_file(model, source, &file, err);
    if (st == TENON_OK)
        st = tenon_model_add_tensor(model, &matrix, err);
    matrix.name = (struct tenon_str){OUTPUT, strlen(OUTPUT)};
    if (st == TENON_OK && !s->tied)
        st = tenon_model_add_tensor(model, &matrix, err);
    if (st == TENON_OK)
        st = tenon_model_add_tensor(model, &others, err);
    return st == TENON_OK ? tenon_model_finish(model, err) : st;
}

static bool analyse(struct golden_case *c, const struct shapes *s, struct tenon_tying **out)
{
    struct tenon_model *model = NULL;
    struct tenon_tying_options options;
    struct tenon_error err = {0};
    enum tenon_status st = tenon_model_new("case", NULL, &model, &err);

    tenon_tying_options_init(&options);
    options.groups = false;
    options.most_bytes = 1;
    if (st == TENON_OK)
        st = build(s, model, &err);
    if (st == TENON_OK)
        st = tenon_tying_analyse(model, &options, out, &err);
    tenon_model_free(model);
    return case_ok(c, st, &err);
}

static void run_sizes(struct golden_case *c)
{
    double total = case_number(c, "total_unique_params", 0);
    struct shapes s = {.rows = case_u32(c, "V", 0), .cols = case_u32(c, "d", 0)};
    struct tenon_tying *tying = NULL;

    s.tied = case_true(c, "tied");
    s.others = (uint64_t)total - (s.tied ? 1 : 2) * s.rows * s.cols;
    if (!analyse(c, &s, &tying))
        return;
    case_compare_one(c, "embedding_params", (double)tying->saving_parameters, CASE_F64);
    case_compare_one(c, "embedding_share_percent", 100 * (double)tying->saving_parameters / total,
                     CASE_F64);
    case_compare_one(c, "saving_percent_of_untied", 100 * tying->saving_fraction, CASE_F64);
    case_compare_one(c, "bytes_saved_bf16", (double)tying->saving_bytes, CASE_F64);
    tenon_tying_free(tying);
}

/* Recurrent layers of `hidden` units with four gates each: weights of input and state, one bias. */
static void run_press_wolf(struct golden_case *c)
{
    uint64_t hidden = case_u32(c, "hidden", 0), layers = case_u32(c, "layers", 0);
    struct shapes s = {.rows = case_u32(c, "V", 0), .cols = hidden};
    struct tenon_tying *tying = NULL;
    double total;

    s.others = s.rows + layers * (4 * hidden * 2 * hidden + 4 * hidden);
    total = (double)(2 * s.rows * s.cols + s.others);
    if (!analyse(c, &s, &tying))
        return;
    case_compare_one(c, "baseline_params", total, CASE_F64);
    case_compare_one(c, "tied_params", total - (double)tying->saving_parameters, CASE_F64);
    case_compare_one(c, "saving_percent", 100 * tying->saving_fraction, CASE_F64);
    tenon_tying_free(tying);
}

void run_tying(struct golden_case *c)
{
    if (case_has(c, "hidden"))
        run_press_wolf(c);
    else
        run_sizes(c);
}

/* --- tying_check: two small float32 matrices --- */

struct pair {
    const double *input, *output;
    uint64_t rows, cols;
};

static bool compare_pair(struct golden_case *c, const struct pair *p, struct tenon_tying **out)
{
    const uint64_t dims[] = {p->rows, p->cols};
    size_t n = (size_t)(p->rows * p->cols);
    float *values = case_room(c, 2 * n, sizeof(*values));
    struct tenon_tensor input = tensor_of(INPUT, TENON_DTYPE_F32, dims, 2);
    struct tenon_tensor output = tensor_of(OUTPUT, TENON_DTYPE_F32, dims, 2);
    struct tenon_model *model = NULL;
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};
    enum tenon_status st = tenon_model_new("case", NULL, &model, &err);
    uint32_t file;

    for (size_t i = 0; i < n; i++) {
        values[i] = (float)p->input[i];
        values[n + i] = (float)p->output[i];
    }
    output.offset = n * sizeof(*values);
    if (st == TENON_OK)
        st = tenon_source_open_memory(values, 2 * n * sizeof(*values), "case", &source, &err);
    if (st == TENON_OK)
        st = tenon_model_add_file(model, source, &file, &err);
    if (st == TENON_OK)
        st = tenon_model_add_tensor(model, &input, &err);
    if (st == TENON_OK)
        st = tenon_model_add_tensor(model, &output, &err);
    if (st == TENON_OK)
        st = tenon_model_finish(model, &err);
    if (st == TENON_OK)
        st = tenon_tying_analyse(model, NULL, out, &err);
    tenon_model_free(model);
    return case_ok(c, st, &err);
}

static void compare_matrices(struct golden_case *c)
{
    struct numbers input = case_numbers(c, "embed"), output = case_numbers(c, "lm_head");
    uint64_t rows = case_length(case_value(c, "embed"));
    struct pair all = {input.at, output.at, rows, input.n / rows};
    double *cosines = case_doubles(c, (size_t)rows);
    struct tenon_tying *tying = NULL;

    if (input.n != output.n || !compare_pair(c, &all, &tying))
        return;
    case_compare_one(c, "bit_equal", tying->verdict == TENON_VERDICT_IDENTICAL, CASE_F64);
    case_compare_one(c, "best_scalar", tying->evidence.valid ? tying->evidence.scale : 1, CASE_F64);
    case_compare_one(c, "max_abs_diff", tying->evidence.max_abs_diff, CASE_F64);
    case_compare_one(c, "relative_frobenius", tying->evidence.rel_l2, CASE_F64);
    case_compare_one(c, "rel_frobenius", tying->evidence.rel_l2, CASE_F64);
    tenon_tying_free(tying);
    for (size_t i = 0; i < rows; i++) {
        struct pair row = {all.input + i * all.cols, all.output + i * all.cols, 1, all.cols};

        if (!compare_pair(c, &row, &tying))
            return;
        cosines[i] = tying->evidence.by_values ? tying->evidence.cosine : 1;
        tenon_tying_free(tying);
    }
    case_compare(c, "row_cosine", cosines, (size_t)rows, CASE_F64);
}

void run_tying_check(struct golden_case *c)
{
    struct numbers embed = case_numbers(c, "embed"), hidden = case_numbers(c, "hidden");
    struct tenon_linear head = {.cols = (uint32_t)hidden.n, .weight = embed.at};
    double *logits;

    if (!case_needs(c, "embed"))
        return;
    if (case_has(c, "lm_head"))
        compare_matrices(c);
    if (hidden.n == 0)
        return;
    head.rows = (uint32_t)(embed.n / hidden.n);
    logits = case_doubles(c, head.rows);
    tenon_linear_apply(&head, hidden.at, logits);
    case_compare(c, "logits", logits, head.rows, CASE_F64);
}
