/* The input of the first block: finding what it is made of. */
#include "input_private.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "position_resolve.h"

void tenon_input_options_init(struct tenon_input_options *options)
{
    *options =
        (struct tenon_input_options){.precision = TENON_PRECISION_HF, .side = TENON_PART_MAIN};
    tenon_position_overrides_init(&options->overrides);
}

enum tenon_precision tenon_model_precision(const struct tenon_model *model)
{
    return tenon_resolve_is_gguf(model) ? TENON_PRECISION_GGML : TENON_PRECISION_HF;
}

static bool is_gguf(const struct tenon_input *in)
{
    return tenon_resolve_is_gguf(in->model);
}

static bool has_flag(const struct tenon_input *in, enum tenon_arch_flags flag)
{
    return (in->facts.flags & (unsigned)flag) != 0;
}

static enum tenon_status fail_tensor(const struct tenon_model *model, enum tenon_status status,
                                     const struct tenon_tensor *t, uint64_t found, uint64_t due,
                                     struct tenon_error *err)
{
    tenon_fail(err, status, t->record_offset, "rows of %llu values, %llu are due",
               (unsigned long long)found, (unsigned long long)due);
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_path(err, tenon_model_path(model));
    return status;
}

/* --- words --- */

static bool has_part(const struct tenon_model *model, enum tenon_part part)
{
    for (size_t i = 0; i < tenon_model_n_tensors(model); i++)
        if (tenon_model_tensor(model, i)->part == part)
            return true;
    return false;
}

static const char *part_name(enum tenon_part part)
{
    return part == TENON_PART_DECODER ? "decoder" : "encoder";
}

/* A side was asked for that the model does not have, or that reads no tokens. */
static enum tenon_status fail_side(const struct tenon_model *model, enum tenon_part side,
                                   struct tenon_error *err)
{
    enum tenon_part other = side == TENON_PART_DECODER ? TENON_PART_ENCODER : TENON_PART_DECODER;

    if (has_part(model, side))
        tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                   "the model's %s has no matrix of token embeddings", part_name(side));
    else if (has_part(model, other))
        tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "the model has no %s, only the %s",
                   part_name(side), part_name(other));
    else
        tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                   "the model has no %s of its own: it is one stack of layers", part_name(side));
    tenon_fail_path(err, tenon_model_path(model));
    return TENON_ERR_MISUSE;
}

/* The matrix of the side, or the one for both sides. `*out_part` is where it was found. */
static const struct tenon_tensor *find_matrix(const struct tenon_model *model, enum tenon_part side,
                                              enum tenon_part *out_part)
{
    static const enum tenon_part orders[][4] = {
        [TENON_PART_MAIN] = {TENON_PART_MAIN, TENON_PART_ENCODER, TENON_PART_DECODER},
        [TENON_PART_ENCODER] = {TENON_PART_ENCODER, TENON_PART_MAIN, TENON_PART_MAIN},
        [TENON_PART_DECODER] = {TENON_PART_DECODER, TENON_PART_MAIN, TENON_PART_MAIN},
    };
    const struct tenon_tensor *t = NULL;

    for (size_t i = 0; i < 3 && t == NULL; i++) {
        *out_part = orders[side][i];
        t = tenon_model_find_role(model, TENON_ROLE_TOKEN_EMBD, *out_part, false);
    }
    return t;
}

/* The matrix of the side that was asked for, else the first that there is; `*out_side` is the side
 * that the model then is taken from. */
static enum tenon_status find_words(const struct tenon_model *model, enum tenon_part wanted,
                                    struct tenon_embed *words, enum tenon_part *out_side,
                                    struct tenon_error *err)
{
    bool any = wanted != TENON_PART_ENCODER && wanted != TENON_PART_DECODER;
    enum tenon_part part;
    const struct tenon_tensor *t = find_matrix(model, any ? TENON_PART_MAIN : wanted, &part);

    if (!any && (t == NULL || !has_part(model, wanted)))
        return fail_side(model, wanted, err);
    *out_side = wanted == TENON_PART_DECODER || (t != NULL && part == TENON_PART_DECODER)
                    ? TENON_PART_DECODER
                    : TENON_PART_ENCODER;
    return t != NULL ? tenon_embed_init_tensor(words, model, t, err)
                     : tenon_embed_init(words, model, err);
}

