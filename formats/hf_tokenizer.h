/* What the tokenizer files of a Hugging Face folder say about the vocabulary. */
#ifndef TENON_FORMATS_HF_TOKENIZER_H
#define TENON_FORMATS_HF_TOKENIZER_H

#include "model_build.h"

/* Reads tokenizer.json, else vocab.json with merges.txt, vocab.txt or a SentencePiece or tiktoken
 * model; and added tokens from tokenizer_config.json and added_tokens.json. `prefix` as for
 * tenon_hf_read_beside. What is wrong with a file is a finding. Fails only when memory is gone. */
enum tenon_status tenon_hf_read_tokenizer(struct tenon_model *model, const char *prefix,
                                          struct tenon_error *err);

#endif
