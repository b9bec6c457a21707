/* Reads the files of testdata/golden/gguf: how a converter rearranges a golden model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_golden.h"
#include "gen_lines.h"

/* One tensor being made: rows of `cols` values from another one. */
struct making {
    const struct gen_lines *lines;
    const struct gen_tensor *from;
    float *source, *out; /* plain float32 */
    size_t rows, cols;   /* of the source, seen as a matrix; its first dimension is `rows` */
    size_t n;            /* values wanted */
    unsigned heads;      /* of a permutation */
};

/* The numbers and the tensor that a recipe names. */
static unsigned take_number(const struct making *m, char **rest)
{
    return (unsigned)strtoul(gen_word_need(m->lines, rest), NULL, 10);
}

static void take_source(struct making *m, struct gen_model *model, const char *name)
{
    const struct gen_tensor *t = gen_tensor_find(model, name);
    uint64_t n = gen_tensor_elements(t);
    struct gen_tensor plain = {.dtype = gen_dtype_find("F32"), .n_dims = t->n_dims};

    /* All values are multiples of 1/128, which every plain type holds: made anew as float32. */
    memcpy(plain.name, t->name, sizeof(plain.name));
    memcpy(plain.dims, t->dims, sizeof(plain.dims));
    gen_golden_fill(&plain);
    m->from = t;
    m->source = gen_lines_must(malloc((size_t)n * sizeof(float)), m->lines->path);
    memcpy(m->source, plain.data.data, (size_t)n * sizeof(float));
    gen_bytes_release(&plain.data);
    m->rows = t->n_dims > 0 ? (size_t)t->dims[0] : 1;
    m->cols = (size_t)n / m->rows;
}

static void put_row(struct making *m, size_t to, size_t from)
{
    if (from >= m->rows || (to + 1) * m->cols > m->n)
        gen_lines_die(m->lines->path, "a row outside");
    memcpy(m->out + to * m->cols, m->source + from * m->cols, m->cols * sizeof(float));
}

static void copy(struct making *m, struct gen_model *model, char *rest)
{
    take_source(m, model, gen_word_need(m->lines, &rest));
    for (size_t row = 0; row < m->rows; row++)
        put_row(m, row, row);
}

/* Both halves of each head, side by side. */
static void permute(struct making *m, struct gen_model *model, char *rest)
{
    m->heads = take_number(m, &rest);
    take_source(m, model, gen_word_need(m->lines, &rest));
    for (size_t row = 0; row < m->rows; row++) {
        size_t width = m->rows / m->heads, at = row % width;

        put_row(m, row, row - at + at % 2 * (width / 2) + at / 2);
    }
}

/* [q k v] of each head to all q, all k, all v. */
static void regroup(struct making *m, struct gen_model *model, char *rest)
{
    size_t heads = take_number(m, &rest), width;

    take_source(m, model, gen_word_need(m->lines, &rest));
    width = m->rows / heads / 3;
    for (size_t row = 0; row < m->rows; row++) {
        size_t part = row / (heads * width), head = row / width % heads;

        put_row(m, row, (head * 3 + part) * width + row % width);
    }
}

static void plus_one(struct making *m, struct gen_model *model, char *rest)
{
    copy(m, model, rest);
    for (size_t i = 0; i < m->n; i++)
        m->out[i] += 1;
}

static void transpose(struct making *m, struct gen_model *model, char *rest)
{
    take_source(m, model, gen_word_need(m->lines, &rest));
    for (size_t i = 0; i < m->n; i++)
        m->out[i] = m->source[i % m->rows * m->cols + i / m->rows];
}

/* The first rows of each head, each head transposed. */
static void transpose_heads(struct making *m, struct gen_model *model, char *rest)
{
    size_t heads = take_number(m, &rest), width = take_number(m, &rest), step;

    take_source(m, model, gen_word_need(m->lines, &rest));
    step = m->rows / heads;
    for (size_t i = 0; i < m->n; i++) {
        size_t head = i / (width * m->cols), col = i / width % m->cols, row = i % width;

        m->out[i] = m->source[(head * step + row) * m->cols + col];
    }
}

static void gather(struct making *m, struct gen_model *model, char *rest)
{
    size_t to = 0;

    take_source(m, model, gen_word_need(m->lines, &rest));
    for (char *run; (run = gen_word_take(&rest)) != NULL;) {
        char *end;
        size_t first = strtoul(run, &end, 10), last = strtoul(end + 1, NULL, 10);

        for (size_t row = first; row <= last; row++)
            put_row(m, to++, row);
    }
}

static void values(struct making *m, struct gen_model *model, char *rest)
{
    (void)model;
    for (size_t i = 0; i < m->n; i++)
        m->out[i] = strtof(gen_word_need(m->lines, &rest), NULL);
}

