/* Telling formats apart by their first bytes. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "probe.h"

/* What detection says of `n` bytes called `name`: the format's name, or the one that explains. */
static enum tenon_status detect(const void *bytes, size_t n, const char *name,
                                const struct tenon_format **out, struct tenon_error *err)
{
    struct tenon_probe probe = {.bytes = bytes,
                                .n = n < TENON_PROBE_BYTES ? n : TENON_PROBE_BYTES,
                                .size = n,
                                .name = name};

    memset(err, 0, sizeof(*err));
    *out = NULL;
    return tenon_format_detect(&probe, out, err);
}

/* The best probe's name, without asking it to explain. */
static const char *best_probe(const void *bytes, size_t n, const char *name)
{
    struct tenon_probe probe = {.bytes = bytes,
                                .n = n < TENON_PROBE_BYTES ? n : TENON_PROBE_BYTES,
                                .size = n,
                                .name = name};
    const char *best = "none";
    int most = 0;

    for (size_t i = 0; i < tenon_n_formats; i++) {
        int confidence = tenon_formats[i]->probe(&probe);

        if (confidence == most && most > 0)
            best = "tie";
        if (confidence > most) {
            most = confidence;
            best = tenon_formats[i]->info.name;
        }
    }
    return best;
}

struct look_alike {
    const char *format;
    const char *name;
    const char *bytes;
    size_t n;
};

#define ROW(format, name, bytes)                                                                   \
    {                                                                                              \
        format, name, bytes, sizeof(bytes) - 1                                                     \
    }

