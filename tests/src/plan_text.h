/* A plan as one line of text, to compare with. */
#ifndef TENON_TESTS_PLAN_TEXT_H
#define TENON_TESTS_PLAN_TEXT_H

#include "tenon/plan.h"

/* The tensors of a plan, "name:DTYPE=source" each, separated by blanks: sources joined by '+', then
 * '~' for their mean, 'T' for a transposition, '*' where scales are taken in, "@2" for the file
 * when it is not the first. Static storage. */
const char *plan_tensors(const struct tenon_plan *plan);

/* The metadata of file `file`, "key=value" each, numbers by their value, arrays by "[count]". */
const char *plan_metas(const struct tenon_plan *plan, size_t file);

#endif
