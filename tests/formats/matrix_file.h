/* Headers of files that hold one matrix, as long as they are laid out by hand. */
#ifndef TENON_TESTS_MATRIX_FILE_H
#define TENON_TESTS_MATRIX_FILE_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tenon/tenon.h"

struct matrix_header {
    unsigned char bytes[512];
    size_t n;
};

static inline void matrix_put(struct matrix_header *h, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        h->bytes[h->n++] = (unsigned char)(value >> (8 * i));
}

static inline void matrix_put_text(struct matrix_header *h, const char *text)
{
    matrix_put(h, strlen(text), 8);
    memcpy(h->bytes + h->n, text, strlen(text));
    h->n += strlen(text);
}

/* GGUF version 3: one key, one tensor. */
static inline void matrix_gguf(struct matrix_header *h, const struct tenon_dtype_info *info,
                               uint64_t rows, uint64_t cols)
{
    memcpy(h->bytes, "GGUF", 4);
    h->n = 4;
    matrix_put(h, 3, 4);
    matrix_put(h, 1, 8);
    matrix_put(h, 1, 8);
    matrix_put_text(h, "general.architecture");
    matrix_put(h, TENON_META_STRING, 4);
    matrix_put_text(h, "llama");
    matrix_put_text(h, "token_embd.weight");
    matrix_put(h, 2, 4);
    matrix_put(h, cols, 8);
    matrix_put(h, rows, 8);
    matrix_put(h, (uint32_t)info->gguf_id, 4);
    matrix_put(h, 0, 8);
    while (h->n % 32 != 0)
        matrix_put(h, 0, 1);
}

/* A safetensors header as the text says. */
static inline void matrix_safetensors(struct matrix_header *h, const char *text)
{
    h->n = 0;
    matrix_put_text(h, text);
}

static inline uint64_t matrix_row_bytes(const struct tenon_dtype_info *info, uint64_t cols)
{
    return cols / info->block_elements * info->block_bytes;
}

/* In the first of both forms that has the type. */
static inline void matrix_make(struct matrix_header *h, const struct tenon_dtype_info *info,
                               uint64_t rows, uint64_t cols)
{
    char text[256];

    if (info->gguf_id >= 0) {
        matrix_gguf(h, info, rows, cols);
        return;
    }
    snprintf(text, sizeof(text),
             "{\"model.embed_tokens.weight\":{\"dtype\":\"%s\",\"shape\":[%" PRIu64 ",%" PRIu64
             "],\"data_offsets\":[0,%" PRIu64 "]}}",
             info->safetensors_id, rows, cols, rows * matrix_row_bytes(info, cols));
    matrix_safetensors(h, text);
}

#endif
