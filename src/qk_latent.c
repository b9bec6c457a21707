/* Queries and keys that pass through a latent (MLA of DeepSeek and others): a small vector is
 * normalised and widened again; a slice of each head turns, and all keys share that slice. */
#include <string.h>

#include "fail.h"
#include "mem.h"
#include "qk_private.h"

/* Buffers for one sequence. */
struct latent_work {
    double *q_a, *kv, *latent, *angles, *turn;
};

static void release_work(struct latent_work *w)
{
    tenon_mem_free(w->q_a);
    tenon_mem_free(w->kv);
    tenon_mem_free(w->latent);
    tenon_mem_free(w->angles);
    tenon_mem_free(w->turn);
}

/* n * width doubles; NULL when that cannot be had. */
static double *take(size_t n, uint64_t width)
{
    size_t values;

    if (width > SIZE_MAX || !tenon_size_mul(&values, n, (size_t)width))
        return NULL;
    return tenon_mem_alloc(values, sizeof(double));
}

static enum tenon_status make_work(const struct tenon_qk *qk, size_t n, size_t pairs,
                                   struct latent_work *w, struct tenon_error *err)
{
    w->q_a = take(n, qk->q_a.out);
    w->kv = take(n, qk->kv_a.out);
    w->latent = take(n, qk->k.in);
    w->angles = take(2, pairs);
    w->turn = take(1, qk->rope_dim);
    return w->q_a && w->kv && w->latent && w->angles && w->turn ? TENON_OK : tenon_fail_memory(err);
}

static enum tenon_status project(const struct tenon_qk *qk, const struct tenon_project *p,
                                 const double *x, size_t n, double *out, struct tenon_error *err)
{
    const struct tenon_project_job job = {.precision = qk->input->options.precision,
                                          .x = x,
                                          .n = n,
                                          .out = out,
                                          .stride = (size_t)p->out};

    return tenon_project_rows(p, 0, p->out, &job, err);
}

static enum tenon_status make_queries(const struct tenon_qk *qk, const struct tenon_qk_job *job,
                                      const struct latent_work *w, struct tenon_error *err)
{
    const double *x = job->x;
    double *out = job->q;
    size_t rank = (size_t)qk->q_a.out, n = job->tokens->n;
    enum tenon_status st;

    if (rank == 0)
        return project(qk, &qk->q, x, n, out, err);
    st = project(qk, &qk->q_a, x, n, w->q_a, err);
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        st = tenon_norming_apply(&qk->q_norm, qk->input->options.precision, 0, w->q_a + i * rank,
                                 err);
    return st == TENON_OK ? project(qk, &qk->q, w->q_a, n, out, err) : st;
}

/* The parts of the keys that do not turn, from the latents; `w->kv` keeps the slices that do. */
static enum tenon_status make_keys(const struct tenon_qk *qk, const struct tenon_qk_job *job,
                                   const struct latent_work *w, struct tenon_error *err)
{
    const double *x = job->x;
    double *out = job->k;
    size_t rank = (size_t)qk->k.in, d = qk->shape.head_dim, nope = d - qk->rope_dim;
    size_t all = qk->shape.heads * d, n = job->tokens->n;
    enum tenon_status st = project(qk, &qk->kv_a, x, n, w->kv, err);

    for (size_t i = 0; st == TENON_OK && i < n; i++) {
        memcpy(w->latent + i * rank, w->kv + i * (size_t)qk->kv_a.out, rank * sizeof(*w->latent));
        st = tenon_norming_apply(&qk->k_norm, qk->input->options.precision, 0, w->latent + i * rank,
                                 err);
    }
    for (uint32_t h = 0; st == TENON_OK && nope > 0 && h < qk->shape.heads; h++) {
        const struct tenon_project_job part = {.precision = qk->input->options.precision,
                                               .x = w->latent,
                                               .n = n,
                                               .out = out + h * d,
                                               .stride = all};

        st = tenon_project_rows(&qk->k, (uint64_t)h * (nope + qk->value_dim), nope, &part, err);
    }
    return st;
}

/* Turns the slices of token `i`, and hands the keys' to all heads. */
static void turn_token(const struct tenon_qk *qk, const struct tenon_qk_job *job,
                       const struct latent_work *w, size_t i)
{
    size_t d = qk->shape.head_dim, nope = d - qk->rope_dim, heads = qk->shape.heads;
    double *slice = w->kv + i * (size_t)qk->kv_a.out + qk->k.in;
    double *sines = w->angles + job->table->n_pairs;

    if (qk->rope != NULL) {
        tenon_tokens_angles(job->tokens, job->table, i, w->angles, sines);
        tenon_turn_head(job->table, w->angles, sines, slice, w->turn);
    }
    for (size_t h = 0; h < heads; h++) {
        size_t at = (i * heads + h) * d + nope;

        if (qk->rope != NULL)
            tenon_turn_head(job->table, w->angles, sines, job->q + at, w->turn);
        memcpy(job->k + at, slice, qk->rope_dim * sizeof(*slice));
    }
}

enum tenon_status tenon_qk_latent_rows(const struct tenon_qk *qk, const struct tenon_qk_job *job,
                                       struct tenon_error *err)
{
    struct latent_work w = {0};
    size_t n = job->tokens->n;
    enum tenon_status st = make_work(qk, n, job->table->n_pairs, &w, err);

    if (st == TENON_OK)
        st = make_queries(qk, job, &w, err);
    if (st == TENON_OK)
        st = make_keys(qk, job, &w, err);
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        turn_token(qk, job, &w, i);
    release_work(&w);
    return st;
}
