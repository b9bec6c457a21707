/* The input of the first block: making the vectors of a sequence. Every step rounds to float32
 * unless the precision is exact; sums and products of two floats rounded once from float64 are what
 * float32 arithmetic gives. */
#include "input_private.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "mem.h"
#include "tenon/sinusoid.h"

/* Values of rows that are looked up at a time: 128 KiB of them. */
#define SOME_VALUES ((size_t)32768)

/* How often ESM masked tokens in training. */
#define ESM_MASKED (0.15 * 0.8)

double tenon_tokens_position(const struct tenon_tokens *tokens, size_t stream, size_t i)
{
    if (tokens->n_streams == 0)
        return (double)tokens->start + (double)i;
    return tokens->positions[stream < tokens->n_streams ? stream : 0][i];
}

double tenon_tokens_length(const struct tenon_tokens *tokens,
                           const struct tenon_input_options *options)
{
    double last = 0;

    if (options->length > 0)
        return options->length;
    for (size_t i = 0; i < tokens->n; i++)
        last = fmax(last, tenon_tokens_position(tokens, 0, i) + 1);
    return last;
}

void tenon_tokens_angles(const struct tenon_tokens *tokens, const struct tenon_rope_table *table,
                         size_t i, double *out_cos, double *out_sin)
{
    double places[TENON_ROPE_MAX_SECTIONS] = {0};
    uint32_t n = table->rope.axes == TENON_AXES_ONE ? 1 : table->rope.n_sections;

    for (uint32_t s = 0; s < n && s < TENON_ROPE_MAX_SECTIONS; s++)
        places[s] = tenon_tokens_position(tokens, s, i);
    tenon_rope_angles(table, places, out_cos, out_sin);
}

void tenon_turn_head(const struct tenon_rope_table *table, const double *cosines,
                     const double *sines, double *x, double *work)
{
    size_t n = table->rope.head_dim;
    float *from = (float *)(void *)work, *to = from + n; /* two floats fit where a double does */

    if (table->precision == TENON_PRECISION_EXACT) {
        memcpy(work, x, n * sizeof(*x));
        tenon_rope_apply(table, cosines, sines, work, x);
        return;
    }
    for (size_t i = 0; i < n; i++)
        from[i] = (float)x[i];
    tenon_rope_apply_f32(table, cosines, sines, from, to);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)to[i];
}

/* --- words --- */

static void scale_rows(const struct tenon_input *in, const struct tenon_tokens *tokens, double *x)
{
    size_t d = (size_t)in->words.cols, masked = 0;
    double keep = 1;

    for (size_t i = 0; in->scale != 1 && i < tokens->n * d; i++)
        x[i] = tenon_value_round(in->rounded, tenon_round(in->options.precision, x[i] * in->scale));
    if (!in->drops_masked)
        return;
    for (size_t i = 0; i < tokens->n; i++)
        masked += in->mask_id >= 0 && tokens->ids[i] == (uint64_t)in->mask_id;
    keep = tenon_round(in->options.precision, 1 - (double)masked / (double)tokens->n);
    for (size_t i = 0; i < tokens->n * d; i++) {
        bool gone = in->mask_id >= 0 && tokens->ids[i / d] == (uint64_t)in->mask_id;
        double y = tenon_round(in->options.precision, x[i] * (1 - ESM_MASKED));

        x[i] = gone ? 0 : tenon_round(in->options.precision, y / keep);
    }
}

/* Rows of a table for some tokens at a time: what looks them up reads none twice. */
struct some_rows {
    size_t most; /* tokens */
    uint64_t *ids;
    float *rows;
};

/* Zero-initialised before; for at most `n` tokens. Released in any case. */
static enum tenon_status make_room(struct some_rows *some, size_t n, size_t d,
                                   struct tenon_error *err)
{
    some->most = d < SOME_VALUES ? SOME_VALUES / (d > 0 ? d : 1) : 1;
    some->most = some->most < n ? some->most : n;
    some->ids = tenon_mem_alloc(some->most, sizeof(*some->ids));
    some->rows = tenon_mem_alloc(some->most, d * sizeof(*some->rows));
    return some->ids != NULL && some->rows != NULL ? TENON_OK : tenon_fail_memory(err);
}

