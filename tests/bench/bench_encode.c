/* Encoding speed for every element type, one thread:
 *
 *   type, million values a second with the best encoder for this processor, with the plain one,
 *   with ggml's; how many times as fast as ggml the first two are
 *
 * Values are normally distributed, as weights are. Without TENON_ORACLE_GGML the columns of ggml
 * stay empty. The best of several runs counts; the candidates take turns, so that they share what
 * disturbs them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cpu.h"
#include "ggml_encoders.h"
#include "quant.h"
#include "value_sets.h"

enum { N_VALUES = 1 << 18, MAX_RUNS = 30, MAX_BYTES_PER_VALUE = 8 };

/* Seconds for one type, all candidates together. */
static const double budget = 1.5;

struct bench {
    struct tenon_quant_ops fast, plain;
    struct ggml_encoders ggml;
    bool has_ggml;
    float *in;
    uint8_t *out;
};

/* The best times in seconds; 0 where there is none. */
struct times {
    double fast, plain, ggml;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep_best(double *best, double begin)
{
    double took = now() - begin;

    if (*best == 0 || took < *best)
        *best = took;
}

static void run_all(struct bench *b, const struct tenon_dtype_info *info, struct times *times)
{
    size_t n_blocks = N_VALUES / info->block_elements;
    double begin = now();

    b->fast.encode[info->dtype](b->out, b->in, n_blocks);
    keep_best(&times->fast, begin);
    begin = now();
    b->plain.encode[info->dtype](b->out, b->in, n_blocks);
    keep_best(&times->plain, begin);
    if (!b->has_ggml || !ggml_encodes(&b->ggml, info->dtype))
        return;
    begin = now();
    ggml_encode(&b->ggml, info->dtype, b->in, b->out, 1, N_VALUES);
    keep_best(&times->ggml, begin);
}

static void print_row(const struct tenon_dtype_info *info, const struct times *times)
{
    const double millions = N_VALUES / 1e6;

    printf("%-10s %9.1f %9.1f", info->name, millions / times->fast, millions / times->plain);
    if (times->ggml > 0)
        printf(" %9.1f %7.2f %7.2f", millions / times->ggml, times->ggml / times->fast,
               times->ggml / times->plain);
    printf("\n");
}

static void measure(struct bench *b, const struct tenon_dtype_info *info)
{
    struct times times = {0};
    double begin = now();

    for (int run = 0; run < MAX_RUNS && (run < 3 || now() - begin < budget); run++)
        run_all(b, info, &times);
    print_row(info, &times);
}

/* Whole numbers 0 or 1, which every integer type takes. */
static void fill_bits(struct blocks_rng *rng, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (float)(blocks_random(rng) & 1);
}

static void fill_values(struct bench *b, const struct tenon_dtype_info *info)
{
    struct blocks_rng rng = {1};

    if (b->plain.encode[info->dtype](b->out, b->in, 1) != SIZE_MAX)
        fill_bits(&rng, b->in, N_VALUES);
    else
        value_set_at(0)->fill(&rng, b->in, N_VALUES);
}

int main(void)
{
    struct bench b = {0};
    const struct tenon_dtype_info *info;

    b.has_ggml = ggml_encoders_open(&b.ggml);
    b.in = malloc(N_VALUES * sizeof(*b.in));
    b.out = malloc((size_t)N_VALUES * MAX_BYTES_PER_VALUE);
    if (b.in == NULL || b.out == NULL)
        return 1;
    tenon_quant_init_reference(&b.plain);
    tenon_quant_init(&b.fast, tenon_cpu_detect());
    printf("%-10s %9s %9s %9s %7s %7s\n", "type", "best", "plain", "ggml", "best/g", "plain/g");
    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++) {
        if (b.plain.encode[info->dtype] == NULL)
            continue;
        b.in[0] = 0.02f;
        fill_values(&b, info);
        measure(&b, info);
    }
    free(b.in);
    free(b.out);
    return 0;
}