enum tenon_status tenon_input_matrix(const struct tenon_model *model, enum tenon_part side,
                                     struct tenon_embed *out, struct tenon_error *err)
{
    enum tenon_part found;

    return find_words(model, side, out, &found, err);
}

/* Whether a config switches the scaling by the root of the width on. */
static bool scales_by_width(const struct tenon_input *in)
{
    struct tenon_setting s;
    bool on = in->facts.embed_scale_default > 0 || is_gguf(in);

    if (tenon_model_setting(in->model, "scale_embedding", &s) ||
        tenon_model_setting(in->model, "mup_enabled", &s))
        (void)tenon_setting_bool(&s, &on);
    return on;
}

/* What rows of reduced floats are rounded to where the reference multiplies in their dtype. */
static enum tenon_dtype narrow_type(const struct tenon_input *in)
{
    enum tenon_dtype dtype = (enum tenon_dtype)in->words.matrix->dtype;
    bool narrow = dtype == TENON_DTYPE_BF16 || dtype == TENON_DTYPE_F16;

    return narrow && in->options.precision == TENON_PRECISION_HF && !is_gguf(in) ? dtype
                                                                                 : TENON_DTYPE_F32;
}

static void find_scale(struct tenon_input *in)
{
    static const char keys[] = "scale_emb embedding_multiplier embedding_multiplier_scale "
                               "mup_embeddings_scale embeddings_scale embedding_scale";
    double root =
        sqrt((double)(in->facts.embd_proj == TENON_PROJ_BEFORE_POSITION ? (double)in->words.cols
                                                                        : (double)in->width));
    bool exact = in->options.precision == TENON_PRECISION_EXACT;

    in->scale = 1;
    in->rounded = exact ? TENON_DTYPE_F64 : TENON_DTYPE_F32;
    switch (in->facts.embed_scale) {
    case TENON_SCALE_NONE:
        break;
    case TENON_SCALE_SQRT_WIDTH_BF16:
        in->scale = in->options.precision == TENON_PRECISION_HF
                        ? tenon_value_round(TENON_DTYPE_BF16, root)
                        : root;
        break;
    case TENON_SCALE_SQRT_WIDTH:
        in->scale = root;
        if (in->options.precision == TENON_PRECISION_HF)
            in->scale = tenon_value_round(narrow_type(in), root);
        break;
    case TENON_SCALE_IF_CONFIG:
        in->scale = scales_by_width(in) ? root : 1;
        break;
    case TENON_SCALE_CONFIG_VALUE:
        in->scale = in->facts.embed_scale_default > 0 ? in->facts.embed_scale_default : 1;
        (void)tenon_resolve_number(in->model, keys, &in->scale);
        break;
    }
    if (in->facts.embed_scale == TENON_SCALE_SQRT_WIDTH ||
        in->facts.embed_scale == TENON_SCALE_SQRT_WIDTH_BF16)
        in->rounded = exact ? TENON_DTYPE_F64 : narrow_type(in);
    in->scale = tenon_round(in->options.precision, in->scale);
}

/* ESM zeroes masked tokens and scales the others by how many are masked. */
static void find_dropout(struct tenon_input *in)
{
    struct tenon_setting s;

    in->mask_id = -1;
    if (!tenon_model_setting(in->model, "token_dropout", &s))
        return;
    (void)tenon_setting_bool(&s, &in->drops_masked);
    (void)tenon_resolve_int(in->model, "mask_token_id", &in->mask_id);
}

/* --- what is added --- */

static enum tenon_status find_rows(const struct tenon_input *in, const struct tenon_tensor *t,
                                   uint64_t width, struct tenon_embed *out, struct tenon_error *err)
{
    enum tenon_status st = tenon_embed_init_tensor(out, in->model, t, err);

    if (st == TENON_OK && out->cols != width)
        st = fail_tensor(in->model, TENON_ERR_MISMATCH, t, out->cols, width, err);
    return st;
}

static enum tenon_status find_types(struct tenon_input *in, uint64_t width, struct tenon_error *err)
{
    const struct tenon_tensor *t =
        tenon_find_tensor(in->model, TENON_ROLE_TOKEN_TYPE_EMBD, in->side, false, -1);

