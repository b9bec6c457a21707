/* Do config, tokenizer and weights of a Hugging Face model agree? */
#ifndef TENON_FORMATS_HF_CHECK_H
#define TENON_FORMATS_HF_CHECK_H

#include "model_build.h"

/* Records as findings what does not fit together in a finished model: rows of the embedding,
 * config and token ids; widths; heads; layers. Fails only when memory is gone. */
enum tenon_status tenon_hf_check(struct tenon_model *model, struct tenon_error *err);

/* The same for what tensor names give away: the packed tensors of quantizers, adapters, empty
 * placeholders of a checkpoint that was never gathered. */
enum tenon_status tenon_hf_check_names(struct tenon_model *model, struct tenon_error *err);

#endif
