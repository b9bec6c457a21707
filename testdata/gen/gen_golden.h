/* Tiny models whose first steps another program has computed: the files of testdata/golden. */
#ifndef TENON_TESTDATA_GEN_GOLDEN_H
#define TENON_TESTDATA_GEN_GOLDEN_H

#include "gen.h"

/* A matrix of a golden file; `rows` 0 when it is not there. */
struct gen_matrix {
    size_t rows, cols;
    float *values;
};

#define GEN_MAX_STREAMS 4

struct gen_golden {
    char class_name[64];
    char *config; /* config.json */
    struct gen_model model;
    uint64_t *ids;
    size_t n_ids; /* 0: an image */
    uint64_t pixels[3];
    uint64_t *positions[GEN_MAX_STREAMS]; /* `n_ids` each */
    size_t n_streams;                     /* 0: 0, 1, 2 ... */
    uint64_t *types;                      /* `n_ids`, or NULL */
    bool decoder, lookup;
    bool bfloat; /* computed in BF16 */
    bool scaled; /* the queries, by the root of the reciprocal of a head's width */
    struct gen_matrix input, q, k;
};

/* Reads `path` and fills the tensors; ends the program when that is not a golden file. */
void gen_golden_read(struct gen_golden *g, const char *path);
void gen_golden_release(struct gen_golden *g);

/* The checkpoint as a folder: config.json and model.safetensors. */
void gen_golden_folder(struct gen_files *out, const struct gen_golden *g);

/* The same model as the reference converter writes it, by a file of golden/gguf; what does not
 * stand in front of the first inner product is left out. The arrangement of the rows of Q and K:
 * heads whose pairs were put side by side, 0 when they were left. */
struct gen_gguf {
    struct gen_model model;
    unsigned q_heads, k_heads;
    double theta;
    unsigned rotary_dim;        /* 0: the whole head */
    bool no_qk;                 /* there are none in the file */
    bool other_input, other_qk; /* the reference that reads such files computes another one */
    size_t tokens;              /* how many are the same; SIZE_MAX: all */
};
void gen_golden_gguf_read(struct gen_gguf *out, const struct gen_golden *g, const char *path);
void gen_golden_gguf_release(struct gen_gguf *gguf);

/* Gives an empty tensor the values of its name. */
void gen_golden_fill(struct gen_tensor *t);

/* The image of `pixels`, that many values. */
float *gen_golden_image(const struct gen_golden *g);

#endif
