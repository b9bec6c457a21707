/* A small map of the rows in which two matrices differ. */
#ifndef TENON_TOOLS_ROW_MAP_H
#define TENON_TOOLS_ROW_MAP_H

#include "tool.h"

/* Decodes both matrices row by row (they must have two dimensions and equal width) and prints a
 * strip of cells, each for a range of rows, the darker the more of its rows differ; rows that
 * only one of them has are marked. Matrices that cannot be compared like that print nothing. */
TENON_MUST_USE enum tenon_status tenon_row_map_write(struct tenon_tool *tool,
                                                     const struct tenon_model *model,
                                                     const struct tenon_tensor *a,
                                                     const struct tenon_tensor *b,
                                                     struct tenon_error *err);

/* The character for `differing` of `rows` rows. */
const char *tenon_row_map_cell(const struct tenon_term *term, uint64_t differing, uint64_t rows);

#endif