    if (t == NULL)
        return TENON_OK;
    in->has_types = true;
    return find_rows(in, t, width, &in->types, err);
}

static enum tenon_status need_table(const struct tenon_input *in, struct tenon_error *err)
{
    enum tenon_status st =
        tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET, "no table of positions is stored");

    tenon_fail_path(err, tenon_model_path(in->model));
    return st;
}

/* A layout that nothing has. */
static enum tenon_status fail_sinusoid(const struct tenon_input *in, struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
               "a layout of sinusoids is given, but no sinusoidal positions come in");
    tenon_fail_path(err, tenon_model_path(in->model));
    return TENON_ERR_MISUSE;
}

/* Which positions come in: the kind says it, unless the caller does. */
static enum tenon_status find_positions(struct tenon_input *in, uint64_t width,
                                        struct tenon_error *err)
{
    enum tenon_input_positions wanted = in->options.positions;
    const struct tenon_positions *p = in->positions;
    const struct tenon_tensor *t =
        tenon_find_tensor(in->model, TENON_ROLE_POSITION_EMBD, in->side, false, -1);

    if (wanted == TENON_INPUT_AUTO)
        wanted = p->kind == TENON_POSITION_SINUSOIDAL ? TENON_INPUT_SINUSOIDAL
                 : p->kind == TENON_POSITION_LEARNED || (p->kind == TENON_POSITION_RELATIVE && t)
                     ? TENON_INPUT_LEARNED
                     : TENON_INPUT_NONE;
    if (wanted == TENON_INPUT_SINUSOIDAL && t != NULL && in->options.sinusoid == 0 &&
        in->options.positions == TENON_INPUT_AUTO)
        wanted = TENON_INPUT_LEARNED; /* they are stored */
    if (wanted != TENON_INPUT_SINUSOIDAL && in->options.sinusoid != TENON_SINUSOID_NONE)
        return fail_sinusoid(in, err);
    if (wanted == TENON_INPUT_LEARNED && t == NULL)
        return need_table(in, err);
    if (wanted == TENON_INPUT_LEARNED) {
        in->has_table = true;
        return find_rows(in, t, width, &in->table, err);
    }
    in->rotates = wanted == TENON_INPUT_ROPE;
    if (wanted != TENON_INPUT_SINUSOIDAL)
        return TENON_OK;
    in->sinusoids = true;
    in->sinusoid.form = in->options.sinusoid != TENON_SINUSOID_NONE ? in->options.sinusoid
                        : in->facts.sinusoid != TENON_SINUSOID_NONE ? in->facts.sinusoid
                                                                    : TENON_SINUSOID_INTERLEAVED;
    in->sinusoid.pad_is_zero = in->sinusoid.form == TENON_SINUSOID_HALF_TIMESCALE;
    return TENON_OK;
}

/* --- projection and norm --- */

static enum tenon_status find_projection(struct tenon_input *in, struct tenon_error *err)
{
    const struct tenon_tensor *w =
        tenon_find_tensor(in->model, TENON_ROLE_EMBD_PROJ, in->side, false, -1);
    const struct tenon_tensor *b =
        tenon_find_tensor(in->model, TENON_ROLE_EMBD_PROJ, in->side, true, -1);
    enum tenon_status st;

    in->width = (size_t)in->words.cols;
    if (w == NULL)
        return TENON_OK;
    in->has_projection = true;
    st = tenon_project_init(&in->projection, in->model,
                            &(struct tenon_project_place){.weight = w, .bias = b}, in->words.cols,
                            err);
    if (st == TENON_OK)
        in->width = (size_t)in->projection.out;
    return st;
}

static enum tenon_status find_norm(struct tenon_input *in, uint64_t width, struct tenon_error *err)
{
    enum tenon_norm_kind kind = in->facts.embd_norm;
    bool plain = kind == TENON_NORM_RMS_PLAIN || kind == TENON_NORM_LAYER_PLAIN;
    const struct tenon_tensor *w, *b;
    enum tenon_status st = TENON_OK;

