/* Hugging Face folders: which files belong together, and what lies beside the weights. */
#ifndef TENON_FORMATS_HF_H
#define TENON_FORMATS_HF_H

#include "model_build.h"

/* Whether `path` names a directory (links are followed). */
bool tenon_hf_is_directory(const char *path);

/* Opens the folder `path` into `model`. Order of choice: model.safetensors.index.json,
 * model.safetensors, shards of safetensors without an index, another index or safetensors file,
 * pytorch_model.bin.index.json, pytorch_model.bin (both named in the error: they are not read),
 * one GGUF file or set. Fails with AMBIGUOUS where two are equally good, NOT_FOUND where there is
 * nothing or a shard is missing, or as the files do; `err` has the path that is to blame. */
enum tenon_status tenon_hf_open_directory(struct tenon_model *model, const char *path,
                                          struct tenon_error *err);

/* Opens a safetensors file that the user named, which `model` owns from then on: the whole set
 * when its name is that of a shard (model-00001-of-00003.safetensors) and the caller asked for no
 * format, else the file alone. A file called model* also gets the config and tokenizer of its
 * folder. */
enum tenon_status tenon_hf_open_file(struct tenon_model *model, struct tenon_source *source,
                                     struct tenon_error *err);

/* Reads config.json and the tokenizer files that stand beside weights into the model. `prefix` is
 * the folder with a slash at its end, or "". What is wrong with them becomes findings; fails only
 * when memory is gone. */
enum tenon_status tenon_hf_read_beside(struct tenon_model *model, const char *prefix,
                                       struct tenon_error *err);

#endif
