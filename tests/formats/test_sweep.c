/* Every sample cut at every length, and each byte of its headers changed: never a crash, never an
 * offset outside the file, and the same verdict in every build. For each sample a line
 * "digest NAME CASES HASH" goes to stdout; two builds that print different lines disagree. */
#include "gen.h"
#include "tenon/tenon.h"

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a payload, only so many lengths are tried; of its header, all. */
#define PAYLOAD_CUTS 64

struct sweep {
    const struct gen_sample *sample;
    uint64_t digest, cases, accepted; /* accepted: read without any finding */
};

static void mix(struct sweep *s, const void *data, size_t n)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < n; i++)
        s->digest = (s->digest ^ bytes[i]) * UINT64_C(1099511628211);
}

/* Takes a verdict into the digest. `n` is the size of the changed file. */
static void judge(struct sweep *s, enum tenon_status status, const struct tenon_error *err,
                  struct tenon_model *model, uint64_t n)
{
    uint32_t code = (uint32_t)status;

    ck_assert_msg((status == TENON_OK) == (model != NULL), "%s: status and model disagree",
                  s->sample->name);
    s->cases++;
    mix(s, &code, sizeof(code));
    if (status == TENON_OK) {
        uint64_t findings = tenon_model_n_findings(model);

        s->accepted += findings == 0;
        mix(s, &findings, sizeof(findings));
        tenon_model_free(model);
        return;
    }
    ck_assert_msg(err->message[0] != '\0', "%s: no message", s->sample->name);
    ck_assert_msg(err->offset == TENON_NO_OFFSET || err->offset <= n,
                  "%s: offset %" PRIu64 " in %" PRIu64 " bytes: %s", s->sample->name, err->offset,
                  n, err->message);
    mix(s, &err->offset, sizeof(err->offset));
    mix(s, err->subject, strlen(err->subject));
    mix(s, err->message, strlen(err->message));
}

static void try_memory(struct sweep *s, const unsigned char *bytes, size_t n)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    /* A copy of exactly that size, so that a sanitizer sees the first byte beyond. */
    unsigned char *copy = malloc(n != 0 ? n : 1);
    enum tenon_status status;

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, n);
    status = tenon_model_open_memory(copy, n, NULL, &model, &err);
    judge(s, status, &err, model, n);
    free(copy);
}

/* The values that a byte is changed to. */
#define N_CHANGES 7
static unsigned char changed(unsigned char byte, int change)
{
    static const unsigned char fixed[] = {0, 1, 0x7f, 0x80, 0xff};

    if (change < 5)
        return fixed[change];
    return byte ^ (change == 5 ? 1 : 0x80);
}

static size_t header_bytes(const struct gen_bytes *bytes)
{
    struct tenon_model *model = NULL;
    uint64_t n;

    /* A sample that cannot be opened as it is would make the sweep pointless. */
    ck_assert_int_eq(tenon_model_open_memory(bytes->data, bytes->n, NULL, &model, NULL), TENON_OK);
    n = tenon_model_file(model, 0)->header_bytes;
    tenon_model_free(model);
    ck_assert_uint_le(n, bytes->n);
    return (size_t)n;
}

static void sweep_file(struct sweep *s, const struct gen_bytes *bytes)
{
    size_t header = header_bytes(bytes), payload = bytes->n - header;
    size_t step = payload / PAYLOAD_CUTS + 1;

    for (size_t n = 0; n < header; n++)
        try_memory(s, bytes->data, n);
    for (size_t n = header; n < bytes->n; n += step)
        try_memory(s, bytes->data, n);
    if (bytes->n > 0)
        try_memory(s, bytes->data, bytes->n - 1);
    for (size_t i = 0; i < header; i++) {
        unsigned char old = bytes->data[i];

        for (int change = 0; change < N_CHANGES; change++) {
            bytes->data[i] = changed(old, change);
            if (bytes->data[i] != old)
                try_memory(s, bytes->data, bytes->n);
        }
        bytes->data[i] = old;
    }
}

