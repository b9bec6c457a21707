/* Many ids looked up at once: the same bits as one by one, and what is read for them. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cooked.h"
#include "folder.h"
#include "io.h"
#include "matrix_file.h"

#define ROWS UINT64_C(700)
#define COLS UINT64_C(256) /* whole blocks of every type */

/* Ids of every kind: equal ones, neighbours, the first and the last row, gaps of all sizes. Half of
 * them, which are looked up in short rows, are more than are sorted at a time. */
#define N_IDS ((size_t)40000)

static const struct tenon_io_fault no_fault = {.call = TENON_IO_END};

/* Pseudo-random numbers; the constants are Knuth's MMIX generator. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* A file in memory: a header and a payload of arbitrary bytes. */
struct image {
    unsigned char *bytes;
    size_t n;
};

static struct image make_image(const struct matrix_header *header, uint64_t payload)
{
    struct image image = {malloc(header->n + (size_t)payload), header->n + (size_t)payload};
    uint64_t seed = payload;

    ck_assert_ptr_nonnull(image.bytes);
    memcpy(image.bytes, header->bytes, header->n);
    for (size_t i = header->n; i < image.n; i++)
        image.bytes[i] = (unsigned char)next_random(&seed);
    return image;
}

/* A BF16 matrix of ROWS rows in a file of that folder, opened. */
static struct tenon_model *open_bf16(const char *folder, struct tenon_embed *embed)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(TENON_DTYPE_BF16);
    struct matrix_header header;
    struct image image;
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    char path[600];

    matrix_make(&header, info, ROWS, COLS);
    image = make_image(&header, ROWS * matrix_row_bytes(info, COLS));
    folder_write(folder, "matrix", image.bytes, image.n);
    snprintf(path, sizeof(path), "%smatrix", folder);
    ck_ok(tenon_model_open(path, NULL, &model, &err), err);
    ck_ok(tenon_embed_init(embed, model, &err), err);
    free(image.bytes);
    return model;
}

/* Looks `n` ids up together and compares with the rows one by one. */
static void check_ids(const struct tenon_embed *embed, const float *rows, const uint64_t *ids,
                      size_t n)
{
    size_t cols = (size_t)embed->cols;
    float *out = malloc(n * cols * sizeof(*out) + 1);
    struct tenon_error err = {0};

    ck_assert_ptr_nonnull(out);
    memset(out, 0x55, n * cols * sizeof(*out));
    ck_ok(tenon_embed_rows(embed, ids, n, out, &err), err);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(memcmp(out + i * cols, rows + ids[i] * cols, cols * sizeof(*out)) == 0,
                      "%s: row %llu differs at place %zu of %zu",
                      tenon_dtype_name((enum tenon_dtype)embed->matrix->dtype),
                      (unsigned long long)ids[i], i, n);
    free(out);
}

static void check_matrix(const struct tenon_embed *embed)
{
    uint64_t *ids = malloc(N_IDS * sizeof(*ids)), seed = 3, rows = embed->rows;
    size_t cols = (size_t)embed->cols, many = N_IDS * 16 / (cols > 32 ? cols : 32);
    float *one_by_one = malloc((size_t)rows * cols * sizeof(*one_by_one) + 1);
    struct tenon_error err = {0};

    ck_assert(ids != NULL && one_by_one != NULL);
    for (uint64_t id = 0; id < rows; id++)
        ck_ok(tenon_embed_rows(embed, &id, 1, one_by_one + id * cols, &err), err);
    for (size_t i = 0; i < N_IDS; i++)
        ids[i] = next_random(&seed) % rows;
    check_ids(embed, one_by_one, ids, 0);
    check_ids(embed, one_by_one, ids, 2);
    check_ids(embed, one_by_one, ids, 33);
    check_ids(embed, one_by_one, ids, many);
    for (size_t i = 0; i < N_IDS; i++)
        ids[i] = i % 3 == 0 ? rows - 1 : (rows - 1 - i % rows) / (i % 2 + 1);
    check_ids(embed, one_by_one, ids, 200);
    for (size_t i = 0; i < N_IDS; i++)
        ids[i] = i % rows;
    check_ids(embed, one_by_one, ids, (size_t)rows);
    free(one_by_one);
    free(ids);
}

static void check_image(const struct image *image, const char *tensor)
{
    struct tenon_model *model = NULL;
    struct tenon_embed embed;
    struct tenon_error err = {0};

    ck_ok(tenon_model_open_memory(image->bytes, image->n, NULL, &model, &err), err);
    if (tensor == NULL)
        ck_ok(tenon_embed_init(&embed, model, &err), err);
    else
        ck_ok(tenon_embed_init_tensor(&embed, model,
                                      tenon_model_find(model, tensor, strlen(tensor)), &err),
              err);
    check_matrix(&embed);
    tenon_model_free(model);
}

