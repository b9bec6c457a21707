#include "row_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/logical.h"

/* Rows are decoded in pieces of at most this many values. */
enum { PIECE = 8192, LINE_CELLS = 64, MOST_CELLS = 4 * LINE_CELLS };

struct map {
    uint64_t rows, cols, longer; /* rows in both; rows of the longer matrix */
    uint64_t per_cell;
    size_t n_cells;
    uint32_t differing[MOST_CELLS];
};

const char *tenon_row_map_cell(const struct tenon_term *term, uint64_t differing, uint64_t rows)
{
    static const char *const ascii[] = {".", "-", "+", "*", "#"};
    static const char *const blocks[] = {"\u00b7", "\u2591", "\u2592", "\u2593", "\u2588"};
    size_t shade = differing == 0      ? 0
                   : differing == rows ? 4
                                       : 1 + (size_t)((double)differing / (double)rows * 3);

    if (shade > 3 && differing < rows)
        shade = 3;
    return term->utf8 ? blocks[shade] : ascii[shade];
}

/* `n` values as double, which holds those of every type. */
static enum tenon_status read_values(const struct tenon_logical *l, uint64_t first, size_t n,
                                     double *out, struct tenon_error *err)
{
    static float narrow[PIECE];
    enum tenon_status st;

    if (l->scales == NULL)
        return tenon_tensor_decode_f64(l->model, l->codes, first, n, out, err);
    st = tenon_logical_decode(l, first, n, narrow, err);
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        out[i] = (double)narrow[i];
    return st;
}

/* As the library counts rows: two NaN are no difference. */
static enum tenon_status row_differs(const struct map *map, const struct tenon_logical matrices[2],
                                     uint64_t row, bool *out, struct tenon_error *err)
{
    static double values[2][PIECE];

    *out = false;
    for (uint64_t c = 0; c < map->cols && !*out; c += PIECE) {
        size_t n = map->cols - c < PIECE ? (size_t)(map->cols - c) : PIECE;

        for (int m = 0; m < 2; m++) {
            enum tenon_status st =
                read_values(&matrices[m], row * map->cols + c, n, values[m], err);

            if (st != TENON_OK)
                return st;
        }
        for (size_t i = 0; i < n && !*out; i++)
            *out = values[0][i] != values[1][i] && !(isnan(values[0][i]) && isnan(values[1][i]));
    }
    return TENON_OK;
}

static void print_map(struct tenon_tool *tool, const struct map *map)
{
    struct tenon_out *out = &tool->out;

    tenon_out_printf(out, "\nRows that differ (a cell is %llu row%s, %s none, %s all):\n",
                     (unsigned long long)map->per_cell, map->per_cell == 1 ? "" : "s",
                     tenon_row_map_cell(&tool->term, 0, 1), tenon_row_map_cell(&tool->term, 1, 1));
    for (size_t i = 0; i < map->n_cells; i++) {
        uint64_t first = i * map->per_cell;
        uint64_t n = map->rows - first < map->per_cell ? map->rows - first : map->per_cell;

        if (i % LINE_CELLS == 0)
            tenon_out_printf(out, "%s%10llu  ", i > 0 ? "\n" : "", (unsigned long long)first);
        tenon_out_text(out, tenon_row_map_cell(&tool->term, map->differing[i], n));
    }
    tenon_out_text(out, "\n");
    if (map->longer > map->rows)
        tenon_out_printf(out, "%10llu  rows from here to %llu are in one of them only\n",
                         (unsigned long long)map->rows, (unsigned long long)map->longer - 1);
}

enum tenon_status tenon_row_map_write(struct tenon_tool *tool, const struct tenon_model *model,
                                      const struct tenon_tensor *a, const struct tenon_tensor *b,
                                      struct tenon_error *err)
{
    struct tenon_logical matrices[2];
    const uint64_t *in = matrices[0].dims, *of = matrices[1].dims;
    struct map map = {0};

    if (a == NULL || b == NULL || !tenon_logical_init(&matrices[0], model, a) ||
        !tenon_logical_init(&matrices[1], model, b) || matrices[0].n_dims != 2 ||
        matrices[1].n_dims != 2 || in[1] != of[1])
        return TENON_OK;
    map.cols = in[1];
    map.rows = in[0] < of[0] ? in[0] : of[0];
    map.longer = in[0] < of[0] ? of[0] : in[0];
    map.per_cell = (map.rows + MOST_CELLS - 1) / MOST_CELLS;
    if (map.per_cell == 0 || map.cols == 0 || map.per_cell > UINT32_MAX)
        return TENON_OK;
    map.n_cells = (size_t)((map.rows + map.per_cell - 1) / map.per_cell);
    for (uint64_t row = 0; row < map.rows; row++) {
        bool differs;
        enum tenon_status st = row_differs(&map, matrices, row, &differs, err);

        if (st != TENON_OK)
            return st;
        map.differing[row / map.per_cell] += differs;
    }
    print_map(tool, &map);
    return TENON_OK;
}
