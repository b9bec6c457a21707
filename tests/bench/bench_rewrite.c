/* What rewriting costs: plans that copy against `cp`, plans that cast against a plain loop of pread
 * and pwrite with two threads, all on the same file in turn, in the folder where this runs. Prints
 * ratios, judges nothing.
 *
 * Nothing is synced on either side: what the disk takes is the disk's. The last lines are with the
 * sync that a rewrite does unless told otherwise, beside `cp` and a sync of its output.
 *
 *   bench_rewrite [MIB [RUNS]]    512 and 3 unless given; needs about four times MIB of disk */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gen_large.h"
#include "parallel.h"
#include "tenon/convert.h"
#include "tenon/split.h"

#define PIECE_BYTES ((size_t)1 << 20)

static const char input[] = "bench_rewrite.safetensors";
static const char wide[] = "bench_rewrite_f32.safetensors";
static const char parts[] = "bench_rewrite_part-00001-of-00004.safetensors";
static const char output[] = "bench_rewrite_out.safetensors";

static void fail(const char *what, const struct tenon_error *err)
{
    fprintf(stderr, "bench_rewrite: %s: %s %s\n", what, err != NULL ? err->path : "",
            err != NULL ? err->message : "failed");
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of this process and of those it waited for. */
static double processor(void)
{
    double seconds = 0;

    for (int who = 0; who < 2; who++) {
        struct rusage usage;

        if (getrusage(who == 0 ? RUSAGE_SELF : RUSAGE_CHILDREN, &usage) == 0)
            seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    return seconds;
}

static uint64_t size_of(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        fail(path, NULL);
    return (uint64_t)info.st_size;
}

static void sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) != 0 || close(fd) != 0)
        fail(path, NULL);
}

/* --- what it is compared with --- */

static void copy_by_cp(const char *from, bool sync)
{
    pid_t child = fork();
    int status = 1;

    if (child == 0) {
        execlp("cp", "cp", from, output, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("cp", NULL);
    if (sync)
        sync_file(output);
}

struct loop {
    int from, to;
    unsigned char *buffers;
};

static enum tenon_status copy_piece(void *user, size_t i, unsigned worker, struct tenon_error *err)
{
    const struct loop *loop = user;
    unsigned char *buffer = loop->buffers + worker * PIECE_BYTES;
    off_t at = (off_t)(i * PIECE_BYTES);
    ssize_t n = pread(loop->from, buffer, PIECE_BYTES, at);

    (void)err;
    return n > 0 && pwrite(loop->to, buffer, (size_t)n, at) == n ? TENON_OK : TENON_ERR_IO;
}

static void copy_by_loop(const char *from)
{
    uint64_t size = size_of(from);
    struct loop loop = {.from = open(from, O_RDONLY | O_CLOEXEC),
                        .to = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666),
                        .buffers = malloc(2 * PIECE_BYTES)};

    if (loop.from < 0 || loop.to < 0 || loop.buffers == NULL ||
        posix_fallocate(loop.to, 0, (off_t)size) != 0 ||
        tenon_parallel(2, (size_t)((size + PIECE_BYTES - 1) / PIECE_BYTES), copy_piece, &loop,
                       NULL) != TENON_OK)
        fail("loop", NULL);
    close(loop.from);
    close(loop.to);
    free(loop.buffers);
}

/* --- rewrites --- */

enum what { COPY, SPLIT, MERGE, CAST_F16, CAST_BF16, CAST_F32 };

static struct tenon_plan *build(enum what what, const struct tenon_model *model)
{
    struct tenon_split_options split = {.max_bytes = size_of(input) / 4};
    struct tenon_convert_options convert;
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};
    enum tenon_status st;

    tenon_convert_options_init(&convert);
    convert.dtype = what == CAST_F16    ? TENON_DTYPE_F16
                    : what == CAST_BF16 ? TENON_DTYPE_BF16
                    : what == CAST_F32  ? TENON_DTYPE_F32
                                        : TENON_DTYPE_UNKNOWN;
    if (what == SPLIT)
        st = tenon_plan_split(model, "bench_rewrite_part", &split, &plan, &err);
    else if (what == MERGE)
        st = tenon_plan_merge(model, output, &plan, &err);
    else
        st = tenon_plan_convert(model, what == CAST_F32 ? wide : output, &convert, &plan, &err);
    if (st != TENON_OK || tenon_plan_layout(plan, &err) != TENON_OK)
        fail("plan", &err);
    return plan;
}

