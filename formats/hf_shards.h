/* Opening the shards of a set of safetensors files, with or without an index. */
#ifndef TENON_FORMATS_HF_SHARDS_H
#define TENON_FORMATS_HF_SHARDS_H

#include "model_build.h"

/* Opens the shards that the index file `index_name` in the folder `prefix` names. The index
 * decides which tensors belong to the model; where shards and index disagree, findings say so.
 * All shards are looked at before the first fault is reported, so that every bad one is named. */
enum tenon_status tenon_hf_open_indexed(struct tenon_model *model, const char *prefix,
                                        const char *index_name, struct tenon_error *err);

/* Opens the set whose member `name` lies in the folder `prefix`: by its index file if that names
 * this member, else by the pattern of the names. */
enum tenon_status tenon_hf_open_shards(struct tenon_model *model, const char *prefix,
                                       const char *name, struct tenon_error *err);

/* Opens one safetensors file into the model. */
enum tenon_status tenon_hf_open_single(struct tenon_model *model, const char *prefix,
                                       const char *name, struct tenon_error *err);

#endif
