/* Queries and keys of the first layer: finding what makes them. */
#include "qk_private.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "position_resolve.h"

static bool has_flag(const struct tenon_qk *qk, enum tenon_arch_flags flag)
{
    return (qk->input->facts.flags & (unsigned)flag) != 0;
}

static bool is_gguf(const struct tenon_qk *qk)
{
    return tenon_resolve_is_gguf(qk->model);
}

static const struct tenon_tensor *find(const struct tenon_qk *qk, enum tenon_role role, bool bias)
{
    return tenon_find_tensor(qk->model, role, qk->input->side, bias, 0);
}

static enum tenon_status fail_model(const struct tenon_qk *qk, enum tenon_status st,
                                    struct tenon_error *err, const char *text)
{
    tenon_fail(err, st, TENON_NO_OFFSET, "%s", text);
    tenon_fail_path(err, tenon_model_path(qk->model));
    return st;
}

/* --- norms --- */

/* Weights that are stored less one. */
static double plus_one(const struct tenon_qk *qk)
{
    return has_flag(qk, TENON_ARCH_NORM_PLUS_ONE) && !is_gguf(qk) ? 1 : 0;
}

static enum tenon_status read_norm(const struct tenon_qk *qk, enum tenon_role role,
                                   enum tenon_norm_kind kind, uint64_t width,
                                   struct tenon_norming *out, struct tenon_error *err)
{
    const struct tenon_tensor *w = find(qk, role, false), *b = find(qk, role, true);
    bool plain =
        kind == TENON_NORM_LAYER_PLAIN || kind == TENON_NORM_RMS_PLAIN || kind == TENON_NORM_L2;
    enum tenon_status st = TENON_OK;

    if (width == 0 || width > UINT32_MAX)
        return fail_model(qk, TENON_ERR_LIMIT, err, "a norm of too many values");
    out->kind = kind == TENON_NORM_L2 ? TENON_NORM_RMS_PLAIN : kind;
    out->norm.width = (uint32_t)width;
    out->norm.eps = tenon_norm_eps(qk->model, &qk->input->facts, kind);
    out->n_sets = 1;
    if (plain)
        return TENON_OK;
    if (w == NULL)
        return fail_model(qk, TENON_ERR_NOT_FOUND, err,
                          "the first layer has no norm before attention, which this architecture "
                          "needs");
    st = tenon_read_vector(qk->model, w, width, plus_one(qk), &out->weight, err);
    if (st == TENON_OK && b != NULL)
        st = tenon_read_vector(qk->model, b, width, 0, &out->bias, err);
    return st;
}

/* Whether the norm stands after attention instead. */
static bool norms_later(const struct tenon_qk *qk)
{
    struct tenon_setting s;
    bool before = !has_flag(qk, TENON_ARCH_POST_NORM) && !has_flag(qk, TENON_ARCH_FIRST_UNNORMED);

    if (tenon_model_setting(qk->model, "do_layer_norm_before", &s)) /* OPT */
        (void)tenon_setting_bool(&s, &before);
    return !before;
}

static enum tenon_status find_attn_norm(struct tenon_qk *qk, struct tenon_error *err)
{
    enum tenon_norm_kind kind = qk->input->facts.norm;
    bool second =
        has_flag(qk, TENON_ARCH_NORM_SECOND) && find(qk, TENON_ROLE_ATTN_NORM_2, false) != NULL;

    if (norms_later(qk))
        return TENON_OK;
    if (kind == TENON_NORM_NONE)
        return fail_model(qk, TENON_ERR_UNSUPPORTED_FEATURE, err,
                          "it is not known which norm stands before attention");
    return read_norm(qk, second ? TENON_ROLE_ATTN_NORM_2 : TENON_ROLE_ATTN_NORM, kind,
                     qk->input->width, &qk->norm, err);
}

/* The tensor of one head, where each has its own. */
static const struct tenon_tensor *find_of_head(const struct tenon_qk *qk, enum tenon_role role,
                                               bool bias, uint32_t head)
{
    for (size_t i = 0; i < qk->model->n_tensors; i++) {
        const struct tenon_tensor *t = &qk->model->tensors[i];

        if (t->role == role && t->layer == 0 && t->expert == (int32_t)head &&
            ((t->flags & TENON_TENSOR_BIAS) != 0) == bias)
            return t;
    }
    return NULL;
}

