/* Many ids through one large matrix, against the speed of copying memory; and beside it the product
 * with one-hot vectors that a lookup stands for. Prints ratios, judges nothing. Runs in a folder
 * where it may write 1.3 GB, with 3.7 GB of memory besides what the system has to cache the file.
 *
 * Copying memory means two things, in the same run, with as many threads:
 *
 *   rows     the same vectors, in the same order, BATCH at a time into the same buffer, by one
 *            memcpy each from a float32 table of the whole matrix: what the lookup would cost if
 *            everything were in memory and decoded already (numpy's take, torch's embedding)
 *   memcpy   one call (a thread) over half a GiB: no order of ids to follow
 *
 * All three are told as bytes of float32 vectors that come out in a second. The ways take turns on
 * slices of the ids, and of each slice the best of RUNS times counts, so that what else the machine
 * does for a moment changes little (of memcpy, the best of as many calls as there are slices). The
 * file is written in large pieces, as by whatever copies or downloads: how large the pages of the
 * cache are follows from that, and decides what finding them costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "parallel.h"
#include "tenon/tenon.h"

#define ROWS      UINT64_C(150000)
#define COLS      UINT64_C(4096)
#define ROW_BYTES ((size_t)COLS * sizeof(float)) /* of a vector */
#define N_IDS     ((size_t)1000000)
#define BATCH     ((size_t)32) /* ids looked up at a time: half a MiB of values */
#define SLICES    ((size_t)25) /* of the ids; whole batches */
#define AREA      ((size_t)512 << 20)
#define PIECE     ((size_t)1 << 20) /* written at a time */
#define RUNS      5
#define PATH      "bench_embed.safetensors"
#define MOST_JOBS 2

struct bench {
    struct tenon_model *model;
    struct tenon_embed embed;
    uint64_t *ids;
    float *table;
    float *out[MOST_JOBS];
    unsigned threads;
    size_t slice; /* which is done just now */
};

/* One way of making vectors: the pieces of work of a slice, and the best time of each slice. */
struct way {
    tenon_piece_fn piece;
    size_t n;
    double best[SLICES];
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Pseudo-random numbers; the constants are Knuth's MMIX generator. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void *allocate(size_t bytes)
{
    void *p = malloc(bytes);

    if (p == NULL)
        fail("out of memory");
    memset(p, 1, bytes);
    return p;
}

/* --- the file --- */

/* Values that are finite, not negative, and below 2. */
static void write_rows(FILE *file)
{
    uint64_t row[COLS * 2 / sizeof(uint64_t)], seed = 1;

    for (uint64_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
            row[i] = next_random(&seed) * UINT64_C(0x9e3779b97f4a7c15) & 0x3fff3fff3fff3fff;
        fwrite(row, 1, sizeof(row), file);
    }
}

static void write_matrix(void)
{
    FILE *file = fopen(PATH, "wb");
    char *piece = allocate(PIECE), header[256];
    int n;

    if (file == NULL || setvbuf(file, piece, _IOFBF, PIECE) != 0)
        fail(PATH);
    n = snprintf(header, sizeof(header),
                 "{\"model.embed_tokens.weight\":{\"dtype\":\"BF16\",\"shape\":[%llu,%llu],"
                 "\"data_offsets\":[0,%llu]}}",
                 (unsigned long long)ROWS, (unsigned long long)COLS,
                 (unsigned long long)(ROWS * COLS * 2));
    for (size_t i = 0; i < 8; i++)
        fputc(i == 0 ? n : 0, file);
    fwrite(header, 1, (size_t)n, file);
    write_rows(file);
    if (ferror(file) || fclose(file) != 0)
        fail(PATH);
    free(piece);
}

/* --- the ways --- */

/* The ids of batch `i` of the slice. */
static const uint64_t *batch_of(const struct bench *b, size_t i)
{
    return b->ids + b->slice * (N_IDS / SLICES) + i * BATCH;
}

static enum tenon_status look_up(void *user, size_t i, unsigned worker, struct tenon_error *err)
{
    struct bench *b = user;

    return tenon_embed_rows(&b->embed, batch_of(b, i), BATCH, b->out[worker], err);
}

static enum tenon_status copy_rows(void *user, size_t i, unsigned worker, struct tenon_error *err)
{
    struct bench *b = user;
    const uint64_t *ids = batch_of(b, i);

    (void)err;
    for (size_t k = 0; k < BATCH; k++)
        memcpy(b->out[worker] + k * COLS, b->table + ids[k] * COLS, ROW_BYTES);
    return TENON_OK;
}

/* A part of the table onto another, shared out among the threads. */
static enum tenon_status copy_area(void *user, size_t i, unsigned worker, struct tenon_error *err)
{
    struct bench *b = user;
    size_t share = AREA / b->threads;
    unsigned char *bytes = (unsigned char *)b->table;

