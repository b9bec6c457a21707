/* Vision towers up to their first block. */
#include "tenon/tower.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "mem.h"
#include "model_private.h"
#include "tenon/arch.h"
#include "tenon/layer.h"
#include "tenon/logical.h"
#include "tenon/settings.h"
#include "tenon/vision.h"

/* Numbers of one tensor, and of a picture's tokens, at most. */
#define MOST_VALUES (UINT64_C(1) << 26)

/* One tensor's numbers. */
struct values {
    double *at; /* NULL: the tensor is not there */
    uint64_t n;
    uint32_t n_dims;
    uint64_t dims[TENON_LOGICAL_DIMS];
};

struct tenon_tower {
    enum tenon_precision precision;
    struct tenon_tower_shape shape;
    struct values patch, patch_bias, class_token, registers, table, norm_weight, norm_bias;
    double eps;
};

/* --- reading --- */

static enum tenon_status fail_tensor(const struct tenon_model *model, const struct tenon_tensor *t,
                                     enum tenon_status status, struct tenon_error *err)
{
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_path(err, model->files[t->file].path);
    return status;
}

/* Reads a tensor of the vision part whole; one that is not there is none. */
static enum tenon_status read_values(const struct tenon_model *model, enum tenon_role role,
                                     bool bias, struct values *out, struct tenon_error *err)
{
    const struct tenon_tensor *t = tenon_model_find_role(model, role, TENON_PART_VISION, bias);
    struct tenon_logical logical;
    enum tenon_status st;
    float *single;

    if (t == NULL)
        return TENON_OK;
    if (!tenon_logical_init(&logical, model, t) || logical.values != 1 ||
        logical.n_elements > MOST_VALUES) {
        st = tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                        "its values cannot be read, or are more than %llu",
                        (unsigned long long)MOST_VALUES);
        return fail_tensor(model, t, st, err);
    }
    single = tenon_mem_alloc((size_t)logical.n_elements, sizeof(*single));
    out->at = tenon_mem_alloc((size_t)logical.n_elements, sizeof(*out->at));
    out->n = logical.n_elements;
    out->n_dims = logical.n_dims;
    memcpy(out->dims, logical.dims, sizeof(out->dims));
    st = single != NULL && out->at != NULL
             ? tenon_logical_decode(&logical, 0, (size_t)out->n, single, err)
             : tenon_fail_memory(err);
    for (uint64_t i = 0; st == TENON_OK && i < out->n; i++)
        out->at[i] = (double)single[i];
    tenon_mem_free(single);
    return st;
}

static enum tenon_status read_all(struct tenon_tower *t, const struct tenon_model *model,
                                  struct tenon_error *err)
{
    struct {
        enum tenon_role role;
        bool bias;
        struct values *out;
    } const rows[] = {
        {TENON_ROLE_PATCH_EMBD, false, &t->patch},
        {TENON_ROLE_PATCH_EMBD, true, &t->patch_bias},
        {TENON_ROLE_CLASS_EMBD, false, &t->class_token},
        {TENON_ROLE_REGISTER_EMBD, false, &t->registers},
        {TENON_ROLE_POSITION_EMBD, false, &t->table},
        {TENON_ROLE_EMBD_NORM, false, &t->norm_weight},
        {TENON_ROLE_EMBD_NORM, true, &t->norm_bias},
    };
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < sizeof(rows) / sizeof(rows[0]); i++)
        st = read_values(model, rows[i].role, rows[i].bias, rows[i].out, err);
    return st;
}

/* --- shapes --- */

static enum tenon_status fail_shape(const struct tenon_model *model, enum tenon_role role,
                                    bool bias, struct tenon_error *err)
{
    const struct tenon_tensor *t = tenon_model_find_role(model, role, TENON_PART_VISION, bias);

    return t != NULL ? fail_tensor(model, t, err != NULL ? err->status : TENON_ERR_MISMATCH, err)
                     : TENON_ERR_MISMATCH;
}

static enum tenon_status check_patch(struct tenon_tower *t, const struct tenon_model *model,
                                     struct tenon_error *err)
{
    const uint64_t *dims = t->patch.dims;

    if (t->patch.n_dims != 4) {
        tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                   "%u dimensions, a filter of patches has 4", t->patch.n_dims);
        (void)fail_shape(model, TENON_ROLE_PATCH_EMBD, false, err);
        return TENON_ERR_UNSUPPORTED_FEATURE;
    }
    if (t->patch.n == 0) {
        tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET, "no values");
        return fail_shape(model, TENON_ROLE_PATCH_EMBD, false, err);
    }
    /* No more than MOST_VALUES together, so that each fits. */
    t->shape.width = (uint32_t)dims[0];
    t->shape.channels = (uint32_t)dims[1];
    t->shape.patch_height = (uint32_t)dims[2];
    t->shape.patch_width = (uint32_t)dims[3];
    return TENON_OK;
}

/* Something that consists of tokens. */
struct vector {
    const struct values *values;
    enum tenon_role role;
    bool bias;
    uint64_t tokens; /* 0: any number but none */
};

