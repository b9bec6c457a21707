/* Golden cases: fixed sinusoids, ids of positions, timesteps, tables of two coordinates. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "position_cases.h"
#include "tenon/position_ids.h"
#include "tenon/sinusoid.h"
#include "tenon/vision.h"

static struct tenon_sinusoid sinusoid_of(struct golden_case *c, enum tenon_precision precision)
{
    double least = case_number(c, "min_timescale", 1);
    struct tenon_sinusoid s;
    struct tenon_error err = {0};

    tenon_sinusoid_init(&s);
    s.width = case_u32(c, "d", 0);
    s.precision = precision;
    s.interleaved = case_is(c, "layout", "interleaved");
    s.base = case_number(c, "base", case_number(c, "max_timescale", 10000) / least);
    s.frequency = least;
    if (case_is(c, "divisor", "half-1"))
        s.spacing = TENON_SPACING_TIMESCALE;
    else if (case_is(c, "divisor", "max(half-1,1)"))
        s.spacing = TENON_SPACING_TIMESCALE_CLAMPED;
    case_ok(c, tenon_sinusoid_check(&s, &err), &err);
    return s;
}

static void compare_sinusoids(struct golden_case *c, const char *name,
                              enum tenon_precision precision, enum case_column column)
{
    struct numbers positions = case_numbers(c, "positions");
    struct tenon_sinusoid s = sinusoid_of(c, precision);
    double *rows = case_doubles(c, positions.n * s.width);

    for (size_t i = 0; i < positions.n && c->n_failed == 0; i++)
        tenon_sinusoid_row(&s, positions.at[i] + case_number(c, "start_index", 0),
                           rows + i * s.width);
    case_compare(c, name, rows, positions.n * s.width, column);
}

/* A whole table, with a row of zeros for padding. */
static void compare_padded(struct golden_case *c, enum tenon_precision precision,
                           enum case_column column)
{
    uint32_t n = case_u32(c, "rows_requested", 0), padding = case_u32(c, "padding_idx", UINT32_MAX);
    struct tenon_sinusoid s = sinusoid_of(c, precision);
    double *rows = case_doubles(c, (size_t)n * s.width);

    for (uint32_t i = 0; i < n && c->n_failed == 0; i++)
        if (i != padding)
            tenon_sinusoid_row(&s, i, rows + (size_t)i * s.width);
    case_compare(c, "table", rows, (size_t)n * s.width, column);
}

void run_sinusoidal(struct golden_case *c)
{
    if (case_has(c, "rows_requested")) {
        compare_padded(c, TENON_PRECISION_EXACT, CASE_F64);
        compare_padded(c, TENON_PRECISION_HF, CASE_F32);
        return;
    }
    compare_sinusoids(c, "rows", TENON_PRECISION_EXACT, CASE_F64);
    compare_sinusoids(c, "rows", TENON_PRECISION_HF, CASE_F32);
    compare_sinusoids(c, "f32_hf", TENON_PRECISION_HF, CASE_F32);
}

/* --- position_ids --- */

static void compare_ids(struct golden_case *c, const int64_t *ids, size_t n)
{
    double *values = case_doubles(c, n);

    for (size_t i = 0; i < n; i++)
        values[i] = (double)ids[i];
    case_compare(c, "position_ids", values, n, CASE_F64);
    case_compare(c, "table_rows", values, n, CASE_F64);
}

static void run_padded_ids(struct golden_case *c)
{
    const struct tenon_json_node *row = tenon_json_node_first(case_value(c, "input_ids"));
    size_t total = case_numbers(c, "input_ids").n, done = 0;
    int64_t *out = case_room(c, total, sizeof(*out));

    for (; row != NULL; row = tenon_json_node_next(row)) {
        struct numbers list = case_flatten(c, row);
        uint32_t *ids = case_room(c, list.n, sizeof(*ids));

        for (size_t i = 0; i < list.n; i++)
            ids[i] = (uint32_t)list.at[i];
        tenon_position_ids_skip(ids, list.n, case_u32(c, "padding_idx", 0),
                                (int64_t)case_number(c, "past", 0), out + done);
        done += list.n;
    }
    compare_ids(c, out, done);
}

/* Positions count from 0; rows of the table are `offset` further on. */
static void run_masked_ids(struct golden_case *c)
{
    const struct tenon_json_node *row = tenon_json_node_first(case_value(c, "attention_mask"));
    struct numbers all = case_numbers(c, "attention_mask");
    int64_t *out = case_room(c, all.n, sizeof(*out));
    bool *mask = case_room(c, all.n, sizeof(*mask));
    double *places = case_doubles(c, all.n), *rows = case_doubles(c, all.n);
    int64_t offset = (int64_t)case_number(c, "offset", 2);
    size_t done = 0;

    for (size_t i = 0; i < all.n; i++)
        mask[i] = all.at[i] != 0;
    if (tenon_json_node_type(row) != TENON_JSON_ARRAY) {
        tenon_position_ids_mask(mask, all.n, offset, out);
        done = all.n;
    }
    for (; row != NULL && done < all.n; row = tenon_json_node_next(row)) {
        size_t n = case_length(row);

        tenon_position_ids_mask(mask + done, n, offset, out + done);
        done += n;
    }
    for (size_t i = 0; i < all.n; i++) {
        rows[i] = (double)out[i];
        places[i] = (double)(out[i] - offset);
    }
    case_compare(c, "positions", places, all.n, CASE_F64);
    case_compare(c, "position_ids", places, all.n, CASE_F64);
    case_compare(c, "table_rows", rows, all.n, CASE_F64);
}

