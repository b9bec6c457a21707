/* What goes along when a Hugging Face folder is written again. */
#ifndef TENON_HF_WRITE_COPY_H
#define TENON_HF_WRITE_COPY_H

#include "plan_build.h"

/* From which folder to which: paths with a slash at their ends; `from` may be "". */
struct tenon_hf_way {
    const char *from, *to;
};

/* Adds the regular files of the folder way.from as copies below way.to: those of `model` and of
 * other weights are left behind, and what the plan writes already. Folders in it go along, but for
 * hidden ones; notes say what does not. Fails with IO, LIMIT or NO_MEMORY. */
enum tenon_status tenon_hf_write_copies(struct tenon_plan *plan, const struct tenon_model *model,
                                        struct tenon_hf_way way, struct tenon_error *err);

#endif
