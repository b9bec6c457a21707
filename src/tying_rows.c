#include "tying_rows.h"

#include <math.h>

#include "fail.h"
#include "mem.h"
#include "parallel.h"

/* Side of a square tile, where one of the matrices is stored the other way round. */
#define SIDE ((size_t)128)

/* Pieces of work: enough for any number of threads, few enough to keep a result each. */
#define MOST_PIECES 512

enum { LANES = 4 };

/* Sums over pairs of finite values. */
struct sums {
    double in2, out2, dot, diff2, greatest;
};

/* What one band of rows comes to. */
struct band {
    struct sums sums;
    uint64_t equal_rows;
    struct tenon_row_runs differ, far;
};

/* One worker's buffers. */
struct buffers {
    float scratch[TENON_TILE];
    double in[TENON_TILE], out[TENON_TILE];
    double in_bound[TENON_TILE], out_bound[TENON_TILE];
    bool differs[TENON_TILE], far[TENON_TILE];     /* by row of the tile */
    double diff2[TENON_TILE], length2[TENON_TILE]; /* the greater of the two lengths */
};

struct comparison {
    const struct tenon_rows_job *job;
    uint64_t band_rows;
    size_t n_bands;
    struct band *bands;
    struct buffers *buffers;
};

static void add_row(struct tenon_row_runs *runs, uint64_t first, uint64_t last)
{
    if (runs->n_runs > 0 && runs->end == first) {
        if (runs->n_runs <= TENON_MOST_RUNS)
            runs->last[runs->n_runs - 1] = last;
    } else {
        if (runs->n_runs < TENON_MOST_RUNS) {
            runs->first[runs->n_runs] = first;
            runs->last[runs->n_runs] = last;
        }
        runs->n_runs++;
    }
    runs->end = last + 1;
}

/* Puts the runs of the next band behind those of the bands before it. */
static void append_runs(struct tenon_row_runs *runs, const struct tenon_row_runs *next)
{
    uint64_t known = next->n_runs < TENON_MOST_RUNS ? next->n_runs : TENON_MOST_RUNS;

    for (uint64_t i = 0; i < known; i++)
        add_row(runs, next->first[i], next->last[i]);
    runs->n_runs += next->n_runs - known;
    runs->n_rows += next->n_rows;
    if (next->n_runs > 0)
        runs->end = next->end;
}

static void add_pair(struct sums *s, double in, double out)
{
    double d = out - in;

    if (!isfinite(in) || !isfinite(out)) {
        if (!(in == out || (isnan(in) && isnan(out))))
            s->greatest = INFINITY;
        return;
    }
    s->in2 += in * in;
    s->out2 += out * out;
    s->dot += in * out;
    s->diff2 += d * d;
    s->greatest = fabs(d) > s->greatest ? fabs(d) : s->greatest;
}

/* Sums of one row of a tile, in lanes so that the compiler may use vectors. */
static struct sums sum_lanes(const double *in, const double *out, size_t n)
{
    double in2[LANES] = {0}, out2[LANES] = {0}, dot[LANES] = {0}, diff2[LANES] = {0};
    double greatest[LANES] = {0};
    struct sums s = {0};
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            double x = in[i + k], y = out[i + k], d = y - x, size = fabs(d);

            in2[k] += x * x;
            out2[k] += y * y;
            dot[k] += x * y;
            diff2[k] += d * d;
            greatest[k] = size > greatest[k] ? size : greatest[k];
        }
    for (size_t k = 0; k < LANES; k++) {
        s.in2 += in2[k];
        s.out2 += out2[k];
        s.dot += dot[k];
        s.diff2 += diff2[k];
        s.greatest = greatest[k] > s.greatest ? greatest[k] : s.greatest;
    }
    for (; i < n; i++)
        add_pair(&s, in[i], out[i]);
    return s;
}

static void add_sums(struct sums *s, const struct sums *more)
{
    s->in2 += more->in2;
    s->out2 += more->out2;
    s->dot += more->dot;
    s->diff2 += more->diff2;
    s->greatest = more->greatest > s->greatest ? more->greatest : s->greatest;
}

static bool all_equal(const double *in, const double *out, size_t n)
{
    size_t unequal = 0;

    for (size_t i = 0; i < n; i++)
        unequal += in[i] != out[i] && !(in[i] != in[i] && out[i] != out[i]);
    return unequal == 0;
}

