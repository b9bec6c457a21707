/* Comparing the contents of two tensors, with what conversion did to one of them undone.
 *
 * The order of values is that of the Hugging Face side. Sums run in that order, so that the
 * result does not depend on threads. */
#include <math.h>
#include <string.h>

#include "diff_private.h"
#include "tenon/arch.h"
#include "tenon/logical.h"

/* Values taken from each side at a time: half of the buffer each, but no more than stays in a
 * second-level cache. */
#define HALF_VALUES  (TENON_DIFF_BUFFER_BYTES / 2 / sizeof(double))
#define CHUNK_VALUES ((size_t)16 * 1024)

/* One of the two tensors. */
struct side {
    const struct tenon_model *model;
    const struct tenon_tensor *tensor;
    struct tenon_logical logical;
    uint64_t first;       /* element where the slice begins */
    const uint64_t *dims; /* of the slice */
    uint32_t n_dims;
};

/* A comparison in progress. */
struct comparison {
    struct side a, b;
    const struct side *gguf, *hf; /* which is which where conventions differ, else NULL */
    uint64_t n, cols, heads;      /* elements; of a row; heads whose rows are permuted */
    double tolerance;
    double *values_a, *values_b;
    double sum_aa, sum_bb, sum_ab, sum_dd, max_abs;
    uint64_t rows_differing, last_row; /* last_row: the latest that was counted */
    bool within;                       /* all values are within the tolerance */
};

static bool init_side(struct side *s, const struct tenon_model *model, uint32_t index,
                      uint64_t first, bool slice)
{
    s->model = model;
    s->tensor = &model->tensors[index];
    s->first = first;
    s->dims = s->tensor->dims;
    s->n_dims = s->tensor->n_dims;
    if (!tenon_logical_init(&s->logical, model, s->tensor))
        return false;
    s->dims = s->logical.dims + (slice ? 1 : 0);
    s->n_dims = s->logical.n_dims - (slice ? 1 : 0);
    return true;
}

/* `n` elements from element `first` of the side's slice, as float64. */
static enum tenon_status decode_side(const struct side *s, uint64_t first, size_t n, double *out,
                                     struct tenon_error *err)
{
    float *narrow = (float *)(void *)out;
    size_t n_values = n * s->logical.values;
    enum tenon_status st;

    if (s->logical.scales == NULL)
        return tenon_tensor_decode_f64(s->model, s->tensor, s->first + first, n, out, err);
    /* Scaled codes come as float32: into the upper half, then widened from the lower end. */
    narrow += n_values;
    st = tenon_logical_decode(&s->logical, s->first + first, n, narrow, err);
    for (size_t i = 0; st == TENON_OK && i < n_values; i++) {
        float value;

        memcpy(&value, narrow + i, sizeof(value));
        out[i] = (double)value;
    }
    return st;
}

/* Takes the next `n` pairs of values, which belong to elements from `element` on, of `width` values
 * each. */
static void take_values(struct comparison *c, size_t n, uint64_t element, unsigned width)
{
    for (size_t i = 0; i < n; i++) {
        double x = c->values_a[i], y = c->values_b[i], d = y - x;

        if (x == y || (isnan(x) && isnan(y)))
            d = 0;
        else if (c->last_row != (element + i / width) / c->cols) {
            c->last_row = (element + i / width) / c->cols;
            c->rows_differing++;
        }
        if (!(fabs(d) <= c->tolerance))
            c->within = false;
        if (isnan(x) || isnan(y))
            continue;
        if (fabs(d) > c->max_abs)
            c->max_abs = fabs(d);
        c->sum_aa += x * x;
        c->sum_bb += y * y;
        c->sum_ab += x * y;
        c->sum_dd += d * d;
    }
}

static size_t smaller(uint64_t a, size_t b)
{
    return a < b ? (size_t)a : b;
}

/* Adds one to the values of the side that is stored without it, as a converter does: in float32. */
static void add_one(const struct comparison *c, size_t n)
{
    double *values = c->hf == &c->a ? c->values_a : c->values_b;

    for (size_t i = 0; i < n; i++)
        values[i] = (double)((float)values[i] + 1.0f);
}

/* `n` elements from `at` in the order of `a`, from `at_b` in that of `b`. */
static enum tenon_status compare_run(struct comparison *c, uint64_t at_a, uint64_t at_b, uint64_t n,
                                     enum tenon_diff_change change, struct tenon_error *err)
{
    unsigned width = c->a.logical.values;
    size_t most = CHUNK_VALUES / width;

