/* Golden cases: patches, class tokens, tables on another grid. */
#include "position_cases.h"
#include "tenon/vision.h"

/* The shape of nested lists, outermost first. */
static size_t shape_of(const struct tenon_json_node *node, uint32_t *out, size_t most)
{
    size_t n = 0;

    for (; n < most && tenon_json_node_type(node) == TENON_JSON_ARRAY; n++) {
        out[n] = (uint32_t)case_length(node);
        node = tenon_json_node_first(node);
    }
    return n;
}

static bool read_patches(struct golden_case *c, const char *picture, const char *weight,
                         struct tenon_patches *p)
{
    uint32_t of_picture[3] = {0}, of_weight[4] = {0};
    struct tenon_error err = {0};

    if (shape_of(case_value(c, picture), of_picture, 3) != 3 ||
        shape_of(case_value(c, weight), of_weight, 4) != 4) {
        case_fail(c, "%s and %s are no picture and filters", picture, weight);
        return false;
    }
    *p = (struct tenon_patches){
        .channels = of_picture[0],
        .height = of_picture[1],
        .width = of_picture[2],
        .patch_height = of_weight[2],
        .patch_width = of_weight[3],
        .out = of_weight[0],
        .weight = case_numbers(c, weight).at,
    };
    return case_ok(c, tenon_patches_check(p, &err), &err);
}

/* Adds the tokens of one frame. */
static size_t add_tokens(struct golden_case *c, const struct tenon_patches *p, const char *picture,
                         double *tokens)
{
    uint32_t rows = p->height / p->patch_height, columns = p->width / p->patch_width;
    const double *pixels = case_numbers(c, picture).at;

    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < columns; column++, tokens += p->out)
            tenon_patch_add(p, pixels, row, column, tokens);
    return (size_t)rows * columns * p->out;
}

static void run_convolution(struct golden_case *c)
{
    struct tenon_patches p;
    double *tokens = case_doubles(c, 65536);
    size_t n;

    if (!read_patches(c, "image_chw", "weight", &p))
        return;
    if (tenon_json_node_type(case_value(c, "bias")) == TENON_JSON_ARRAY)
        p.bias = case_numbers(c, "bias").at;
    n = add_tokens(c, &p, "image_chw", tokens);
    case_compare(c, "tokens", tokens, n, CASE_F64);
}

static void run_two_frames(struct golden_case *c)
{
    struct tenon_patches p;
    double *tokens = case_doubles(c, 65536);
    size_t n;

    if (!read_patches(c, "frame0", "weight_t0", &p))
        return;
    add_tokens(c, &p, "frame0", tokens);
    if (!read_patches(c, "frame1", "weight_t1", &p))
        return;
    n = add_tokens(c, &p, "frame1", tokens);
    case_compare(c, "tokens", tokens, n, CASE_F64);
}

static void run_class_token(struct golden_case *c)
{
    struct numbers tokens = case_numbers(c, "tokens"), extra = case_numbers(c, "class_embedding");
    struct numbers position = case_numbers(c, "position");
    size_t patches = case_length(case_value(c, "tokens")), width = tokens.n / patches;
    enum tenon_class_token where =
        extra.n == 0 ? TENON_CLASS_NONE
                     : (case_is(c, "scheme", "llama4") ? TENON_CLASS_LAST : TENON_CLASS_FIRST);
    size_t n = patches + (extra.n > 0);
    double *out = case_doubles(c, n * width);

    for (size_t i = 0; i < n; i++) {
        int64_t patch = tenon_class_token_patch(where, patches, i);
        const double *from = patch < 0 ? extra.at : tokens.at + (size_t)patch * width;

        for (size_t j = 0; j < width; j++)
            out[i * width + j] = from[j] + (position.n > 0 ? position.at[i * width + j] : 0);
    }
    case_compare(c, "embeddings", out, n * width, CASE_F64);
}

static void run_resize(struct golden_case *c)
{
    struct numbers in = case_numbers(c, "in"), out = case_numbers(c, "out");
    struct numbers table = case_numbers(c, "table");
    struct tenon_resize resize = {
        .kind = case_is(c, "mode", "bicubic") ? TENON_RESIZE_BICUBIC : TENON_RESIZE_BILINEAR,
        .align_corners = case_true(c, "align_corners"),
        .rows = (uint32_t)in.at[0],
        .columns = (uint32_t)in.at[1],
        .out_rows = (uint32_t)out.at[0],
        .out_columns = (uint32_t)out.at[1],
    };
    size_t n = (size_t)resize.out_rows * resize.out_columns;
    double *values;

    resize.width = (uint32_t)(table.n / ((size_t)resize.rows * resize.columns));
    values = case_doubles(c, n * resize.width);
    for (uint32_t i = 0; i < n; i++)
        tenon_resize_at(&resize, table.at, i / resize.out_columns, i % resize.out_columns,
                        values + (size_t)i * resize.width);
    case_compare(c, "out", values, n * resize.width, CASE_F64);
}

static void run_count(struct golden_case *c)
{
    uint64_t n = tenon_grid_patches(case_u32(c, "image_size", 0), case_u32(c, "patch_size", 0));

    case_compare_one(c, "patches", (double)n, CASE_F64);
    case_compare_one(c, "position_rows", (double)n + case_true(c, "class_token"), CASE_F64);
}

void run_patch_embedding(struct golden_case *c)
{
    if (case_has(c, "image_chw"))
        run_convolution(c);
    else if (case_has(c, "frame0"))
        run_two_frames(c);
    else if (case_has(c, "tokens") && case_needs(c, "tokens"))
        run_class_token(c);
    else if (case_has(c, "table") && case_needs(c, "in") && case_needs(c, "out"))
        run_resize(c);
    else
        run_count(c);
}