/* Sums of one row of a tile into `*sums`; false when its values are not all equal. */
static bool sum_segment(struct sums *sums, const double *in, const double *out, size_t n)
{
    struct sums s = sum_lanes(in, out, n);

    if (!isfinite(s.in2) || !isfinite(s.out2) || !isfinite(s.diff2)) {
        s = (struct sums){0};
        for (size_t i = 0; i < n; i++)
            add_pair(&s, in[i], out[i]);
    }
    *sums = s;
    return s.diff2 == 0 && s.greatest == 0 && all_equal(in, out, n);
}

/* Whether rounding explains every difference of one row of a tile. */
static bool within_bounds(const struct tenon_rows_job *job, const struct buffers *b, size_t at,
                          size_t n)
{
    for (size_t i = at; i < at + n; i++) {
        double allowed = job->slack * (fabs(job->scale) * b->in_bound[i] + b->out_bound[i]);
        double d = fabs(b->out[i] - job->scale * b->in[i]);

        /* Not a number on one side makes the comparison false. */
        if (!(d <= allowed) && !(isnan(b->in[i]) && isnan(b->out[i])) &&
            !(isinf(b->in[i]) && b->in[i] == b->out[i]))
            return false;
    }
    return true;
}

static enum tenon_status read_tile(const struct tenon_rows_job *job, const struct tenon_tile *tile,
                                   struct buffers *b, struct tenon_error *err)
{
    enum tenon_status st = tenon_matrix_read(job->in, tile, b->scratch, b->in, err);

    if (st == TENON_OK)
        st = tenon_matrix_read(job->out, tile, b->scratch, b->out, err);
    return st;
}

static enum tenon_status read_bounds(const struct tenon_rows_job *job,
                                     const struct tenon_tile *tile, struct buffers *b,
                                     struct tenon_error *err)
{
    enum tenon_status st = tenon_matrix_bounds(job->in, tile, b->in, b->in_bound, err);

    if (st == TENON_OK)
        st = tenon_matrix_bounds(job->out, tile, b->out, b->out_bound, err);
    return st;
}

/* Compares a tile; the rows' flags outlive it, as a row may be spread over several. */
static enum tenon_status compare_tile(const struct tenon_rows_job *job,
                                      const struct tenon_tile *tile, struct buffers *b,
                                      struct sums *sums, struct tenon_error *err)
{
    enum tenon_status st = read_tile(job, tile, b, err);
    bool any = false;

    if (st != TENON_OK)
        return st;
    for (size_t row = 0; row < tile->n_rows; row++) {
        size_t at = row * tile->n_cols;
        struct sums s;

        if (!sum_segment(&s, b->in + at, b->out + at, tile->n_cols))
            b->differs[row] = any = true;
        add_sums(sums, &s);
        b->diff2[row] += s.diff2;
        b->length2[row] += s.in2 > s.out2 ? s.in2 : s.out2;
    }
    if (!job->bounds || !any)
        return TENON_OK;
    st = read_bounds(job, tile, b, err);
    for (size_t row = 0; st == TENON_OK && row < tile->n_rows; row++)
        if (!b->far[row] && !within_bounds(job, b, row * tile->n_cols, tile->n_cols))
            b->far[row] = true;
    return st;
}

/* The size of the tiles that cover rows `row` up to `end`. */
static struct tenon_tile first_tile(const struct tenon_rows_job *job, uint64_t row, uint64_t end)
{
    uint64_t cols = job->in->cols;
    bool square = job->in->transposed || job->out->transposed;
    uint64_t n_cols = square ? SIDE : TENON_TILE, n_rows = SIDE;

    if (n_cols > cols)
        n_cols = cols;
    if (!square)
        n_rows = TENON_TILE / n_cols;
    if (n_rows > end - row)
        n_rows = end - row;
    return (struct tenon_tile){.row = row, .n_rows = (size_t)n_rows, .n_cols = (size_t)n_cols};
}

/* Rows `row` up to `end`, as many as one strip of tiles covers. */
struct strip {
    struct buffers *buffers;
    struct band *band;
    uint64_t row, end;
    size_t n_rows; /* covered */
};

/* Every row of the strip has been seen whole. */
static void settle_rows(const struct tenon_rows_job *job, const struct strip *strip)
{
    const struct buffers *b = strip->buffers;
    struct band *band = strip->band;

    for (size_t i = 0; i < strip->n_rows; i++) {
        double allowed = job->row_error * job->row_error * b->length2[i];
        bool apart = job->row_error > 0 && b->diff2[i] > allowed;
        bool far = job->bounds ? b->far[i] || apart : b->differs[i];
        uint64_t row = strip->row + i;

        band->equal_rows += !b->differs[i];
        band->differ.n_rows += b->differs[i];
        band->far.n_rows += far;
        if (b->differs[i])
            add_row(&band->differ, row, row);
        if (far)
            add_row(&band->far, row, row);
    }
}