/* Beginnings as the tools that write such files make them. */
static const struct look_alike look_alikes[] = {
    ROW("gguf-swapped", "a.gguf", "FUGG\x01\x00\x00\x00"),
    ROW("gguf-damaged", "a.gguf", "gguf\x03\x00\x00\x00"),
    ROW("gguf-damaged", "a.gguf", "\xef\xbb\xbfGGUF\x03"),
    ROW("gguf-damaged", "a.gguf", "\0GGUF\x03\0\0\0\0\0"),
    ROW("ggml-legacy", "a.bin", "tjgg\x03\x00\x00\x00"),
    ROW("ggml-legacy", "a.bin", "lmgg\x00\x7d\x00\x00"),
    ROW("ggml-legacy", "a.bin", "ggml\x00\x7d\x00\x00"),
    ROW("ggml-legacy", "a.bin", "ggla\x00\x7d\x00\x00"),
    ROW("torch-zip", "a.pt",
        "PK\x03\x04\0\0\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\x12\0archive/data.pklFB"),
    ROW("torchscript", "a.pt",
        "PK\x03\x04\0\0\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0c\0\0\0foo/data.pkl"
        "\x80\x02"
        "c__torch__\n"),
    ROW("npz", "a.npz", "PK\x03\x04\x14\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0x.npy"),
    ROW("zip", "a.zip", "PK\x03\x04\x14\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0x.txt"),
    ROW("torch-legacy", "a.pt", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e\x80"),
    ROW("torch-legacy", "a.pt", "L119547037146038801333356L\n.M\xe9\x03."),
    ROW("pickle", "a.pkl", "\x80\x02}q\0(X"),
    ROW("npy", "a.npy", "\x93NUMPY\x01\0v\0"),
    ROW("word2vec-text", "a.vec", "2 3\nthe 0.1 -0.2 3e-1\n"),
    ROW("word2vec-binary", "a.bin", "2 1\nthe \x01\x02\x03\x04"),
    ROW("glove-text", "a.txt", "the 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9\nof"),
    ROW("fasttext", "a.bin", "\xba\x16\x4f\x2f\x0c\0\0\0"),
    ROW("gzip", "a.gz", "\x1f\x8b\x08\0"),
    ROW("7z", "a.7z", "7z\xbc\xaf\x27\x1c\0\4"),
    ROW("xz", "a.xz", "\xfd\x37zXZ\0\0"),
    ROW("zstd", "a.zst", "\x28\xb5\x2f\xfd\x24"),
    ROW("lfs-pointer", "a.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:"),
    ROW("web-page", "a.gguf", "\n<!DOCTYPE html><html>"),
    ROW("web-page", "a.gguf", "<?xml version='1.0'?><Error><Code>AccessDenied</Code>"),
    ROW("json", "config.json", "{\n  \"architectures\": ["),
    ROW("json", "a.gguf", "{\"error\":\"gated\"}"),
    ROW("empty", "a.gguf", ""),
    ROW("blank", "a.gguf", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0x"),
    ROW("raw-part", "a.gguf.part2of2", "\x11\x9a\x31"),
    ROW("raw-part", "a.gguf.01", "\x11\x9a\x31"),
    ROW("raw-part", "a.gguf-split-b", "\x11\x9a\x31"),
};

START_TEST(look_alike_is_named_and_refused)
{
    const struct look_alike *row = &look_alikes[_i];
    const struct tenon_format *format;
    struct tenon_error err;
    enum tenon_status st;

    ck_assert_str_eq(best_probe(row->bytes, row->n, row->name), row->format);
    st = detect(row->bytes, row->n, row->name, &format, &err);
    ck_assert_ptr_null(format);
    ck_assert_int_eq(tenon_status_exit(st), 3);
    ck_assert_int_eq(st, err.status);
    ck_assert_uint_eq(err.offset, 0);
    ck_assert_str_ne(err.message, "");
    ck_assert_str_ne(err.hint, "");
}
END_TEST

/* Probes see every prefix of a file that is shorter than its magic. */
START_TEST(probe_never_reads_past_a_prefix)
{
    const struct look_alike *row = &look_alikes[_i];

    for (size_t n = 0; n <= row->n; n++) {
        char *exact = malloc(n != 0 ? n : 1);

        ck_assert_ptr_nonnull(exact);
        memcpy(exact, row->bytes, n);
        ck_assert_str_ne(best_probe(exact, n, row->name), "tie");
        free(exact);
    }
}
END_TEST

START_TEST(tar_is_named)
{
    unsigned char tar[512] = "weights.gguf";
    const struct tenon_format *format;
    struct tenon_error err;

    memcpy(tar + 257, "ustar", 5);
    ck_assert_int_eq(detect(tar, sizeof(tar), "a.tar", &format, &err), TENON_ERR_NOT_RECOGNISED);
    ck_assert_ptr_nonnull(strstr(err.message, "tar archive"));
    memcpy(tar, "sys_info\0\0\0\0", 12);
    ck_assert_int_eq(detect(tar, sizeof(tar), "a.tar", &format, &err),
                     TENON_ERR_UNSUPPORTED_FEATURE);
    ck_assert_ptr_nonnull(strstr(err.message, "PyTorch"));
}
END_TEST

START_TEST(lfs_pointer_shows_real_size_and_hash)
{
    static const char pointer[] =
        "version https://git-lfs.github.com/spec/v1\n"
        "oid sha256:4665a5ea423c2713d436b5ee50593a9640e0018c1550b5a0002f74190d6caea8\n"
        "size 4976698672\n";
    const struct tenon_format *format;
    struct tenon_error err;

    ck_assert_int_eq(detect(pointer, sizeof(pointer) - 1, "model.safetensors", &format, &err),
                     TENON_ERR_NOT_RECOGNISED);
    ck_assert_ptr_nonnull(strstr(err.message, "4976698672 bytes"));
    ck_assert_ptr_nonnull(
        strstr(err.message, "4665a5ea423c2713d436b5ee50593a9640e0018c1550b5a0002f74190d6caea8"));
}
END_TEST

START_TEST(error_body_is_shown)
{
    static const char body[] = "{\"error\":\"Access to model x is restricted\"}";
    const struct tenon_format *format;
    struct tenon_error err;

    detect(body, sizeof(body) - 1, "model.safetensors", &format, &err);
    ck_assert_ptr_nonnull(strstr(err.message, "Access to model x is restricted"));
}
END_TEST

START_TEST(unknown_bytes_are_shown)
{
    const struct tenon_format *format;
    struct tenon_error err;

    ck_assert_int_eq(detect("\xde\xad\xbe\xef", 4, "model.gguf", &format, &err),
                     TENON_ERR_NOT_RECOGNISED);
    ck_assert_ptr_nonnull(strstr(err.message, "de ad be ef"));
}
END_TEST

START_TEST(plain_names_are_no_raw_parts)
{
    ck_assert(tenon_name_is_raw_part("m.gguf.part1of2"));
    ck_assert(tenon_name_is_raw_part("m.gguf.part-00001-of-00002"));
    ck_assert(tenon_name_is_raw_part("m.gguf.part_aa"));
    ck_assert(tenon_name_is_raw_part("m.safetensors.00"));
    ck_assert(!tenon_name_is_raw_part("m.gguf"));
    ck_assert(!tenon_name_is_raw_part("m.partial.gguf"));
    ck_assert(!tenon_name_is_raw_part("m-00001-of-00002.gguf"));
    ck_assert(!tenon_name_is_raw_part("model.bin.index.json"));
}
END_TEST

START_TEST(formats_have_names_of_their_own)
{
    for (size_t i = 0; i < tenon_n_formats; i++) {
        const struct tenon_format *format = tenon_formats[i];

        ck_assert_ptr_eq(tenon_format_find(format->info.name), format);
        ck_assert_ptr_eq(tenon_format_at(i), &format->info);
        ck_assert(format->probe != NULL);
        ck_assert_int_eq(format->read != NULL, (format->info.flags & TENON_FORMAT_READ) != 0);
        ck_assert_int_eq(format->explain != NULL, (format->info.flags & TENON_FORMAT_NAMED) != 0);
    }
    ck_assert_ptr_null(tenon_format_at(tenon_n_formats));
    ck_assert_ptr_null(tenon_format_find("no such format"));
}
END_TEST

int main(void)
{
    enum { N = sizeof(look_alikes) / sizeof(look_alikes[0]) };
    Suite *suite = suite_create("formats");
    TCase *tcase = tcase_create("detection");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tcase, look_alike_is_named_and_refused, 0, N);
    tcase_add_loop_test(tcase, probe_never_reads_past_a_prefix, 0, N);
    tcase_add_test(tcase, tar_is_named);
    tcase_add_test(tcase, lfs_pointer_shows_real_size_and_hash);
    tcase_add_test(tcase, error_body_is_shown);
    tcase_add_test(tcase, unknown_bytes_are_shown);
    tcase_add_test(tcase, plain_names_are_no_raw_parts);
    tcase_add_test(tcase, formats_have_names_of_their_own);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
