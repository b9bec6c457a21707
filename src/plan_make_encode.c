/* The end of making a tensor: numbers to stored elements. */
#include "plan_make.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "fail.h"

/* Values that are rounded to float32, or looked at, at a time. */
#define PIECE 4096

/* Through the codec. `first` is the number of the first element in the tensor. */
static enum tenon_status encode_floats(const struct tenon_make *make, uint64_t first,
                                       const float *values, size_t n, unsigned char *out,
                                       struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);
    size_t bad = make->ops->encode[info->dtype](out, values, n / info->block_elements);

    if (bad == SIZE_MAX)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
               "%s cannot hold %g, element number %" PRIu64, info->name, (double)values[bad],
               first + bad);
    tenon_fail_hint(err, "blocks take numbers only; give it another type, with "
                         "--dtype-for 'NAME=F32'");
    return TENON_ERR_CANNOT_REPRESENT;
}

static enum tenon_status encode_singles(const struct tenon_make *make,
                                        const struct tenon_make_values *in, unsigned char *out,
                                        struct tenon_make_overflow *overflow,
                                        struct tenon_error *err)
{
    const float *values = (const float *)(const void *)in->values;
    enum tenon_status st = encode_floats(make, in->first, values, in->n, out, err);

    if (st == TENON_OK && make->may_overflow)
        tenon_make_count_lost(make, in, out, overflow);
    return st;
}

/* --- float64 --- */

/* To float32 with what is cut off kept as the last bit: rounding that to a shorter type then rounds
 * the float64, once. */
static float narrow_to_odd(double value)
{
    float near = (float)value;
    uint32_t bits;

    if (!isfinite(value) || (double)near == value)
        return near;
    memcpy(&bits, &near, sizeof(bits));
    /* Rounded away from zero, or to infinity: one step back. Then the sticky bit. */
    if (fabs((double)near) > fabs(value))
        bits--;
    bits |= 1;
    memcpy(&near, &bits, sizeof(near));
    return near;
}

/* To float32, whose greatest number stands for what is beyond it: blocks take no infinity. */
static float narrow_to_finite(double value)
{
    float near = (float)value;

    return isinf(near) && isfinite(value) ? copysignf(FLT_MAX, near) : near;
}

/* Counts what blocks have lost of float64 values; `narrow` is what they were made from, and does as
 * room. A value beyond float32 is lost even where its block has kept its float32 stand-in. */
static void count_lost_doubles(const struct tenon_make *make, const struct tenon_make_values *in,
                               float *narrow, const unsigned char *encoded,
                               struct tenon_make_overflow *overflow)
{
    const double *values = (const double *)(const void *)in->values;
    struct tenon_make_values part = {in->first, in->n, (unsigned char *)narrow};
    struct tenon_make_overflow found = {0};

    for (size_t i = 0; i < in->n; i++)
        narrow[i] = (float)values[i];
    tenon_make_count_lost(make, &part, encoded, &found);
    if (found.n == 0)
        return;
    tenon_make_note_lost(overflow, found.first, values[found.first - in->first]);
    overflow->n += found.n - 1;
}

/* Whether the last rounding is to a float type shorter than float32. */
static bool is_short_float(enum tenon_dtype dtype)
{
    return tenon_make_limit(dtype) < tenon_make_limit(TENON_DTYPE_F32);
}

static enum tenon_status encode_narrowed(const struct tenon_make *make,
                                         const struct tenon_make_values *in, unsigned char *out,
                                         struct tenon_make_overflow *overflow,
                                         struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);
    const double *values = (const double *)(const void *)in->values;
    bool odd = is_short_float(info->dtype), blocks = info->block_elements > 1;
    double limit = tenon_make_limit(info->dtype);
    float narrow[PIECE];
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < in->n; i += PIECE) {
        size_t n = in->n - i < PIECE ? in->n - i : PIECE;
        struct tenon_make_values part = {in->first + i, n, in->values + i * sizeof(*values)};
        unsigned char *encoded = out + i / info->block_elements * info->block_bytes;

        for (size_t k = 0; k < n; k++) {
            narrow[k] = odd      ? narrow_to_odd(values[i + k])
                        : blocks ? narrow_to_finite(values[i + k])
                                 : (float)values[i + k];
            if (make->may_overflow && isfinite(values[i + k]) &&
                (odd ? fabs((double)narrow[k]) : fabs(values[i + k])) >= limit)
                tenon_make_note_lost(overflow, in->first + i + k, values[i + k]);
        }
        st = encode_floats(make, in->first + i, narrow, n, encoded, err);
        if (st == TENON_OK && make->may_overflow && blocks)
            count_lost_doubles(make, &part, narrow, encoded, overflow);
    }
    return st;
}