    while (n > 0) {
        size_t take = smaller(n, most);
        enum tenon_status st = decode_side(&c->a, at_a, take, c->values_a, err);

        if (st == TENON_OK)
            st = decode_side(&c->b, at_b, take, c->values_b, err);
        if (st != TENON_OK)
            return st;
        if (change == TENON_DIFF_PLUS_ONE)
            add_one(c, take * width);
        take_values(c, take * width, at_a, width);
        at_a += take;
        at_b += take;
        n -= take;
    }
    return TENON_OK;
}

/* Rotary pairs lie side by side in GGUF and half a head apart in Hugging Face files: row
 * h * D + s * D / 2 + j there is row h * D + 2 * j + s here. */
static uint64_t permuted_row(uint64_t row, uint64_t head_rows)
{
    uint64_t in_head = row % head_rows;
    uint64_t half = head_rows / 2;

    return row - in_head + 2 * (in_head % half) + in_head / half;
}

static enum tenon_status compare_permuted(struct comparison *c, uint64_t rows,
                                          struct tenon_error *err)
{
    uint64_t row_elements = c->n / rows;
    enum tenon_status st = TENON_OK;

    for (uint64_t row = 0; st == TENON_OK && row < rows; row++) {
        uint64_t other = permuted_row(row, rows / c->heads);
        bool a_is_hf = c->hf == &c->a;

        st = compare_run(c, (a_is_hf ? row : other) * row_elements,
                         (a_is_hf ? other : row) * row_elements, row_elements, TENON_DIFF_PERMUTED,
                         err);
    }
    return st;
}

/* Turns columns into rows: some rows of `a` at once, against as many columns of `b`. */
static enum tenon_status compare_transposed(struct comparison *c, struct tenon_error *err)
{
    uint64_t rows = c->a.dims[0], cols = c->a.dims[1];
    uint64_t most = cols <= HALF_VALUES / 2 ? HALF_VALUES / 2 / cols : 0;
    double *column = c->values_b + HALF_VALUES / 2;
    enum tenon_status st = TENON_OK;

    for (uint64_t row = 0; st == TENON_OK && row < rows; row += most) {
        size_t n = smaller(rows - row, (size_t)most);

        st = decode_side(&c->a, row * cols, n * (size_t)cols, c->values_a, err);
        for (size_t k = 0; st == TENON_OK && k < cols; k++) {
            st = decode_side(&c->b, k * rows + row, n, column, err);
            for (size_t i = 0; st == TENON_OK && i < n; i++)
                c->values_b[i * cols + k] = column[i];
        }
        if (st == TENON_OK)
            take_values(c, n * (size_t)cols, row * cols, 1);
    }
    return st;
}

/* The family whose conversion is undone: that of the Hugging Face side, if it is known there. */
static const struct tenon_arch *conversion_arch(const struct comparison *c)
{
    if (c->hf == NULL)
        return NULL;
    return c->hf->model->arch != NULL ? c->hf->model->arch : c->gguf->model->arch;
}

/* Of a pair, one side may be of a family that was not recognised. */
static enum tenon_role role_of(const struct comparison *c)
{
    uint16_t role = c->a.tensor->role;

    return (enum tenon_role)(role != TENON_ROLE_NONE ? role : c->b.tensor->role);
}

static bool shapes_equal(const struct side *a, const struct side *b)
{
    return a->n_dims == b->n_dims &&
           (a->n_dims == 0 || memcmp(a->dims, b->dims, a->n_dims * sizeof(*a->dims)) == 0);
}

/* Conv1D weights: two dimensions, stored the other way round than a converter writes them. */
static bool is_transposed(const struct comparison *c)
{
    const struct tenon_arch *arch = conversion_arch(c);
    enum tenon_role role = role_of(c);

    if (arch == NULL || (arch->flags & TENON_ARCH_CONV1D) == 0 || c->a.n_dims != 2 ||
        c->b.n_dims != 2 || c->a.logical.values != 1 || c->b.logical.values != 1 ||
        c->a.dims[1] > HALF_VALUES / 2)
        return false;
    return (role == TENON_ROLE_ATTN_QKV || role == TENON_ROLE_ATTN_OUTPUT ||
            role == TENON_ROLE_FFN_UP || role == TENON_ROLE_FFN_DOWN) &&
           c->a.dims[0] == c->b.dims[1] && c->a.dims[1] == c->b.dims[0];
}

