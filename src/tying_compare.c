/* The verdict where both matrices are stored: storage, then shape, then bytes, then values. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "parallel.h"
#include "tenon/hash.h"
#include "tying_case.h"
#include "tying_rows.h"

/* Bytes of each tensor held while two are compared. */
#define CHUNK_BYTES ((size_t)64 * 1024)

/* Bytes that one worker compares at a time. */
#define PIECE_BYTES ((uint64_t)4 * 1024 * 1024)

/* Decoders compute in float32: bounds worked out in float64 need this much air. */
#define BOUND_SLACK 1.001

/* The scale is an estimate, and both sides were rounded. */
#define SCALE_SLACK 1.25

/* How two matrices relate by shape. */
enum shape_relation { SHAPE_SAME, SHAPE_TRANSPOSED, SHAPE_ROWS_DIFFER, SHAPE_APART };

struct pair {
    struct tenon_matrix in, out;
    enum shape_relation relation;
    uint64_t rows; /* common */
};

bool tenon_tying_same_storage(const struct tenon_tensor *a, const struct tenon_tensor *b)
{
    return a->file == b->file && a->offset == b->offset && a->bytes == b->bytes && a->bytes != 0;
}

uint32_t tenon_tying_index(const struct tenon_model *model, const struct tenon_tensor *tensor)
{
    return (uint32_t)(tensor - model->tensors);
}

/* Two tensors of one size that are being compared. */
struct comparison {
    const struct tenon_model *model;
    const struct tenon_tensor *a, *b;
    atomic_bool differ;
};

/* A piece of both, unless a difference is known already. */
static enum tenon_status compare_piece(void *user, size_t i, unsigned worker,
                                       struct tenon_error *err)
{
    struct comparison *c = user;
    unsigned char *left;
    enum tenon_status st = TENON_OK;
    uint64_t off = (uint64_t)i * PIECE_BYTES, /* fits: within the tensor */
        end = c->a->bytes - off < PIECE_BYTES ? c->a->bytes : off + PIECE_BYTES;

    (void)worker;
    if (c->differ)
        return TENON_OK;
    left = tenon_mem_alloc(2, CHUNK_BYTES);
    if (left == NULL)
        return tenon_fail_memory(err);
    while (st == TENON_OK && !c->differ && off < end) {
        size_t n = end - off < CHUNK_BYTES ? (size_t)(end - off) : CHUNK_BYTES;

        st = tenon_tensor_read(c->model, c->a, off, left, n, err);
        if (st == TENON_OK)
            st = tenon_tensor_read(c->model, c->b, off, left + CHUNK_BYTES, n, err);
        if (st == TENON_OK && memcmp(left, left + CHUNK_BYTES, n) != 0)
            c->differ = true;
        off += n;
    }
    tenon_mem_free(left);
    return st;
}

/* Whether all bytes are the same, without trust in any hash. */
static enum tenon_status prove_same(const struct tenon_model *model, const struct tenon_tensor *a,
                                    const struct tenon_tensor *b, unsigned threads, bool *out_same,
                                    struct tenon_error *err)
{
    struct comparison c = {.model = model, .a = a, .b = b};
    uint64_t n = a->bytes / PIECE_BYTES + (a->bytes % PIECE_BYTES != 0);
    enum tenon_status st;

    if (n > SIZE_MAX)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many bytes to compare");
    st = tenon_parallel(threads, (size_t)n, compare_piece, &c, err);
    if (st == TENON_OK)
        *out_same = !c.differ;
    return st;
}

enum tenon_status tenon_tying_same_bytes(const struct tenon_model *model,
                                         const struct tenon_tensor *a, const struct tenon_tensor *b,
                                         bool *out_same, struct tenon_error *err)
{
    *out_same = a->bytes == b->bytes;
    if (!*out_same || tenon_tying_same_storage(a, b))
        return TENON_OK;
    return prove_same(model, a, b, 1, out_same, err);
}

/* Whether equal bytes would mean equal values. */
static bool same_encoding(const struct tenon_tensor *a, const struct tenon_tensor *b)
{
    return a->dtype == b->dtype && a->dtype_raw == b->dtype_raw && a->bytes == b->bytes &&
           a->scale == TENON_NO_INDEX && b->scale == TENON_NO_INDEX &&
           ((a->flags ^ b->flags) & TENON_TENSOR_BIG_ENDIAN) == 0;
}

static bool same_dims(const struct tenon_tensor *a, const struct tenon_tensor *b)
{
    return a->n_dims == b->n_dims &&
           (a->n_dims == 0 || memcmp(a->dims, b->dims, a->n_dims * sizeof(*a->dims)) == 0);
}