static void store_bits(unsigned char *out, uint64_t bits, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        out[k] = (unsigned char)(bits >> 8 * k);
}

/* --- integers --- */

/* What an integer type holds. */
struct bounds {
    enum tenon_dtype dtype;
    int64_t low;
    uint64_t high;
};

static const struct bounds all_bounds[] = {
    {TENON_DTYPE_I64, INT64_MIN, INT64_MAX},
    {TENON_DTYPE_I32, INT32_MIN, INT32_MAX},
    {TENON_DTYPE_I16, INT16_MIN, INT16_MAX},
    {TENON_DTYPE_I8, INT8_MIN, INT8_MAX},
    {TENON_DTYPE_U64, 0, UINT64_MAX},
    {TENON_DTYPE_U32, 0, UINT32_MAX},
    {TENON_DTYPE_U16, 0, UINT16_MAX},
    {TENON_DTYPE_U8, 0, UINT8_MAX},
    {TENON_DTYPE_BOOL, 0, 1},
};

static const struct bounds *find_bounds(enum tenon_dtype dtype)
{
    for (size_t i = 0; i < sizeof(all_bounds) / sizeof(all_bounds[0]); i++)
        if (all_bounds[i].dtype == dtype)
            return &all_bounds[i];
    return NULL;
}

/* The whole number that `value` is, as bits in two's complement; false when it is none that the
 * type holds. */
static bool take_whole(double value, const struct bounds *bounds, uint64_t *out)
{
    if (value < 0) {
        if (!(value >= -0x1p63) || (double)(int64_t)value != value || (int64_t)value < bounds->low)
            return false;
        *out = (uint64_t)(int64_t)value;
        return true;
    }
    if (!(value < 0x1p64) || (double)(uint64_t)value != value || (uint64_t)value > bounds->high)
        return false;
    *out = (uint64_t)value;
    return true;
}

static enum tenon_status encode_whole(const struct tenon_make *make,
                                      const struct tenon_make_values *in,
                                      const struct bounds *bounds, unsigned char *out,
                                      struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);
    const double *values = (const double *)(const void *)in->values;

    for (size_t i = 0; i < in->n; i++) {
        uint64_t bits;

        if (!take_whole(values[i], bounds, &bits))
            return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                              "%s cannot hold %.17g, element number %" PRIu64, info->name,
                              values[i], in->first + i);
        store_bits(out + i * info->block_bytes, bits, info->block_bytes);
    }
    return TENON_OK;
}

static enum tenon_status encode_doubles(const struct tenon_make *make,
                                        const struct tenon_make_values *in, unsigned char *out,
                                        struct tenon_make_overflow *overflow,
                                        struct tenon_error *err)
{
    const struct bounds *bounds = find_bounds(make->tensor.dtype);
    double *values = (double *)(void *)in->values;

    if (make->constant != 0)
        for (size_t i = 0; i < in->n; i++)
            values[i] += make->constant;
    if (bounds != NULL)
        return encode_whole(make, in, bounds, out, err);
    if (make->tensor.dtype != TENON_DTYPE_F64)
        return encode_narrowed(make, in, out, overflow, err);
    for (size_t i = 0; i < in->n; i++) {
        uint64_t bits;

        memcpy(&bits, &values[i], sizeof(bits));
        store_bits(out + 8 * i, bits, 8);
    }
    return TENON_OK;
}

