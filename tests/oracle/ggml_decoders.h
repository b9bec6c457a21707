/* The decoders that libggml-base.so exports, found by name at run time: no header, no link. */
#ifndef TENON_TEST_GGML_DECODERS_H
#define TENON_TEST_GGML_DECODERS_H

#include "tenon/dtype.h"

typedef void (*ggml_decode_fn)(const void *blocks, float *out, int64_t n_values);

struct ggml_decoder {
    enum tenon_dtype dtype;
    ggml_decode_fn decode;
};

/* The library of the environment variable TENON_ORACLE_GGML; NULL, with the reason on standard
 * output, where it is unset or cannot be loaded. */
void *ggml_library_open(void);

/* Row i of the types that ggml decodes, i = 0, 1, 2 ...; false after the last. `decode` is NULL
 * when the library lacks the symbol. */
bool ggml_decoder_at(void *library, size_t i, struct ggml_decoder *out);

#endif
