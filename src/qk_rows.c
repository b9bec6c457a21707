/* Queries and keys of the first layer: making them. */
#include <math.h>
#include <string.h>

#include "fail.h"
#include "mem.h"
#include "qk_private.h"

/* Queries or keys of a sequence, as they are worked on. */
struct side {
    bool key;
    uint32_t heads;
    const struct tenon_project *project;
    const struct tenon_norming *norm;
    double *out;
};

static enum tenon_status project_heads(const struct tenon_qk *qk, const struct side *s,
                                       const double *x, size_t n, struct tenon_error *err)
{
    size_t d = qk->shape.head_dim;
    enum tenon_status st = TENON_OK;

    for (uint32_t h = 0; st == TENON_OK && h < s->heads; h++) {
        const struct tenon_project_job job = {.precision = qk->input->options.precision,
                                              .x = x,
                                              .n = n,
                                              .out = s->out + h * d,
                                              .stride = s->heads * d};

        st = tenon_project_rows(s->project, tenon_qk_row(qk, s->key, h), d, &job, err);
    }
    return st;
}

static void limit(const struct tenon_qk *qk, const struct side *s, size_t n)
{
    size_t values = n * s->heads * qk->shape.head_dim;

    for (size_t i = 0; s->key && !isnan(qk->k_scale) && i < values; i++)
        s->out[i] = tenon_round(qk->input->options.precision, s->out[i] * qk->k_scale);
    for (size_t i = 0; !isnan(qk->clip) && i < values; i++)
        s->out[i] = fmin(fmax(s->out[i], -qk->clip), qk->clip);
}

static enum tenon_status normalise(const struct tenon_qk *qk, const struct side *s, size_t n,
                                   struct tenon_error *err)
{
    size_t all = (size_t)s->heads * qk->shape.head_dim, width = s->norm->norm.width;
    enum tenon_status st = TENON_OK;

    if (s->norm->kind == TENON_NORM_NONE)
        return TENON_OK;
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        for (size_t at = 0; st == TENON_OK && at < all; at += width)
            st = tenon_norming_apply(s->norm, qk->input->options.precision, (uint32_t)(at / width),
                                     s->out + i * all + at, err);
    return st;
}

static enum tenon_status turn(const struct tenon_qk *qk, const struct side *s,
                              const struct tenon_tokens *tokens,
                              const struct tenon_rope_table *table, struct tenon_error *err)
{
    size_t d = qk->shape.head_dim, pairs = table->n_pairs;
    double *work;

    if (qk->rope == NULL)
        return TENON_OK;
    work = tenon_mem_alloc(2 * pairs + d, sizeof(*work));
    if (work == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < tokens->n; i++) {
        tenon_tokens_angles(tokens, table, i, work, work + pairs);
        for (uint32_t h = 0; h < s->heads; h++)
            tenon_turn_head(table, work, work + pairs, s->out + (i * s->heads + h) * d,
                            work + 2 * pairs);
    }
    tenon_mem_free(work);
    return TENON_OK;
}

/* Ministral 3: queries grow with the logarithm of how often the first context fits before them. */
static void heat(const struct tenon_qk *qk, const struct side *s, const struct tenon_tokens *tokens)
{
    size_t all = (size_t)s->heads * qk->shape.head_dim;

    if (s->key || !(qk->temperature > 0) || !(qk->temperature_floor > 0))
        return;
    for (size_t i = 0; i < tokens->n; i++) {
        double times = floor(tenon_tokens_position(tokens, 0, i) / qk->temperature_floor);
        double factor =
            tenon_round(qk->input->options.precision, 1 + qk->temperature * log(1 + times));

        for (size_t k = 0; k < all; k++)
            s->out[i * all + k] =
                tenon_round(qk->input->options.precision, s->out[i * all + k] * factor);
    }
}

static enum tenon_status make_side(const struct tenon_qk *qk, const struct side *s,
                                   const struct tenon_tokens *tokens, const double *x,
                                   const struct tenon_rope_table *table, struct tenon_error *err)
{
    bool after = (qk->input->facts.flags & TENON_ARCH_QK_NORM_AFTER) != 0;
    enum tenon_status st = project_heads(qk, s, x, tokens->n, err);

    if (st != TENON_OK)
        return st;
    limit(qk, s, tokens->n);
    if (!after)
        st = normalise(qk, s, tokens->n, err);
    if (st == TENON_OK)
        st = turn(qk, s, tokens, table, err);
    if (st == TENON_OK && after)
        st = normalise(qk, s, tokens->n, err);
    if (st == TENON_OK)
        heat(qk, s, tokens);
    return st;
}

/* What the projections take: the input, normalised. */
static enum tenon_status make_hidden(const struct tenon_qk *qk, const struct tenon_tokens *tokens,
                                     double *x, struct tenon_error *err)
{
    size_t width = qk->input->width;
    enum tenon_status st = tenon_input_rows(qk->input, tokens, x, err);

    for (size_t i = 0; st == TENON_OK && i < tokens->n; i++)
        st = tenon_norming_apply(&qk->norm, qk->input->options.precision, 0, x + i * width, err);
    for (size_t i = 0; st == TENON_OK && !isnan(qk->x_scale) && i < tokens->n * width; i++)
        x[i] = tenon_round(qk->input->options.precision, x[i] * qk->x_scale);
    return st;
}

enum tenon_status tenon_qk_rows(const struct tenon_qk *qk, const struct tenon_tokens *tokens,
                                double *out_q, double *out_k, struct tenon_rope_table *out_rope,
                                struct tenon_error *err)
{
    const struct side sides[] = {
        {false, qk->shape.heads, &qk->q, &qk->q_norm, out_q},
        {true, qk->shape.kv_heads, qk->fused ? &qk->q : &qk->k, &qk->k_norm, out_k},
    };
    struct tenon_rope_table table = {0};
    double *x = NULL;
    size_t values;
    enum tenon_status st = TENON_OK;

    if (!tenon_size_mul(&values, tokens->n, qk->input->width))
        return tenon_fail_memory(err);
    x = tenon_mem_alloc(values, sizeof(*x));
    if (x == NULL)
        return tenon_fail_memory(err);
    if (qk->rope != NULL)
        st = tenon_rope_table_init(&table, qk->rope, qk->input->options.precision,
                                   tenon_tokens_length(tokens, &qk->input->options), err);
    if (st == TENON_OK)
        st = make_hidden(qk, tokens, x, err);
    if (st == TENON_OK && qk->latent)
        st = tenon_qk_latent_rows(qk, &(struct tenon_qk_job){tokens, x, &table, out_q, out_k}, err);
    for (size_t i = 0; st == TENON_OK && !qk->latent && i < 2; i++)
        st = make_side(qk, &sides[i], tokens, x, &table, err);
    tenon_mem_free(x);
    if (st == TENON_OK && out_rope != NULL)
        *out_rope = table;
    else
        tenon_rope_table_release(&table);
    return st;
}
