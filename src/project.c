/* Matrices times vectors, and norms, with weights that stay in their file. */
#include "project.h"

#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "position_resolve.h"

/* So many weights are decoded at a time, at least one row. */
#define CHUNK 4096

double tenon_round(enum tenon_precision precision, double value)
{
    return precision == TENON_PRECISION_EXACT ? value : (double)(float)value;
}

static enum tenon_status blame(enum tenon_status st, const struct tenon_model *model,
                               const struct tenon_tensor *t, struct tenon_error *err)
{
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_path(err, tenon_model_path(model));
    return st;
}

const struct tenon_tensor *tenon_find_tensor(const struct tenon_model *model, enum tenon_role role,
                                             enum tenon_part part, bool bias, int32_t layer)
{
    const struct tenon_tensor *found = NULL;

    for (size_t i = 0; i < model->n_tensors; i++) {
        const struct tenon_tensor *t = &model->tensors[i];

        if (t->role != role || t->layer != layer || ((t->flags & TENON_TENSOR_BIAS) != 0) != bias)
            continue;
        if (t->part == part)
            return t;
        if (t->part == TENON_PART_MAIN && found == NULL)
            found = t;
    }
    return found;
}

enum tenon_status tenon_read_vector(const struct tenon_model *model,
                                    const struct tenon_tensor *tensor, uint64_t n, double add,
                                    double **out, struct tenon_error *err)
{
    double *values = NULL;
    enum tenon_status st;

    if (tensor->n_elements != n)
        return blame(tenon_fail(err, TENON_ERR_MISMATCH, tensor->record_offset,
                                "%llu values, %llu are due", (unsigned long long)tensor->n_elements,
                                (unsigned long long)n),
                     model, tensor, err);
    if (n > SIZE_MAX)
        return tenon_fail_memory(err);
    values = tenon_mem_alloc((size_t)n, sizeof(*values));
    if (values == NULL)
        return tenon_fail_memory(err);
    st = tenon_tensor_decode_f64(model, tensor, 0, (size_t)n, values, err);
    if (st != TENON_OK) {
        tenon_mem_free(values);
        return st;
    }
    for (uint64_t i = 0; add != 0 && i < n; i++)
        values[i] = (double)(float)(values[i] + add);
    *out = values;
    return TENON_OK;
}

enum tenon_status tenon_project_init(struct tenon_project *project, const struct tenon_model *model,
                                     const struct tenon_project_place *place, uint64_t in,
                                     struct tenon_error *err)
{
    const struct tenon_tensor *weight = place->weight, *bias = place->bias;
    bool transposed = place->transposed;

    *project = (struct tenon_project){.transposed = transposed};
    if (!tenon_logical_init(&project->weight, model, weight) || project->weight.values != 1)
        return blame(tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, weight->record_offset,
                                "its values cannot be known"),
                     model, weight, err);
    if (project->weight.n_dims != 2)
        return blame(tenon_fail(err, TENON_ERR_MISMATCH, weight->record_offset,
                                "%u dimensions, a projection has 2", project->weight.n_dims),
                     model, weight, err);
    project->out = project->weight.dims[transposed ? 1 : 0];
    project->in = project->weight.dims[transposed ? 0 : 1];
    if (in != 0 && project->in != in)
        return blame(tenon_fail(err, TENON_ERR_MISMATCH, weight->record_offset,
                                "takes %llu values, %llu come in", (unsigned long long)project->in,
                                (unsigned long long)in),
                     model, weight, err);
    return bias == NULL ? TENON_OK
                        : tenon_read_vector(model, bias, project->out, 0, &project->bias, err);
}

void tenon_project_release(struct tenon_project *project)
{
    tenon_mem_free(project->bias);
    project->bias = NULL;
}

static double dot(const float *weights, const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)weights[i] * x[i];
    return sum;
}

static enum tenon_status rows_as_stored(const struct tenon_project *p, uint64_t first,
                                        uint64_t n_rows, const struct tenon_project_job *job,
                                        struct tenon_error *err)
{
    size_t in = (size_t)p->in, at_once = in < CHUNK ? CHUNK / in : 1;
    float *weights;
    enum tenon_status st = TENON_OK;

    weights = tenon_mem_alloc(at_once * in, sizeof(*weights));
    if (weights == NULL)
        return tenon_fail_memory(err);
    for (uint64_t r = 0; st == TENON_OK && r < n_rows; r += at_once) {
        size_t k = n_rows - r < at_once ? (size_t)(n_rows - r) : at_once;

        st = tenon_logical_decode(&p->weight, (first + r) * in, k * in, weights, err);
        for (size_t j = 0; st == TENON_OK && j < k; j++)
            for (size_t i = 0; i < job->n; i++)
                job->out[i * job->stride + r + j] = dot(weights + j * in, job->x + i * in, in);
    }
    tenon_mem_free(weights);
    return st;
}

