/* Looking rows up: what comes out, and what it may cost. The allocator is wrapped. */
#define _DEFAULT_SOURCE

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cooked.h"
#include "folder.h"
#include "heap.h"
#include "matrix_file.h"

/* A sparse matrix of at least this many bytes; the ids that are looked up in it; what that may
 * take besides the rows. */
#define SPARSE_BYTES (UINT64_C(8) << 30)
#define N_IDS        8
#define MOST_HEAP    ((size_t)16 << 20)
#define MOST_EXTRA   (UINT64_C(64) << 10)
#define COLS         UINT64_C(4096)

/* Bytes that this process has read so far; false where the system does not count them. */
static bool count_read(uint64_t *out)
{
    FILE *io = fopen("/proc/self/io", "r");
    bool ok = io != NULL && fscanf(io, "rchar: %" SCNu64, out) == 1;

    if (io != NULL)
        fclose(io);
    return ok;
}

/* Looks rows of a sparse matrix up, in a file that the disk need not hold: spread over all of it,
 * or, `close_by`, as far apart as rows may be that one call reads, with what lies between. */
static void check_cost(const struct tenon_dtype_info *info, bool close_by, const char *folder,
                       float *values)
{
    uint64_t row_bytes = matrix_row_bytes(info, COLS);
    uint64_t rows = SPARSE_BYTES / row_bytes + 1, before = 0, after = 0;
    struct matrix_header header;
    char path[600];
    struct tenon_model *model = NULL;
    struct tenon_embed embed;
    struct tenon_error err = {0};
    uint64_t ids[N_IDS];
    bool counted;
    int fd;

    matrix_make(&header, info, rows, COLS);
    snprintf(path, sizeof(path), "%ssparse", folder);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, header.bytes, header.n), (ssize_t)header.n);
    ck_assert_int_eq(ftruncate(fd, (off_t)(header.n + rows * row_bytes)), 0);
    close(fd);
    for (size_t i = 0; i < N_IDS; i++)
        ids[i] = close_by ? 7 + i * (1 + 2048 / row_bytes) : (rows - 1) * i / (N_IDS - 1);

    heap_start();
    counted = count_read(&before);
    ck_ok(tenon_model_open(path, NULL, &model, &err), err);
    ck_ok(tenon_embed_init(&embed, model, &err), err);
    ck_ok(tenon_embed_rows(&embed, ids, N_IDS, values, &err), err);
    tenon_model_free(model);
    ck_assert(!counted || count_read(&after));
    ck_assert_uint_lt(heap_peak(), MOST_HEAP);
    if (counted)
        ck_assert_msg(after - before <= MOST_EXTRA + N_IDS * row_bytes,
                      "%s: %" PRIu64 " bytes read, the rows have %" PRIu64, info->name,
                      after - before, N_IDS * row_bytes);
    printf("%-12s %u rows of %" PRIu64 " bytes: %" PRIu64 " bytes read, %zu bytes of heap\n",
           info->name, N_IDS, row_bytes, after - before, heap_peak());
}

/* Every type that rows can be made of. */
START_TEST(rows_of_a_huge_matrix_cost_only_themselves)
{
    char folder[512];
    float *values = malloc(N_IDS * COLS * sizeof(*values));
    const struct tenon_dtype_info *info;
    size_t n = 0;

    ck_assert_ptr_nonnull(values);
    folder_make(folder);
    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++)
        if (info->block_elements != 0 && info->values == 1) {
            check_cost(info, false, folder, values);
            check_cost(info, true, folder, values);
            n++;
        }
    folder_remove(folder);
    free(values);
    ck_assert_uint_gt(n, 30);
}
END_TEST

/* Row i of W, and the product of W with the vector that is 1 at i: adding zeros changes nothing. */
START_TEST(a_row_equals_the_one_hot_product)
{
    struct cooked c;
    struct tenon_embed embed;
    float *matrix, *product, *row;

    cooked_open(&c, "sample:tied_gguf", NULL);
    ck_ok(c.status, c.err);
    ck_ok(tenon_embed_init(&embed, c.model, &c.err), c.err);
    matrix = calloc(embed.rows * embed.cols, sizeof(*matrix));
    product = calloc(embed.cols, sizeof(*product));
    row = calloc(embed.cols, sizeof(*row));
    ck_assert(matrix != NULL && product != NULL && row != NULL);
    ck_ok(tenon_logical_decode(&embed.logical, 0, embed.rows * embed.cols, matrix, &c.err), c.err);
    for (uint64_t id = 0; id < embed.rows; id++) {
        memset(product, 0, embed.cols * sizeof(*product));
        for (uint64_t r = 0; r < embed.rows; r++)
            for (uint64_t col = 0; col < embed.cols; col++)
                product[col] += (r == id ? 1.0f : 0.0f) * matrix[r * embed.cols + col];
        ck_ok(tenon_embed_rows(&embed, &id, 1, row, &c.err), c.err);
        for (uint64_t col = 0; col < embed.cols; col++)
            ck_assert_float_eq(row[col], product[col]);
    }
    free(matrix);
    free(product);
    free(row);
    cooked_release(&c);
}
END_TEST

START_TEST(an_id_outside_is_named_with_the_row_count)
{
    struct cooked c;
    struct tenon_embed embed;
    struct tenon_error err = {0};
    float row[32];
    const uint64_t ids[] = {1, 40};

    cooked_open(&c, "sample:tied_gguf", NULL);
    ck_ok(c.status, c.err);
    ck_ok(tenon_embed_init(&embed, c.model, &c.err), c.err);
    ck_assert_uint_eq(embed.rows, 40);
    ck_assert_int_eq(tenon_embed_rows(&embed, ids, 2, row, &err), TENON_ERR_MISUSE);
    ck_assert_str_eq(err.message, "id 40 is outside the matrix, which has 40 rows");
    ck_assert_str_eq(err.subject, "token_embd.weight");
    ck_assert_uint_eq(err.offset, TENON_NO_OFFSET);
    cooked_release(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("embed_rows");
    TCase *tests = tcase_create("embed_rows");

    tcase_add_test(tests, rows_of_a_huge_matrix_cost_only_themselves);
    tcase_add_test(tests, a_row_equals_the_one_hot_product);
    tcase_add_test(tests, an_id_outside_is_named_with_the_row_count);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
