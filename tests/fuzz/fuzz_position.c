/* Positions: the bytes are the config.json of a folder with fixed weights, or a GGUF file. What
 * they say is worked out, all tables are made of it, and the input and layer 0's queries and keys
 * of two tokens. The folder lies below $TMPDIR, as a memory file system makes it cheap. */
#include "fuzz_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tenon/tenon.h"

/* Nothing that is made of weights this small may be larger. */
#define MOST_VALUES ((size_t)1 << 16)
#define MOST_ROPES  64 /* of which tables are made: thousands may differ in nothing but the base */

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* --- the folder --- */

static char folder[256], config_path[300], weights_path[300];

static void remove_folder(void)
{
    unlink(config_path);
    unlink(weights_path);
    rmdir(folder);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    check(f != NULL && (n == 0 || fwrite(bytes, 1, n, f) == n) && fclose(f) == 0);
}

/* Families that name tensors alike share them; 32 wide, 4 heads, 2 for keys, 40 words. */
static const struct {
    const char *name;
    unsigned rows, cols; /* rows 0: a vector */
} weights[] = {
    {"model.embed_tokens.weight", 40, 32},
    {"model.embed_tokens_per_layer.weight", 40, 32},
    {"model.shared.weight", 40, 32},
    {"model.norm.weight", 0, 32},
    {"model.layers.0.input_layernorm.weight", 0, 32},
    {"model.layers.0.self_attn.q_proj.weight", 32, 32},
    {"model.layers.0.self_attn.k_proj.weight", 16, 32},
    {"model.layers.0.self_attn.q_norm.weight", 0, 8},
    {"model.layers.0.self_attn.k_norm.weight", 0, 8},
    {"model.layers.0.self_attn.q_a_proj.weight", 16, 32},
    {"model.layers.0.self_attn.q_a_layernorm.weight", 0, 16},
    {"model.layers.0.self_attn.q_b_proj.weight", 48, 16},
    {"model.layers.0.self_attn.kv_a_proj_with_mqa.weight", 20, 32},
    {"model.layers.0.self_attn.kv_a_layernorm.weight", 0, 16},
    {"model.layers.0.self_attn.kv_b_proj.weight", 64, 16},
    {"wte.weight", 40, 32},
    {"wpe.weight", 64, 32},
    {"h.0.ln_1.weight", 0, 32},
    {"h.0.ln_1.bias", 0, 32},
    {"h.0.attn.c_attn.weight", 32, 96},
    {"h.0.attn.c_attn.bias", 0, 96},
    {"embeddings.word_embeddings.weight", 40, 32},
    {"embeddings.position_embeddings.weight", 64, 32},
    {"embeddings.token_type_embeddings.weight", 2, 32},
    {"embeddings.LayerNorm.weight", 0, 32},
    {"embeddings.LayerNorm.bias", 0, 32},
    {"encoder.layer.0.attention.self.query.weight", 32, 32},
    {"encoder.layer.0.attention.self.key.weight", 32, 32},
    {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", 32, 4},
};

static void write_weights(void)
{
    enum { HEADER = 8192, BYTES = HEADER + 128 * 1024 };
    unsigned char *file = calloc(BYTES, 1);
    char *header = (char *)file + 8;
    size_t len = 0, at = 0;

    check(file != NULL);
    for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
        size_t n = (size_t)(weights[i].rows > 0 ? weights[i].rows : 1) * weights[i].cols;
        char shape[32];

        snprintf(shape, sizeof(shape), weights[i].rows > 0 ? "%u,%u" : "%.0u%u", weights[i].rows,
                 weights[i].cols);
        len += (size_t)snprintf(header + len, HEADER - 8 - len,
                                "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,"
                                "%zu]}",
                                i == 0 ? "{" : ",", weights[i].name, shape, at, at + 4 * n);
        at += 4 * n;
    }
    header[len++] = '}';
    check(len < HEADER - 8 && at < BYTES - HEADER);
    file[0] = (unsigned char)len;
    file[1] = (unsigned char)(len >> 8);
    for (size_t i = 0; i < at; i++)
        file[8 + len + i] = i % 4 == 3 ? 0x3e : (unsigned char)(i * 37); /* around 0.2 */
    write_file(weights_path, file, 8 + len + at);
    free(file);
}

static void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(folder, sizeof(folder), "%.200s/fuzz-position-XXXXXX", tmp != NULL ? tmp : "/tmp");
    check(mkdtemp(folder) != NULL);
    snprintf(config_path, sizeof(config_path), "%s/config.json", folder);
    snprintf(weights_path, sizeof(weights_path), "%s/model.safetensors", folder);
    atexit(remove_folder);
    write_weights();
}

/* --- what is made --- */

