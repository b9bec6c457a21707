/* What rewriting costs: plans that copy against `cp`, plans that cast against a plain loop of pread
 * and pwrite with two threads, all on the same file in turn, in the folder where this runs. Prints
 * ratios and the most memory of a run, judges nothing.
 *
 * Nothing is synced on either side: what the disk takes is the disk's. The last lines are with the
 * sync that a rewrite does unless told otherwise, beside `cp` and a sync of its output.
 *
 *   bench_rewrite [MIB [RUNS]]    512 and 3 unless given; needs about four times MIB of disk */
#define _DEFAULT_SOURCE

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
#include "tenon/edit.h"
#include "tenon/split.h"
#include "tenon/tie.h"

#define PIECE_BYTES ((size_t)1 << 20)

static const char input[] = "bench_rewrite.safetensors";
static const char wide[] = "bench_rewrite_f32.safetensors";
static const char untied[] = "bench_rewrite_untied.gguf";
static const char tied[] = "bench_rewrite_tied.gguf";
static const char prefix[] = "bench_rewrite_part";
static const char parts[] = "bench_rewrite_part-00001-of-00004.gguf";
static const char output[] = "bench_rewrite_out.safetensors";
static const char gguf_output[] = "bench_rewrite_out.gguf";

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

/* --- the model that is tied --- */

struct writer {
    FILE *file;
    uint64_t n;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
    if (fwrite(bytes, 1, n, w->file) != n)
        fail("write", NULL);
    w->n += n;
}

static void put_number(struct writer *w, uint64_t value, size_t n_bytes)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < n_bytes; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    put(w, bytes, n_bytes);
}

static void put_text(struct writer *w, const char *text)
{
    put_number(w, strlen(text), 8);
    put(w, text, strlen(text));
}

/* A tensor record: BF16, `rows` of 512, at `off` in the data. */
static void put_tensor(struct writer *w, const char *name, uint64_t rows, uint64_t off)
{
    put_text(w, name);
    put_number(w, 2, 4);
    put_number(w, 512, 8);
    put_number(w, rows, 8);
    put_number(w, 30, 4);
    put_number(w, off, 8);
}