/* Integers to another integer type: exactly, or not at all. */
static enum tenon_status encode_integers(const struct tenon_make *make,
                                         const struct tenon_make_values *in,
                                         const struct bounds *bounds, unsigned char *out,
                                         struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);
    bool big = make->from == TENON_DTYPE_U64;

    for (size_t i = 0; i < in->n; i++) {
        int64_t value;
        bool fits;

        memcpy(&value, in->values + i * sizeof(value), sizeof(value));
        fits = big || value >= 0 ? (uint64_t)value <= bounds->high : value >= bounds->low;
        if (!fits && big)
            return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                              "%s cannot hold %" PRIu64 ", element number %" PRIu64, info->name,
                              (uint64_t)value, in->first + i);
        if (!fits)
            return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                              "%s cannot hold %" PRId64 ", element number %" PRIu64, info->name,
                              value, in->first + i);
        store_bits(out + i * info->block_bytes, (uint64_t)value, info->block_bytes);
    }
    return TENON_OK;
}

/* An integer as float64, what does not fit kept as the last bit when another rounding follows. */
static double widen_integer(int64_t value, bool is_unsigned, bool odd)
{
    double near = is_unsigned ? (double)(uint64_t)value : (double)value;
    uint64_t magnitude = is_unsigned || value >= 0 ? (uint64_t)value : 0 - (uint64_t)value;

    if (!odd || magnitude < UINT64_C(1) << 53)
        return near;
    /* Cut to 53 bits, then the sticky bit. */
    for (unsigned shift = 11; shift > 0; shift--)
        if (magnitude >> (52 + shift) != 0) {
            uint64_t cut = magnitude & ((UINT64_C(1) << shift) - 1);

            magnitude = (magnitude ^ cut) | (uint64_t)(cut != 0) << shift;
            break;
        }
    near = (double)magnitude;
    return is_unsigned || value >= 0 ? near : -near;
}

/* Integers to floats. They become float64 in place: both have eight bytes. */
static enum tenon_status encode_widened(const struct tenon_make *make,
                                        const struct tenon_make_values *in, unsigned char *out,
                                        struct tenon_make_overflow *overflow,
                                        struct tenon_error *err)
{
    bool odd = make->tensor.dtype != TENON_DTYPE_F64;

    for (size_t i = 0; i < in->n; i++) {
        int64_t value;
        double wide;

        memcpy(&value, in->values + i * sizeof(value), sizeof(value));
        wide = widen_integer(value, make->from == TENON_DTYPE_U64, odd);
        memcpy(in->values + i * sizeof(wide), &wide, sizeof(wide));
    }
    return encode_doubles(make, in, out, overflow, err);
}

enum tenon_status tenon_make_encode(const struct tenon_make *make,
                                    const struct tenon_make_values *in, unsigned char *out,
                                    struct tenon_make_overflow *overflow, struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);
    const struct bounds *bounds = find_bounds(make->tensor.dtype);
    enum tenon_status st;

    if (make->kind == TENON_MAKE_SINGLE)
        st = encode_singles(make, in, out, overflow, err);
    else if (make->kind == TENON_MAKE_DOUBLE)
        st = encode_doubles(make, in, out, overflow, err);
    else if (bounds != NULL)
        st = encode_integers(make, in, bounds, out, err);
    else
        st = encode_widened(make, in, out, overflow, err);
    if (st == TENON_OK && make->swap_out &&
        !tenon_quant_swap(info->dtype, out, in->n / info->block_elements))
        st = tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET,
                        "%s blocks have no defined big-endian form", info->name);
    return st;
}

/* --- a piece of work --- */

/* Bytes of the target that `n` units become. */
static size_t target_bytes(const struct tenon_make *make, size_t n)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(make->tensor.dtype);

    if (make->kind == TENON_MAKE_BLOCKS)
        return n * make->unit_bytes;
    return n / info->block_elements * info->block_bytes;
}

static enum tenon_status finish(const struct tenon_make *make, const struct tenon_make_values *in,
                                const struct tenon_make_buffers *buffers,
                                struct tenon_make_result *result, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    result->n_bytes = target_bytes(make, in->n);
    result->bytes = make->kind == TENON_MAKE_BLOCKS ? buffers->values : buffers->encoded;
    if (make->kind != TENON_MAKE_BLOCKS)
        st = tenon_make_encode(make, in, buffers->encoded, &result->overflow, err);
    return tenon_make_fail(make, st, err);
}