enum tenon_status tenon_tying_hash(struct tenon_tying_case *c, struct tenon_error *err)
{
    struct tenon_tying *out = c->out;
    const struct tenon_tensor *tensors[2];
    struct tenon_hash_options options;
    struct tenon_hash hashes[2];
    uint32_t indices[2];
    size_t n = 0;
    enum tenon_status st;

    if (out->input != NULL)
        tensors[n++] = out->input;
    if (out->output != NULL)
        tensors[n++] = out->output;
    for (size_t i = 0; i < n; i++)
        indices[i] = tenon_tying_index(c->model, tensors[i]);
    tenon_hash_options_init(&options);
    options.threads = c->options.threads;
    st = tenon_hash_tensors(c->model, indices, n, &options, hashes, err);
    if (st != TENON_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        bool is_input = tensors[i] == out->input;

        if (tensors[i]->flags & TENON_TENSOR_SIZE_UNKNOWN)
            continue;
        *(is_input ? &out->has_input_hash : &out->has_output_hash) = true;
        memcpy(is_input ? out->input_hash : out->output_hash,
               (const uint64_t[]){hashes[i].high, hashes[i].low}, sizeof(out->input_hash));
    }
    return TENON_OK;
}

/* Equal hashes propose, bytes decide. */
static enum tenon_status bytes_equal(const struct tenon_tying_case *c, bool *out_same,
                                     struct tenon_error *err)
{
    const struct tenon_tying *out = c->out;

    *out_same = false;
    if (!same_encoding(out->input, out->output) ||
        ((out->input->flags | out->output->flags) & TENON_TENSOR_SIZE_UNKNOWN) != 0)
        return TENON_OK;
    if (!c->options.no_hashes &&
        (!out->has_input_hash || !out->has_output_hash ||
         memcmp(out->input_hash, out->output_hash, sizeof(out->input_hash)) != 0))
        return TENON_OK;
    return prove_same(c->model, out->input, out->output, c->options.threads, out_same, err);
}

/* --- shapes --- */

static const char *shape_text(const struct tenon_tensor *t, char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < t->n_dims && used < size; i++)
        used +=
            (size_t)snprintf(buf + used, size - used, "%s%" PRIu64, i != 0 ? ", " : "", t->dims[i]);
    return buf;
}

static void note_shapes(struct tenon_tying_case *c, const char *what)
{
    char in[96], out[96];

    tenon_note(c, "%s: '%s' is [%s], '%s' is [%s]", what, tenon_note_name(c, c->out->input),
               shape_text(c->out->input, in, sizeof(in)), tenon_note_name(c, c->out->output),
               shape_text(c->out->output, out, sizeof(out)));
}

static bool is_empty(struct tenon_tying_case *c, const struct tenon_tensor *t)
{
    char shape[96];

    if (t->n_elements != 0)
        return false;
    tenon_note(c,
               "'%s' is empty, shape [%s]: a placeholder, so this checkpoint was written before "
               "the pieces of its weights were gathered",
               tenon_note_name(c, t), shape_text(t, shape, sizeof(shape)));
    return true;
}

/* Why the shapes forbid tying, or how they relate. */
static enum shape_relation relate(struct tenon_tying_case *c, struct pair *pair)
{
    const struct tenon_matrix *in = &pair->in, *out = &pair->out;

    pair->rows = in->rows;
    if (in->rows == out->rows && in->cols == out->cols)
        return SHAPE_SAME;
    if (in->rows == out->cols && in->cols == out->rows) {
        tenon_matrix_transpose(&pair->out);
        return SHAPE_TRANSPOSED;
    }
    if (in->cols != out->cols)
        return SHAPE_APART;
    pair->rows = in->rows < out->rows ? in->rows : out->rows;
    tenon_note(c,
               "the input has %" PRIu64 " rows, the output %" PRIu64 ": the first %" PRIu64
               " are compared",
               in->rows, out->rows, pair->rows);
    return SHAPE_ROWS_DIFFER;
}

static void note_apart(struct tenon_tying_case *c)
{
    note_shapes(c, "the widths differ");
    if (c->arch != NULL && (c->arch->flags & TENON_ARCH_FACTORISED))
        tenon_note(c, "in this family the input may be narrower than the hidden state, with a "
                      "projection between");
}

/* --- values --- */

static void note_rows(struct tenon_tying_case *c, const struct tenon_row_runs *runs,
                      const char *what)
{
    char text[256];
    size_t used = 0, shown = runs->n_runs < TENON_MOST_RUNS ? runs->n_runs : TENON_MOST_RUNS;

    for (size_t i = 0; i < shown && used < sizeof(text); i++) {
        const char *comma = i != 0 ? ", " : "";

        if (runs->first[i] == runs->last[i])
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIu64, comma,
                                     runs->first[i]);
        else
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIu64 "-%" PRIu64,
                                     comma, runs->first[i], runs->last[i]);
    }
    tenon_note(c, "%" PRIu64 " rows %s: %s%s", runs->n_rows, what, text,
               shown < runs->n_runs ? ", ..." : "");
}