/* An eighth of `mib` is the input, another its copy, the output; the rest lies in six matrices. */
static void make_untied(unsigned long mib)
{
    static const char *const names[] = {"token_embd.weight",   "output.weight",
                                        "blk.0.ffn_up.weight", "blk.0.ffn_down.weight",
                                        "blk.1.ffn_up.weight", "blk.1.ffn_down.weight",
                                        "blk.2.ffn_up.weight", "blk.2.ffn_down.weight"};
    const uint64_t eighth = (uint64_t)mib << 17;
    static unsigned char piece[1 << 17];
    struct writer w = {.file = fopen(untied, "wb")};
    uint64_t state = 1;

    if (w.file == NULL)
        fail(untied, NULL);
    put(&w, "GGUF", 4);
    put_number(&w, 3, 4);
    put_number(&w, 8, 8);
    put_number(&w, 1, 8);
    put_text(&w, "general.architecture");
    put_number(&w, 8, 4);
    put_text(&w, "llama");
    for (uint64_t i = 0; i < 8; i++)
        put_tensor(&w, names[i], eighth / 1024, i * eighth);
    while (w.n % 32 != 0)
        put_number(&w, 0, 1);
    for (uint64_t i = 0; i < 8; i++)
        for (uint64_t k = 0; k < eighth; k += sizeof(piece)) {
            state = i < 2 ? k + 1 : state + 1;
            for (size_t b = 0; b < sizeof(piece); b++)
                piece[b] = (unsigned char)(b % 2 == 0 ? (b + state) * 97 : 0x3c);
            put(&w, piece, sizeof(piece));
        }
    if (fclose(w.file) != 0)
        fail(untied, NULL);
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

enum what { TIE, UNTIE, EDIT, SPLIT, MERGE, CAST_F16, CAST_BF16, CAST_F32 };

static enum tenon_status convert(enum what what, const struct tenon_model *model,
                                 struct tenon_plan **out, struct tenon_error *err)
{
    static const enum tenon_dtype dtypes[] = {
        [CAST_F16] = TENON_DTYPE_F16, [CAST_BF16] = TENON_DTYPE_BF16, [CAST_F32] = TENON_DTYPE_F32};
    struct tenon_convert_options options;

    tenon_convert_options_init(&options);
    options.dtype = dtypes[what];
    return tenon_plan_convert(model, what == CAST_F32 ? wide : output, &options, out, err);
}

static enum tenon_status edit(const struct tenon_model *model, struct tenon_plan **out,
                              struct tenon_error *err)
{
    const struct tenon_edit edit = {
        .name = {"general.name", 12}, .value = {"another", 7}, .type = {"string", 6}};

    return tenon_plan_edit(model, gguf_output,
                           &(struct tenon_edit_options){.edits = &edit, .n_edits = 1}, out, err);
}

static struct tenon_plan *build(enum what what, const struct tenon_model *model)
{
    struct tenon_split_options split = {.max_bytes = size_of(untied) / 4};
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};
    enum tenon_status st;

    if (what == TIE)
        st = tenon_plan_tie(model, gguf_output, NULL, &plan, &err);
    else if (what == UNTIE)
        st = tenon_plan_untie(model, gguf_output, NULL, &plan, &err);
    else if (what == EDIT)
        st = edit(model, &plan, &err);
    else if (what == SPLIT)
        st = tenon_plan_split(model, prefix, &split, &plan, &err);
    else if (what == MERGE)
        st = tenon_plan_merge(model, gguf_output, NULL, &plan, &err);
    else
        st = convert(what, model, &plan, &err);
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

/* The most memory of one run, by itself, in MiB. */
static double most_memory(enum what what, const char *from)
{
    pid_t child = fork();
    struct rusage usage;
    int status = 1;

    if (child == 0) {
        rewrite(what, from, false);
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        fail("fork", NULL);
    return (double)usage.ru_maxrss / 1024;
}

static void remove_outputs(bool with_parts)
{
    char name[sizeof(parts) + 16];

    unlink(output);
    unlink(gguf_output);
    for (int i = 1; with_parts && i <= 9; i++)
        for (int n = 1; n <= 9; n++) {
            snprintf(name, sizeof(name), "%s-%05d-of-%05d.gguf", prefix, i, n);
            unlink(name);
        }
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
            copy_by_cp(row->what == MERGE ? untied : row->from, row->sync);
        end_cost(&begin, &theirs);
    }
    remove_outputs(row->what == SPLIT);
    printf("%-24s %6.3f s, %-9s %6.3f s: %.2f of its speed; processor %.3f and %.3f s; %.1f MiB\n",
           row->name, ours.wall,
           row->loop   ? "the loop"
           : row->sync ? "cp + sync"
                       : "cp",
           theirs.wall, theirs.wall / ours.wall, ours.processor, theirs.processor,
           most_memory(row->what, row->from));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct row rows[] = {
        {"tie", TIE, untied, false, false},
        {"untie", UNTIE, tied, false, false},
        {"edit of a key", EDIT, untied, false, false},
        {"split into four", SPLIT, untied, false, false},
        {"merge of four", MERGE, parts, false, false},
        {"BF16 to F16, 2 threads", CAST_F16, input, false, true},
        {"F32 to BF16, 2 threads", CAST_BF16, wide, false, true},
        {"edit of a key, synced", EDIT, untied, true, false},
        {"split into four, synced", SPLIT, untied, true, false},
    };
    unsigned long mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 512;
    int runs = argc > 2 ? atoi(argv[2]) : 3;

    if (mib < 4 || runs < 1)
        fail("arguments", NULL);
    gen_large_bf16(input, mib);
    make_untied(mib);
    rewrite(CAST_F32, input, false);
    rewrite(TIE, untied, false);
    if (rename(gguf_output, tied) != 0)
        fail(tied, NULL);
    printf("%lu MiB of BF16, %llu MiB of F32\n", mib, (unsigned long long)(size_of(wide) >> 20));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        compare(&rows[i], runs);
    remove_outputs(true);
    unlink(input);
    unlink(wide);
    unlink(untied);
    unlink(tied);
    return 0;
}