static enum tenon_status read_sets(const struct tenon_qk *qk, enum tenon_role role, bool bias,
                                   uint32_t heads, double **out, struct tenon_error *err)
{
    size_t d = qk->shape.head_dim;
    double *all, *one = NULL;
    enum tenon_status st = TENON_OK;

    if (bias && find_of_head(qk, role, bias, 0) == NULL)
        return TENON_OK;
    all = tenon_mem_alloc(d * heads, sizeof(*all));
    if (all == NULL)
        return tenon_fail_memory(err);
    for (uint32_t h = 0; st == TENON_OK && h < heads; h++) {
        const struct tenon_tensor *t = find_of_head(qk, role, bias, h);

        st = t != NULL ? tenon_read_vector(qk->model, t, d, 0, &one, err)
                       : fail_model(qk, TENON_ERR_NOT_FOUND, err, "a head has no norm of its own");
        if (st != TENON_OK)
            break;
        memcpy(all + h * d, one, d * sizeof(*all));
        tenon_mem_free(one);
    }
    if (st == TENON_OK)
        *out = all;
    else
        tenon_mem_free(all);
    return st;
}

/* Norms of heads that are tensors of their own. */
static enum tenon_status read_head_norms(const struct tenon_qk *qk, enum tenon_role role,
                                         enum tenon_norm_kind kind, uint32_t heads,
                                         struct tenon_norming *out, struct tenon_error *err)
{
    enum tenon_status st;

    out->kind = kind;
    out->norm.width = qk->shape.head_dim;
    out->norm.eps = tenon_norm_eps(qk->model, &qk->input->facts, kind);
    out->n_sets = heads;
    st = read_sets(qk, role, false, heads, &out->weight, err);
    return st == TENON_OK ? read_sets(qk, role, true, heads, &out->bias, err) : st;
}

/* One set of weights for all heads, one for each, or one norm over all of them. */
static enum tenon_status find_head_norm(struct tenon_qk *qk, enum tenon_role role, uint32_t heads,
                                        struct tenon_norming *out, struct tenon_error *err)
{
    const struct tenon_tensor *w = find(qk, role, false);
    enum tenon_norm_kind kind = qk->input->facts.qk_norm;
    uint64_t d = qk->shape.head_dim, all = d * heads;
    bool plain = kind == TENON_NORM_RMS_PLAIN;
    struct tenon_setting s;
    bool on = true, each;
    enum tenon_status st;

    if (kind == TENON_NORM_L2) { /* Llama 4: where the config wants it, on layers that turn */
        if (tenon_model_setting(qk->model, "use_qk_norm", &s))
            (void)tenon_setting_bool(&s, &on);
        plain = on && tenon_positions_rope(qk->input->positions, 0) != NULL;
    }
    if (plain && w == NULL)
        return read_norm(qk, role, kind, d, out, err);
    if (w == NULL || kind == TENON_NORM_L2)
        return TENON_OK;
    if (kind == TENON_NORM_NONE || plain) /* converters store weights where classes have none */
        kind = TENON_NORM_RMS;
    if (w->expert >= 0)
        return read_head_norms(qk, role, kind, heads, out, err);
    each = w->n_dims == 2 && w->dims[0] == heads && w->n_elements == all;
    st = read_norm(qk, role, kind, w->n_elements == d ? d : all, out, err);
    if (st == TENON_OK && each) {
        out->norm.width = (uint32_t)d;
        out->n_sets = heads;
    }
    return st;
}

/* --- projections --- */

/* Where the rows of query head `i` or key head `i` begin. */
uint64_t tenon_qk_row(const struct tenon_qk *qk, bool key, uint32_t i)
{
    uint64_t d = qk->shape.head_dim, heads = qk->shape.heads, kv = qk->shape.kv_heads;
    uint64_t group = heads / kv, slice = heads / TENON_CODEGEN_SLICES;

    if (!qk->fused)
        return i * d * (key ? 1 : qk->q_stride);
    switch (qk->layout) {
    case TENON_QKV_BLOCKS:
        break;
    case TENON_QKV_GROUPS:
        return key ? (i * (group + 2) + group) * d : ((i / group) * (group + 2) + i % group) * d;
    case TENON_QKV_CODEGEN:
        return ((i / slice) * 3 * slice + (key ? 2 * slice : 0) + i % slice) * d;
    }
    return ((key ? heads : 0) + i) * d;
}

