/* What a second thread brings: 256 MB decoded and encoded in pieces, by one thread and by two.
 * Prints ratios, judges nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu.h"
#include "parallel.h"
#include "quant.h"

#define WHOLE_BYTES  ((size_t)256 << 20)
#define PIECE_VALUES ((size_t)64 * 1024)
#define RUNS         3

/* One direction of one codec over `bytes`, which hold values or blocks. */
struct work {
    tenon_decode_fn decode; /* NULL: encode */
    tenon_encode_fn encode;
    size_t piece_in, blocks; /* bytes and blocks of a piece */
    const unsigned char *bytes;
    unsigned char *out[2]; /* of each worker */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum tenon_status do_piece(void *user, size_t i, unsigned worker, struct tenon_error *err)
{
    const struct work *w = user;
    const unsigned char *in = w->bytes + i * w->piece_in;

    (void)err;
    if (w->decode != NULL)
        w->decode((float *)(void *)w->out[worker], in, w->blocks);
    else if (w->encode(w->out[worker], (const float *)(const void *)in, w->blocks) != SIZE_MAX)
        return TENON_ERR_CORRUPT;
    return TENON_OK;
}

/* The shortest of some runs. */
static double time_threads(struct work *w, unsigned threads)
{
    double best = 1e9;

    for (int run = 0; run < RUNS; run++) {
        struct tenon_error err = {0};
        double begin = now(), took;

        if (tenon_parallel(threads, WHOLE_BYTES / w->piece_in, do_piece, w, &err) != TENON_OK)
            exit(1);
        took = now() - begin;
        best = took < best ? took : best;
    }
    return best;
}

static void compare(struct work *w, const char *what, const char *name)
{
    double one = time_threads(w, 1), two = time_threads(w, 2);

    printf("%s %-5s 256 MB: 1 thread %.3f s, 2 threads %.3f s, speed-up %.2f\n", what, name, one,
           two, one / two);
}

int main(void)
{
    static const enum tenon_dtype dtypes[] = {TENON_DTYPE_F16, TENON_DTYPE_Q8_0, TENON_DTYPE_Q4_K,
                                              TENON_DTYPE_Q6_K};
    unsigned char *bytes = malloc(WHOLE_BYTES);
    struct work w = {.bytes = bytes};
    struct tenon_quant_ops ops;

    tenon_quant_init(&ops, tenon_cpu_detect());
    w.out[0] = malloc(PIECE_VALUES * sizeof(float));
    w.out[1] = malloc(PIECE_VALUES * sizeof(float));
    if (bytes == NULL || w.out[0] == NULL || w.out[1] == NULL)
        return 1;
    for (size_t i = 0; i < WHOLE_BYTES / sizeof(float); i++) {
        float value = (float)(int)(i * 2654435761u % 20001 - 10000) / 4096;

        memcpy(bytes + i * sizeof(value), &value, sizeof(value));
    }
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        const struct tenon_dtype_info *info = tenon_dtype_info(dtypes[i]);

        w.blocks = PIECE_VALUES / info->block_elements;
        w.piece_in = w.blocks * info->block_bytes;
        w.decode = ops.decode[dtypes[i]];
        compare(&w, "decode", info->name);
        w.piece_in = PIECE_VALUES * sizeof(float);
        w.decode = NULL;
        w.encode = ops.encode[dtypes[i]];
        compare(&w, "encode", info->name);
    }
    free(w.out[0]);
    free(w.out[1]);
    free(bytes);
    return 0;
}