/* Whether output = c x input for one c, within what rounding both sides explains. */
static enum tenon_status try_scale(struct tenon_tying_case *c, const struct pair *pair,
                                   const struct tenon_evidence *e, bool *out_scaled,
                                   struct tenon_error *err)
{
    double in_step = tenon_bounds_roundoff((enum tenon_dtype)c->out->input->dtype);
    double out_step = tenon_bounds_roundoff((enum tenon_dtype)c->out->output->dtype);
    double step = in_step > out_step ? in_step : out_step;
    struct tenon_rows_job job = {
        .in = &pair->in,
        .out = &pair->out,
        .rows = pair->rows,
        .scale = e->scale,
        .slack = SCALE_SLACK,
        .bounds = true,
        .threads = c->options.threads,
    };
    struct tenon_rows_result result;
    enum tenon_status st;

    *out_scaled = false;
    if (!isfinite(e->scale) || e->scale == 0 || fabs(e->cosine) < 0.99 ||
        fabs(e->scale - 1) <= 2 * step)
        return TENON_OK;
    st = tenon_rows_compare(&job, &result, err);
    if (st == TENON_OK)
        *out_scaled = result.far.n_rows == 0;
    return st;
}

/* Names the verdict that follows from a comparison of values. */
static enum tenon_status judge_values(struct tenon_tying_case *c, const struct pair *pair,
                                      const struct tenon_rows_result *r, bool exact,
                                      struct tenon_error *err)
{
    const struct tenon_evidence *e = &r->evidence;
    bool rows_match = pair->relation != SHAPE_ROWS_DIFFER, scaled = false;
    enum tenon_status st = TENON_OK;

    c->far_rows = r->far.n_rows;
    if (r->differ.n_rows == 0 && rows_match) {
        c->out->verdict = TENON_VERDICT_EQUAL;
    } else if (!exact && rows_match && r->far.n_rows == 0) {
        c->out->verdict = TENON_VERDICT_QUANTIZED;
    } else {
        if (rows_match)
            st = try_scale(c, pair, e, &scaled, err);
        if (scaled)
            c->out->verdict = TENON_VERDICT_SCALED;
        else if (r->far.n_rows <= e->rows / 2)
            c->out->verdict = TENON_VERDICT_PARTIAL;
        else
            c->out->verdict = rows_match ? TENON_VERDICT_DIFFERENT : TENON_VERDICT_INCOMPATIBLE;
    }
    return st;
}

static void note_verdict(struct tenon_tying_case *c, const struct pair *pair,
                         const struct tenon_rows_result *r)
{
    const char *in = tenon_dtype_name((enum tenon_dtype)c->out->input->dtype);
    const char *out = tenon_dtype_name((enum tenon_dtype)c->out->output->dtype);

    switch (c->out->verdict) {
    case TENON_VERDICT_EQUAL:
        if (pair->relation == SHAPE_TRANSPOSED)
            note_shapes(c, "one matrix is the other transposed");
        else
            tenon_note(c, "every value of the input (%s) is that of the output (%s)", in, out);
        break;
    case TENON_VERDICT_QUANTIZED:
        tenon_note(c, "the values differ by no more than rounding to %s and %s explains", in, out);
        break;
    case TENON_VERDICT_SCALED:
        tenon_note(c, "the output is %.9g times the input", r->evidence.scale);
        break;
    case TENON_VERDICT_PARTIAL:
        if (r->far.n_rows != 0)
            note_rows(c, &r->far, "differ");
        else
            tenon_note(c, "all rows that both have are equal%s",
                       r->differ.n_rows != 0 ? " but for rounding" : "");
        break;
    case TENON_VERDICT_INCOMPATIBLE:
        note_shapes(c, "the row counts differ, and so do most of the common rows");
        break;
    case TENON_VERDICT_DIFFERENT:
        tenon_note(c, "%" PRIu64 " of %" PRIu64 " rows differ", r->differ.n_rows, r->evidence.rows);
        break;
    case TENON_VERDICT_NONE:
    case TENON_VERDICT_ABSENT:
    case TENON_VERDICT_SHARED:
    case TENON_VERDICT_IDENTICAL:
    case TENON_VERDICT_HEADLESS:
    case TENON_VERDICT_MISSING:
        break;
    }
}