static enum tenon_status make_part(const struct tenon_qk *qk, enum tenon_role role, uint64_t in,
                                   struct tenon_project *out, struct tenon_error *err)
{
    const struct tenon_project_place place = {
        .weight = find(qk, role, false),
        .bias = find(qk, role, true),
        .transposed = has_flag(qk, TENON_ARCH_CONV1D) && !is_gguf(qk),
    };

    return tenon_project_init(out, qk->model, &place, in, err);
}

static enum tenon_status make_projection(struct tenon_qk *qk, enum tenon_role role,
                                         struct tenon_project *out, struct tenon_error *err)
{
    return make_part(qk, role, qk->input->width, out, err);
}

static enum tenon_status check_rows(const struct tenon_qk *qk, const struct tenon_project *p,
                                    uint64_t due, struct tenon_error *err)
{
    const struct tenon_tensor *t = p->weight.codes;
    enum tenon_status st;

    if (p->out >= due && (qk->fused || p->out == due))
        return TENON_OK;
    st =
        tenon_fail(err, TENON_ERR_MISMATCH, t->record_offset,
                   "makes %llu values, %u heads for queries and %u for keys of %u values need %llu",
                   (unsigned long long)p->out, qk->shape.heads, qk->shape.kv_heads,
                   qk->shape.head_dim, (unsigned long long)due);
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_path(err, tenon_model_path(qk->model));
    return st;
}

static enum tenon_status find_projections(struct tenon_qk *qk, struct tenon_error *err)
{
    uint64_t d = qk->shape.head_dim, heads = qk->shape.heads, kv = qk->shape.kv_heads;
    enum tenon_role key = TENON_ROLE_ATTN_K;
    enum tenon_status st;

    qk->q_stride = has_flag(qk, TENON_ARCH_Q_GATED) ? 2 : 1;
    qk->layout = is_gguf(qk) ? TENON_QKV_BLOCKS : qk->input->facts.qkv;
    if (find(qk, TENON_ROLE_ATTN_QKV, false) != NULL) {
        qk->fused = true;
        if (qk->layout == TENON_QKV_CODEGEN && heads % TENON_CODEGEN_SLICES != 0)
            return fail_model(qk, TENON_ERR_MISMATCH, err, "heads do not fill four slices");
        st = make_projection(qk, TENON_ROLE_ATTN_QKV, &qk->q, err);
        return st == TENON_OK ? check_rows(qk, &qk->q, (heads + 2 * kv) * d, err) : st;
    }
    if (find(qk, key, false) == NULL)
        key = TENON_ROLE_ATTN_KV; /* keys, then values */
    if (find(qk, TENON_ROLE_ATTN_Q, false) == NULL || find(qk, key, false) == NULL)
        return fail_model(qk, TENON_ERR_UNSUPPORTED_FEATURE, err,
                          "the first layer has no projections to queries and keys that are known");
    st = make_projection(qk, TENON_ROLE_ATTN_Q, &qk->q, err);
    if (st == TENON_OK)
        st = check_rows(qk, &qk->q, heads * d * qk->q_stride, err);
    if (st == TENON_OK)
        st = make_projection(qk, key, &qk->k, err);
    if (st == TENON_OK)
        st = check_rows(qk, &qk->k, key == TENON_ROLE_ATTN_KV ? 2 * kv * d : kv * d, err);
    return st;
}

/* --- latents --- */

static enum tenon_status find_latent_widths(struct tenon_qk *qk, struct tenon_error *err)
{
    int64_t rope = -1, nope = -1, v = -1, key = -1;

    (void)tenon_resolve_int(qk->model, "qk_rope_head_dim rope.dimension_count", &rope);
    (void)tenon_resolve_int(qk->model,
                            "v_head_dim attention.value_length_mla "
                            "attention.value_length",
                            &v);
    if (!tenon_resolve_int(qk->model, "qk_nope_head_dim", &nope) &&
        tenon_resolve_int(qk->model, "attention.key_length_mla attention.key_length", &key))
        nope = key - rope;
    if (v < 0 && is_gguf(qk)) /* what llama.cpp assumes of values where nothing is said */
        v = qk->input->positions->hidden_size / qk->shape.heads;
    if (rope <= 0 || rope > UINT16_MAX || nope < 0 || nope > UINT16_MAX || v < 0 || v > UINT16_MAX)
        return fail_model(qk, TENON_ERR_MISMATCH, err,
                          "widths of the parts of a head are not known or make no sense");
    qk->rope_dim = (uint32_t)rope;
    qk->value_dim = (uint32_t)v;
    qk->shape.head_dim = (uint32_t)(nope + rope);
    qk->shape.kv_heads = qk->shape.heads;
    return TENON_OK;
}

