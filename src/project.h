/* Matrices times vectors, and the vectors beside them, read from a model as they are needed. */
#ifndef TENON_PROJECT_H
#define TENON_PROJECT_H

#include "tenon/arch.h"
#include "tenon/layer.h"
#include "tenon/logical.h"
#include "tenon/rope.h"

/* y = W x + b, W in its file. */
struct tenon_project {
    struct tenon_logical weight;
    double *bias;     /* NULL: none */
    uint64_t in, out; /* widths */
    bool transposed;  /* stored as in x out */
};

/* A norm with its weights, or none. */
struct tenon_norming {
    enum tenon_norm_kind kind;
    struct tenon_norm norm;
    double *weight, *bias; /* owned; NULL: none */
    uint32_t n_sets;       /* sets of weights, one for each head, or 1 */
};

/* Rounds to float32, unless exact. */
double tenon_round(enum tenon_precision precision, double value);

/* The tensor with that role in that part, else in the main one, of that layer (-1: outside of
 * layers); NULL when there is none. */
const struct tenon_tensor *tenon_find_tensor(const struct tenon_model *model, enum tenon_role role,
                                             enum tenon_part part, bool bias, int32_t layer);

/* All values of a tensor, which must be `n` of them; from tenon_mem_alloc. `add` is added to each,
 * rounded to float32. MISMATCH, NO_MEMORY, or as decoding. */
enum tenon_status tenon_read_vector(const struct tenon_model *model,
                                    const struct tenon_tensor *tensor, uint64_t n, double add,
                                    double **out, struct tenon_error *err);

/* Where a projection is stored. */
struct tenon_project_place {
    const struct tenon_tensor *weight, *bias; /* `bias` may be NULL */
    bool transposed;
};

/* The input must be `in` wide (0: any). */
enum tenon_status tenon_project_init(struct tenon_project *project, const struct tenon_model *model,
                                     const struct tenon_project_place *place, uint64_t in,
                                     struct tenon_error *err);
void tenon_project_release(struct tenon_project *project);

/* Outputs `first` ... `first + n_rows - 1` of `n` vectors of `in` values: out[i * stride ...] for
 * vector i. Sums are float64, rounded once. Reads those rows only. */
struct tenon_project_job {
    enum tenon_precision precision;
    const double *x;
    size_t n;
    double *out;
    size_t stride;
};
enum tenon_status tenon_project_rows(const struct tenon_project *project, uint64_t first,
                                     uint64_t n_rows, const struct tenon_project_job *job,
                                     struct tenon_error *err);

void tenon_norming_release(struct tenon_norming *norming);

/* Normalises `width` values with the set of weights `set`. NO_MEMORY. */
enum tenon_status tenon_norming_apply(const struct tenon_norming *norming,
                                      enum tenon_precision precision, uint32_t set, double *x,
                                      struct tenon_error *err);

/* The epsilon that config or metadata states for norms of that kind, else the family's. */
double tenon_norm_eps(const struct tenon_model *model, const struct tenon_arch *facts,
                      enum tenon_norm_kind kind);

#endif