static void try_folder(struct sweep *s, const char *folder, uint64_t n)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    enum tenon_status status = tenon_model_open(folder, NULL, &model, &err);

    judge(s, status, &err, model, n);
}

/* Offsets may point into any file of the folder; the largest bounds them. */
static uint64_t largest(const struct gen_files *files)
{
    uint64_t most = 0;

    for (size_t i = 0; i < files->n; i++)
        most = files->file[i].bytes.n > most ? files->file[i].bytes.n : most;
    return most;
}

/* Whether an earlier sample begins with the same header: samples that differ in their payload only
 * need not be swept twice. */
static bool header_is_known(const struct gen_sample *sample, const struct gen_bytes *bytes)
{
    size_t header = header_bytes(bytes);
    bool known = false;

    for (const struct gen_sample *other = gen_samples; other < sample && !known; other++) {
        struct gen_files files = {0};

        gen_sample_make(other, &files);
        known = !files.folder && files.file[0].bytes.n >= header &&
                memcmp(files.file[0].bytes.data, bytes->data, header) == 0;
        gen_files_release(&files);
    }
    return known;
}

/* Sweeps the small files of a folder (config, index, tokenizer) where they lie. */
static void sweep_folder(struct sweep *s, const struct gen_files *files)
{
    const char *base = getenv("TMPDIR");
    char folder[512], path[1024];

    snprintf(folder, sizeof(folder), "%s/tenon-sweep-XXXXXX", base != NULL ? base : ".");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    gen_files_write(files, folder, path, sizeof(path));
    for (size_t f = 0; f < files->n; f++) {
        const struct gen_bytes *bytes = &files->file[f].bytes;
        int fd;

        if (strstr(files->file[f].name, ".json") == NULL)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, files->file[f].name);
        fd = open(path, O_RDWR);
        ck_assert_int_ge(fd, 0);
        for (size_t i = 0; i < bytes->n; i++) {
            for (int change = 0; change < N_CHANGES; change++) {
                unsigned char byte = changed(bytes->data[i], change);

                ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)i), 1);
                try_folder(s, folder, largest(files));
            }
            ck_assert_int_eq(pwrite(fd, &bytes->data[i], 1, (off_t)i), 1);
        }
        for (size_t n = bytes->n; n-- > 0;) {
            ck_assert_int_eq(ftruncate(fd, (off_t)n), 0);
            try_folder(s, folder, largest(files));
        }
        ck_assert_int_eq(pwrite(fd, bytes->data, bytes->n, 0), (ssize_t)bytes->n);
        ck_assert_int_eq(close(fd), 0);
    }
    gen_files_remove(files, folder);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Folders are slow to sweep, and alike: these have every kind of small file. */
static bool folder_is_swept(const char *name)
{
    static const char *const names[] = {"gpt2_hf", "nested_hf", "sharded_hf"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

START_TEST(damaged_sample_is_refused_or_read)
{
    struct sweep s = {.sample = &gen_samples[_i], .digest = UINT64_C(14695981039346656037)};
    struct gen_files files = {0};

    gen_sample_make(s.sample, &files);
    if (!files.folder && !header_is_known(s.sample, &files.file[0].bytes))
        sweep_file(&s, &files.file[0].bytes);
    else if (files.folder && folder_is_swept(s.sample->name))
        sweep_folder(&s, &files);
    gen_files_release(&files);
    if (s.cases != 0)
        ck_assert_uint_lt(s.accepted, s.cases);
    printf("digest %s %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n", s.sample->name, s.cases,
           s.accepted, s.digest);
    fflush(stdout);
}
END_TEST

/* The argument is the ending of the names that are swept: "gguf", "safetensors" or "hf". */
int main(int argc, char **argv)
{
    Suite *suite = suite_create("sweep");
    TCase *tc = tcase_create("samples");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tc, 600);
    for (size_t i = 0; i < gen_n_samples; i++) {
        const char *ending = strrchr(gen_samples[i].name, '_') + 1;

        if (argc < 2 || strcmp(ending, argv[1]) == 0)
            tcase_add_loop_test(tc, damaged_sample_is_refused_or_read, (int)i, (int)i + 1);
    }
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
