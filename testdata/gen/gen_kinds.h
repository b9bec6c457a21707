/* Tiny models of several families, in both naming conventions. */
#ifndef TENON_TESTDATA_GEN_KINDS_H
#define TENON_TESTDATA_GEN_KINDS_H

#include "gen.h"

/* Sizes that all families share; small, but rows of 32 make whole Q8_0 blocks. */
#define GEN_VOCAB     40
#define GEN_WIDTH     32
#define GEN_FF        64
#define GEN_HEADS     4
#define GEN_KV_HEADS  2
#define GEN_LAYERS    2
#define GEN_POSITIONS 24

/* How the output matrix comes out of the input matrix. */
enum gen_head {
    GEN_HEAD_ABSENT,     /* not stored */
    GEN_HEAD_SHARED,     /* the same bytes (GGUF only) */
    GEN_HEAD_IDENTICAL,  /* a copy */
    GEN_HEAD_EQUAL,      /* the same values as F32 */
    GEN_HEAD_TRANSPOSED, /* the same values, columns first */
    GEN_HEAD_QUANTIZED,  /* Q8_0 of it */
    GEN_HEAD_SCALED,     /* half of it */
    GEN_HEAD_PARTIAL,    /* equal but for the last four rows */
    GEN_HEAD_DIFFERENT,  /* other values */
    GEN_HEAD_MORE_ROWS,  /* other shape: eight rows more */
    GEN_HEAD_NARROW      /* other shape: half as wide */
};

struct gen_kind;
extern const struct gen_kind gen_llama, gen_gemma, gen_qwen2, gen_gpt2, gen_bert, gen_t5;

/* Adds the tensors of `kind`; matrices get `dtype`, and in GGUF vectors are F32. */
void gen_kind_tensors(struct gen_model *m, const struct gen_kind *kind, bool gguf,
                      const char *dtype, enum gen_head head);

/* Adds the metadata that the reference converter writes, with a tokenizer. */
void gen_kind_kv(struct gen_model *m, const struct gen_kind *kind);

/* config.json with `flags` (a text such as "\"tie_word_embeddings\":true") as its last members. */
void gen_kind_config(struct gen_bytes *out, const struct gen_kind *kind, const char *flags);

/* tokenizer.json with GEN_VOCAB entries. */
void gen_tokenizer_json(struct gen_bytes *out);

#endif