/* How many heads' rows are permuted; 0 when they are not. */
static uint64_t count_permuted_heads(const struct comparison *c)
{
    const struct tenon_arch *arch = conversion_arch(c);
    enum tenon_role role = role_of(c);
    const struct tenon_hparams *h;
    int64_t heads;

    if (arch == NULL || (arch->flags & TENON_ARCH_PERMUTED_QK) == 0 || c->a.n_dims == 0)
        return 0;
    h = c->hf->model->hparams.heads > 0 ? &c->hf->model->hparams : &c->gguf->model->hparams;
    heads = h->heads;
    if (role == TENON_ROLE_ATTN_K && h->kv_heads > 0)
        heads = h->kv_heads;
    else if (role != TENON_ROLE_ATTN_Q && role != TENON_ROLE_ATTN_K)
        return 0;
    if (heads <= 0 || c->a.dims[0] % (uint64_t)heads != 0 ||
        c->a.dims[0] / (uint64_t)heads % 2 != 0)
        return 0;
    return (uint64_t)heads;
}

/* A converter adds one to every tensor whose name ends like this. */
static bool is_plus_one(const struct comparison *c)
{
    static const char end[] = "norm.weight";
    const struct tenon_arch *arch = conversion_arch(c);
    struct tenon_str name;

    if (arch == NULL || (arch->flags & TENON_ARCH_NORM_PLUS_ONE) == 0)
        return false;
    name = c->hf->tensor->name;
    return name.len >= sizeof(end) - 1 &&
           memcmp(name.data + name.len - (sizeof(end) - 1), end, sizeof(end) - 1) == 0;
}

static enum tenon_diff_change find_change(struct comparison *c)
{
    if (c->hf == NULL)
        return TENON_DIFF_AS_IS;
    if (is_transposed(c))
        return TENON_DIFF_TRANSPOSED;
    c->heads = count_permuted_heads(c);
    if (c->heads > 0)
        return TENON_DIFF_PERMUTED;
    return is_plus_one(c) ? TENON_DIFF_PLUS_ONE : TENON_DIFF_AS_IS;
}

/* Meta's own files keep rotary pairs side by side like GGUF. */
static void tell_conventions(struct comparison *c)
{
    enum tenon_dialect a = c->a.model->dialect, b = c->b.model->dialect;

    if (a == TENON_DIALECT_HF && (b == TENON_DIALECT_GGUF || b == TENON_DIALECT_META)) {
        c->hf = &c->a;
        c->gguf = &c->b;
    } else if (b == TENON_DIALECT_HF && (a == TENON_DIALECT_GGUF || a == TENON_DIALECT_META)) {
        c->hf = &c->b;
        c->gguf = &c->a;
    }
}

/* Where the payload of a slice begins and how long it is; false when it is not whole blocks. */
static bool slice_bytes(const struct side *s, const struct tenon_diff_match *m, uint64_t n,
                        uint64_t *out_off, uint64_t *out_n)
{
    if (!m->slice_a && !m->slice_b) {
        *out_off = 0;
        *out_n = s->tensor->bytes;
        return true;
    }
    return tenon_dtype_bytes((enum tenon_dtype)s->tensor->dtype, s->first, out_off) &&
           tenon_dtype_bytes((enum tenon_dtype)s->tensor->dtype, n, out_n);
}

/* Whether both are of one dtype, known or not. Numbers of texts are those of one model only. */
static bool same_dtype(const struct side *a, const struct side *b)
{
    struct tenon_str x = tenon_tensor_dtype_text(a->model, a->tensor);
    struct tenon_str y = tenon_tensor_dtype_text(b->model, b->tensor);

    if (a->tensor->dtype != b->tensor->dtype || x.len != y.len)
        return false;
    return x.len != 0 ? memcmp(x.data, y.data, x.len) == 0
                      : a->tensor->dtype_raw == b->tensor->dtype_raw;
}

/* Whether both payloads are the same bytes in the same byte order. */
static enum tenon_status compare_bytes(const struct comparison *c, const struct tenon_diff_match *m,
                                       bool *out_equal, struct tenon_error *err)
{
    unsigned char *x = (unsigned char *)c->values_a, *y = (unsigned char *)c->values_b;
    uint64_t off_a, off_b, n_a, n_b, n = c->a.tensor->n_elements;

    *out_equal = false;
    if (m->slice_a)
        n = c->b.tensor->n_elements;
    if (!same_dtype(&c->a, &c->b) ||
        ((c->a.tensor->flags ^ c->b.tensor->flags) & TENON_TENSOR_BIG_ENDIAN) != 0 ||
        ((c->a.tensor->flags | c->b.tensor->flags) & TENON_TENSOR_SIZE_UNKNOWN) != 0 ||
        !slice_bytes(&c->a, m, n, &off_a, &n_a) || !slice_bytes(&c->b, m, n, &off_b, &n_b) ||
        n_a != n_b)
        return TENON_OK;
    for (uint64_t at = 0; at < n_a;) {
        size_t take = smaller(n_a - at, CHUNK_VALUES * sizeof(double));
        enum tenon_status st = tenon_tensor_read(c->a.model, c->a.tensor, off_a + at, x, take, err);

        if (st == TENON_OK)
            st = tenon_tensor_read(c->b.model, c->b.tensor, off_b + at, y, take, err);
        if (st != TENON_OK || memcmp(x, y, take) != 0)
            return st;
        at += take;
    }
    *out_equal = true;
    return TENON_OK;
}

