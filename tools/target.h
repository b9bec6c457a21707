/* Where arrays and pictures are written to: what is wrong with a name is found before the work. */
#ifndef TENON_TOOLS_TARGET_H
#define TENON_TOOLS_TARGET_H

#include "tool.h"

/* Files that a command is about to write; NULL: not asked for. */
struct tenon_targets {
    const char *file;      /* arrays */
    const char *plot;      /* a picture */
    const char *inputs[3]; /* besides the model's files */
    bool force;
};

/* Fails with MISUSE where `plot` is not called .svg, or a target is a file of `model` (may be
 * NULL) or one of `inputs`; with EXISTS where one exists and `force` is not given. */
TENON_MUST_USE enum tenon_status tenon_targets_check(const struct tenon_targets *targets,
                                                     const struct tenon_model *model,
                                                     struct tenon_error *err);

#endif
