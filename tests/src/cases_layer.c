/* Golden cases: rows of tables, norms, scales, bags. */
#include <math.h>
#include <string.h>

#include "model_build.h"
#include "position_cases.h"
#include "source.h"
#include "tenon/embed.h"
#include "tenon/layer.h"
#include "tenon/position_ids.h"

/* --- embedding --- */

/* A model of one float32 matrix in memory. */
static struct tenon_model *make_model(struct golden_case *c, const float *values, uint64_t rows,
                                      uint64_t cols)
{
    const uint64_t dims[] = {rows, cols};
    struct tenon_tensor tensor = {
        .name = {"model.embed_tokens.weight", strlen("model.embed_tokens.weight")},
        .dims = dims,
        .n_dims = 2,
        .dtype = TENON_DTYPE_F32,
    };
    struct tenon_model *model = NULL;
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};
    enum tenon_status st = tenon_model_new("case", NULL, &model, &err);
    uint32_t file;

    if (st == TENON_OK)
        st = tenon_source_open_memory(values, (size_t)(rows * cols) * sizeof(*values), "case",
                                      &source, &err);
    if (st == TENON_OK)
        st = tenon_model_add_file(model, source, &file, &err);
    if (st == TENON_OK)
        st = tenon_model_add_tensor(model, &tensor, &err);
    if (st == TENON_OK)
        st = tenon_model_finish(model, &err);
    if (case_ok(c, st, &err))
        return model;
    tenon_model_free(model);
    return NULL;
}

static void look_up(struct golden_case *c, const struct tenon_model *model, const double *ids,
                    size_t n, double *out)
{
    uint64_t *whole = case_room(c, n, sizeof(*whole));
    struct tenon_embed embed;
    struct tenon_error err = {0};
    float *rows;

    for (size_t i = 0; i < n; i++)
        whole[i] = (uint64_t)ids[i];
    if (!case_ok(c, tenon_embed_init(&embed, model, &err), &err))
        return;
    rows = case_room(c, n * (size_t)embed.cols, sizeof(*rows));
    if (!case_ok(c, tenon_embed_rows(&embed, whole, n, rows, &err), &err))
        return;
    for (size_t i = 0; i < n * (size_t)embed.cols; i++)
        out[i] = (double)rows[i];
}

/* The product of the one-hot matrix of `ids` with the table, in float32. */
static void multiply_onehot(const float *table, size_t rows, size_t cols, const struct numbers *ids,
                            double *out)
{
    for (size_t i = 0; i < ids->n * cols; i++) {
        float sum = 0;

        for (size_t r = 0; r < rows; r++)
            sum += (ids->at[i / cols] == (double)r ? 1.0f : 0.0f) * table[r * cols + i % cols];
        out[i] = (double)sum;
    }
}

static void run_lookup(struct golden_case *c)
{
    struct numbers weight = case_numbers(c, "weight"), ids = case_numbers(c, "ids");
    size_t rows = case_length(case_value(c, "weight")), cols = weight.n / rows;
    float *table = case_room(c, weight.n, sizeof(*table));
    double *out = case_doubles(c, ids.n * cols);
    struct tenon_model *model;

    for (size_t i = 0; i < weight.n; i++)
        table[i] = (float)weight.at[i];
    model = make_model(c, table, rows, cols);
    if (model == NULL)
        return;
    look_up(c, model, ids.at, ids.n, out);
    case_compare(c, "rows", out, ids.n * cols, CASE_F64);
    multiply_onehot(table, rows, cols, &ids, out);
    case_compare(c, "rows", out, ids.n * cols, CASE_F64);
    case_compare_one(c, "flops_onehot", (double)(2 * ids.n * rows * cols), CASE_F64);
    case_compare_one(c, "bytes_lookup_f32", (double)(ids.n * cols * sizeof(float)), CASE_F64);
    tenon_model_free(model);
}