/* A norm of a latent: its epsilon is the class's own in HF models. */
static enum tenon_status read_latent_norm(const struct tenon_qk *qk, enum tenon_role role,
                                          uint64_t width, struct tenon_norming *out,
                                          struct tenon_error *err)
{
    enum tenon_status st = read_norm(qk, role, TENON_NORM_RMS, width, out, err);

    if (!is_gguf(qk))
        out->norm.eps = 1e-6;
    return st;
}

static enum tenon_status find_latent_queries(struct tenon_qk *qk, struct tenon_error *err)
{
    uint64_t due = (uint64_t)qk->shape.heads * qk->shape.head_dim;
    enum tenon_status st;

    if (find(qk, TENON_ROLE_ATTN_Q_B, false) == NULL) {
        if (find(qk, TENON_ROLE_ATTN_Q, false) == NULL)
            return fail_model(qk, TENON_ERR_NOT_FOUND, err, "the first layer makes no queries");
        st = make_part(qk, TENON_ROLE_ATTN_Q, qk->input->width, &qk->q, err);
        return st == TENON_OK ? check_rows(qk, &qk->q, due, err) : st;
    }
    if (find(qk, TENON_ROLE_ATTN_Q_A, false) == NULL)
        return fail_model(qk, TENON_ERR_NOT_FOUND, err, "the first layer has no latent of queries");
    st = make_part(qk, TENON_ROLE_ATTN_Q_A, qk->input->width, &qk->q_a, err);
    if (st == TENON_OK)
        st = read_latent_norm(qk, TENON_ROLE_ATTN_Q_A_NORM, qk->q_a.out, &qk->q_norm, err);
    if (st == TENON_OK)
        st = make_part(qk, TENON_ROLE_ATTN_Q_B, qk->q_a.out, &qk->q, err);
    return st == TENON_OK ? check_rows(qk, &qk->q, due, err) : st;
}

static enum tenon_status find_latent(struct tenon_qk *qk, struct tenon_error *err)
{
    enum tenon_status st = find_latent_widths(qk, err);

    if (st == TENON_OK && (find(qk, TENON_ROLE_ATTN_KV_A, false) == NULL ||
                           find(qk, TENON_ROLE_ATTN_KV_B, false) == NULL))
        return fail_model(qk, TENON_ERR_UNSUPPORTED_FEATURE, err,
                          "keys that are kept in a latent (no attn_kv_b) are not supported");
    if (st == TENON_OK)
        st = find_latent_queries(qk, err);
    if (st == TENON_OK)
        st = make_part(qk, TENON_ROLE_ATTN_KV_A, qk->input->width, &qk->kv_a, err);
    if (st == TENON_OK && qk->kv_a.out <= qk->rope_dim)
        return fail_model(qk, TENON_ERR_MISMATCH, err, "the latent of keys is too narrow");
    if (st == TENON_OK)
        st = read_latent_norm(qk, TENON_ROLE_ATTN_KV_A_NORM, qk->kv_a.out - qk->rope_dim,
                              &qk->k_norm, err);
    if (st == TENON_OK)
        st = make_part(qk, TENON_ROLE_ATTN_KV_B, qk->kv_a.out - qk->rope_dim, &qk->k, err);
    if (st == TENON_OK)
        st = check_rows(
            qk, &qk->k,
            (uint64_t)qk->shape.heads * (qk->shape.head_dim - qk->rope_dim + qk->value_dim), err);
    return st;
}

/* --- numbers --- */

static void find_numbers(struct tenon_qk *qk)
{
    const struct tenon_arch_rope *defaults = qk->input->facts.rope_default;
    struct tenon_setting s;

    qk->clip = qk->x_scale = qk->k_scale = (double)NAN;
    (void)tenon_resolve_number(qk->model, "clip_qkv attn_config.clip_qkv attention.clamp_kqv",
                               &qk->clip);
    if (!is_gguf(qk)) { /* multiplied into the weights there */
        (void)tenon_resolve_number(qk->model, "attention_in_multiplier", &qk->x_scale);
        (void)tenon_resolve_number(qk->model, "key_multiplier", &qk->k_scale);
    }
    if (defaults != NULL && !is_gguf(qk) &&
        !tenon_model_setting(qk->model, "rope_parameters", &s) &&
        !tenon_model_setting(qk->model, "rope_scaling", &s)) {
        qk->temperature = defaults->temperature;
        qk->temperature_floor = defaults->original;
    }
    (void)tenon_resolve_number(qk->model,
                               "rope_parameters.llama_4_scaling_beta rope_scaling."
                               "llama_4_scaling_beta attention.temperature_scale",
                               &qk->temperature);
    (void)tenon_resolve_number(qk->model,
                               "rope_parameters.original_max_position_embeddings "
                               "rope_scaling.original_max_position_embeddings "
                               "rope.scaling.original_context_length",
                               &qk->temperature_floor);
}

