/* Decoding speed for every element type, one thread:
 *
 *   type, million values a second, ggml's decoder (the faster of libggml-base's and, for F16 and
 *   BF16, of the libggml-cpu beside it), ratio; then for the plain C decoder
 *
 * and for the types that are meant to run at the speed of memory, bytes read and written compared
 * with a memcpy that reads and writes as many in buffers of that size: once in the second-level
 * cache, where the pieces that the library decodes lie, once from memory. Without
 * TENON_ORACLE_GGML the columns of ggml stay empty. The best of many short runs counts; the
 * candidates take turns, so that they share what disturbs them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blocks.h"
#include "cpu.h"
#include "ggml_decoders.h"
#include "quant.h"

enum { SMALL = 1 << 16, LARGE = 1 << 24, N_RUNS = 40, MAX_BYTES_PER_VALUE = 8 };

struct bench {
    struct tenon_quant_ops fast, plain;
    struct blocks_rng rng;
    void *base, *cpu; /* ggml's libraries or NULL */
    uint8_t *in;
    float *out;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One of the things to be timed; exactly one pointer is set. */
struct candidate {
    tenon_decode_fn ours;
    ggml_decode_fn theirs;
    size_t copy_bytes;
    double best; /* seconds; 0 before the first run */
};

static void run_once(struct bench *b, struct candidate *c, size_t n_values, size_t n_blocks)
{
    double begin = now(), took;

    if (c->ours != NULL)
        c->ours(b->out, b->in, n_blocks);
    else if (c->theirs != NULL)
        c->theirs(b->in, b->out, (int64_t)n_values);
    else
        memcpy(b->out, b->in, c->copy_bytes);
    took = now() - begin;
    if (c->best == 0 || took < c->best)
        c->best = took;
}

static void run_all(struct bench *b, struct candidate *all, size_t n, size_t n_values,
                    size_t n_blocks)
{
    for (int run = 0; run < N_RUNS; run++)
        for (size_t i = 0; i < n; i++)
            if (all[i].ours != NULL || all[i].theirs != NULL || all[i].copy_bytes != 0)
                run_once(b, &all[i], n_values, n_blocks);
}

static ggml_decode_fn find_theirs(const struct bench *b, enum tenon_dtype dtype)
{
    struct ggml_decoder oracle;

    for (size_t i = 0; b->base != NULL && ggml_decoder_at(b->base, i, &oracle); i++)
        if (oracle.dtype == dtype)
            return oracle.decode;
    return NULL;
}

static ggml_decode_fn find_theirs_cpu(const struct bench *b, enum tenon_dtype dtype)
{
    ggml_decode_fn decode = NULL;

    if (b->cpu != NULL && dtype == TENON_DTYPE_F16)
        *(void **)&decode = dlsym(b->cpu, "ggml_cpu_fp16_to_fp32");
    if (b->cpu != NULL && dtype == TENON_DTYPE_BF16)
        *(void **)&decode = dlsym(b->cpu, "ggml_cpu_bf16_to_fp32");
    return decode;
}

/* The faster of two, of which either may be missing; 0 when both are. */
static double faster(const struct candidate *a, const struct candidate *b)
{
    if (a->best == 0 || b->best == 0)
        return a->best + b->best;
    return a->best < b->best ? a->best : b->best;
}

static void bench_type(struct bench *b, const struct tenon_dtype_info *info)
{
    size_t n_blocks = SMALL / info->block_elements, n_values = n_blocks * info->block_elements;
    struct candidate all[4] = {
        {.ours = b->fast.decode[info->dtype]},
        {.theirs = find_theirs(b, info->dtype)},
        {.theirs = find_theirs_cpu(b, info->dtype)},
        {.ours = b->plain.decode[info->dtype]},
    };
    double millions = 1e-6 * (double)(n_values * info->values), theirs;

    blocks_fill_ordinary(&b->rng, info->dtype, b->in, n_blocks);
    run_all(b, all, 4, n_values, n_blocks);
    theirs = faster(&all[1], &all[2]);
    printf("%-12s %9.0f", info->name, millions / all[0].best);
    if (theirs != 0)
        printf(" %9.0f %7.2f %9.0f %7.2f\n", millions / theirs, theirs / all[0].best,
               millions / all[3].best, theirs / all[3].best);
    else
        printf(" %9s %7s %9.0f\n", "", "", millions / all[3].best);
}

static void bench_copy(struct bench *b, enum tenon_dtype dtype, size_t n_values)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);
    size_t n_blocks = n_values / info->block_elements;
    size_t moved = n_blocks * info->block_bytes + n_values * sizeof(float);
    struct candidate all[2] = {{.ours = b->fast.decode[dtype]}, {.copy_bytes = moved / 2}};

    blocks_fill_ordinary(&b->rng, dtype, b->in, n_blocks);
    run_all(b, all, 2, n_values, n_blocks);
    printf("%-12s %9zu %9.2f %9.2f %7.2f\n", info->name, n_values,
           1e-9 * (double)moved / all[0].best, 1e-9 * (double)moved / all[1].best,
           all[1].best / all[0].best);
}

/* libggml-cpu of the newest processor that ours surely is, beside libggml-base. */
static void *open_cpu_library(void)
{
    const char *base = getenv("TENON_ORACLE_GGML");
    const char *slash = base != NULL ? strrchr(base, '/') : NULL;
    unsigned flags = tenon_cpu_detect();
    char path[4096];

    if (slash == NULL || (flags & TENON_CPU_AVX2) == 0)
        return NULL;
    snprintf(path, sizeof(path), "%.*s/libggml-cpu-%s.so", (int)(slash - base), base,
             (flags & TENON_CPU_AVX512) != 0 ? "skylakex" : "haswell");
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool init_bench(struct bench *b)
{
    b->base = ggml_library_open();
    b->cpu = open_cpu_library();
    tenon_quant_init_reference(&b->plain);
    tenon_quant_init(&b->fast, tenon_cpu_detect());
    b->in = malloc((size_t)LARGE * MAX_BYTES_PER_VALUE);
    b->out = malloc((size_t)LARGE * MAX_BYTES_PER_VALUE);
    if (b->in == NULL || b->out == NULL)
        return false;
    memset(b->out, 0, (size_t)LARGE * MAX_BYTES_PER_VALUE);
    b->rng.state = 1;
    return true;
}

int main(void)
{
    static const enum tenon_dtype at_memory_speed[] = {TENON_DTYPE_F16, TENON_DTYPE_BF16,
                                                       TENON_DTYPE_Q8_0};
    const struct tenon_dtype_info *info;
    struct bench b = {0};

    if (!init_bench(&b))
        return 1;
    printf("%-12s %9s %9s %7s %9s %7s\n", "type", "Mvalue/s", "ggml", "ratio", "plain C", "ratio");
    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++)
        if (b.fast.decode[info->dtype] != NULL)
            bench_type(&b, info);
    printf("\n%-12s %9s %9s %9s %7s\n", "type", "values", "GB/s", "memcpy", "ratio");
    for (size_t i = 0; i < sizeof(at_memory_speed) / sizeof(at_memory_speed[0]); i++) {
        bench_copy(&b, at_memory_speed[i], SMALL);
        bench_copy(&b, at_memory_speed[i], LARGE);
    }
    free(b.in);
    free(b.out);
    return 0;
}