static void release_room(struct some_rows *some)
{
    tenon_mem_free(some->ids);
    tenon_mem_free(some->rows);
}

/* How many tokens from token `i` on are next. */
static size_t count_some(const struct some_rows *some, const struct tenon_tokens *tokens, size_t i)
{
    return tokens->n - i < some->most ? tokens->n - i : some->most;
}

static enum tenon_status look_up(const struct tenon_input *in, const struct tenon_tokens *tokens,
                                 double *x, struct tenon_error *err)
{
    size_t d = (size_t)in->words.cols;
    struct some_rows some = {0};
    enum tenon_status st = make_room(&some, tokens->n, d, err);

    for (size_t i = 0; st == TENON_OK && i < tokens->n; i += some.most) {
        size_t n = count_some(&some, tokens, i);

        st = tenon_embed_rows(&in->words, tokens->ids + i, n, some.rows, err);
        for (size_t k = 0; st == TENON_OK && k < n * d; k++)
            x[i * d + k] = (double)some.rows[k];
    }
    release_room(&some);
    if (st == TENON_OK)
        scale_rows(in, tokens, x);
    return st;
}

/* --- what is added --- */

static void add_values(const struct tenon_input *in, const float *values, size_t n, double *x)
{
    for (size_t k = 0; k < n; k++)
        x[k] = tenon_round(in->options.precision, x[k] + (double)values[k]);
}

static enum tenon_status fail_outside(const struct tenon_input *in, const struct tenon_embed *table,
                                      const char *what, double found, int64_t skipped,
                                      struct tenon_error *err)
{
    const struct tenon_tensor *t = table->matrix;
    int64_t rows = table->rows <= INT64_MAX ? (int64_t)table->rows : INT64_MAX;

    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
               "%s %.17g is outside the table, which has %lld: 0 to %lld are allowed", what, found,
               (long long)(rows - skipped), (long long)(rows - skipped - 1));
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_path(err, tenon_model_path(in->model));
    return TENON_ERR_MISUSE;
}

static enum tenon_status add_types(const struct tenon_input *in, const struct tenon_tokens *tokens,
                                   size_t d, double *x, struct tenon_error *err)
{
    const struct tenon_embed *table = in->has_types ? &in->types : &in->words;
    bool words = !in->has_types && (in->facts.flags & TENON_ARCH_TYPES_LAST) != 0;
    struct some_rows some = {0};
    enum tenon_status st = TENON_OK;

    if (!in->has_types && tokens->types == NULL)
        return TENON_OK;
    if (!in->has_types && (!words || in->words.cols != d)) {
        st = tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                        "token types are given, but the model has no table of them");
        tenon_fail_path(err, tenon_model_path(in->model));
        return st;
    }
    st = make_room(&some, tokens->n, d, err);
    for (size_t i = 0; st == TENON_OK && i < tokens->n; i += some.most) {
        size_t n = count_some(&some, tokens, i);

        for (size_t k = 0; st == TENON_OK && k < n; k++) {
            some.ids[k] = tokens->types != NULL ? tokens->types[i + k] : 0;
            if (some.ids[k] >= table->rows)
                st = fail_outside(in, table, "token type", (double)some.ids[k], 0, err);
        }
        if (st == TENON_OK)
            st = tenon_embed_rows(table, some.ids, n, some.rows, err);
        if (st == TENON_OK)
            add_values(in, some.rows, n * d, x + i * d);
    }
    release_room(&some);
    return st;
}

/* The row of each token: of those that count from the padding on, only counted positions skip
 * padding; a position that the caller states is taken as it is. */
static enum tenon_status find_row(const struct tenon_input *in, const struct tenon_tokens *tokens,
                                  size_t i, int64_t *counted, int64_t *out, struct tenon_error *err)
{
    const struct tenon_positions *p = in->positions;
    double position = tenon_tokens_position(tokens, 0, i);
    uint64_t rows = in->has_table ? in->table.rows : (uint64_t)INT64_MAX;

    if (p->ids == TENON_IDS_AFTER_PADDING && tokens->n_streams == 0) {
        bool padding = tokens->ids[i] == (uint64_t)p->pad_id;

        *out = p->pad_id + (padding ? 0 : ++*counted + tokens->start);
        position = (double)(*out - p->offset);
    } else if (position >= 0 && position < 9e15 && position == trunc(position)) {
        *out = (int64_t)position + p->offset;
    } else {
        *out = INT64_MAX;
    }
    if (*out >= 0 && (uint64_t)*out < rows)
        return TENON_OK;
    if (in->has_table)
        return fail_outside(in, &in->table, "position", position, p->offset, err);
    return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                      "position %.17g is not one of 0, 1, 2 ...", position);
}