/* The first token reads the first row that a GGUF file keeps. */
static void run_chopped(struct golden_case *c)
{
    uint32_t pad = case_u32(c, "padding_idx", 0), token = pad + 1;
    int64_t first;

    tenon_position_ids_skip(&token, 1, pad, 0, &first);
    case_compare_one(c, "gguf_first_row_is_hf_row", (double)first, CASE_F64);
    case_compare_one(c, "gguf_rows", case_number(c, "hf_rows", 0) - (double)first, CASE_F64);
}

/* word + type + position, normed, and mapped where there is a projection. */
static void run_sum(struct golden_case *c)
{
    struct numbers word = case_numbers(c, "word"), place = case_numbers(c, "position");
    struct numbers type = case_numbers(c, "token_type"), ids = case_numbers(c, "ids");
    struct numbers types = case_numbers(c, "token_type_ids");
    struct numbers proj = case_numbers(c, "proj_weight_out_in");
    uint32_t width = (uint32_t)case_numbers(c, "gamma").n;
    uint32_t out_width = proj.n > 0 ? (uint32_t)(proj.n / width) : width;
    struct tenon_norm norm = {.width = width,
                              .eps = case_number(c, "eps", 0),
                              .weight = case_numbers(c, "gamma").at,
                              .bias = case_numbers(c, "beta").at};
    struct tenon_linear map = {out_width, width, proj.at,
                               case_has(c, "proj_bias") ? case_numbers(c, "proj_bias").at : NULL};
    double *row = case_doubles(c, width), *out = case_doubles(c, ids.n * out_width);
    size_t offset = (size_t)case_number(c, "position_offset", 0);

    for (size_t i = 0; i < ids.n; i++) {
        size_t t = types.n > 0 ? (size_t)types.at[i] : 0;

        for (uint32_t j = 0; j < width; j++) {
            row[j] = word.at[(size_t)ids.at[i] * width + j];
            row[j] += type.n > 0 ? type.at[t * width + j] : 0;
            row[j] += place.n > 0 ? place.at[(i + offset) * width + j] : 0;
        }
        tenon_layer_norm(&norm, row, row);
        if (proj.n > 0)
            tenon_linear_apply(&map, row, out + i * out_width);
        else
            memcpy(out + i * out_width, row, width * sizeof(*row));
    }
    case_compare(c, "out", out, ids.n * out_width, CASE_F64);
    case_compare(c, "rows", out, ids.n * out_width, CASE_F64);
    case_compare(c, "embeddings", out, ids.n * out_width, CASE_F64);
}

static void run_limit(struct golden_case *c)
{
    struct numbers rows = case_numbers(c, "rows");
    size_t width = rows.n / case_length(case_value(c, "rows"));

    for (size_t i = 0; i < rows.n; i += width)
        tenon_row_limit_norm(rows.at + i, width, case_number(c, "max_norm", 0),
                             case_number(c, "norm_type", 2));
    case_compare(c, "rows", rows.at, rows.n, CASE_F64);
}

void run_embedding(struct golden_case *c)
{
    if (case_has(c, "hf_rows"))
        run_chopped(c);
    else if (case_has(c, "word") && case_needs(c, "gamma"))
        run_sum(c);
    else if (case_has(c, "max_norm") && case_needs(c, "rows"))
        run_limit(c);
    else if (c->n_failed == 0 && case_needs(c, "weight"))
        run_lookup(c);
}

/* --- norm --- */

