/* Writing the index of a set of safetensors files. */
#ifndef TENON_HF_WRITE_INDEX_H
#define TENON_HF_WRITE_INDEX_H

#include "plan_build.h"

/* Adds the index of the plan's files with tensors, as transformers writes it, as the file `path`,
 * which appears last: keys sorted, two blanks an indent, everything outside of ASCII escaped; the
 * numbers are those of what is written. Names must be valid UTF-8. LIMIT or NO_MEMORY. */
enum tenon_status tenon_hf_write_index(struct tenon_plan *plan, const char *path,
                                       struct tenon_error *err);

#endif
