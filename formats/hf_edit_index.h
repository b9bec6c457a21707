/* Editing the index of a set of shards. */
#ifndef TENON_HF_EDIT_INDEX_H
#define TENON_HF_EDIT_INDEX_H

#include "json_out.h"
#include "plan_build.h"

/* Makes of the index `text`, which belongs to `model`, that of what `plan` writes, and adds it to
 * the plan as the file `path`: pairs of the weight map come, go and get another file, total_size
 * and total_parameters change by as much as the tensors do; everything else stays as it is, and
 * undoing the change of the model gives back the text. New pairs go to their places where the keys
 * are sorted, else behind all others. What is kept until the plan is freed: the old text, whose
 * data the plan owns from then on, also after a failure, and 20 bytes a pair. Fails as the JSON
 * reader does, or with NO_MEMORY. */
enum tenon_status tenon_hf_edit_index(struct tenon_plan *plan, const struct tenon_model *model,
                                      struct tenon_json_out text, const char *path,
                                      struct tenon_error *err);

#endif
