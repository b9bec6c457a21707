/* Text tables: columns as wide as their widest cell, or tab-separated values. */
#ifndef TENON_TOOLS_OUT_TABLE_H
#define TENON_TOOLS_OUT_TABLE_H

#include "out.h"
#include "term.h"

#define TENON_TABLE_COLUMNS 20

/* Zero-initialise. Cells are added row by row, always as many as there are columns. */
struct tenon_table {
    struct {
        const char *title; /* static */
        bool right;        /* numbers: aligned to the right */
        bool wraps;        /* words: goes on below where lines are too long */
    } column[TENON_TABLE_COLUMNS];
    size_t n_columns;
    struct tenon_out cells; /* in memory, each ended by NUL */
    size_t n_cells;
};

void tenon_table_init(struct tenon_table *table);
void tenon_table_release(struct tenon_table *table);

void tenon_table_column(struct tenon_table *table, const char *title, bool right);

/* A column of words of ours, which is made narrower where lines would be longer than they should.
 */
void tenon_table_column_words(struct tenon_table *table, const char *title);

/* The next cell: text of ours, or text from a file, which is escaped. */
TENON_PRINTF(2, 3) void tenon_table_cell(struct tenon_table *table, const char *format, ...);
void tenon_table_safe(struct tenon_table *table, const char *text, size_t len);

/* Writes it all, two blanks between columns, no blanks at the ends of lines; the titles (if any
 * column has one) in bold. The first column is preceded by `indent` blanks. Where the width is
 * limited, columns of words wrap, and columns that do not fit even so go on in lines of their own
 * below, further in. */
void tenon_table_print(const struct tenon_table *table, struct tenon_out *out,
                       const struct tenon_term *term, unsigned indent);

/* Titles and rows separated by tabs. */
void tenon_table_print_tsv(const struct tenon_table *table, struct tenon_out *out);

#endif