static enum tenon_status compare_values(struct tenon_tying_case *c, struct pair *pair,
                                        struct tenon_error *err)
{
    bool exact = tenon_bounds_exact((enum tenon_dtype)c->out->input->dtype,
                                    (enum tenon_dtype)c->out->output->dtype) &&
                 pair->in.logical.scales == NULL && pair->out.logical.scales == NULL;
    struct tenon_rows_job job = {
        .in = &pair->in,
        .out = &pair->out,
        .rows = pair->rows,
        .scale = 1,
        .slack = BOUND_SLACK,
        .row_error = tenon_bounds_row_error((enum tenon_dtype)c->out->input->dtype,
                                            (enum tenon_dtype)c->out->output->dtype),
        .bounds = !exact,
        .threads = c->options.threads,
    };
    struct tenon_rows_result result;
    enum tenon_status st = tenon_rows_compare(&job, &result, err);

    if (st == TENON_OK)
        st = judge_values(c, pair, &result, exact, err);
    if (st != TENON_OK)
        return st;
    c->out->evidence = result.evidence;
    note_verdict(c, pair, &result);
    return TENON_OK;
}

/* Evidence where no value was read. */
static void set_byte_evidence(struct tenon_tying_case *c, bool equal)
{
    const struct tenon_tensor *t = c->out->input;
    struct tenon_evidence *e = &c->out->evidence;

    if (t->n_dims == 0 || t->n_elements == 0)
        return;
    e->valid = equal;
    e->rows = t->dims[0];
    e->cols = t->n_elements / t->dims[0];
    e->equal_rows = equal ? e->rows : 0;
    e->first_differing_row = UINT64_MAX;
    e->cosine = e->scale = 1;
}

/* Bytes differ, and no value can be or was to be read. */
static void judge_unread(struct tenon_tying_case *c)
{
    const struct tenon_tensor *in = c->out->input, *out = c->out->output;
    struct tenon_logical logical;
    bool known = tenon_logical_init(&logical, c->model, in) && logical.values == 1 &&
                 tenon_logical_init(&logical, c->model, out) && logical.values == 1;

    if (in->n_dims != out->n_dims ||
        (in->scaling == out->scaling && !same_dims(in, out) &&
         (in->n_dims != 2 || in->dims[0] != out->dims[1] || in->dims[1] != out->dims[0]))) {
        c->out->verdict = TENON_VERDICT_INCOMPATIBLE;
        note_shapes(c, "the shapes differ");
        return;
    }
    c->out->verdict = TENON_VERDICT_DIFFERENT;
    tenon_note(c,
               c->options.values && known
                   ? "the values were not compared: %s and %s, but not of two dimensions; the "
                     "bytes differ"
               : c->options.values
                   ? "values could not be compared: %s and %s cannot both be decoded; the "
                     "bytes differ"
                   : "the bytes differ (%s and %s); the values were not compared",
               tenon_dtype_name((enum tenon_dtype)in->dtype),
               tenon_dtype_name((enum tenon_dtype)out->dtype));
}

/* What can be said without reading: that the shapes forbid tying. */
static void judge_shapes(struct tenon_tying_case *c)
{
    struct pair pair;

    if (tenon_matrix_init(&pair.in, c->model, c->out->input) &&
        tenon_matrix_init(&pair.out, c->model, c->out->output) && relate(c, &pair) == SHAPE_APART) {
        c->out->verdict = TENON_VERDICT_INCOMPATIBLE;
        note_apart(c);
    }
}

enum tenon_status tenon_tying_judge_pair(struct tenon_tying_case *c, struct tenon_error *err)
{
    const struct tenon_tensor *in = c->out->input, *out = c->out->output;
    struct pair pair;
    bool empty_in = is_empty(c, in), empty_out = is_empty(c, out), same = false;
    enum tenon_status st;

    if (empty_in || empty_out) {
        c->out->verdict = TENON_VERDICT_INCOMPATIBLE;
        return TENON_OK;
    }
    if (tenon_tying_same_storage(in, out) && same_encoding(in, out) && same_dims(in, out)) {
        c->out->verdict = TENON_VERDICT_SHARED;
        set_byte_evidence(c, true);
        return TENON_OK;
    }
    if (!tenon_tying_may_read(c)) {
        judge_shapes(c);
        return TENON_OK;
    }
    if (same_dims(in, out)) {
        st = bytes_equal(c, &same, err);
        if (st != TENON_OK)
            return st;
    }
    if (same) {
        c->out->verdict = TENON_VERDICT_IDENTICAL;
        set_byte_evidence(c, true);
        return TENON_OK;
    }
    if (!c->options.values || !tenon_matrix_init(&pair.in, c->model, in) ||
        !tenon_matrix_init(&pair.out, c->model, out)) {
        judge_unread(c);
        return TENON_OK;
    }
    pair.relation = relate(c, &pair);
    if (pair.relation == SHAPE_APART) {
        c->out->verdict = TENON_VERDICT_INCOMPATIBLE;
        note_apart(c);
        return TENON_OK;
    }
    return compare_values(c, &pair, err);
}
