/* How far a stored value can be from the number that it was rounded from.
 *
 * Plain floats: half a unit in the last place of the stored value, or of the smallest normal
 * number below it.
 *
 * Blocks with evenly spaced codes (w = step * q + low): a source between two codes is given the
 * nearer one, so it is at most half a step away. The last pass of every k-quant encoder picks
 * codes with the scale as it is stored, so for codes inside the range half a step is exact. A
 * source beyond the outermost code is cut off there; how far depends on the search for the scale
 * with the least error, and on its rounding to a few bits of the greatest scale of the 256.
 * Q4_0 to Q5_1 pick codes before the scale is stored as float16, and, under an importance matrix,
 * before it is fitted to those codes, which moves the codes by up to 2.4 steps; the ends further.
 * The shares for the ends and for that fit are a little above the worst that the reference
 * encoder did to normal, heavy-tailed, uniform, sparse and shifted data, with and without
 * importance. Step and range are not unpacked here: the decoder is asked what a copy of the
 * block holds when all its codes are the least, and when all are the greatest.
 *
 * Blocks with a code book for 4 or 8 elements at once (IQ1, IQ2, IQ3): a single element may move
 * as far as the book allows, so only the greatest value of the block bounds it.
 *
 * As the bounds of coarse types are wide, `row_error` bounds the error of a row as a whole. */
#include <math.h>
#include <string.h>

#include "dtype/block.h"
#include "matrix.h"
#include "model_private.h"
#include "scales.h"

/* Sizes no block of a known type exceeds. */
enum { MOST_BLOCK_BYTES = 292, MOST_BLOCK_VALUES = 256 };

/* Mantissa bits after the leading one, and the exponent of the smallest normal number. */
struct float_shape {
    uint16_t dtype;
    int16_t mantissa, least;
};

static const struct float_shape float_shapes[] = {
    {TENON_DTYPE_F64, 52, -1022},      {TENON_DTYPE_F32, 23, -126},
    {TENON_DTYPE_F16, 10, -14},        {TENON_DTYPE_BF16, 7, -126},
    {TENON_DTYPE_F8_E4M3, 3, -6},      {TENON_DTYPE_F8_E5M2, 2, -14},
    {TENON_DTYPE_F8_E8M0, 0, -127},    {TENON_DTYPE_F8_E4M3FNUZ, 3, -7},
    {TENON_DTYPE_F8_E5M2FNUZ, 2, -15}, {TENON_DTYPE_F6_E2M3, 3, 0},
    {TENON_DTYPE_F6_E3M2, 2, -2},      {TENON_DTYPE_F4, 1, 0},
};

/* A range of code bytes in a block, and the bytes that spell the least and the greatest code. */
struct code_bytes {
    uint16_t off, len;
    uint8_t least, greatest;
};

/* How the scale of a block is stored when it is rounded after the codes were chosen: its unit
 * roundoff, and the least normal number, below which its steps are even. */
struct scale_shape {
    double roundoff, least;
};

static const struct scale_shape scale_shapes[] = {{0, 0}, {0x1p-11, 0x1p-14}, {0x1p-4, 0x1p-6}};

enum scale_kind { SETTLED, HALF, E4M3 };

/* An evenly spaced type, or one whose spacing `inner` bounds. */
struct block_shape {
    uint16_t dtype;
    struct code_bytes codes;
    int16_t span;  /* from the least to the greatest code, in units of the scale */
    double inner;  /* error of codes inside the range, in the same units */
    double end;    /* of the outermost codes */
    double widest; /* of the outermost codes, as a share of the block's range and offset */
    enum scale_kind scale;
    double row_error; /* |difference| / |row| */
};