static enum tenon_status make_sinusoid(const struct tenon_input *in, size_t d,
                                       struct tenon_sinusoid *out, struct tenon_error *err)
{
    tenon_sinusoid_init(out);
    if (d > UINT32_MAX)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "rows of %zu values", d);
    out->width = (uint32_t)d;
    out->interleaved = in->sinusoid.form == TENON_SINUSOID_INTERLEAVED;
    out->spacing = in->sinusoid.form == TENON_SINUSOID_HALF_TIMESCALE ? TENON_SPACING_TIMESCALE
                                                                      : TENON_SPACING_PAPER;
    out->precision = in->options.precision;
    return tenon_sinusoid_check(out, err);
}

/* Adds row `row` of the sinusoids; `values` has room for it. */
static void add_sinusoid(const struct tenon_input *in, const struct tenon_sinusoid *sinusoid,
                         uint64_t row, double *values, double *x)
{
    size_t d = sinusoid->width;

    if (in->sinusoid.pad_is_zero && (int64_t)row == in->positions->pad_id)
        memset(values, 0, d * sizeof(*values));
    else
        tenon_sinusoid_row(sinusoid, (double)(int64_t)row, values);
    for (size_t k = 0; k < d; k++)
        x[k] = tenon_round(in->options.precision, x[k] + values[k]);
}

static enum tenon_status add_positions(const struct tenon_input *in,
                                       const struct tenon_tokens *tokens, size_t d, double *x,
                                       struct tenon_error *err)
{
    struct tenon_sinusoid sinusoid;
    struct some_rows some = {0};
    double *values = NULL;
    int64_t counted = 0, row = 0;
    enum tenon_status st = TENON_OK;

    if (!in->has_table && !in->sinusoids)
        return TENON_OK;
    tenon_sinusoid_init(&sinusoid);
    if (in->sinusoids)
        st = make_sinusoid(in, d, &sinusoid, err);
    values = tenon_mem_alloc(d, sizeof(*values));
    if (st == TENON_OK && values == NULL)
        st = tenon_fail_memory(err);
    if (st == TENON_OK)
        st = make_room(&some, tokens->n, d, err);
    for (size_t i = 0; st == TENON_OK && i < tokens->n; i += some.most) {
        size_t n = count_some(&some, tokens, i);

        for (size_t k = 0; st == TENON_OK && k < n; k++) {
            st = find_row(in, tokens, i + k, &counted, &row, err);
            some.ids[k] = (uint64_t)row;
            if (st == TENON_OK && !in->has_table)
                add_sinusoid(in, &sinusoid, some.ids[k], values, x + (i + k) * d);
        }
        if (st == TENON_OK && in->has_table)
            st = tenon_embed_rows(&in->table, some.ids, n, some.rows, err);
        if (st == TENON_OK && in->has_table)
            add_values(in, some.rows, n * d, x + i * d);
    }
    release_room(&some);
    tenon_mem_free(values);
    return st;
}

static enum tenon_status add_all(const struct tenon_input *in, const struct tenon_tokens *tokens,
                                 size_t d, double *x, struct tenon_error *err)
{
    bool last = (in->facts.flags & TENON_ARCH_TYPES_LAST) != 0;
    enum tenon_status st = TENON_OK;

    if (!last)
        st = add_types(in, tokens, d, x, err);
    if (st == TENON_OK)
        st = add_positions(in, tokens, d, x, err);
    if (st == TENON_OK && last)
        st = add_types(in, tokens, d, x, err);
    return st;
}

/* --- the rest --- */