static void turn(const struct tenon_rope_table *table)
{
    static const double places[] = {0, 1, 131071, -7, 0.5, 1e15, 1e300};
    double *cosines = malloc((size_t)table->n_pairs * sizeof(double));
    double *sines = malloc((size_t)table->n_pairs * sizeof(double));

    check(cosines != NULL && sines != NULL && table->n_pairs > 0 &&
          table->n_pairs <= TENON_ROPE_MAX_DIM / 2);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const double at[TENON_ROPE_MAX_SECTIONS] = {places[i], places[i], places[i], places[i]};

        tenon_rope_angles(table, at, cosines, sines);
    }
    for (uint32_t i = 0; i < table->n_pairs; i++)
        check(table->axis[i] < TENON_ROPE_MAX_SECTIONS);
    free(cosines);
    free(sines);
}

static void make_tables(const struct tenon_positions *p)
{
    static const double lengths[] = {0, 100, 1e6};

    for (size_t i = 0; i < p->n_ropes && i < MOST_ROPES; i++)
        for (int precision = TENON_PRECISION_EXACT; precision <= TENON_PRECISION_GGML; precision++)
            for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
                struct tenon_rope_table table;
                struct tenon_error err = {0};

                if (tenon_rope_table_init(&table, &p->ropes[i].rope,
                                          (enum tenon_precision)precision, lengths[k],
                                          &err) == TENON_OK) {
                    turn(&table);
                    tenon_rope_table_release(&table);
                } else {
                    check(err.message[0] != '\0');
                }
            }
}

static void look_at(const struct tenon_model *model)
{
    struct tenon_positions *p = NULL;
    struct tenon_error err = {0};

    if (tenon_positions_resolve(model, NULL, &p, &err) != TENON_OK) {
        check(err.message[0] != '\0' && p == NULL);
        return;
    }
    check(p->n_layers <= TENON_MOST_LAYERS);
    for (size_t i = 0; i < p->n_layers; i++)
        (void)tenon_positions_rope(p, i);
    make_tables(p);
    tenon_positions_free(p);
}

static const uint64_t ids[] = {2, 1};
static const struct tenon_tokens tokens = {.n = 2, .ids = ids, .start = 3};

static void make_input(const struct tenon_model *model, const struct tenon_input_options *options)
{
    struct tenon_input *input = NULL;
    struct tenon_error err = {0};

    if (tenon_input_new(model, options, &input, &err) == TENON_OK) {
        size_t n = 2 * tenon_input_width(input);
        double *rows = malloc((n + 1) * sizeof(*rows));

        check(rows != NULL && n <= MOST_VALUES);
        if (tenon_input_rows(input, &tokens, rows, &err) != TENON_OK)
            check(err.message[0] != '\0');
        free(rows);
    } else {
        check(err.message[0] != '\0');
    }
    tenon_input_free(input);
}

static void make_qk(const struct tenon_model *model, const struct tenon_input_options *options)
{
    struct tenon_qk *qk = NULL;
    struct tenon_error err = {0};

    if (tenon_qk_new(model, options, &qk, &err) == TENON_OK) {
        struct tenon_qk_shape s = tenon_qk_shape(qk);
        size_t n_q = (size_t)2 * s.heads * s.head_dim, n_k = (size_t)2 * s.kv_heads * s.head_dim;
        double *q = malloc((n_q + 1) * sizeof(*q)), *k = malloc((n_k + 1) * sizeof(*k));

        check(q != NULL && k != NULL && n_q <= MOST_VALUES && n_k <= MOST_VALUES);
        if (tenon_qk_rows(qk, &tokens, q, k, NULL, &err) != TENON_OK)
            check(err.message[0] != '\0');
        free(q);
        free(k);
    } else {
        check(err.message[0] != '\0');
    }
    tenon_qk_free(qk);
}

static void make_all(const struct tenon_model *model)
{
    static const enum tenon_input_positions kinds[] = {TENON_INPUT_AUTO, TENON_INPUT_SINUSOIDAL,
                                                       TENON_INPUT_ROPE};
    struct tenon_input_options options;

    look_at(model);
    tenon_input_options_init(&options);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        options.positions = kinds[i];
        options.overrides.rotary = kinds[i] == TENON_INPUT_ROPE;
        make_input(model, &options);
    }
    tenon_input_options_init(&options);
    options.precision = TENON_PRECISION_EXACT;
    make_qk(model, &options);
    options.precision = tenon_model_precision(model);
    options.side = TENON_PART_DECODER;
    make_qk(model, &options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    enum tenon_status st;

    if (folder[0] == '\0')
        make_folder();
    if (size >= 4 && memcmp(data, "GGUF", 4) == 0) {
        st = tenon_model_open_memory(data, size, NULL, &model, &err);
    } else {
        write_file(config_path, data, size);
        st = tenon_model_open(folder, NULL, &model, &err);
    }
    if (st == TENON_OK)
        make_all(model);
    else
        check(err.message[0] != '\0');
    tenon_model_free(model);
    return 0;
}