static const struct block_shape block_shapes[] = {
    {TENON_DTYPE_Q4_0, {2, 16, 0x00, 0xff}, 15, 2.5, 8, 0, HALF, 0.35},
    {TENON_DTYPE_Q4_1, {4, 16, 0x00, 0xff}, 15, 2.5, 8, 0, HALF, 0.25},
    {TENON_DTYPE_Q5_0, {2, 20, 0x00, 0xff}, 31, 2.5, 8, 0, HALF, 0.2},
    {TENON_DTYPE_Q5_1, {4, 20, 0x00, 0xff}, 31, 2.5, 8, 0, HALF, 0.15},
    {TENON_DTYPE_Q8_0, {2, 32, 0x80, 0x7f}, 255, 0.5, 0.5, 0, HALF, 0.02},
    {TENON_DTYPE_Q8_1, {4, 32, 0x80, 0x7f}, 255, 0.5, 0.5, 0, HALF, 0.02},
    {TENON_DTYPE_Q2_K, {16, 64, 0x00, 0xff}, 3, 0.5, 0.5, 1.3, SETTLED, 0.8},
    {TENON_DTYPE_Q3_K, {0, 96, 0x00, 0xff}, 7, 0.5, 0.5, 0.6, SETTLED, 0.4},
    {TENON_DTYPE_Q4_K, {16, 128, 0x00, 0xff}, 15, 0.5, 0.5, 0.6, SETTLED, 0.35},
    {TENON_DTYPE_Q5_K, {16, 160, 0x00, 0xff}, 31, 0.5, 0.5, 0.2, SETTLED, 0.12},
    {TENON_DTYPE_Q6_K, {0, 192, 0x00, 0xff}, 63, 0.5, 0.5, 0.2, SETTLED, 0.2},
    {TENON_DTYPE_Q8_K, {4, 256, 0x80, 0x7f}, 255, 0.5, 2, 0, SETTLED, 0.02},
    /* The widest gap of the code book is 24. */
    {TENON_DTYPE_IQ4_NL, {2, 16, 0x00, 0xff}, 240, 14, 14, 0.25, HALF, 0.3},
    {TENON_DTYPE_IQ4_XS, {8, 128, 0x00, 0xff}, 240, 14, 14, 0.25, HALF, 0.3},
    {TENON_DTYPE_TQ1_0, {0, 52, 0x00, 0xff}, 2, 0.5, 0.5, 0, HALF, 0.9},
    {TENON_DTYPE_TQ2_0, {0, 64, 0x00, 0xaa}, 2, 0.5, 0.5, 0, HALF, 0.9},
    /* Codes 0, 1/2, 1, 3/2, 2, 3, 4, 6 with a sign: the widest gap is 2. MXFP4 rounds its power
     * of two down, so that values up to 8 are cut off at 6. */
    {TENON_DTYPE_MXFP4, {1, 16, 0xff, 0x77}, 12, 1, 2, 0, SETTLED, 0.3},
    {TENON_DTYPE_NVFP4, {4, 32, 0xff, 0x77}, 12, 1, 2, 0, E4M3, 0.3},
};

/* Types with a code book: the relative error of a row that they are known for, with room. */
static const struct {
    uint16_t dtype;
    double row_error;
} book_types[] = {
    {TENON_DTYPE_IQ1_S, 0.8},  {TENON_DTYPE_IQ1_M, 0.8}, {TENON_DTYPE_IQ2_XXS, 0.7},
    {TENON_DTYPE_IQ2_XS, 0.6}, {TENON_DTYPE_IQ2_S, 0.6}, {TENON_DTYPE_IQ3_XXS, 0.45},
    {TENON_DTYPE_IQ3_S, 0.45}, {TENON_DTYPE_Q1_0, 0.9},  {TENON_DTYPE_Q2_0, 0.8},
};

static const struct float_shape *find_float(enum tenon_dtype dtype)
{
    for (size_t i = 0; i < sizeof(float_shapes) / sizeof(float_shapes[0]); i++)
        if (float_shapes[i].dtype == dtype)
            return &float_shapes[i];
    return NULL;
}

static const struct block_shape *find_block(enum tenon_dtype dtype)
{
    for (size_t i = 0; i < sizeof(block_shapes) / sizeof(block_shapes[0]); i++)
        if (block_shapes[i].dtype == dtype)
            return &block_shapes[i];
    return NULL;
}

bool tenon_bounds_exact(enum tenon_dtype a, enum tenon_dtype b)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(a);

    if (a == b)
        return info != NULL && info->family != TENON_DTYPE_FAMILY_block;
    return find_float(a) == NULL && find_float(b) == NULL && info != NULL &&
           info->family != TENON_DTYPE_FAMILY_block &&
           tenon_dtype_info(b)->family != TENON_DTYPE_FAMILY_block;
}

static double row_error(enum tenon_dtype dtype)
{
    const struct block_shape *block = find_block(dtype);

    if (block != NULL)
        return block->row_error;
    for (size_t i = 0; i < sizeof(book_types) / sizeof(book_types[0]); i++)
        if (book_types[i].dtype == dtype)
            return book_types[i].row_error;
    return 0;
}

double tenon_bounds_row_error(enum tenon_dtype a, enum tenon_dtype b)
{
    /* Two independent errors; rows that have nothing in common are 1 and more apart. */
    double both = hypot(row_error(a), row_error(b));

    return both < 0.95 ? both : 0.95;
}

double tenon_bounds_roundoff(enum tenon_dtype dtype)
{
    const struct float_shape *shape = find_float(dtype);
    const struct block_shape *block = find_block(dtype);

    if (shape != NULL)
        return ldexp(1, -shape->mantissa - 1);
    return block != NULL ? block->inner / block->span : 0;
}