/* Whether a vector is there in whole tokens, or not at all. */
static enum tenon_status check_vector(const struct tenon_tower *t, const struct tenon_model *model,
                                      const struct vector *v, struct tenon_error *err)
{
    uint64_t n = v->values->n, width = t->shape.width, needed = v->tokens * width;

    if (v->values->at == NULL || (v->tokens > 0 ? n == needed : n % width == 0 && n > 0))
        return TENON_OK;
    if (v->tokens > 0)
        tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET, "%llu values, %llu are needed",
                   (unsigned long long)n, (unsigned long long)needed);
    else
        tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                   "%llu values, tokens of %llu are needed as the patches have",
                   (unsigned long long)n, (unsigned long long)width);
    return fail_shape(model, v->role, v->bias, err);
}

/* Rows for the class token, if there is one, and for the patches of a square. */
static enum tenon_status check_table(struct tenon_tower *t, const struct tenon_model *model,
                                     struct tenon_error *err)
{
    uint64_t rows, side;

    if (t->table.at == NULL)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                          "a vision tower without a table of positions");
    rows = t->table.n / t->shape.width - (t->class_token.at != NULL ? 1 : 0);
    side = (uint64_t)sqrt((double)rows);
    if (rows == 0 || side * side != rows || side > UINT16_MAX) {
        tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                   "%llu positions of patches, which are no square", (unsigned long long)rows);
        return fail_shape(model, TENON_ROLE_POSITION_EMBD, false, err);
    }
    t->shape.side = (uint32_t)side;
    return TENON_OK;
}

static enum tenon_status check_shapes(struct tenon_tower *t, const struct tenon_model *model,
                                      struct tenon_error *err)
{
    const struct vector rows[] = {
        {&t->patch_bias, TENON_ROLE_PATCH_EMBD, true, 1},
        {&t->class_token, TENON_ROLE_CLASS_EMBD, false, 1},
        {&t->registers, TENON_ROLE_REGISTER_EMBD, false, 0},
        {&t->table, TENON_ROLE_POSITION_EMBD, false, 0},
        {&t->norm_weight, TENON_ROLE_EMBD_NORM, false, 1},
        {&t->norm_bias, TENON_ROLE_EMBD_NORM, true, 1},
    };
    enum tenon_status st = check_patch(t, model, err);

    for (size_t i = 0; st == TENON_OK && i < sizeof(rows) / sizeof(rows[0]); i++)
        st = check_vector(t, model, &rows[i], err);
    if (st == TENON_OK)
        st = check_table(t, model, err);
    if (st == TENON_OK)
        t->shape.n_prefix =
            (uint32_t)((t->class_token.at != NULL ? 1 : 0) + t->registers.n / t->shape.width);
    return st;
}

/* --- making --- */

static double find_eps(const struct tenon_model *model)
{
    static const char *const paths[] = {"vision_config.layer_norm_eps",
                                        "vision.attention.layer_norm_epsilon", "layer_norm_eps"};
    struct tenon_setting s;
    double eps = model->arch != NULL && model->arch->norm_eps > 0 ? model->arch->norm_eps : 1e-5;

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (tenon_model_setting(model, paths[i], &s) && tenon_setting_number(&s, &eps))
            break;
    return eps;
}

enum tenon_status tenon_tower_new(const struct tenon_model *model, enum tenon_precision precision,
                                  struct tenon_tower **out, struct tenon_error *err)
{
    struct tenon_tower *tower = NULL;
    enum tenon_status st = TENON_OK;

    if (tenon_model_find_role(model, TENON_ROLE_PATCH_EMBD, TENON_PART_VISION, false) == NULL) {
        st = tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET,
                        "no vision tower: there is no filter of patches");
        goto out;
    }
    tower = tenon_mem_alloc(1, sizeof(*tower));
    if (tower == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    tower->precision = precision;
    tower->eps = find_eps(model);
    st = read_all(tower, model, err);
    if (st == TENON_OK)
        st = check_shapes(tower, model, err);
    if (st == TENON_OK) {
        *out = tower;
        tower = NULL;
    }
out:
    if (st != TENON_OK)
        tenon_fail_path(err, model->path);
    tenon_tower_free(tower);
    return st;
}

void tenon_tower_free(struct tenon_tower *tower)
{
    if (tower == NULL)
        return;
    tenon_mem_free(tower->patch.at);
    tenon_mem_free(tower->patch_bias.at);
    tenon_mem_free(tower->class_token.at);
    tenon_mem_free(tower->registers.at);
    tenon_mem_free(tower->table.at);
    tenon_mem_free(tower->norm_weight.at);
    tenon_mem_free(tower->norm_bias.at);
    tenon_mem_free(tower);
}

struct tenon_tower_shape tenon_tower_shape(const struct tenon_tower *tower)
{
    return tower->shape;
}

/* --- tokens --- */