static enum tenon_status normalise(const struct tenon_input *in, size_t n, size_t d, double *x,
                                   struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < n; i++)
        st = tenon_norming_apply(&in->norm, in->options.precision, 0, x + i * d, err);
    return st;
}

/* x to y, or a copy where there is no projection at this place. */
static enum tenon_status project(const struct tenon_input *in, size_t n, const double *x, double *y,
                                 struct tenon_error *err)
{
    const struct tenon_project_job job = {
        .precision = in->options.precision, .x = x, .n = n, .out = y, .stride = in->width};

    return tenon_project_rows(&in->projection, 0, in->projection.out, &job, err);
}

/* On request: the vectors turned as queries and keys would be. */
static enum tenon_status rotate(const struct tenon_input *in, const struct tenon_tokens *tokens,
                                double *x, struct tenon_error *err)
{
    const struct tenon_rope_use *use = tenon_positions_rope(in->positions, 0);
    struct tenon_rope_table table = {0};
    double *work = NULL;
    size_t head, pairs;
    enum tenon_status st;

    if (use == NULL || in->width % use->rope.head_dim != 0) {
        st = tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                        "vectors of %zu values cannot be cut into heads of %u", in->width,
                        use != NULL ? use->rope.head_dim : 0);
        tenon_fail_path(err, tenon_model_path(in->model));
        return st;
    }
    st = tenon_rope_table_init(&table, &use->rope, in->options.precision,
                               tenon_tokens_length(tokens, &in->options), err);
    if (st != TENON_OK)
        return st;
    head = use->rope.head_dim;
    pairs = table.n_pairs;
    work = tenon_mem_alloc(2 * pairs + head, sizeof(*work));
    if (work == NULL)
        st = tenon_fail_memory(err);
    for (size_t i = 0; st == TENON_OK && i < tokens->n; i++) {
        tenon_tokens_angles(tokens, &table, i, work, work + pairs);
        for (size_t h = 0; h < in->width; h += head)
            tenon_turn_head(&table, work, work + pairs, x + i * in->width + h, work + 2 * pairs);
    }
    tenon_mem_free(work);
    tenon_rope_table_release(&table);
    return st;
}

/* With a projection: narrow vectors in `x`, wide ones in `out`. */
static enum tenon_status make_projected(const struct tenon_input *in,
                                        const struct tenon_tokens *tokens, double *x, double *out,
                                        struct tenon_error *err)
{
    enum tenon_embed_proj place = in->facts.embd_proj;
    size_t narrow = (size_t)in->words.cols, n = tokens->n;
    enum tenon_status st = look_up(in, tokens, x, err);

    if (st == TENON_OK && place != TENON_PROJ_BEFORE_POSITION)
        st = add_all(in, tokens, narrow, x, err);
    if (st == TENON_OK && place == TENON_PROJ_AFTER_NORM)
        st = normalise(in, n, narrow, x, err);
    if (st == TENON_OK)
        st = project(in, n, x, out, err);
    if (st == TENON_OK && place == TENON_PROJ_BEFORE_POSITION)
        st = add_all(in, tokens, in->width, out, err);
    if (st == TENON_OK && place != TENON_PROJ_AFTER_NORM)
        st = normalise(in, n, in->width, out, err);
    return st;
}

enum tenon_status tenon_input_rows(const struct tenon_input *input,
                                   const struct tenon_tokens *tokens, double *out,
                                   struct tenon_error *err)
{
    double *narrow = NULL;
    size_t values;
    enum tenon_status st;

    if (tokens->n == 0)
        return TENON_OK;
    if (input->has_projection) {
        if (!tenon_size_mul(&values, tokens->n, (size_t)input->words.cols))
            return tenon_fail_memory(err);
        narrow = tenon_mem_alloc(values, sizeof(*narrow));
        st = narrow != NULL ? make_projected(input, tokens, narrow, out, err)
                            : tenon_fail_memory(err);
    } else {
        st = look_up(input, tokens, out, err);
        if (st == TENON_OK)
            st = add_all(input, tokens, input->width, out, err);
        if (st == TENON_OK)
            st = normalise(input, tokens->n, input->width, out, err);
    }
    if (st == TENON_OK && input->rotates)
        st = rotate(input, tokens, out, err);
    tenon_mem_free(narrow);
    return st;
}
