/* Row lookup: which matrix token ids index. */
#include "tenon/embed.h"

#include "fail.h"
#include "model_private.h"

/* The matrix that ids index: the input's, or the head's where only that is stored. */
static const struct tenon_tensor *find_matrix(const struct tenon_model *model)
{
    static const struct {
        enum tenon_role role;
        enum tenon_part part;
    } places[] = {
        {TENON_ROLE_TOKEN_EMBD, TENON_PART_MAIN},
        {TENON_ROLE_TOKEN_EMBD, TENON_PART_ENCODER},
        {TENON_ROLE_TOKEN_EMBD, TENON_PART_DECODER},
        {TENON_ROLE_OUTPUT, TENON_PART_MAIN},
    };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const struct tenon_tensor *t =
            tenon_model_find_role(model, places[i].role, places[i].part, false);

        if (t != NULL)
            return t;
    }
    return NULL;
}

/* Rows can be decoded one by one when each is a whole number of blocks. */
static enum tenon_status check_rows(const struct tenon_tensor *t, uint64_t cols,
                                    struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)t->dtype);

    if (info == NULL || info->block_elements == 0)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                          "the element type %s cannot be decoded",
                          tenon_dtype_name((enum tenon_dtype)t->dtype));
    if (info->values != 1)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                          "%s elements are no real numbers", info->name);
    if (cols % info->block_elements != 0)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                          "rows of %llu elements are not whole blocks: %s packs %u elements into "
                          "%u bytes",
                          (unsigned long long)cols, info->name, info->block_elements,
                          info->block_bytes);
    return TENON_OK;
}

/* Two dimensions once scales are applied, and rows that can be decoded. */
static enum tenon_status check_matrix(struct tenon_embed *embed, const struct tenon_model *model,
                                      const struct tenon_tensor *t, struct tenon_error *err)
{
    bool known = tenon_logical_init(&embed->logical, model, t);
    uint32_t n_dims = known ? embed->logical.n_dims : t->n_dims;
    enum tenon_status st;

    if (n_dims != 2)
        return tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                          "%u dimension%s, an embedding matrix has 2", n_dims,
                          n_dims == 1 ? "" : "s");
    st = check_rows(t, known ? embed->logical.dims[1] : t->dims[1], err);
    if (st == TENON_OK && !known)
        st = tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                        "the scales beside its codes do not fit them");
    return st;
}

enum tenon_status tenon_embed_init_tensor(struct tenon_embed *embed,
                                          const struct tenon_model *model,
                                          const struct tenon_tensor *matrix,
                                          struct tenon_error *err)
{
    enum tenon_status st = check_matrix(embed, model, matrix, err);

    if (st != TENON_OK) {
        tenon_fail_subject(err, "tensor", matrix->name.data, matrix->name.len);
        tenon_fail_path(err, model->path);
        return st;
    }
    embed->model = model;
    embed->matrix = matrix;
    embed->rows = embed->logical.dims[0];
    embed->cols = embed->logical.dims[1];
    return TENON_OK;
}

enum tenon_status tenon_embed_init(struct tenon_embed *embed, const struct tenon_model *model,
                                   struct tenon_error *err)
{
    const struct tenon_tensor *t = find_matrix(model);

    if (t == NULL) {
        tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET, "no input embedding matrix found");
        tenon_fail_path(err, model->path);
        return TENON_ERR_NOT_FOUND;
    }
    return tenon_embed_init_tensor(embed, model, t, err);
}