void run_norm(struct golden_case *c)
{
    struct numbers x = case_numbers(c, "x");
    double *y = case_doubles(c, x.n);
    float *x32 = case_room(c, x.n, sizeof(*x32)), *y32 = case_room(c, x.n, sizeof(*y32));
    bool rms = case_has(c, "plus_one") || !case_has(c, "beta");
    struct tenon_norm norm = {
        .width = (uint32_t)x.n,
        .eps = case_number(c, "eps", 0),
        .plus_one = case_true(c, "plus_one"),
        .weight = case_has(c, "gamma") ? case_numbers(c, "gamma").at : NULL,
        .bias = case_has(c, "beta") ? case_numbers(c, "beta").at : NULL,
    };

    for (size_t i = 0; i < x.n; i++)
        x32[i] = (float)x.at[i];
    (rms ? tenon_rms_norm : tenon_layer_norm)(&norm, x.at, y);
    case_compare(c, "y", y, x.n, CASE_F64);
    (rms ? tenon_rms_norm_f32 : tenon_layer_norm_f32)(&norm, x32, y32);
    for (size_t i = 0; i < x.n; i++)
        y[i] = (double)y32[i];
    case_compare(c, "y", y, x.n, CASE_F32);
}

/* --- embed_scale, rounding --- */

static const struct {
    const char *name, *scaled;
    enum tenon_dtype dtype;
} floats[] = {
    {"f64", "f64_scale", TENON_DTYPE_F64},
    {"f32", "f32_scale", TENON_DTYPE_F32},
    {"bf16", "bf16_scale", TENON_DTYPE_BF16},
    {"f16", "f16_scale", TENON_DTYPE_F16},
};

void run_embed_scale(struct golden_case *c)
{
    struct numbers row = case_numbers(c, "row");
    double root = sqrt(case_number(c, "d", 0)), *scaled = case_doubles(c, row.n);

    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
        double scale = tenon_value_round(floats[i].dtype, root);

        case_compare_one(c, floats[i].name, scale, CASE_F64);
        for (size_t j = 0; j < row.n; j++)
            scaled[j] = row.at[j] * scale;
        case_compare(c, floats[i].scaled, scaled, row.n, CASE_F64);
    }
}

void run_rounding(struct golden_case *c)
{
    struct numbers x = case_numbers(c, "x");
    double *rounded = case_doubles(c, x.n);

    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
        for (size_t j = 0; j < x.n; j++)
            rounded[j] = tenon_value_round(floats[i].dtype, x.at[j]);
        case_compare(c, floats[i].name, rounded, x.n, CASE_F64);
    }
}

/* --- embedding_bag --- */

static void reduce_bags(struct golden_case *c)
{
    struct numbers weight = case_numbers(c, "weight"), ids = case_numbers(c, "ids");
    struct numbers offsets = case_numbers(c, "offsets");
    struct numbers shares = case_numbers(c, "per_sample_weights");
    size_t rows = case_length(case_value(c, "weight"));
    struct tenon_bag bag = {
        .mode = case_is(c, "mode", "sum")    ? TENON_BAG_SUM
                : case_is(c, "mode", "mean") ? TENON_BAG_MEAN
                                             : TENON_BAG_MAX,
        .table = weight.at,
        .rows = rows,
        .width = (uint32_t)(weight.n / rows),
        .padding = (int64_t)case_number(c, "padding_idx", -1),
    };
    uint32_t *whole = case_room(c, ids.n, sizeof(*whole));
    double *out = case_doubles(c, offsets.n * bag.width);
    struct tenon_error err = {0};

    for (size_t i = 0; i < ids.n; i++)
        whole[i] = (uint32_t)ids.at[i];
    for (size_t i = 0; i < offsets.n; i++) {
        size_t first = (size_t)offsets.at[i];
        size_t end = i + 1 < offsets.n ? (size_t)offsets.at[i + 1] : ids.n;

        if (!case_ok(c,
                     tenon_bag_reduce(&bag, whole + first, end - first,
                                      shares.n > 0 ? shares.at + first : NULL, out + i * bag.width,
                                      &err),
                     &err))
            return;
    }
    case_compare(c, "out", out, offsets.n * bag.width, CASE_F64);
}

void run_embedding_bag(struct golden_case *c)
{
    if (case_needs(c, "weight") && case_needs(c, "offsets"))
        reduce_bags(c);
}