/* One part of "text3, image grid_thw=[1,4,6], text2". */
static bool read_span(const char **text, uint64_t merge, struct tenon_span *span)
{
    unsigned long a, b, d;
    int used = 0;

    if (sscanf(*text, " text%lu%n", &a, &used) == 1 && used > 0) {
        *span = (struct tenon_span){.height = 1, .width = a, .frame_step = 1};
    } else if ((sscanf(*text, " image grid_thw=[%lu,%lu,%lu]%n", &a, &b, &d, &used) == 3 ||
                sscanf(*text, " video grid_thw=[%lu,%lu,%lu]%n", &a, &b, &d, &used) == 3) &&
               used > 0) {
        *span = (struct tenon_span){a, b / merge, d / merge, 1};
    } else {
        return false;
    }
    *text += used;
    if (**text == ',')
        (*text)++;
    return true;
}

static void run_spans(struct golden_case *c)
{
    struct tenon_str layout = case_text(c, "layout");
    char *copy = case_room(c, layout.len, 1);
    const char *text = copy;
    int64_t(*out)[3] = case_room(c, 4096, sizeof(*out)), next = 0;
    struct tenon_span span;
    size_t n = 0;
    double *values;

    memcpy(copy, layout.data, layout.len);
    while (*text != '\0') {
        if (!read_span(&text, case_u32(c, "spatial_merge_size", 1), &span) ||
            n + tenon_span_tokens(&span) > 4096) {
            case_fail(c, "cannot read '%s'", text);
            return;
        }
        next = tenon_position_ids_span(&span, next, out + n);
        n += tenon_span_tokens(&span);
    }
    values = case_doubles(c, 3 * n);
    for (size_t i = 0; i < 3 * n; i++)
        values[i] = (double)out[i / 3][i % 3];
    case_compare(c, "thw", values, 3 * n, CASE_F64);
    case_compare_one(c, "delta", (double)(next - (int64_t)n), CASE_F64);
}

static void run_order(struct golden_case *c)
{
    struct numbers side = case_numbers(c, "grid_hw");
    struct tenon_grid grid = {(uint32_t)side.at[0], (uint32_t)side.at[1], case_u32(c, "merge", 1)};
    size_t n = (size_t)grid.rows * grid.columns;
    double *places = case_doubles(c, 2 * n);

    for (size_t i = 0; i < n; i++) {
        uint32_t row, column;

        tenon_grid_place(&grid, i, &row, &column);
        places[2 * i] = row;
        places[2 * i + 1] = column;
    }
    case_compare(c, "hw_sequence", places, 2 * n, CASE_F64);
}

void run_position_ids(struct golden_case *c)
{
    uint32_t n = case_u32(c, "seq_len", 0);
    int64_t *ids = case_room(c, n, sizeof(*ids));

    if (case_has(c, "input_ids")) {
        run_padded_ids(c);
    } else if (case_has(c, "attention_mask")) {
        run_masked_ids(c);
    } else if (case_has(c, "layout")) {
        run_spans(c);
    } else if (case_has(c, "grid_hw")) {
        run_order(c);
    } else {
        tenon_position_ids_count((int64_t)case_number(c, "offset", 0),
                                 (int64_t)case_number(c, "past", 0), n, ids);
        compare_ids(c, ids, n);
    }
}

/* --- timestep, sincos2d --- */

void run_timestep(struct golden_case *c)
{
    struct numbers steps = case_numbers(c, "timesteps");
    struct tenon_timestep t = {
        .width = case_u32(c, "d", 0),
        .flipped = case_true(c, "flip_sin_to_cos"),
        .shift = case_number(c, "downscale_freq_shift", 0),
        .scale = case_number(c, "scale", 1),
        .max_period = case_number(c, "max_period", 10000),
    };
    double *rows = case_doubles(c, steps.n * t.width);
    struct tenon_error err = {0};

    if (!case_ok(c, tenon_timestep_check(&t, &err), &err))
        return;
    for (int column = CASE_F64; column <= CASE_F32; column++) {
        t.precision = column == CASE_F64 ? TENON_PRECISION_EXACT : TENON_PRECISION_HF;
        for (size_t i = 0; i < steps.n; i++)
            tenon_timestep_row(&t, steps.at[i], rows + i * t.width);
        case_compare(c, "rows", rows, steps.n * t.width, (enum case_column)column);
    }
}