START_TEST(many_rows_of_every_type_have_the_bits_of_one)
{
    const struct tenon_dtype_info *info;
    size_t n = 0;

    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++) {
        struct matrix_header header;
        struct image image;

        if (info->block_elements == 0 || info->values != 1)
            continue;
        matrix_make(&header, info, ROWS, COLS);
        image = make_image(&header, ROWS * matrix_row_bytes(info, COLS));
        check_image(&image, NULL);
        free(image.bytes);
        n++;
    }
    ck_assert_uint_gt(n, 30);
}
END_TEST

/* The scales of each row, of blocks of 128 x 128, of all; MXFP4: 32 values in 16 bytes, the power
 * of two of each group beside them. */
START_TEST(codes_with_scales_beside_them_have_the_bits_of_one)
{
    static const char *const texts[] = {
        "{\"x.weight\":{\"dtype\":\"F8_E4M3\",\"shape\":[700,256],\"data_offsets\":[0,179200]},"
        "\"x.weight_scale\":{\"dtype\":\"BF16\",\"shape\":[700,1],\"data_offsets\":[179200,"
        "180600]}}",
        "{\"x.weight\":{\"dtype\":\"F8_E5M2\",\"shape\":[700,256],\"data_offsets\":[0,179200]},"
        "\"x.weight_scale_inv\":{\"dtype\":\"BF16\",\"shape\":[6,2],\"data_offsets\":[179200,"
        "179224]}}",
        "{\"x.weight\":{\"dtype\":\"F8_E4M3\",\"shape\":[700,256],\"data_offsets\":[0,179200]},"
        "\"x.weight_scale\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[179200,179204]}}",
        "{\"x_blocks\":{\"dtype\":\"U8\",\"shape\":[700,4,16],\"data_offsets\":[0,44800]},"
        "\"x_scales\":{\"dtype\":\"U8\",\"shape\":[700,4],\"data_offsets\":[44800,47600]}}"};
    static const uint64_t payloads[] = {180600, 179224, 179204, 47600};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct matrix_header header;
        struct image image;

        matrix_safetensors(&header, texts[i]);
        image = make_image(&header, payloads[i]);
        check_image(&image, strstr(texts[i], "x_blocks") != NULL ? "x_blocks" : "x.weight");
        free(image.bytes);
    }
}
END_TEST

/* Rows of 64 KiB, which no piece holds. */
START_TEST(rows_longer_than_a_piece_have_the_bits_of_one)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(TENON_DTYPE_F64);
    struct matrix_header header;
    struct image image;

    matrix_make(&header, info, 9, 8192);
    image = make_image(&header, 9 * matrix_row_bytes(info, 8192));
    check_image(&image, NULL);
    free(image.bytes);
}
END_TEST

/* Among them tied, quantized and big-endian ones. */
START_TEST(matrices_of_the_samples_have_the_bits_of_one)
{
    size_t n = 0;

    for (size_t i = 0; i < gen_n_samples; i++) {
        struct gen_files files = {0};
        struct tenon_model *model = NULL;
        struct tenon_embed embed;

        gen_sample_make(&gen_samples[i], &files);
        if (files.n == 1 &&
            tenon_model_open_memory(files.file[0].bytes.data, files.file[0].bytes.n, NULL, &model,
                                    NULL) == TENON_OK &&
            tenon_embed_init(&embed, model, NULL) == TENON_OK) {
            check_matrix(&embed);
            n++;
        }
        tenon_model_free(model);
        gen_files_release(&files);
    }
    ck_assert_uint_gt(n, 10);
}
END_TEST

/* --- what is read --- */

/* Rows have 512 bytes: four of them lie in the 2048 that are read over, 64 in one read. */
START_TEST(rows_close_together_are_one_read)
{
    static const struct {
        uint64_t ids[6];
        uint64_t reads;
    } cases[] = {
        {{10, 10, 10, 10, 10, 10}, 1}, {{12, 10, 13, 11, 15, 14}, 1},
        {{10, 15, 20, 25, 30, 35}, 1}, {{10, 16, 10, 16, 10, 16}, 2},
        {{699, 0, 699, 0, 699, 0}, 2}, {{0, 100, 200, 300, 400, 500}, 6},
    };
    char folder[512];
    float out[6 * COLS];
    struct tenon_embed embed;
    struct tenon_error err = {0};
    struct tenon_model *model;

    folder_make(folder);
    model = open_bf16(folder, &embed);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tenon_io_fail_at(&no_fault);
        ck_ok(tenon_embed_rows(&embed, cases[i].ids, 6, out, &err), err);
        ck_assert_msg(tenon_io_count(TENON_IO_PREAD) == cases[i].reads, "case %zu: %llu reads", i,
                      (unsigned long long)tenon_io_count(TENON_IO_PREAD));
    }
    tenon_model_free(model);
    folder_remove(folder);
}
END_TEST