    if (kind == TENON_NORM_NONE || width > UINT32_MAX)
        return TENON_OK;
    w = tenon_find_tensor(in->model, TENON_ROLE_EMBD_NORM, in->side, false, -1);
    b = tenon_find_tensor(in->model, TENON_ROLE_EMBD_NORM, in->side, true, -1);
    if (w == NULL && !plain) {
        if (has_flag(in, TENON_ARCH_EMBD_NORM_MAY))
            return TENON_OK;
        st = tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET,
                        "no norm of the input is stored, which this architecture needs");
        tenon_fail_path(err, tenon_model_path(in->model));
        return st;
    }
    in->norm.kind = kind;
    in->norm.norm.width = (uint32_t)width;
    in->norm.norm.eps = tenon_norm_eps(in->model, &in->facts, kind);
    if (w != NULL && !plain)
        st = tenon_read_vector(in->model, w, width, 0, &in->norm.weight, err);
    if (st == TENON_OK && b != NULL && !plain)
        st = tenon_read_vector(in->model, b, width, 0, &in->norm.bias, err);
    return st;
}

/* --- all --- */

static enum tenon_status prepare(struct tenon_input *in, struct tenon_error *err)
{
    enum tenon_embed_proj place = in->facts.embd_proj;
    uint64_t narrow, wide;
    enum tenon_status st =
        tenon_positions_resolve(in->model, &in->options.overrides, &in->positions, err);

    if (st == TENON_OK)
        st = find_words(in->model, in->options.side, &in->words, &in->side, err);
    if (st == TENON_OK)
        st = find_projection(in, err);
    if (st != TENON_OK)
        return st;
    narrow = in->words.cols;
    wide = in->width;
    find_scale(in);
    find_dropout(in);
    st = find_types(in, place == TENON_PROJ_BEFORE_POSITION ? wide : narrow, err);
    if (st == TENON_OK)
        st = find_positions(in, place == TENON_PROJ_BEFORE_POSITION ? wide : narrow, err);
    if (st == TENON_OK)
        st = find_norm(in, place == TENON_PROJ_AFTER_NORM ? narrow : wide, err);
    return st;
}

static enum tenon_status check_family(const struct tenon_input *in, bool known,
                                      struct tenon_error *err)
{
    enum tenon_status st;

    if (!known)
        st = tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                        "the architecture is not known, so neither is what enters its first block");
    else if (has_flag(in, TENON_ARCH_INPUT_STACKED))
        st = tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                        "several vectors a token enter the first block of this architecture");
    else
        return TENON_OK;
    tenon_fail_path(err, tenon_model_path(in->model));
    tenon_fail_hint(err, "'--stage token' shows the rows of the matrix as they are");
    return st;
}

enum tenon_status tenon_input_new(const struct tenon_model *model,
                                  const struct tenon_input_options *options,
                                  struct tenon_input **out, struct tenon_error *err)
{
    struct tenon_input *in = tenon_mem_alloc(1, sizeof(*in));
    enum tenon_status st;

    if (in == NULL)
        return tenon_fail_memory(err);
    in->model = model;
    tenon_input_options_init(&in->options);
    if (options != NULL)
        in->options = *options;
    else
        in->options.precision = tenon_model_precision(model);
    st = check_family(in, tenon_model_text_facts(model, &in->facts), err);
    if (st == TENON_OK)
        st = prepare(in, err);
    if (st != TENON_OK) {
        tenon_input_free(in);
        return st;
    }
    *out = in;
    return TENON_OK;
}

void tenon_input_free(struct tenon_input *input)
{
    if (input == NULL)
        return;
    tenon_positions_free(input->positions);
    tenon_project_release(&input->projection);
    tenon_norming_release(&input->norm);
    tenon_mem_free(input);
}

size_t tenon_input_width(const struct tenon_input *input)
{
    return input->width;
}

const struct tenon_positions *tenon_input_positions(const struct tenon_input *input)
{
    return input->positions;
}

bool tenon_input_needs_all(const struct tenon_input *input)
{
    bool counts = input->positions->ids == TENON_IDS_AFTER_PADDING;

    return input->drops_masked || (counts && (input->has_table || input->sinusoids));
}

size_t tenon_input_beyond_tokenizer(const struct tenon_input *input, const uint64_t *ids, size_t n)
{
    int64_t last = tenon_model_tokenizer(input->model)->max_id;
    size_t beyond = 0;

    for (size_t i = 0; last >= 0 && i < n; i++)
        beyond += ids[i] > (uint64_t)last;
    return beyond;
}