static void run_mae(struct golden_case *c, enum tenon_precision precision, enum case_column column)
{
    struct numbers side = case_numbers(c, "grid");
    size_t height = (size_t)side.at[0], breadth = (size_t)side.at[side.n - 1];
    size_t width = case_u32(c, "d", 0), n = case_true(c, "cls") ? 1 : 0;
    double *rows = case_doubles(c, (height * breadth + 1) * width);

    for (size_t i = 0; i < height * breadth; i++, n++)
        tenon_sinusoid_mae_row((uint32_t)width, precision, (double)(i / breadth),
                               (double)(i % breadth), rows + n * width);
    case_compare(c, "rows", rows, n * width, column);
}

static void run_detr(struct golden_case *c, enum tenon_precision precision, enum case_column column)
{
    const struct tenon_json_node *mask = case_value(c, "valid_mask");
    struct numbers flat = case_numbers(c, "valid_mask");
    bool *valid = case_room(c, flat.n, sizeof(*valid));
    struct tenon_detr_grid grid = {
        .features = case_u32(c, "num_pos_feats", 0),
        .rows = (uint32_t)case_length(mask),
        .columns = (uint32_t)case_length(tenon_json_node_first(mask)),
        .normalize = case_true(c, "normalize"),
        .temperature = case_number(c, "temperature", 10000),
        .scale = case_number(c, "scale", 2 * acos(-1)),
        .eps = case_number(c, "eps", 1e-6),
        .valid = valid,
    };
    size_t width = 2 * (size_t)grid.features;
    double *rows = case_doubles(c, flat.n * width);

    for (size_t i = 0; i < flat.n; i++)
        valid[i] = flat.at[i] != 0;
    for (uint32_t i = 0; i < flat.n; i++)
        tenon_sinusoid_detr(&grid, precision, i / grid.columns, i % grid.columns, rows + i * width);
    case_compare(c, "rows_hw_major", rows, flat.n * width, column);
    case_compare(c, "rows", rows, flat.n * width, column);
}

static void run_nd(struct golden_case *c, enum tenon_precision precision, enum case_column column)
{
    struct numbers shape = case_numbers(c, "shape");
    struct tenon_sinusoid s;
    double places[8] = {0}, *rows;
    size_t n = 1;

    tenon_sinusoid_init(&s);
    s.width = case_u32(c, "channels", 0);
    s.precision = precision;
    for (size_t i = 0; i < shape.n; i++)
        n *= (size_t)shape.at[i];
    rows = case_doubles(c, n * s.width);
    for (size_t i = 0; i < n && shape.n <= 8; i++) {
        size_t rest = i;

        for (size_t axis = shape.n; axis-- > 0; rest /= (size_t)shape.at[axis])
            places[axis] = (double)(rest % (size_t)shape.at[axis]);
        tenon_sinusoid_grid_row(&s, (uint32_t)shape.n, places, rows + i * s.width);
    }
    case_compare(c, "rows", rows, n * s.width, column);
}

void run_sincos2d(struct golden_case *c)
{
    for (int column = CASE_F64; column <= CASE_F32; column++) {
        enum tenon_precision precision =
            column == CASE_F64 ? TENON_PRECISION_EXACT : TENON_PRECISION_HF;

        if (case_is(c, "scheme", "mae") && case_has(c, "grid"))
            run_mae(c, precision, (enum case_column)column);
        else if (case_is(c, "scheme", "detr"))
            run_detr(c, precision, (enum case_column)column);
        else if (case_is(c, "scheme", "t2t_nd") && case_needs(c, "shape"))
            run_nd(c, precision, (enum case_column)column);
        else
            case_fail(c, "an unknown scheme");
    }
}

/* --- sinusoidal_property --- */

static void compare_norms(struct golden_case *c)
{
    struct tenon_sinusoid s;
    double *row;

    tenon_sinusoid_init(&s);
    s.width = case_u32(c, "d", 0);
    row = case_doubles(c, s.width);
    for (double position = 0; position < 5000; position += 499) {
        double sum = 0;

        tenon_sinusoid_row(&s, position, row);
        for (uint32_t i = 0; i < s.width; i++)
            sum += row[i] * row[i];
        case_compare_one(c, "norm", sqrt(sum), CASE_F64);
    }
}

static void compare_spacings(struct golden_case *c)
{
    struct numbers positions = case_numbers(c, "positions");
    double *worst = case_doubles(c, positions.n), *a, *b;
    struct tenon_sinusoid s;

    tenon_sinusoid_init(&s);
    s.interleaved = false;
    s.width = case_u32(c, "d", 0);
    a = case_doubles(c, s.width);
    b = case_doubles(c, s.width);
    for (size_t i = 0; i < positions.n; i++) {
        s.spacing = TENON_SPACING_PAPER;
        tenon_sinusoid_row(&s, positions.at[i], a);
        s.spacing = TENON_SPACING_TIMESCALE;
        tenon_sinusoid_row(&s, positions.at[i], b);
        for (uint32_t j = 0; j < s.width; j++)
            worst[i] = fmax(worst[i], fabs(a[j] - b[j]));
    }
    case_compare(c, "max_abs_diff", worst, positions.n, CASE_F64);
}

void run_sinusoidal_property(struct golden_case *c)
{
    if (case_expects(c, "norm"))
        compare_norms(c);
    if (case_expects(c, "max_abs_diff"))
        compare_spacings(c);
}
