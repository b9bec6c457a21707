/* config.json: hyper-parameters under all the names that model families give them. */
#ifndef TENON_FORMATS_HF_CONFIG_H
#define TENON_FORMATS_HF_CONFIG_H

#include "json_tree.h"
#include "model_build.h"

/* Fills the model's hyper-parameters from the root of a config. Configs of models with several
 * parts nest that of the language model (text_config and the like): what it says goes before the
 * top level. A value of the wrong type is a finding and counts as not said. Fails only when memory
 * is gone. */
enum tenon_status tenon_hf_config_apply(struct tenon_model *model,
                                        const struct tenon_json_node *root,
                                        struct tenon_error *err);

#endif