/* Half a unit in the last place of `value`; 0 for values that are no numbers. */
static double half_ulp(const struct float_shape *shape, double value)
{
    uint64_t bits;
    int exponent;

    memcpy(&bits, &value, sizeof(bits));
    exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024)
        return 0;
    if (exponent < shape->least)
        exponent = shape->least;
    exponent -= shape->mantissa + 1;
    if (exponent <= -1023)
        return ldexp(1, exponent);
    return tenon_f64_from_bits((uint64_t)(exponent + 1023) << 52);
}

/* A run of stored elements: their values, and where the bounds go. */
struct run {
    const struct tenon_matrix *matrix;
    uint64_t first;
    size_t n;
    const double *values;
    double *out;
};

static void bound_floats(const struct run *run, const struct float_shape *shape)
{
    for (size_t i = 0; i < run->n; i++)
        run->out[i] = half_ulp(shape, run->values[i]);
}

/* Codes with scales beside them: half a unit of the code, times its scale. Codes have few bits and
 * their products were rounded, so a little is added before the exponent is looked at. */
static enum tenon_status bound_scaled(const struct run *run, const struct float_shape *shape,
                                      struct tenon_error *err)
{
    float scales[256];

    for (size_t i = 0; i < run->n;) {
        size_t n = run->n - i < 256 ? run->n - i : 256;
        enum tenon_status st =
            tenon_logical_scales(&run->matrix->logical, run->first + i, n, scales, err);

        if (st != TENON_OK)
            return st;
        for (size_t k = 0; k < n; k++, i++) {
            double scale = fabs((double)scales[k]);

            run->out[i] = scale * half_ulp(shape, run->values[i] / scale * (1 + 0x1p-20));
        }
    }
    return TENON_OK;
}

/* Two-byte groups of 32 four-bit floats: the scale lies in the tensor beside. */
static enum tenon_status bound_mxfp4(const struct run *run, struct tenon_error *err)
{
    const struct tenon_logical *l = &run->matrix->logical;
    uint8_t exponent = 0;
    uint64_t group = UINT64_MAX;

    for (size_t i = 0; i < run->n; i++) {
        double scale, size;

        if ((run->first + i) / 32 != group) {
            enum tenon_status st;

            group = (run->first + i) / 32;
            st = tenon_tensor_read(l->model, l->scales, group, &exponent, 1, err);
            if (st != TENON_OK)
                return st;
        }
        scale = ldexp(1, exponent - 127);
        size = fabs(run->values[i]) / scale;
        run->out[i] = scale * (size < 2 ? 0.25 : size < 4 ? 0.5 : size < 6 ? 1 : 2);
    }
    return TENON_OK;
}

/* The bounds of a whole block, from its values with all codes least and greatest. */
struct block_bounds {
    float values[MOST_BLOCK_VALUES], low[MOST_BLOCK_VALUES], high[MOST_BLOCK_VALUES];
    double bound[MOST_BLOCK_VALUES];
};

static void decode_filled(tenon_decode_fn decode, const struct block_shape *shape,
                          const uint8_t *bytes, size_t n_bytes, struct block_bounds *b)
{
    uint8_t filled[MOST_BLOCK_BYTES];

    decode(b->values, bytes, 1);
    memcpy(filled, bytes, n_bytes);
    memset(filled + shape->codes.off, shape->codes.least, shape->codes.len);
    decode(b->low, filled, 1);
    memset(filled + shape->codes.off, shape->codes.greatest, shape->codes.len);
    decode(b->high, filled, 1);
}

static double range_of(const struct block_bounds *b, size_t i)
{
    return fabs((double)b->high[i] - (double)b->low[i]);
}

static void bound_even_block(const struct block_shape *shape, size_t n, struct block_bounds *b)
{
    const struct scale_shape *scale = &scale_shapes[shape->scale];
    double widest = 0, offset = 0;

    for (size_t i = 0; i < n; i++) {
        widest = range_of(b, i) > widest ? range_of(b, i) : widest;
        offset = fabs((double)b->low[i]) > offset ? fabs((double)b->low[i]) : offset;
    }
    for (size_t i = 0; i < n; i++) {
        double unit = range_of(b, i) / shape->span;
        bool end = b->values[i] == b->low[i] || b->values[i] == b->high[i];

        b->bound[i] =
            end ? unit * shape->end + (widest + offset) * shape->widest : unit * shape->inner;
        b->bound[i] += (fabs((double)b->values[i]) + fabs((double)b->low[i])) * scale->roundoff;
        if (unit < scale->least)
            b->bound[i] += shape->span * scale->roundoff * scale->least;
    }
}

static void bound_book_block(size_t n, struct block_bounds *b)
{
    double greatest = 0;

    for (size_t i = 0; i < n; i++)
        greatest = fabs((double)b->values[i]) > greatest ? fabs((double)b->values[i]) : greatest;
    for (size_t i = 0; i < n; i++)
        b->bound[i] = 3 * greatest;
}

