/* Many ids through one large matrix, against copying as many bytes in memory; and beside it the
 * product with one-hot vectors that a lookup stands for. Prints ratios, judges nothing. Runs in a
 * folder where it may write 1.3 GB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "parallel.h"
#include "tenon/tenon.h"

#define ROWS      UINT64_C(150000)
#define COLS      UINT64_C(4096)
#define N_IDS     ((size_t)1000000)
#define BATCH     ((size_t)32) /* ids looked up at a time: half a MiB of values */
#define RUNS      3
#define PATH      "bench_embed.safetensors"
#define MOST_JOBS 2

/* One way to move rows, over all ids. */
struct work {
    const struct tenon_embed *embed;
    const uint64_t *ids;
    float *out[MOST_JOBS];
    const unsigned char *memory; /* copied from, where rows are; NULL: looked up */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Small pseudo-random numbers; the constants are Knuth's MMIX generator. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void write_matrix(void)
{
    static unsigned char row[COLS * 2];
    FILE *file = fopen(PATH, "wb");
    char header[256];
    uint64_t n, seed = 1;

    if (file == NULL) {
        perror(PATH);
        exit(1);
    }
    n = (uint64_t)snprintf(
        header, sizeof(header),
        "{\"model.embed_tokens.weight\":{\"dtype\":\"BF16\",\"shape\":[%llu,%llu],"
        "\"data_offsets\":[0,%llu]}}",
        (unsigned long long)ROWS, (unsigned long long)COLS, (unsigned long long)(ROWS * COLS * 2));
    for (size_t i = 0; i < 8; i++)
        fputc((int)(n >> (8 * i) & 0xff), file);
    fwrite(header, 1, n, file);
    for (size_t i = 0; i < sizeof(row); i++)
        row[i] = (unsigned char)(next_random(&seed) & 0x3f);
    for (uint64_t r = 0; r < ROWS; r++)
        fwrite(row, 1, sizeof(row), file);
    if (fclose(file) != 0) {
        perror(PATH);
        exit(1);
    }
}

static enum tenon_status move_rows(void *user, size_t i, unsigned worker, struct tenon_error *err)
{
    const struct work *w = user;
    size_t first = i * BATCH, n = N_IDS - first < BATCH ? N_IDS - first : BATCH;
    /* A lookup reads 2 bytes of an element and writes 4: as many are moved by copying 3. */
    size_t bytes = (size_t)COLS * 3;

    if (w->memory == NULL)
        return tenon_embed_rows(w->embed, w->ids + first, n, w->out[worker], err);
    for (size_t k = 0; k < n; k++)
        memcpy((unsigned char *)w->out[worker] + k * bytes,
               w->memory + w->ids[first + k] * COLS * 2, bytes);
    return TENON_OK;
}

/* The shortest of RUNS times. */
static double time_rows(struct work *w, unsigned threads)
{
    double best = 1e9;

    for (int run = 0; run < RUNS; run++) {
        struct tenon_error err = {0};
        double begin = now();

        if (tenon_parallel(threads, (N_IDS + BATCH - 1) / BATCH, move_rows, w, &err) != TENON_OK) {
            fprintf(stderr, "%s\n", err.message);
            exit(1);
        }
        best = now() - begin < best ? now() - begin : best;
    }
    return best;
}

/* One id by multiplying the whole matrix with the vector that is 1 at that id. */
static double time_one_hot(const struct tenon_embed *embed, uint64_t id, float *row)
{
    struct tenon_error err = {0};
    double begin = now();
    float *product = calloc(COLS, sizeof(*product));

    if (product == NULL)
        exit(1);
    for (uint64_t r = 0; r < ROWS; r++) {
        float x = r == id ? 1.0f : 0.0f;

        if (tenon_embed_rows(embed, &r, 1, row, &err) != TENON_OK)
            exit(1);
        for (uint64_t c = 0; c < COLS; c++)
            product[c] += x * row[c];
    }
    if (tenon_embed_rows(embed, &id, 1, row, &err) != TENON_OK ||
        memcmp(row, product, COLS * sizeof(*row)) != 0) {
        fprintf(stderr, "the product differs from the row\n");
        exit(1);
    }
    free(product);
    return now() - begin;
}

static void compare(struct work *w, const unsigned char *memory, unsigned threads)
{
    double lookup, copy;

    w->memory = NULL;
    lookup = time_rows(w, threads);
    w->memory = memory;
    copy = time_rows(w, threads);
    printf("%zu ids of %llu x %llu BF16, %u thread%s: %.2f s, %.2f GB/s moved; a copy of as many "
           "bytes %.2f s; ratio %.2f\n",
           N_IDS, (unsigned long long)ROWS, (unsigned long long)COLS, threads,
           threads == 1 ? "" : "s", lookup, (double)N_IDS * (double)COLS * 6 / lookup / 1e9, copy,
           copy / lookup);
}

int main(void)
{
    struct tenon_model *model = NULL;
    struct tenon_embed embed;
    struct tenon_error err = {0};
    uint64_t *ids = malloc(N_IDS * sizeof(*ids)), seed = 7;
    unsigned char *memory = malloc((ROWS + 1) * COLS * 2);
    struct work w = {.embed = &embed, .ids = ids};
    double one_hot, lookup;

    for (size_t i = 0; i < MOST_JOBS; i++)
        w.out[i] = malloc(BATCH * COLS * sizeof(float));
    if (ids == NULL || memory == NULL || w.out[0] == NULL || w.out[1] == NULL)
        return 1;
    memset(memory, 1, (ROWS + 1) * COLS * 2);
    for (size_t i = 0; i < N_IDS; i++)
        ids[i] = next_random(&seed) % ROWS;
    write_matrix();
    if (tenon_model_open(PATH, NULL, &model, &err) != TENON_OK ||
        tenon_embed_init(&embed, model, &err) != TENON_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    compare(&w, memory, 1);
    compare(&w, memory, 2);
    w.memory = NULL;
    lookup = time_rows(&w, 1) / (double)N_IDS;
    one_hot = time_one_hot(&embed, ROWS / 2, w.out[0]);
    printf("one id by lookup %.2f us, by the product with a one-hot vector %.0f us: %.0f times as "
           "long, the same bits\n",
           1e6 * lookup, 1e6 * one_hot, one_hot / lookup);
    tenon_model_free(model);
    remove(PATH);
    free(memory);
    free(ids);
    free(w.out[0]);
    free(w.out[1]);
    return 0;
}