static const struct {
    const char *name;
    void (*make)(struct making *m, struct gen_model *model, char *rest);
} recipes[] = {
    {"copy", copy},       {"gather", gather},
    {"permute", permute}, {"plus_one", plus_one},
    {"regroup", regroup}, {"transpose", transpose},
    {"values", values},   {"transpose_heads", transpose_heads},
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);

    return n >= k && strcmp(text + n - k, end) == 0;
}

static void take_tensor(const struct gen_lines *r, char *rest, struct gen_gguf *out,
                        struct gen_model *source)
{
    const char *name = gen_word_need(r, &rest), *shape = gen_word_need(r, &rest);
    const char *recipe = gen_word_need(r, &rest);
    uint64_t dims[GEN_MAX_DIMS];
    unsigned n_dims = gen_shape_read(shape, dims);
    struct gen_tensor *t = gen_tensor_add(&out->model, name, "F32", n_dims, dims);
    struct making m = {.lines = r, .n = (size_t)gen_tensor_elements(t)};
    bool made = false;

    m.out = gen_lines_must(calloc(m.n, sizeof(*m.out)), r->path);
    for (size_t i = 0; i < sizeof(recipes) / sizeof(*recipes); i++) {
        if (strcmp(recipes[i].name, recipe) == 0) {
            recipes[i].make(&m, source, rest);
            made = true;
        }
    }
    if (!made)
        gen_lines_die(r->path, "an unknown recipe");
    gen_tensor_floats(t, m.out, m.n);
    if (ends_with(name, "attn_q.weight"))
        out->q_heads = m.heads;
    if (ends_with(name, "attn_k.weight"))
        out->k_heads = m.heads;
    free(m.source);
    free(m.out);
}

static const struct {
    const char *name;
    enum gen_kv type;
} kinds[] = {{"UINT32", GEN_U32}, {"INT32", GEN_I32},     {"FLOAT32", GEN_F32},
             {"BOOL", GEN_BOOL},  {"STRING", GEN_STRING}, {"ARRAY", GEN_ARRAY}};

static enum gen_kv kind_of(const struct gen_lines *r, const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].type;
    }
    gen_lines_die(r->path, "an unknown type of value");
}

static void put_scalar(struct gen_model *m, enum gen_kv kind, char *word)
{
    if (kind == GEN_F32)
        gen_f32(&m->kv, strtof(word, NULL));
    else if (kind == GEN_BOOL)
        gen_u8(&m->kv, strcmp(word, "true") == 0);
    else if (kind == GEN_STRING) {
        word[strlen(word) - 1] = '\0'; /* the quotes; no text in these files has others */
        gen_kv_text(m, word + 1);
    } else
        gen_u32(&m->kv, (uint64_t)strtoll(word, NULL, 10));
}

static void take_pair(const struct gen_lines *r, char *rest, struct gen_gguf *out)
{
    const char *key = gen_word_need(r, &rest);
    enum gen_kv kind = kind_of(r, gen_word_need(r, &rest));
    uint64_t n = 1;

    if (kind == GEN_ARRAY) {
        kind = kind_of(r, gen_word_need(r, &rest));
        for (const char *p = rest; *p != '\0'; p++)
            n += *p == ' ';
        gen_kv_array(&out->model, key, kind, n);
    } else
        gen_kv_begin(&out->model, key, kind);
    if (ends_with(key, ".rope.freq_base"))
        out->theta = strtod(rest, NULL);
    if (ends_with(key, ".rope.dimension_count"))
        out->rotary_dim = (unsigned)strtoul(rest, NULL, 10);
    if (kind == GEN_STRING && n == 1)
        put_scalar(&out->model, kind, rest);
    else {
        while (n-- > 0)
            put_scalar(&out->model, kind, gen_word_need(r, &rest));
    }
}

void gen_golden_gguf_read(struct gen_gguf *out, const struct gen_golden *g, const char *path)
{
    struct gen_model source = g->model; /* looked up in, not changed */
    struct gen_lines r;
    bool ended = false;

    *out = (struct gen_gguf){.theta = 10000, .tokens = SIZE_MAX};
    gen_lines_open(&r, path);
    for (char *rest; !ended && (rest = gen_line_take(&r)) != NULL;) {
        const char *word = gen_word_need(&r, &rest);

        ended = strcmp(word, "end") == 0;
        if (strcmp(word, "kv") == 0)
            take_pair(&r, rest, out);
        else if (strcmp(word, "tokens") == 0)
            out->tokens = strtoul(rest, NULL, 10);
        else if (strcmp(word, "refused") == 0)
            out->no_qk = true;
        else if (strcmp(word, "differs") == 0) {
            out->other_input |= strcmp(rest, "input") == 0;
            out->other_qk |= strcmp(rest, "qk") == 0;
        } else if (strcmp(word, "tensor") == 0)
            take_tensor(&r, rest, out, &source);
        else if (!ended)
            gen_lines_die(path, "a line of no known kind");
    }
    if (!ended)
        gen_lines_die(path, "the end is missing");
    gen_lines_release(&r);
}

void gen_golden_gguf_release(struct gen_gguf *gguf)
{
    gen_model_release(&gguf->model);
}
