/* Hyper-parameters and tokenizer facts from GGUF metadata, wherever that is kept. */
#ifndef TENON_FORMATS_GGUF_HPARAMS_H
#define TENON_FORMATS_GGUF_HPARAMS_H

#include "model_build.h"

/* Fills them in from the model's metadata; what is of the wrong kind is blamed on the file. */
enum tenon_status tenon_gguf_read_hparams(struct tenon_model *model, struct tenon_error *err);

/* The same from GGUF metadata that another format keeps as texts (meta_text.h), where nothing else
 * tells the architecture: what is of the wrong kind there stays unknown. NO_MEMORY only. */
enum tenon_status tenon_gguf_read_texts(struct tenon_model *model, struct tenon_error *err);

#endif