static void finish_metrics(const struct comparison *c, struct tenon_diff_pair *out)
{
    out->compared = true;
    out->rows = c->cols > 0 ? c->n / c->cols : 0;
    out->rows_differing = c->rows_differing;
    out->equal_values = c->within;
    out->max_abs = c->max_abs;
    if (c->sum_dd == 0) {
        out->rel_l2 = 0;
        out->cosine = 1;
        return;
    }
    out->rel_l2 = sqrt(c->sum_dd) / sqrt(c->sum_aa);
    out->cosine = c->sum_ab / (sqrt(c->sum_aa) * sqrt(c->sum_bb));
}

/* Elements and row width, from shapes that the model has checked; nothing compared yet. */
static void measure(struct comparison *c)
{
    c->n = 1;
    for (uint32_t i = 0; i < c->a.n_dims; i++)
        c->n *= c->a.dims[i];
    c->cols = c->a.n_dims > 0 ? c->a.dims[c->a.n_dims - 1] : 1;
    c->last_row = UINT64_MAX;
    c->within = true;
}

static enum tenon_status compare_values(struct comparison *c, struct tenon_diff_pair *out,
                                        struct tenon_error *err)
{
    enum tenon_status st;

    measure(c);
    if (c->n == 0)
        st = TENON_OK;
    else if (out->change == TENON_DIFF_TRANSPOSED)
        st = compare_transposed(c, err);
    else if (out->change == TENON_DIFF_PERMUTED)
        st = compare_permuted(c, c->a.dims[0], err);
    else
        st = compare_run(c, 0, 0, c->n, out->change, err);
    if (st == TENON_OK)
        finish_metrics(c, out);
    return st;
}

/* The metrics of equal contents, without looking at values. */
static void compare_nothing(struct comparison *c, struct tenon_diff_pair *out)
{
    measure(c);
    finish_metrics(c, out);
}

/* Equal bytes mean equal values only without scales beside them and without a conversion. */
static bool bytes_decide(const struct comparison *c, const struct tenon_diff_pair *pair)
{
    return pair->equal_bytes && pair->change == TENON_DIFF_AS_IS && c->a.logical.scales == NULL &&
           c->b.logical.scales == NULL;
}

enum tenon_status tenon_diff_compare(const struct tenon_diff_job *job, size_t i,
                                     unsigned char *buffer, struct tenon_diff_pair *out,
                                     struct tenon_error *err)
{
    const struct tenon_diff_match *match = &job->matches->items[i];
    struct comparison c = {.tolerance = job->tolerance};
    bool known_a = init_side(&c.a, job->a, match->a, match->first_a, match->slice_a);
    bool known_b = init_side(&c.b, job->b, match->b, match->first_b, match->slice_b);
    bool known = known_a && known_b && c.a.logical.values == c.b.logical.values;
    struct tenon_diff_pair pair = {.a = match->a, .b = match->b};
    enum tenon_status st = TENON_OK;

    c.values_a = (double *)(void *)buffer;
    c.values_b = c.values_a + HALF_VALUES;
    pair.equal_dtype = c.a.tensor->dtype == c.b.tensor->dtype;
    pair.equal_shape = shapes_equal(&c.a, &c.b);
    tell_conventions(&c);
    if (known)
        pair.change = find_change(&c);
    if (pair.equal_shape)
        st = compare_bytes(&c, match, &pair.equal_bytes, err);
    pair.equal_values = pair.equal_bytes;
    if (st == TENON_OK && known && bytes_decide(&c, &pair))
        compare_nothing(&c, &pair);
    else if (st == TENON_OK && known && (pair.equal_shape || pair.change == TENON_DIFF_TRANSPOSED))
        st = compare_values(&c, &pair, err);
    if (st == TENON_OK)
        *out = pair;
    return st;
}
