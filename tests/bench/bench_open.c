/* Opening models against the least that it could cost: reading their headers once. Prints ratios,
 * judges nothing. Runs in a folder where it may write some 100 MB. */
#include "gen_large.h"
#include "heap.h"
#include "tenon/tenon.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RUNS 5

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The shortest of RUNS times to read `n` bytes in one piece into fresh memory. */
static double time_read(const char *path, uint64_t n)
{
    double best = 1e9;

    for (int run = 0; run < RUNS; run++) {
        double begin = now();
        int fd = open(path, O_RDONLY);
        char *buf = malloc(n);

        if (fd < 0 || buf == NULL || pread(fd, buf, n, 0) != (ssize_t)n) {
            perror(path);
            exit(1);
        }
        free(buf);
        close(fd);
        best = now() - begin < best ? now() - begin : best;
    }
    return best;
}

/* The same for opening it as a model; `*peak` is the heap that took. */
static double time_open(const char *path, size_t *peak)
{
    double best = 1e9;

    for (int run = 0; run < RUNS; run++) {
        struct tenon_model *model = NULL;
        struct tenon_error err = {0};
        double begin = now();

        heap_start();
        if (tenon_model_open(path, NULL, &model, &err) != TENON_OK) {
            fprintf(stderr, "%s: %s\n", path, err.message);
            exit(1);
        }
        best = now() - begin < best ? now() - begin : best;
        *peak = heap_peak();
        tenon_model_free(model);
    }
    return best;
}

/* Prints one line and removes the file; returns the time to open. */
static double report(const char *what, const char *path, uint64_t header)
{
    size_t peak = 0;
    double read = time_read(path, header), opened = time_open(path, &peak);

    printf("%s: header %.2f MB, read %.2f ms, open %.2f ms, ratio %.2f; peak heap %.2f MB, %.2f "
           "headers\n",
           what, (double)header / 1e6, 1e3 * read, 1e3 * opened, opened / read, (double)peak / 1e6,
           (double)peak / (double)header);
    remove(path);
    return opened;
}

int main(void)
{
    const char *path = "bench_open.model";
    double quarter, full;

    report("gguf, 151936 tokens, 400 tensors", path, gen_large_vocabulary(path));
    quarter = report("safetensors, 250000 tensors", path, gen_large_tensors(path, 250000));
    full = report("safetensors, 1000000 tensors", path, gen_large_tensors(path, 1000000));
    printf("four times as many tensors: %.2f times as long\n", full / quarter);
    report("gguf, 100 GB with a hole", path, gen_large_sparse(path));
    return 0;
}