/* Values that are decoded and encoded at a time. */
#define CONVERTED 4096

bool tenon_make_can_convert(const struct tenon_make *make, struct tenon_make_range range)
{
    const struct tenon_dtype_info *info;
    const struct tenon_make_source *source;
    uint64_t left, at;

    if (make->kind != TENON_MAKE_SINGLE || make->n_moves > 0 || make->n_units == 0)
        return false;
    source = tenon_make_find(make, range.first, &left);
    if (left < range.n || source->plan.logical)
        return false;
    at = source->first + (range.first - source->begin);
    info = tenon_dtype_info((enum tenon_dtype)source->plan.tensor->dtype);
    return at % info->block_elements == 0 && range.n % info->block_elements == 0 &&
           range.n / info->block_elements * info->block_bytes <= TENON_MAKE_BYTES;
}

/* Decodes to where `part` points; stored float32 is what it has to be already. */
static void decode_part(const struct tenon_make *make, const struct tenon_dtype_info *info,
                        unsigned char *stored, struct tenon_make_values *part)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (info->dtype == TENON_DTYPE_F32) {
        part->values = stored;
        return;
    }
#endif
    make->ops->decode[info->dtype]((float *)(void *)part->values, stored,
                                   part->n / info->block_elements);
}

enum tenon_status tenon_make_convert(const struct tenon_make *make, struct tenon_make_range range,
                                     const struct tenon_make_buffers *buffers,
                                     struct tenon_make_result *result, struct tenon_error *err)
{
    uint64_t left;
    const struct tenon_make_source *source = tenon_make_find(make, range.first, &left);
    const struct tenon_dtype_info *info =
        tenon_dtype_info((enum tenon_dtype)source->plan.tensor->dtype);
    uint64_t at = source->first + (range.first - source->begin);
    struct tenon_make_range blocks = {at / info->block_elements, range.n / info->block_elements};
    enum tenon_status st = tenon_make_read_stored(source, info, blocks, buffers->stored, err);

    for (size_t i = 0; st == TENON_OK && i < range.n; i += CONVERTED) {
        struct tenon_make_values part = {range.first + i, range.n - i, buffers->values};

        if (part.n > CONVERTED)
            part.n = CONVERTED;
        decode_part(make, info, buffers->stored + i / info->block_elements * info->block_bytes,
                    &part);
        st = tenon_make_encode(make, &part, buffers->encoded + target_bytes(make, i),
                               &result->overflow, err);
    }
    result->n_bytes = target_bytes(make, range.n);
    result->bytes = buffers->encoded;
    return tenon_make_fail(make, st, err);
}

enum tenon_status tenon_make_run(const struct tenon_make *make, struct tenon_make_range range,
                                 const struct tenon_make_buffers *buffers,
                                 struct tenon_make_result *result, struct tenon_error *err)
{
    struct tenon_make_values in = {range.first, range.n, buffers->values};
    enum tenon_status st;

    if (tenon_make_can_convert(make, range))
        return tenon_make_convert(make, range, buffers, result, err);
    st = tenon_make_fetch(make, range, buffers, buffers->values, err);
    if (st != TENON_OK)
        return tenon_make_fail(make, st, err);
    return finish(make, &in, buffers, result, err);
}

enum tenon_status tenon_make_run_tile(const struct tenon_make *make,
                                      const struct tenon_make_tile *tile,
                                      const struct tenon_make_buffers *buffers,
                                      struct tenon_make_result *result, struct tenon_error *err)
{
    const struct tenon_make_step *move = &make->moves[make->n_moves - 1];
    struct tenon_make_values in = {.n = tile->n_rows * tile->n_cols, .values = buffers->values};
    enum tenon_status st = tenon_make_fetch_tile(make, tile, buffers, buffers->values, err);

    in.first = (tile->outer * move->rows + tile->row) * move->cols + tile->col;
    if (st != TENON_OK)
        return tenon_make_fail(make, st, err);
    return finish(make, &in, buffers, result, err);
}