/* Blocks read ahead, in little-endian form. */
struct block_window {
    uint8_t bytes[4096];
    uint64_t first;
    size_t n;
};

/* Block number `block`, of which `last` is the last that will be asked for. */
static enum tenon_status get_block(const struct tenon_logical *l, struct block_window *w,
                                   uint64_t block, uint64_t last, const uint8_t **out,
                                   struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)l->codes->dtype);
    enum tenon_status st = TENON_OK;

    if (w->n == 0 || block < w->first || block - w->first >= w->n) {
        size_t most = sizeof(w->bytes) / info->block_bytes;

        w->first = block;
        w->n = last - block < most ? (size_t)(last - block) + 1 : most;
        st = tenon_tensor_read(l->model, l->codes, block * info->block_bytes, w->bytes,
                               w->n * info->block_bytes, err);
        if (st == TENON_OK && (l->codes->flags & TENON_TENSOR_BIG_ENDIAN) != 0)
            (void)tenon_quant_swap(info->dtype, w->bytes, w->n);
    }
    *out = w->bytes + (size_t)(block - w->first) * info->block_bytes;
    return st;
}

static enum tenon_status bound_blocks(const struct run *run, struct tenon_error *err)
{
    const struct tenon_logical *l = &run->matrix->logical;
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)l->codes->dtype);
    const struct block_shape *shape = find_block(info->dtype);
    tenon_decode_fn decode = l->model->ops.decode[info->dtype];
    struct block_window window;
    struct block_bounds b;

    window.n = 0;
    for (size_t i = 0; i < run->n;) {
        uint64_t at = run->first + i, last = (run->first + run->n - 1) / info->block_elements;
        size_t skip = (size_t)(at % info->block_elements);
        size_t room = info->block_elements - skip, take = room < run->n - i ? room : run->n - i;
        const uint8_t *bytes;
        enum tenon_status st = get_block(l, &window, at / info->block_elements, last, &bytes, err);

        if (st != TENON_OK)
            return st;
        if (shape != NULL) {
            decode_filled(decode, shape, bytes, info->block_bytes, &b);
            bound_even_block(shape, info->block_elements, &b);
        } else {
            decode(b.values, bytes, 1);
            bound_book_block(info->block_elements, &b);
        }
        memcpy(run->out + i, b.bound + skip, take * sizeof(*run->out));
        i += take;
    }
    return TENON_OK;
}

static enum tenon_status bound_run(const struct run *run, struct tenon_error *err)
{
    const struct tenon_tensor *t = run->matrix->logical.codes;
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)t->dtype);
    const struct float_shape *shape = find_float(info->dtype);

    if (t->scaling == TENON_SCALING_MXFP4)
        return bound_mxfp4(run, err);
    if (info->family == TENON_DTYPE_FAMILY_block)
        return bound_blocks(run, err);
    if (shape != NULL && run->matrix->logical.scales != NULL)
        return bound_scaled(run, shape, err);
    if (shape != NULL)
        bound_floats(run, shape);
    else
        memset(run->out, 0, run->n * sizeof(*run->out));
    return TENON_OK;
}

/* Stored rows are columns of the tile: gathered, bounded, and put back where they belong. */
static enum tenon_status bound_transposed(const struct tenon_matrix *m,
                                          const struct tenon_tile *tile, const double *values,
                                          double *out, struct tenon_error *err)
{
    double gathered[256], bounds[256];
    enum tenon_status st = TENON_OK;

    for (size_t col = 0; st == TENON_OK && col < tile->n_cols; col++) {
        for (size_t row = 0; st == TENON_OK && row < tile->n_rows;) {
            struct run run = {
                .matrix = m,
                .first = (tile->col + col) * m->rows + tile->row + row,
                .n = tile->n_rows - row < 256 ? tile->n_rows - row : 256,
                .values = gathered,
                .out = bounds,
            };

            for (size_t i = 0; i < run.n; i++)
                gathered[i] = values[(row + i) * tile->n_cols + col];
            st = bound_run(&run, err);
            for (size_t i = 0; st == TENON_OK && i < run.n; i++)
                out[(row + i) * tile->n_cols + col] = bounds[i];
            row += run.n;
        }
    }
    return st;
}

enum tenon_status tenon_matrix_bounds(const struct tenon_matrix *m, const struct tenon_tile *tile,
                                      const double *values, double *out, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (m->transposed)
        return bound_transposed(m, tile, values, out, err);
    for (size_t row = 0; st == TENON_OK && row < tile->n_rows; row++) {
        struct run run = {
            .matrix = m,
            .first = (tile->row + row) * m->cols + tile->col,
            .n = tile->n_cols,
            .values = values + row * tile->n_cols,
            .out = out + row * tile->n_cols,
        };

        st = bound_run(&run, err);
    }
    return st;
}