static enum tenon_status find_shape(struct tenon_qk *qk, struct tenon_error *err)
{
    const struct tenon_positions *p = qk->input->positions;
    int64_t heads = p->heads, kv = p->kv_heads, d = p->head_dim, other;

    if (qk->input->side == TENON_PART_DECODER) {
        if (tenon_resolve_int(qk->model, "decoder_attention_heads", &other))
            heads = kv = other;
        if (heads > 0 && qk->model->hparams.head_dim < 0)
            d = (int64_t)(qk->input->width / (uint64_t)heads);
    }
    if (heads <= 0 || kv <= 0 || d <= 0 || heads > UINT16_MAX || d > UINT16_MAX || kv > heads ||
        heads % kv != 0)
        return fail_model(qk, TENON_ERR_MISMATCH, err,
                          "numbers of heads and the width of a head are not known or do not fit "
                          "together");
    qk->shape = (struct tenon_qk_shape){(uint32_t)heads, (uint32_t)kv, (uint32_t)d};
    return TENON_OK;
}

static enum tenon_status prepare(struct tenon_qk *qk, struct tenon_error *err)
{
    const struct tenon_rope_use *use;
    enum tenon_status st = find_shape(qk, err);

    if (st == TENON_OK)
        st = find_attn_norm(qk, err);
    qk->latent = has_flag(qk, TENON_ARCH_LATENT);
    if (st == TENON_OK)
        st = qk->latent ? find_latent(qk, err) : find_projections(qk, err);
    if (st == TENON_OK && !qk->latent)
        st = find_head_norm(qk, TENON_ROLE_ATTN_Q_NORM, qk->shape.heads, &qk->q_norm, err);
    if (st == TENON_OK && !qk->latent)
        st = find_head_norm(qk, TENON_ROLE_ATTN_K_NORM, qk->shape.kv_heads, &qk->k_norm, err);
    if (st != TENON_OK)
        return st;
    find_numbers(qk);
    use = tenon_positions_rope(qk->input->positions, 0);
    if (qk->input->positions->kind == TENON_POSITION_ROPE && use != NULL &&
        qk->input->options.positions != TENON_INPUT_NONE)
        qk->rope = &use->rope;
    if (qk->rope != NULL && qk->rope->head_dim != (qk->latent ? qk->rope_dim : qk->shape.head_dim))
        return fail_model(qk, TENON_ERR_MISMATCH, err,
                          "heads that turn have another width than those that are projected");
    return TENON_OK;
}

enum tenon_status tenon_qk_new(const struct tenon_model *model,
                               const struct tenon_input_options *options, struct tenon_qk **out,
                               struct tenon_error *err)
{
    struct tenon_qk *qk = tenon_mem_alloc(1, sizeof(*qk));
    enum tenon_status st;

    if (qk == NULL)
        return tenon_fail_memory(err);
    qk->model = model;
    st = tenon_input_new(model, options, &qk->input, err);
    if (st == TENON_OK)
        st = prepare(qk, err);
    if (st != TENON_OK) {
        tenon_qk_free(qk);
        return st;
    }
    *out = qk;
    return TENON_OK;
}

void tenon_qk_free(struct tenon_qk *qk)
{
    if (qk == NULL)
        return;
    tenon_norming_release(&qk->norm);
    tenon_norming_release(&qk->q_norm);
    tenon_norming_release(&qk->k_norm);
    tenon_project_release(&qk->q);
    tenon_project_release(&qk->k);
    tenon_project_release(&qk->q_a);
    tenon_project_release(&qk->kv_a);
    tenon_input_free(qk->input);
    tenon_mem_free(qk);
}

struct tenon_qk_shape tenon_qk_shape(const struct tenon_qk *qk)
{
    return qk->shape;
}

const struct tenon_input *tenon_qk_input(const struct tenon_qk *qk)
{
    return qk->input;
}
