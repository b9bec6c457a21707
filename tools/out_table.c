#include "out_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tenon_table_init(struct tenon_table *table)
{
    *table = (struct tenon_table){0};
    tenon_out_init(&table->cells, -1);
}

void tenon_table_release(struct tenon_table *table)
{
    tenon_out_release(&table->cells);
}

void tenon_table_column(struct tenon_table *table, const char *title, bool right)
{
    table->column[table->n_columns].title = title;
    table->column[table->n_columns].right = right;
    table->n_columns++;
}

void tenon_table_cell(struct tenon_table *table, const char *format, ...)
{
    char piece[512];
    va_list args;

    va_start(args, format);
    vsnprintf(piece, sizeof(piece), format, args);
    va_end(args);
    tenon_out_write(&table->cells, piece, strlen(piece) + 1);
    table->n_cells++;
}

void tenon_table_safe(struct tenon_table *table, const char *text, size_t len)
{
    tenon_out_safe(&table->cells, text, len);
    tenon_out_write(&table->cells, "", 1);
    table->n_cells++;
}

/* The cells in order; `*cell` begins as NULL. False after the last. */
static bool next_cell(const struct tenon_table *table, const char **cell)
{
    *cell = *cell == NULL ? table->cells.buf : *cell + strlen(*cell) + 1;
    return table->cells.buf != NULL && *cell < table->cells.buf + table->cells.used;
}

static bool has_titles(const struct tenon_table *table)
{
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->column[c].title[0] != '\0')
            return true;
    return false;
}

static void measure(const struct tenon_table *table, unsigned *widths)
{
    const char *cell = NULL;

    for (size_t c = 0; c < table->n_columns; c++)
        widths[c] = tenon_term_width(table->column[c].title);
    for (size_t i = 0; next_cell(table, &cell); i++) {
        unsigned width = tenon_term_width(cell);

        if (width > widths[i % table->n_columns])
            widths[i % table->n_columns] = width;
    }
}

/* One cell, padded; nothing behind the last one of a line. `*owed` blanks are still to be
 * written before it. */
static void print_cell(struct tenon_out *out, const char *text, unsigned width, bool right,
                       unsigned *owed)
{
    unsigned pad = width - tenon_term_width(text);

    if (right) {
        *owed += pad;
        pad = 0;
    }
    if (*text != '\0') {
        tenon_out_printf(out, "%*s%s", (int)*owed, "", text);
        *owed = 0;
    } else {
        pad = right ? 0 : width;
    }
    *owed += pad + 2;
}

/* Memory ran out while cells were added: what is printed would not be all. */
static bool lost_cells(const struct tenon_table *table, struct tenon_out *out)
{
    if (table->cells.error != 0 && out->error == 0)
        out->error = table->cells.error;
    return table->cells.error != 0;
}

void tenon_table_print(const struct tenon_table *table, struct tenon_out *out,
                       const struct tenon_term *term, unsigned indent)
{
    unsigned widths[TENON_TABLE_COLUMNS] = {0};
    const char *cell = NULL;
    unsigned owed = indent;

    if (lost_cells(table, out))
        return;
    measure(table, widths);
    if (has_titles(table)) {
        tenon_out_text(out, tenon_term_style(term, TENON_STYLE_BOLD));
        for (size_t c = 0; c < table->n_columns; c++)
            print_cell(out, table->column[c].title, widths[c], table->column[c].right, &owed);
        tenon_out_text(out, tenon_term_style(term, TENON_STYLE_PLAIN));
        tenon_out_text(out, "\n");
    }
    for (size_t i = 0; next_cell(table, &cell); i++) {
        size_t c = i % table->n_columns;

        if (c == 0)
            owed = indent;
        print_cell(out, cell, widths[c], table->column[c].right, &owed);
        if (c + 1 == table->n_columns)
            tenon_out_text(out, "\n");
    }
}

void tenon_table_print_tsv(const struct tenon_table *table, struct tenon_out *out)
{
    const char *cell = NULL;

    if (lost_cells(table, out))
        return;
    for (size_t c = 0; c < table->n_columns; c++)
        tenon_out_printf(out, "%s%s", table->column[c].title,
                         c + 1 == table->n_columns ? "\n" : "\t");
    for (size_t i = 0; next_cell(table, &cell); i++) {
        tenon_out_text(out, cell);
        tenon_out_text(out, i % table->n_columns + 1 == table->n_columns ? "\n" : "\t");
    }
}