/* 16,384 ids, each row many times: 700 rows of 512 bytes are 11 pieces of 64. */
START_TEST(a_row_that_is_asked_for_often_is_read_once)
{
    const size_t n = 16384;
    char folder[512];
    float *out = malloc(n * COLS * sizeof(*out));
    uint64_t *ids = malloc(n * sizeof(*ids));
    struct tenon_embed embed;
    struct tenon_error err = {0};
    struct tenon_model *model;

    ck_assert(out != NULL && ids != NULL);
    for (size_t i = 0; i < n; i++)
        ids[i] = (i * 37) % ROWS;
    folder_make(folder);
    model = open_bf16(folder, &embed);
    tenon_io_fail_at(&no_fault);
    ck_ok(tenon_embed_rows(&embed, ids, n, out, &err), err);
    ck_assert_uint_eq(tenon_io_count(TENON_IO_PREAD), 11);
    tenon_model_free(model);
    folder_remove(folder);
    free(ids);
    free(out);
}
END_TEST

/* --- what goes wrong --- */

START_TEST(a_failing_read_names_the_matrix_and_lets_the_file_go)
{
    const struct tenon_io_fault fault = {.call = TENON_IO_PREAD, .n = 2, .error = EIO};
    const uint64_t ids[] = {500, 10, 300};
    char folder[512];
    float out[3 * COLS];
    struct tenon_embed embed;
    struct tenon_error err = {0}, none = {0};
    struct tenon_model *model;

    folder_make(folder);
    model = open_bf16(folder, &embed);
    tenon_io_fail_at(&fault);
    ck_fails(tenon_embed_rows(&embed, ids, 3, out, &err), TENON_ERR_IO, err);
    tenon_io_fail_at(&no_fault);
    ck_assert_str_eq(err.subject, "token_embd.weight");
    ck_assert_uint_eq(err.offset, embed.matrix->offset + 300 * 512);
    ck_ok(tenon_embed_rows(&embed, ids, 3, out, &none), none);
    tenon_model_free(model);
    folder_remove(folder);
}
END_TEST

START_TEST(a_file_that_became_shorter_is_truncated)
{
    const uint64_t ids[] = {699, 1};
    char folder[512], path[600];
    float out[2 * COLS];
    struct tenon_embed embed;
    struct tenon_error err = {0};
    struct tenon_model *model;

    folder_make(folder);
    model = open_bf16(folder, &embed);
    snprintf(path, sizeof(path), "%smatrix", folder);
    ck_assert_int_eq(truncate(path, (off_t)(embed.matrix->offset + 699 * 512 + 100)), 0);
    ck_fails(tenon_embed_rows(&embed, ids, 2, out, &err), TENON_ERR_TRUNCATED, err);
    ck_assert_str_eq(err.subject, "token_embd.weight");
    ck_assert_uint_eq(err.offset, embed.matrix->offset + 699 * 512);
    tenon_model_free(model);
    folder_remove(folder);
}
END_TEST

START_TEST(without_memory_nothing_is_looked_up)
{
    const uint64_t ids[] = {1, 2};
    struct cooked c;
    struct tenon_embed embed;
    float out[64];

    cooked_open(&c, "sample:tied_gguf", NULL);
    ck_ok(c.status, c.err);
    ck_ok(tenon_embed_init(&embed, c.model, &c.err), c.err);
    ck_assert_uint_le(embed.cols, 32);
    tenon_mem_fail_at(1, false);
    ck_fails(tenon_embed_rows(&embed, ids, 2, out, &c.err), TENON_ERR_NO_MEMORY, c.err);
    tenon_mem_fail_at(0, false);
    ck_assert_int_eq(tenon_embed_rows(&embed, ids, 2, out, NULL), TENON_OK);
    cooked_release(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("embed_many");
    TCase *tests = tcase_create("embed_many");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, many_rows_of_every_type_have_the_bits_of_one);
    tcase_add_test(tests, codes_with_scales_beside_them_have_the_bits_of_one);
    tcase_add_test(tests, rows_longer_than_a_piece_have_the_bits_of_one);
    tcase_add_test(tests, matrices_of_the_samples_have_the_bits_of_one);
    tcase_add_test(tests, rows_close_together_are_one_read);
    tcase_add_test(tests, a_row_that_is_asked_for_often_is_read_once);
    tcase_add_test(tests, a_failing_read_names_the_matrix_and_lets_the_file_go);
    tcase_add_test(tests, a_file_that_became_shorter_is_truncated);
    tcase_add_test(tests, without_memory_nothing_is_looked_up);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
