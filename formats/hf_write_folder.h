/* Writing Hugging Face folders. */
#ifndef TENON_HF_WRITE_FOLDER_H
#define TENON_HF_WRITE_FOLDER_H

#include "plan_build.h"

/* Adds to a plan whose files with tensors go to plan->folder what belongs there besides: configs
 * with the plan's flags, the index (an edited one where the files are edited copies of a set that
 * has one, else a new one for several files), and whatever else the folder of the input has. Notes
 * which shards the index that is replaced named, and the new one does not. Fails with EXISTS where
 * an index lies in the folder that the plan would not replace, or as the files do. */
enum tenon_status tenon_hf_write_folder(struct tenon_plan *plan, struct tenon_error *err);

#endif