/* Compares all tiles side by side from `row` on. */
static enum tenon_status compare_strip(const struct tenon_rows_job *job, struct strip *strip,
                                       struct tenon_error *err)
{
    struct tenon_tile tile = first_tile(job, strip->row, strip->end);
    uint64_t cols = job->in->cols;
    size_t width = tile.n_cols;

    strip->n_rows = tile.n_rows;
    for (size_t i = 0; i < tile.n_rows; i++) {
        strip->buffers->differs[i] = strip->buffers->far[i] = false;
        strip->buffers->diff2[i] = strip->buffers->length2[i] = 0;
    }
    for (; tile.col < cols; tile.col += width) {
        enum tenon_status st;

        tile.n_cols = cols - tile.col < width ? (size_t)(cols - tile.col) : width;
        st = compare_tile(job, &tile, strip->buffers, &strip->band->sums, err);
        if (st != TENON_OK)
            return st;
    }
    settle_rows(job, strip);
    return TENON_OK;
}

static enum tenon_status compare_band(void *user, size_t i, unsigned worker,
                                      struct tenon_error *err)
{
    struct comparison *c = user;
    struct strip strip = {
        .buffers = &c->buffers[worker],
        .band = &c->bands[i],
        .row = i * c->band_rows,
    };
    enum tenon_status st = TENON_OK;

    strip.end = c->job->rows - strip.row < c->band_rows ? c->job->rows : strip.row + c->band_rows;
    while (st == TENON_OK && strip.row < strip.end) {
        st = compare_strip(c->job, &strip, err);
        strip.row += strip.n_rows;
    }
    return st;
}

/* Bands of at least one strip, at most MOST_PIECES of them, whatever the number of threads. */
static void cut_bands(struct comparison *c)
{
    uint64_t rows = c->job->rows;
    uint64_t strip = first_tile(c->job, 0, rows).n_rows;
    uint64_t band = rows / MOST_PIECES + (rows % MOST_PIECES != 0);

    band = (band / strip + (band % strip != 0)) * strip;
    c->band_rows = band;
    c->n_bands = (size_t)(rows / band + (rows % band != 0));
}

static void finish(const struct comparison *c, struct tenon_rows_result *out)
{
    struct tenon_evidence *e = &out->evidence;
    struct sums sums = {0};

    *out = (struct tenon_rows_result){0};
    e->valid = e->by_values = true;
    e->rows = c->job->rows;
    e->cols = c->job->in->cols;
    for (size_t i = 0; i < c->n_bands; i++) {
        add_sums(&sums, &c->bands[i].sums);
        e->equal_rows += c->bands[i].equal_rows;
        append_runs(&out->differ, &c->bands[i].differ);
        append_runs(&out->far, &c->bands[i].far);
    }
    e->first_differing_row = out->differ.n_runs > 0 ? out->differ.first[0] : UINT64_MAX;
    e->max_abs_diff = sums.greatest;
    e->rel_l2 = sums.diff2 == 0 ? 0 : sqrt(sums.diff2) / sqrt(sums.in2);
    e->cosine = sums.diff2 == 0 ? 1 : sums.dot / (sqrt(sums.in2) * sqrt(sums.out2));
    e->scale = sums.diff2 == 0 ? 1 : sums.dot / sums.in2;
    if (sums.diff2 != 0 && (sums.in2 == 0 || sums.out2 == 0))
        e->cosine = e->scale = 0; /* a matrix of zeros has no direction */
}

enum tenon_status tenon_rows_compare(const struct tenon_rows_job *job,
                                     struct tenon_rows_result *out, struct tenon_error *err)
{
    struct comparison c = {.job = job};
    unsigned threads = tenon_threads(job->threads);
    enum tenon_status st;

    cut_bands(&c);
    if (threads > c.n_bands)
        threads = (unsigned)c.n_bands;
    c.bands = tenon_mem_alloc(c.n_bands, sizeof(*c.bands));
    c.buffers = tenon_mem_alloc(threads, sizeof(*c.buffers));
    if (c.bands == NULL || c.buffers == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    st = tenon_parallel(threads, c.n_bands, compare_band, &c, err);
    if (st == TENON_OK)
        finish(&c, out);
out:
    tenon_mem_free(c.buffers);
    tenon_mem_free(c.bands);
    return st;
}