static void rewrite(enum what what, const char *from, bool sync)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    struct tenon_run_options options;
    struct tenon_plan *plan;

    tenon_run_options_init(&options);
    options.threads = 2;
    options.no_sync = !sync;
    options.force = true;
    if (tenon_model_open(from, NULL, &model, &err) != TENON_OK)
        fail("open", &err);
    plan = build(what, model);
    if (tenon_plan_run(plan, &options, &err) != TENON_OK)
        fail("run", &err);
    tenon_plan_free(plan);
    tenon_model_free(model);
}

static void remove_outputs(bool with_parts)
{
    char name[sizeof(parts) + 16];

    unlink(output);
    for (int i = 1; with_parts && i <= 8; i++)
        for (int n = 1; n <= 8; n++) {
            snprintf(name, sizeof(name), "bench_rewrite_part-%05d-of-%05d.safetensors", i, n);
            unlink(name);
        }
    if (with_parts)
        unlink("bench_rewrite_part.safetensors.index.json");
}

/* --- one comparison --- */

struct row {
    const char *name;
    enum what what;
    const char *from;
    bool sync, loop; /* against the loop instead of cp */
};

struct cost {
    double wall, processor;
};

static void begin_cost(struct cost *cost)
{
    cost->wall = now();
    cost->processor = processor();
}

/* The shortest counts, of each by itself. */
static void end_cost(const struct cost *begin, struct cost *best)
{
    struct cost took = {now() - begin->wall, processor() - begin->processor};

    best->wall = took.wall < best->wall ? took.wall : best->wall;
    best->processor = took.processor < best->processor ? took.processor : best->processor;
}

/* In turn, so that a disk that is slower for a while is slower for both. */
static void compare(const struct row *row, int runs)
{
    struct cost ours = {1e9, 1e9}, theirs = {1e9, 1e9};

    for (int run = 0; run < runs; run++) {
        struct cost begin;

        remove_outputs(row->what == SPLIT);
        begin_cost(&begin);
        rewrite(row->what, row->from, row->sync);
        end_cost(&begin, &ours);
        remove_outputs(false);
        begin_cost(&begin);
        if (row->loop)
            copy_by_loop(row->from);
        else
            copy_by_cp(row->what == MERGE ? input : row->from, row->sync);
        end_cost(&begin, &theirs);
    }
    printf("%-24s %6.3f s, %-9s %6.3f s: %.2f of its speed; processor %.3f and %.3f s\n", row->name,
           ours.wall,
           row->loop   ? "the loop"
           : row->sync ? "cp + sync"
                       : "cp",
           theirs.wall, theirs.wall / ours.wall, ours.processor, theirs.processor);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct row rows[] = {
        {"payloads copied", COPY, input, false, false},
        {"BF16 to F16, 2 threads", CAST_F16, input, false, true},
        {"F32 to BF16, 2 threads", CAST_BF16, wide, false, true},
        {"payloads copied, synced", COPY, input, true, false},
        {"split into four", SPLIT, input, false, false},
        {"merge of four", MERGE, parts, false, false},
    };
    unsigned long mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 512;
    int runs = argc > 2 ? atoi(argv[2]) : 3;
    struct rusage usage;

    if (mib < 4 || runs < 1)
        fail("arguments", NULL);
    gen_large_bf16(input, mib);
    rewrite(CAST_F32, input, false);
    printf("%lu MiB of BF16, %llu MiB of F32\n", mib, (unsigned long long)(size_of(wide) >> 20));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        compare(&rows[i], runs);
    remove_outputs(true);
    unlink(input);
    unlink(wide);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        printf("most memory: %.1f MiB\n", (double)usage.ru_maxrss / 1024);
    return 0;
}