static enum tenon_status rows_transposed(const struct tenon_project *p, uint64_t first,
                                         uint64_t n_rows, const struct tenon_project_job *job,
                                         struct tenon_error *err)
{
    size_t in = (size_t)p->in, n = (size_t)n_rows;
    float *weights = tenon_mem_alloc(n, sizeof(*weights));
    enum tenon_status st = TENON_OK;

    if (weights == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < job->n; i++)
        memset(job->out + i * job->stride, 0, n * sizeof(*job->out));
    for (size_t c = 0; st == TENON_OK && c < in; c++) {
        st = tenon_logical_decode(&p->weight, c * p->out + first, n, weights, err);
        for (size_t i = 0; st == TENON_OK && i < job->n; i++)
            for (size_t r = 0; r < n; r++)
                job->out[i * job->stride + r] += (double)weights[r] * job->x[i * in + c];
    }
    tenon_mem_free(weights);
    return st;
}

enum tenon_status tenon_project_rows(const struct tenon_project *project, uint64_t first,
                                     uint64_t n_rows, const struct tenon_project_job *job,
                                     struct tenon_error *err)
{
    enum tenon_status st = project->transposed ? rows_transposed(project, first, n_rows, job, err)
                                               : rows_as_stored(project, first, n_rows, job, err);

    for (size_t i = 0; st == TENON_OK && i < job->n; i++)
        for (size_t r = 0; r < n_rows; r++) {
            double *y = &job->out[i * job->stride + r];

            if (project->bias != NULL)
                *y += project->bias[first + r];
            *y = tenon_round(job->precision, *y);
        }
    return st;
}

/* --- norms --- */

void tenon_norming_release(struct tenon_norming *norming)
{
    tenon_mem_free(norming->weight);
    tenon_mem_free(norming->bias);
    norming->weight = norming->bias = NULL;
}

static bool is_layer_norm(enum tenon_norm_kind kind)
{
    return kind == TENON_NORM_LAYER || kind == TENON_NORM_LAYER_PLAIN;
}

static enum tenon_status apply_f32(const struct tenon_norming *norming,
                                   const struct tenon_norm *norm, double *x,
                                   struct tenon_error *err)
{
    float *values = tenon_mem_alloc(norm->width, sizeof(*values));

    if (values == NULL)
        return tenon_fail_memory(err);
    for (uint32_t i = 0; i < norm->width; i++)
        values[i] = (float)x[i];
    if (is_layer_norm(norming->kind))
        tenon_layer_norm_f32(norm, values, values);
    else
        tenon_rms_norm_f32(norm, values, values);
    for (uint32_t i = 0; i < norm->width; i++)
        x[i] = (double)values[i];
    tenon_mem_free(values);
    return TENON_OK;
}

enum tenon_status tenon_norming_apply(const struct tenon_norming *norming,
                                      enum tenon_precision precision, uint32_t set, double *x,
                                      struct tenon_error *err)
{
    struct tenon_norm norm = norming->norm;
    size_t skip = norming->n_sets > 1 ? (size_t)set * norm.width : 0;

    if (norming->kind == TENON_NORM_NONE)
        return TENON_OK;
    norm.weight = norming->weight != NULL ? norming->weight + skip : NULL;
    norm.bias = norming->bias != NULL ? norming->bias + skip : NULL;
    if (precision != TENON_PRECISION_EXACT)
        return apply_f32(norming, &norm, x, err);
    if (is_layer_norm(norming->kind))
        tenon_layer_norm(&norm, x, x);
    else
        tenon_rms_norm(&norm, x, x);
    return TENON_OK;
}

double tenon_norm_eps(const struct tenon_model *model, const struct tenon_arch *facts,
                      enum tenon_norm_kind kind)
{
    double eps = facts->norm_eps > 0 ? facts->norm_eps : 1e-5;

    (void)tenon_resolve_number(model,
                               is_layer_norm(kind)
                                   ? "layer_norm_eps layer_norm_epsilon norm_eps norm_epsilon "
                                     "attention.layer_norm_epsilon rms_norm_eps"
                                   : "rms_norm_eps norm_eps norm_epsilon layer_norm_epsilon "
                                     "layer_norm_eps attention.layer_norm_rms_epsilon "
                                     "attention.layer_norm_epsilon",
                               &eps);
    return eps;
}
