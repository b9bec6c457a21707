/* What every command that writes does with its plan: shows it, or carries it out. */
#ifndef TENON_TOOLS_PLAN_OUT_H
#define TENON_TOOLS_PLAN_OUT_H

#include "tenon/plan.h"
#include "tool.h"

/* The output that the options name, for the builder of the plan: of -o, or with --in-place alone
 * `input` itself. Fails with MISUSE when there is neither. Borrowed from the arguments. */
TENON_MUST_USE enum tenon_status tenon_write_target(const struct tenon_tool *tool,
                                                    const char *input, const char **out_target,
                                                    struct tenon_error *err);

/* Lays `plan` out; with --dry-run prints it, as text or JSON (tenon.plan/1), else lists what would
 * be lost, carries it out with progress, and says what was written (JSON: tenon.written/1). A plan
 * that is empty is carried out, too, unless its target is the input itself. What is lost without
 * leave is an error in both cases. The plan stays the caller's, who also shows the error. */
TENON_MUST_USE enum tenon_status tenon_write_plan(struct tenon_tool *tool, struct tenon_plan *plan,
                                                  struct tenon_error *err);

#endif