static struct tenon_patches patches_of(const struct tenon_tower *t,
                                       const struct tenon_tower_picture *picture)
{
    return (struct tenon_patches){
        .channels = t->shape.channels,
        .height = picture->height,
        .width = picture->width,
        .patch_height = t->shape.patch_height,
        .patch_width = t->shape.patch_width,
        .out = t->shape.width,
        .weight = t->patch.at,
        .bias = t->patch_bias.at,
    };
}

enum tenon_status tenon_tower_tokens(const struct tenon_tower *tower,
                                     const struct tenon_tower_picture *picture, uint64_t *out_n,
                                     struct tenon_error *err)
{
    const struct tenon_patches patches = patches_of(tower, picture);
    enum tenon_status st = tenon_patches_check(&patches, err);
    uint64_t n;

    if (st != TENON_OK)
        return st;
    n = (uint64_t)(picture->height / patches.patch_height) *
            (picture->width / patches.patch_width) +
        tower->shape.n_prefix;
    if (n > MOST_VALUES / tower->shape.width)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                          "%llu tokens of %u values are too many", (unsigned long long)n,
                          tower->shape.width);
    *out_n = n;
    return TENON_OK;
}

/* To float32, but in the exact profile. */
static double settle(const struct tenon_tower *t, double value)
{
    return t->precision == TENON_PRECISION_EXACT ? value : (double)(float)value;
}

/* The rows that every patch gets added, for a grid of `rows` x `columns`. */
static void place_row(const struct tenon_tower *t, uint32_t rows, uint32_t columns, uint64_t patch,
                      double *out)
{
    size_t width = t->shape.width, prefix = t->class_token.at != NULL ? width : 0;
    const struct tenon_resize resize = {
        .kind = TENON_RESIZE_BICUBIC,
        .rows = t->shape.side,
        .columns = t->shape.side,
        .out_rows = rows,
        .out_columns = columns,
        .width = t->shape.width,
    };

    if (rows == t->shape.side && columns == t->shape.side)
        memcpy(out, t->table.at + prefix + patch * width, width * sizeof(*out));
    else
        tenon_resize_at(&resize, t->table.at + prefix, (uint32_t)(patch / columns),
                        (uint32_t)(patch % columns), out);
}

static void fill_prefix(const struct tenon_tower *t, double *out)
{
    size_t width = t->shape.width;

    for (size_t c = 0; t->class_token.at != NULL && c < width; c++)
        *out++ = settle(t, t->class_token.at[c] + t->table.at[c]);
    if (t->registers.at != NULL)
        memcpy(out, t->registers.at, (size_t)t->registers.n * sizeof(*out));
}

static void fill_patches(const struct tenon_tower *t, const struct tenon_patches *patches,
                         const double *picture, double *work, double *out)
{
    uint32_t rows = patches->height / patches->patch_height;
    uint32_t columns = patches->width / patches->patch_width;
    size_t width = t->shape.width;

    for (uint64_t i = 0; i < (uint64_t)rows * columns; i++, out += width) {
        memset(out, 0, width * sizeof(*out));
        tenon_patch_add(patches, picture, (uint32_t)(i / columns), (uint32_t)(i % columns), out);
        place_row(t, rows, columns, i, work);
        for (size_t c = 0; c < width; c++)
            out[c] = settle(t, settle(t, out[c]) + settle(t, work[c]));
    }
}

static void apply_norm(const struct tenon_tower *t, uint64_t n, double *out)
{
    const struct tenon_norm norm = {.width = t->shape.width,
                                    .eps = t->eps,
                                    .weight = t->norm_weight.at,
                                    .bias = t->norm_bias.at};

    for (uint64_t i = 0; t->norm_weight.at != NULL && i < n; i++, out += t->shape.width) {
        tenon_layer_norm(&norm, out, out);
        for (size_t c = 0; c < t->shape.width; c++)
            out[c] = settle(t, out[c]);
    }
}

enum tenon_status tenon_tower_rows(const struct tenon_tower *tower,
                                   const struct tenon_tower_picture *picture, double *out,
                                   struct tenon_error *err)
{
    const struct tenon_patches patches = patches_of(tower, picture);
    uint64_t n = 0;
    size_t pixels;
    double *values = NULL, *work = NULL;
    enum tenon_status st = tenon_tower_tokens(tower, picture, &n, err);

    if (st != TENON_OK)
        return st;
    pixels = (size_t)patches.channels * picture->height * picture->width;
    values = tenon_mem_alloc(pixels, sizeof(*values));
    work = tenon_mem_alloc(tower->shape.width, sizeof(*work));
    if (values == NULL || work == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    for (size_t i = 0; i < pixels; i++)
        values[i] = (double)picture->values[i];
    if (tower->shape.n_prefix > 0)
        fill_prefix(tower, out);
    fill_patches(tower, &patches, values, work,
                 out + (size_t)tower->shape.n_prefix * tower->shape.width);
    apply_norm(tower, n, out);
out:
    tenon_mem_free(values);
    tenon_mem_free(work);
    return st;
}
