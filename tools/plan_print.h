/* A plan for people and for programs. */
#ifndef TENON_TOOLS_PLAN_PRINT_H
#define TENON_TOOLS_PLAN_PRINT_H

#include "tenon/plan.h"
#include "tool.h"

/* Every output file, tensor, loss and note of a plan that is laid out. Without --verbose tensors
 * that are copied as they are become one line a file where there are many. */
void tenon_plan_print(struct tenon_tool *tool, const struct tenon_plan *plan);

/* The same as the document tenon.plan/1. */
void tenon_plan_print_json(struct tenon_tool *tool, const struct tenon_plan *plan);

/* The members "losses" and "notes". */
void tenon_plan_losses_json(struct tenon_json *json, const struct tenon_plan *plan);

#endif