    (void)worker;
    (void)err;
    memcpy(bytes + AREA + i * share, bytes + i * share, share);
    return TENON_OK;
}

static void time_slice(struct bench *b, struct way *way)
{
    struct tenon_error err = {0};
    double begin = now(), took;

    if (tenon_parallel(b->threads, way->n, way->piece, b, &err) != TENON_OK)
        fail(err.message);
    took = now() - begin;
    if (way->best[b->slice] == 0 || took < way->best[b->slice])
        way->best[b->slice] = took;
}

static double sum_up(const struct way *way)
{
    double sum = 0;

    for (size_t i = 0; i < SLICES; i++)
        sum += way->best[i];
    return sum;
}

static double shortest(const struct way *way)
{
    double best = way->best[0];

    for (size_t i = 1; i < SLICES; i++)
        best = way->best[i] < best ? way->best[i] : best;
    return best;
}

static void fill_table(struct bench *b)
{
    struct tenon_error err = {0};

    if (tenon_logical_decode(&b->embed.logical, 0, (size_t)(ROWS * COLS), b->table, &err) !=
        TENON_OK)
        fail(err.message);
}

/* That both ways make the same vectors. */
static void check_equal(struct bench *b)
{
    struct tenon_error err = {0};

    for (size_t i = 0; i < 100; i++) {
        if (look_up(b, i, 0, &err) != TENON_OK)
            fail(err.message);
        copy_rows(b, i, 1, &err);
        if (memcmp(b->out[0], b->out[1], BATCH * ROW_BYTES) != 0)
            fail("the vectors differ from those of the table");
    }
}

/* Seconds that an id takes to be looked up. */
static double compare(struct bench *b, unsigned threads)
{
    const size_t batches = N_IDS / SLICES / BATCH;
    const double bytes = (double)N_IDS * (double)ROW_BYTES;
    struct way lookup = {look_up, batches, {0}}, rows = {copy_rows, batches, {0}};
    struct way area = {copy_area, threads, {0}};
    double out, copied, plain;

    b->threads = threads;
    b->slice = 0;
    fill_table(b);
    check_equal(b);
    for (b->slice = 0; b->slice < SLICES; b->slice++)
        for (int run = 0; run < RUNS; run++) {
            time_slice(b, &lookup);
            time_slice(b, &rows);
        }
    for (b->slice = 0; b->slice < SLICES; b->slice++)
        time_slice(b, &area);
    out = bytes / sum_up(&lookup) / 1e9;
    copied = bytes / sum_up(&rows) / 1e9;
    plain = (double)AREA / shortest(&area) / 1e9;
    printf("%zu ids of %llu x %llu BF16, %u thread%s: %.2f s, %.2f GB/s; rows from memory "
           "%.2f GB/s, ratio %.2f; memcpy %.2f GB/s, ratio %.2f\n",
           N_IDS, (unsigned long long)ROWS, (unsigned long long)COLS, threads,
           threads == 1 ? "" : "s", sum_up(&lookup), out, copied, out / copied, plain, out / plain);
    return sum_up(&lookup) / (double)N_IDS;
}

/* --- one-hot --- */

/* One id by multiplying the whole matrix with the vector that is 1 at that id. */
static double time_one_hot(const struct tenon_embed *embed, uint64_t id, float *row)
{
    struct tenon_error err = {0};
    double begin = now();
    float *product = calloc(COLS, sizeof(*product));

    if (product == NULL)
        fail("out of memory");
    for (uint64_t r = 0; r < ROWS; r++) {
        float x = r == id ? 1.0f : 0.0f;

        if (tenon_embed_rows(embed, &r, 1, row, &err) != TENON_OK)
            fail(err.message);
        for (uint64_t c = 0; c < COLS; c++)
            product[c] += x * row[c];
    }
    if (tenon_embed_rows(embed, &id, 1, row, &err) != TENON_OK ||
        memcmp(row, product, ROW_BYTES) != 0)
        fail("the product differs from the row");
    free(product);
    return now() - begin;
}

int main(void)
{
    struct bench b = {.ids = malloc(N_IDS * sizeof(*b.ids)), .table = allocate(ROWS * ROW_BYTES)};
    struct tenon_error err = {0};
    uint64_t seed = 7;
    double one_hot, lookup;

    if (b.ids == NULL)
        fail("out of memory");
    for (size_t i = 0; i < MOST_JOBS; i++)
        b.out[i] = allocate(BATCH * ROW_BYTES);
    for (size_t i = 0; i < N_IDS; i++)
        b.ids[i] = next_random(&seed) % ROWS;
    write_matrix();
    if (tenon_model_open(PATH, NULL, &b.model, &err) != TENON_OK ||
        tenon_embed_init(&b.embed, b.model, &err) != TENON_OK)
        fail(err.message);
    lookup = compare(&b, 1);
    compare(&b, 2);
    one_hot = time_one_hot(&b.embed, ROWS / 2, b.out[0]);
    printf("one id by lookup %.2f us, by the product with a one-hot vector %.0f us: %.0f times as "
           "long, the same bits\n",
           1e6 * lookup, 1e6 * one_hot, one_hot / lookup);
    tenon_model_free(b.model);
    remove(PATH);
    for (size_t i = 0; i < MOST_JOBS; i++)
        free(b.out[i]);
    free(b.table);
    free(b.ids);
    return 0;
}
