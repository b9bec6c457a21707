/* SentencePiece models (tokenizer.model): how many pieces, and of what kind. */
#ifndef TENON_FORMATS_SENTENCEPIECE_H
#define TENON_FORMATS_SENTENCEPIECE_H

#include "tenon/error.h"

struct tenon_sentencepiece {
    uint64_t pieces;
    uint64_t
        kind; /* trainer_spec.model_type: 1 unigram, 2 BPE, 3 word, 4 character; 1 unless said */
};

/* Walks the protocol buffer in `bytes` without unpacking it. Fails with CORRUPT or TRUNCATED and
 * an offset from the start of `bytes`. */
enum tenon_status tenon_sentencepiece_read(const unsigned char *bytes, size_t n,
                                           struct tenon_sentencepiece *out,
                                           struct tenon_error *err);

#endif
