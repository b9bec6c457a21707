#include "matrix.h"

#include "model_private.h"

bool tenon_matrix_init(struct tenon_matrix *m, const struct tenon_model *model,
                       const struct tenon_tensor *tensor)
{
    *m = (struct tenon_matrix){0};
    if (!tenon_logical_init(&m->logical, model, tensor) || m->logical.n_dims != 2 ||
        m->logical.n_elements == 0 || m->logical.values != 1)
        return false;
    m->rows = m->logical.dims[0];
    m->cols = m->logical.dims[1];
    m->wide = m->logical.scales == NULL && model->ops.decode_f64[tensor->dtype] != NULL;
    return true;
}

void tenon_matrix_transpose(struct tenon_matrix *m)
{
    uint64_t rows = m->rows;

    m->rows = m->cols;
    m->cols = rows;
    m->transposed = !m->transposed;
}

/* A run of elements as they are stored. */
static enum tenon_status read_run(const struct tenon_matrix *m, uint64_t first, size_t n,
                                  float *scratch, double *out, struct tenon_error *err)
{
    enum tenon_status st;

    if (m->wide)
        return tenon_tensor_decode_f64(m->logical.model, m->logical.codes, first, n, out, err);
    st = tenon_logical_decode(&m->logical, first, n, scratch, err);
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        out[i] = (double)scratch[i];
    return st;
}

/* Stored rows are columns of the tile. */
static enum tenon_status read_transposed(const struct tenon_matrix *m,
                                         const struct tenon_tile *tile, float *scratch, double *out,
                                         struct tenon_error *err)
{
    double run[256];
    enum tenon_status st = TENON_OK;

    for (size_t col = 0; st == TENON_OK && col < tile->n_cols; col++) {
        for (size_t row = 0; st == TENON_OK && row < tile->n_rows;) {
            size_t n = tile->n_rows - row < 256 ? tile->n_rows - row : 256;

            st = read_run(m, (tile->col + col) * m->rows + tile->row + row, n, scratch, run, err);
            for (size_t i = 0; st == TENON_OK && i < n; i++)
                out[(row + i) * tile->n_cols + col] = run[i];
            row += n;
        }
    }
    return st;
}

enum tenon_status tenon_matrix_read(const struct tenon_matrix *m, const struct tenon_tile *tile,
                                    float *scratch, double *out, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (m->transposed)
        return read_transposed(m, tile, scratch, out, err);
    if (tile->n_cols == m->cols)
        return read_run(m, tile->row * m->cols, tile->n_rows * tile->n_cols, scratch, out, err);
    for (size_t row = 0; st == TENON_OK && row < tile->n_rows; row++)
        st = read_run(m, (tile->row + row) * m->cols + tile->col, tile->n_cols, scratch,
                      out + row * tile->n_cols, err);
    return st;
}
