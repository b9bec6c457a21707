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

void tenon_table_column_words(struct tenon_table *table, const char *title)
{
    table->column[table->n_columns].wraps = true;
    tenon_table_column(table, title, false);
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

/* --- layout --- */

/* Blanks between columns, and before those that go on below. */
enum { BETWEEN = 2, FURTHER = 4 };

/* How wide the columns are, and which begin a line. */
struct layout {
    unsigned indent, widths[TENON_TABLE_COLUMNS];
    bool begins[TENON_TABLE_COLUMNS];
};

static unsigned longest_word(const char *text)
{
    size_t longest = 0;

    for (size_t n; *text != '\0'; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        longest = n > longest ? n : longest;
    }
    return (unsigned)longest;
}

static void widen(unsigned *width, unsigned to)
{
    *width = to > *width ? to : *width;
}

/* Widths that all cells have room in; in `least` those that are enough for columns of words when
 * these wrap. */
static void measure(const struct tenon_table *table, unsigned *widths, unsigned *least)
{
    const char *cell = NULL;

    for (size_t c = 0; c < table->n_columns; c++)
        widths[c] = least[c] = tenon_term_width(table->column[c].title);
    for (size_t i = 0; next_cell(table, &cell); i++) {
        size_t c = i % table->n_columns;

        widen(&widths[c], tenon_term_width(cell));
        widen(&least[c], table->column[c].wraps ? longest_word(cell) : tenon_term_width(cell));
    }
}

/* Columns whose narrowest form lines have no room for begin new ones. */
static void break_lines(const struct tenon_table *table, struct layout *layout,
                        const unsigned *least, unsigned width)
{
    unsigned used = layout->indent;

    for (size_t c = 0; c < table->n_columns; c++) {
        if (c > 0 && used + least[c] > width) {
            layout->begins[c] = true;
            used = layout->indent + FURTHER;
        }
        used += least[c] + BETWEEN;
    }
}

/* The column after the last of the line that begins with `first`. */
static size_t line_end(const struct tenon_table *table, const struct layout *layout, size_t first)
{
    size_t end = first + 1;

    while (end < table->n_columns && !layout->begins[end])
        end++;
    return end;
}

static unsigned line_indent(const struct layout *layout, size_t first)
{
    return layout->indent + (first > 0 ? FURTHER : 0);
}

/* Takes what the line is too long by from the widest of its columns of words. */
static void narrow(const struct tenon_table *table, struct layout *layout, const unsigned *least,
                   size_t first, unsigned width)
{
    size_t end = line_end(table, layout, first), widest;
    unsigned *widths = layout->widths, used = line_indent(layout, first);

    for (size_t c = first; c < end; c++)
        used += widths[c] + (c > first ? BETWEEN : 0);
    for (; used > width; used--) {
        widest = end;
        for (size_t c = first; c < end; c++)
            if (table->column[c].wraps && widths[c] > least[c] &&
                (widest == end || widths[c] > widths[widest]))
                widest = c;
        if (widest == end)
            return;
        widths[widest]--;
    }
}

static void lay_out(const struct tenon_table *table, const struct tenon_term *term, unsigned indent,
                    struct layout *layout)
{
    unsigned least[TENON_TABLE_COLUMNS];

    *layout = (struct layout){.indent = indent};
    measure(table, layout->widths, least);
    if (!term->limited)
        return;
    break_lines(table, layout, least, term->width);
    for (size_t c = 0; c < table->n_columns; c = line_end(table, layout, c))
        narrow(table, layout, least, c, term->width);
}

/* --- printing --- */

/* How much of `text` goes into `width` columns: whole words, at least one. */
static size_t take_words(const char *text, unsigned width)
{
    size_t taken = strcspn(text, " ");

    while (text[taken] == ' ') {
        size_t next = taken + 1 + strcspn(text + taken + 1, " ");

        if (next > width)
            break;
        taken = next;
    }
    return taken;
}

/* The first line of one cell, padded; nothing behind the last one of a line. `*owed` blanks are
 * still to be written before it. `*text` becomes what is left for the next line. */
static void print_cell(struct tenon_out *out, const char **text, unsigned width, bool right,
                       bool wraps, unsigned *owed)
{
    unsigned whole = tenon_term_width(*text);
    bool cut = wraps && whole > width;
    size_t n = cut ? take_words(*text, width) : strlen(*text);
    unsigned shown = cut ? (unsigned)n : whole;
    unsigned pad = width > shown ? width - shown : 0;

    if (n > 0) {
        tenon_out_printf(out, "%*s%.*s", (int)(*owed + (right ? pad : 0)), "", (int)n, *text);
        *owed = right ? 0 : pad;
    } else {
        *owed += pad;
    }
    *owed += BETWEEN;
    *text += n;
    *text += **text == ' ';
}

/* Columns `first` to before `end`, as many lines as their words need, without the last line's end.
 */
static void print_line(const struct tenon_table *table, const struct layout *layout, size_t first,
                       size_t end, const char **cells, struct tenon_out *out)
{
    bool more = true;

    for (size_t line = 0; more; line++) {
        unsigned owed = line_indent(layout, first);

        if (line > 0)
            tenon_out_text(out, "\n");
        more = false;
        for (size_t c = first; c < end; c++) {
            print_cell(out, &cells[c], layout->widths[c], table->column[c].right,
                       table->column[c].wraps, &owed);
            more = more || cells[c][0] != '\0';
        }
    }
}

static bool any_text(const char **cells, size_t first, size_t end)
{
    for (size_t c = first; c < end; c++)
        if (cells[c][0] != '\0')
            return true;
    return false;
}

static void print_row(const struct tenon_table *table, const struct layout *layout,
                      const char **cells, struct tenon_out *out)
{
    for (size_t first = 0, end; first < table->n_columns; first = end) {
        end = line_end(table, layout, first);
        if (first > 0 && !any_text(cells, first, end))
            continue;
        if (first > 0)
            tenon_out_text(out, "\n");
        print_line(table, layout, first, end, cells, out);
    }
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
    const char *cells[TENON_TABLE_COLUMNS];
    const char *cell = NULL;
    struct layout layout;

    if (lost_cells(table, out))
        return;
    lay_out(table, term, indent, &layout);
    if (has_titles(table)) {
        for (size_t c = 0; c < table->n_columns; c++)
            cells[c] = table->column[c].title;
        tenon_out_text(out, tenon_term_style(term, TENON_STYLE_BOLD));
        print_row(table, &layout, cells, out);
        tenon_out_text(out, tenon_term_style(term, TENON_STYLE_PLAIN));
        tenon_out_text(out, "\n");
    }
    for (size_t i = 0; next_cell(table, &cell); i++) {
        size_t c = i % table->n_columns;

        cells[c] = cell;
        if (c + 1 < table->n_columns)
            continue;
        print_row(table, &layout, cells, out);
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
