#include "plot.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "svg.h"

static const double pi = 3.14159265358979323846;

/* --- the heat map --- */

/* Cells shown at most, their size in pixels at most, and the margins around them. */
enum { MOST_ROWS = 64, MOST_COLS = 128, HEAT_WIDTH = 768, HEAT_HEIGHT = 512 };
enum { LEFT = 110, TOP = 50, RIGHT = 40, BOTTOM = 86 };

/* Percent of the cells that the colours tell apart. */
enum { SHARE_BELOW = 98 };

enum tenon_status tenon_heat_init(struct tenon_heat *heat, uint64_t rows, uint64_t cols,
                                  struct tenon_error *err)
{
    *heat = (struct tenon_heat){.rows = rows, .cols = cols, .least = DBL_MAX, .most = -DBL_MAX};
    heat->shown_rows = rows < MOST_ROWS ? (size_t)rows : MOST_ROWS;
    heat->shown_cols = cols < MOST_COLS ? (size_t)cols : MOST_COLS;
    heat->sums = calloc(heat->shown_rows * heat->shown_cols + 1, sizeof(*heat->sums));
    heat->counts = calloc(heat->shown_rows * heat->shown_cols + 1, sizeof(*heat->counts));
    if (heat->sums == NULL || heat->counts == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    return TENON_OK;
}

void tenon_heat_release(struct tenon_heat *heat)
{
    free(heat->sums);
    free(heat->counts);
    heat->sums = NULL;
    heat->counts = NULL;
}

/* Which of `shown` equal shares of `n` item `i` falls into. */
static size_t share_of(uint64_t i, uint64_t n, size_t shown)
{
    return (size_t)((double)i / (double)n * (double)shown);
}

void tenon_heat_add(struct tenon_heat *heat, uint64_t i, const float *values)
{
    size_t row = share_of(i, heat->rows, heat->shown_rows) * heat->shown_cols;

    for (uint64_t c = 0; c < heat->cols; c++) {
        size_t cell = row + share_of(c, heat->cols, heat->shown_cols);
        double value = (double)values[c];

        heat->sums[cell] += value;
        heat->counts[cell]++;
        if (isfinite(value)) {
            heat->least = fmin(heat->least, value);
            heat->most = fmax(heat->most, value);
        }
    }
}

/* Neighbours of one colour are one rectangle. */
static void draw_cells(const struct tenon_heat *heat, double reach, double width, double height,
                       struct tenon_out *out)
{
    for (size_t r = 0; r < heat->shown_rows; r++) {
        size_t begin = 0;
        char color[8] = "", next[8];

        for (size_t c = 0; c <= heat->shown_cols; c++) {
            size_t cell = r * heat->shown_cols + c;

            if (c < heat->shown_cols)
                tenon_svg_diverging(next, heat->sums[cell] / (double)heat->counts[cell] / reach);
            if (c > begin && (c == heat->shown_cols || strcmp(color, next) != 0)) {
                tenon_svg_rect(out, LEFT + (double)begin * width, TOP + (double)r * height,
                               (double)(c - begin) * width, height, color);
                begin = c;
            }
            memcpy(color, next, sizeof(color));
        }
    }
}

static int compare_doubles(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* What the strongest colour stands for: nearly all cells stay below it, so that a few large ones do
 * not leave the rest white. 1 where there is nothing. */
static double choose_reach(const struct tenon_heat *heat)
{
    size_t n_cells = heat->shown_rows * heat->shown_cols, n = 0;
    double *sizes = malloc((n_cells + 1) * sizeof(*sizes)), reach;

    for (size_t i = 0; sizes != NULL && i < n_cells; i++) {
        double mean = fabs(heat->sums[i] / (double)heat->counts[i]);

        if (isfinite(mean) && mean > 0)
            sizes[n++] = mean;
    }
    if (sizes == NULL || n == 0) {
        free(sizes);
        return 1;
    }
    qsort(sizes, n, sizeof(*sizes), compare_doubles);
    reach = sizes[(n - 1) * SHARE_BELOW / 100];
    free(sizes);
    return reach;
}

/* Colours from -reach to reach, with their numbers. */
static void draw_scale(double reach, double top, struct tenon_out *out)
{
    enum { STEPS = 41, STEP_WIDTH = 6 };
    char text[32], color[8];

    for (int i = 0; i < STEPS; i++)
        tenon_svg_rect(out, LEFT + i * STEP_WIDTH, top, STEP_WIDTH, 12,
                       tenon_svg_diverging(color, 2.0 * i / (STEPS - 1) - 1));
    snprintf(text, sizeof(text), "%.4g", -reach);
    tenon_svg_text(out, LEFT, top + 26, "middle", text);
    tenon_svg_text(out, LEFT + STEPS * STEP_WIDTH / 2.0, top + 26, "middle", "0");
    snprintf(text, sizeof(text), "%.4g", reach);
    tenon_svg_text(out, LEFT + STEPS * STEP_WIDTH, top + 26, "middle", text);
}

static void draw_labels(const struct tenon_heat *heat, double height,
                        const char *(*label)(void *user, uint64_t row, char buf[32]), void *user,
                        struct tenon_out *out)
{
    /* Not closer than a line of text. */
    size_t every = height >= 13 ? 1 : (size_t)ceil(13 / height);

    for (size_t r = 0; label != NULL && r < heat->shown_rows; r += every) {
        uint64_t row = (uint64_t)ceil((double)r * (double)heat->rows / (double)heat->shown_rows);
        char buf[32];

        tenon_svg_text(out, LEFT - 8, TOP + ((double)r + 0.5) * height + 4, "end",
                       label(user, row, buf));
    }
}

void tenon_heat_draw(const struct tenon_heat *heat, const char *title,
                     const char *(*label)(void *user, uint64_t row, char buf[32]), void *user,
                     struct tenon_out *out)
{
    double width = fmin(HEAT_WIDTH / (double)heat->shown_cols, 24);
    double height = fmin(HEAT_HEIGHT / (double)heat->shown_rows, 24);
    double right = fmax(LEFT + width * (double)heat->shown_cols + RIGHT, 760);
    double below = TOP + height * (double)heat->shown_rows;
    double reach = choose_reach(heat);
    char text[200];

    tenon_svg_begin(out, right, below + BOTTOM, title);
    tenon_svg_text(out, LEFT, 20, "start", title);
    snprintf(text, sizeof(text), "%llu x %llu values%s", (unsigned long long)heat->rows,
             (unsigned long long)heat->cols,
             heat->shown_rows < heat->rows || heat->shown_cols < heat->cols
                 ? "; a cell is the mean of several"
                 : "");
    tenon_svg_text(out, LEFT, 38, "start", text);
    draw_cells(heat, reach, width, height, out);
    draw_labels(heat, height, label, user, out);
    draw_scale(reach, below + 22, out);
    snprintf(text, sizeof(text),
             "values from %.6g to %.6g; the ends of the scale also stand for what is beyond, grey "
             "for NaN",
             heat->least, heat->most);
    if (heat->least <= heat->most)
        tenon_svg_text(out, LEFT, below + 72, "start", text);
    tenon_svg_end(out);
}

/* --- wavelengths and decay --- */

enum { ROPE_WIDTH = 960, ROPE_HEIGHT = 420, CURVE_POINTS = 400 };

/* What a panel's curves take, on the heap. */
struct curve {
    double *x, *y;
    size_t n;
};

static bool make_curve(struct curve *curve, size_t n)
{
    curve->n = n;
    curve->x = malloc((n + 1) * sizeof(*curve->x));
    curve->y = malloc((n + 1) * sizeof(*curve->y));
    return curve->x != NULL && curve->y != NULL;
}

static void free_curve(struct curve *curve)
{
    free(curve->x);
    free(curve->y);
}

/* Pairs that do not turn have no wavelength. */
static void fill_wavelengths(struct curve *curve, const struct tenon_rope_table *table)
{
    for (size_t i = 0; i < curve->n; i++) {
        curve->x[i] = (double)i;
        curve->y[i] = table->inv_freq[i] > 0 ? 2 * pi / table->inv_freq[i] : NAN;
    }
}

/* The mean of cos(distance * f) over the pairs, at distances that grow by a constant factor. */
static void fill_decay(struct curve *curve, const struct tenon_rope_table *table, double furthest)
{
    for (size_t k = 0; k < curve->n; k++) {
        double distance = pow(furthest, (double)k / (double)(curve->n - 1)), sum = 0;

        for (uint32_t i = 0; i < table->n_pairs; i++)
            sum += cos(floor(distance) * table->inv_freq[i]);
        curve->x[k] = floor(distance);
        curve->y[k] = sum / (double)table->n_pairs;
    }
}

static double longest_wavelength(const struct tenon_rope_plot *plot)
{
    double most = fmax(100, isnan(plot->context) ? 0 : plot->context);

    for (uint32_t i = 0; i < plot->table->n_pairs; i++)
        if (plot->table->inv_freq[i] > 0)
            most = fmax(most, 2 * pi / plot->table->inv_freq[i]);
    return pow(10, ceil(log10(most)));
}

static void draw_wavelengths(const struct tenon_rope_plot *plot, struct curve *curve,
                             struct tenon_out *out)
{
    double pairs = plot->table->n_pairs > 1 ? plot->table->n_pairs - 1 : 1;
    struct tenon_svg_panel panel = {
        .x = {0, pairs, 80, 450, false, "pair"},
        .y = {1, longest_wavelength(plot), 350, 70, true, "wavelength in positions"},
        .title = "Wavelength of each pair",
    };

    tenon_svg_frame(out, &panel);
    if (plot->plain != NULL) {
        fill_wavelengths(curve, plot->plain);
        tenon_svg_line(out, &panel, curve->x, curve->y, curve->n, TENON_SVG_ORANGE, "4 3");
        tenon_svg_text(out, 90, 90, "start", "dashed: without scaling");
    }
    fill_wavelengths(curve, plot->table);
    tenon_svg_line(out, &panel, curve->x, curve->y, curve->n, TENON_SVG_BLUE, NULL);
    if (!isnan(plot->original) && plot->original != plot->context)
        tenon_svg_level(out, &panel, plot->original, "original context");
    if (!isnan(plot->context))
        tenon_svg_level(out, &panel, plot->context, "context");
}

static void draw_decay(const struct tenon_rope_plot *plot, struct curve *curve,
                       struct tenon_out *out)
{
    double furthest = isnan(plot->context) || plot->context < 10 ? 100000 : plot->context;
    struct tenon_svg_panel panel = {
        .x = {1, furthest, 560, 930, true, "distance in positions"},
        .y = {-0.4, 1, 350, 70, false, "mean cosine over the pairs"},
        .title = "Inner product of equal vectors against their distance",
    };

    tenon_svg_frame(out, &panel);
    if (plot->plain != NULL) {
        fill_decay(curve, plot->plain, furthest);
        tenon_svg_line(out, &panel, curve->x, curve->y, curve->n, TENON_SVG_ORANGE, "4 3");
    }
    fill_decay(curve, plot->table, furthest);
    tenon_svg_line(out, &panel, curve->x, curve->y, curve->n, TENON_SVG_BLUE, NULL);
    tenon_svg_level(out, &panel, 0, "");
}

enum tenon_status tenon_rope_draw(const struct tenon_rope_plot *plot, struct tenon_out *out,
                                  struct tenon_error *err)
{
    struct curve pairs = {0}, points = {0};
    enum tenon_status st = TENON_OK;

    if (make_curve(&pairs, plot->table->n_pairs) && make_curve(&points, CURVE_POINTS)) {
        tenon_svg_begin(out, ROPE_WIDTH, ROPE_HEIGHT, plot->title);
        tenon_svg_text(out, 20, 24, "start", plot->title);
        draw_wavelengths(plot, &pairs, out);
        draw_decay(plot, &points, out);
        tenon_svg_end(out);
    } else {
        st = tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    }
    free_curve(&pairs);
    free_curve(&points);
    return st;
}
