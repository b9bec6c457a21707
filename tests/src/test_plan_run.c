/* Each step of a rewrite, on numbers worked out by hand. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_error.h"
#include "plan_files.h"

static char folder[64];
static char out_path[128];
static struct tiny_model tiny;

static void set_up(void)
{
    strcpy(folder, "plan_run_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(out_path, sizeof(out_path), "%s/out", folder);
    tiny_begin(&tiny);
}

static void tear_down(void)
{
    tiny_free(&tiny);
    unlink(out_path);
    rmdir(folder);
}

static enum tenon_status run(struct tenon_plan *plan, struct tenon_error *err)
{
    struct tenon_run_options options;

    tenon_run_options_init(&options);
    options.no_sync = true;
    options.verify = true;
    options.force = true;
    options.threads = 2;
    plan_lay_out(plan);
    return tenon_plan_run(plan, &options, err);
}

/* Runs a plan with the one tensor, and compares its payload. */
static void expect(const struct plan_tensor *tensor, const void *bytes, size_t n)
{
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_error err = {0};
    unsigned char *got;
    size_t got_n = 0;

    plan_add(plan, tensor);
    ck_ok(run(plan, &err), err);
    got = plan_read_file(out_path, &got_n);
    ck_assert_ptr_nonnull(got);
    ck_assert_uint_eq(got_n, 64 + n);
    ck_assert_mem_eq(got, "HEAD....", 8);
    for (size_t i = PLAN_HEAD_BYTES; i < 64; i++)
        ck_assert_uint_eq(got[i], 0);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(got[64 + i] == ((const unsigned char *)bytes)[i], "byte %zu: %02x, not %02x",
                      i, got[64 + i], ((const unsigned char *)bytes)[i]);
    free(got);
    tenon_plan_free(plan);
}

static void expect_failure(const struct plan_tensor *tensor, enum tenon_status wanted,
                           const char *message)
{
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_error err = {0};

    plan_add(plan, tensor);
    ck_fails(run(plan, &err), wanted, err);
    ck_assert_str_eq(err.message, message);
    ck_assert_str_eq(err.subject, "out");
    ck_assert_int_ne(access(out_path, F_OK), 0);
    ck_assert_uint_eq(plan_count_hidden(folder), 0);
    tenon_plan_free(plan);
}

START_TEST(a_tensor_is_copied)
{
    static const uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};

    tiny_add(&tiny, "a", TENON_DTYPE_U8, 2, 3, bytes);
    expect(&(struct plan_tensor){.dtype = TENON_DTYPE_U8,
                                 .n_dims = 2,
                                 .dims = {2, 3},
                                 .sources = {plan_source(tiny_end(&tiny, ""), "a")},
                                 .n_sources = 1},
           bytes, 6);
}
END_TEST

START_TEST(rows_are_sliced_and_stacked)
{
    static const uint8_t a[6] = {1, 2, 3, 4, 5, 6}, b[4] = {11, 12, 13, 14};
    static const uint8_t wanted[8] = {3, 4, 5, 6, 11, 12, 13, 14};
    struct plan_tensor t = {.dtype = TENON_DTYPE_U8, .n_dims = 2, .dims = {4, 2}, .n_sources = 2};

    tiny_add(&tiny, "a", TENON_DTYPE_U8, 3, 2, a);
    tiny_add(&tiny, "b", TENON_DTYPE_U8, 2, 2, b);
    tiny_end(&tiny, "");
    t.sources[0] = plan_source(tiny.model, "a");
    t.sources[0].first_row = 1;
    t.sources[0].n_rows = 2;
    t.sources[1] = plan_source(tiny.model, "b");
    expect(&t, wanted, sizeof(wanted));
}
END_TEST

/* 8 rows in 2 heads of 4, all of which rotate: 0 1 | 2 3 becomes 0 2 1 3. */
START_TEST(half_split_rows_become_neighbours_and_back)
{
    static const uint8_t rows[8] = {0, 1, 2, 3, 10, 11, 12, 13};
    static const uint8_t interleaved[8] = {0, 2, 1, 3, 10, 12, 11, 13};
    struct plan_tensor t = {
        .dtype = TENON_DTYPE_U8,
        .n_dims = 2,
        .dims = {8, 1},
        .n_sources = 1,
        .steps = {{.kind = TENON_STEP_PERMUTE, .heads = 2, .rotary = 4, .to_interleaved = true}},
        .n_steps = 1};

    tiny_add(&tiny, "half", TENON_DTYPE_U8, 8, 1, rows);
    tiny_add(&tiny, "interleaved", TENON_DTYPE_U8, 8, 1, interleaved);
    tiny_end(&tiny, "");
    t.sources[0] = plan_source(tiny.model, "half");
    expect(&t, interleaved, 8);
    t.sources[0] = plan_source(tiny.model, "interleaved");
    t.steps[0].to_interleaved = false;
    expect(&t, rows, 8);
}
END_TEST

/* One head of 6 rows, 4 of which rotate. */
START_TEST(rows_that_do_not_rotate_stay)
{
    static const uint16_t rows[12] = {0, 100, 1, 101, 2, 102, 3, 103, 4, 104, 5, 105};
    static const uint16_t wanted[12] = {0, 100, 2, 102, 1, 101, 3, 103, 4, 104, 5, 105};
    struct plan_tensor t = {
        .dtype = TENON_DTYPE_U16,
        .n_dims = 2,
        .dims = {6, 2},
        .n_sources = 1,
        .steps = {{.kind = TENON_STEP_PERMUTE, .heads = 1, .rotary = 4, .to_interleaved = true}},
        .n_steps = 1};

    tiny_add(&tiny, "a", TENON_DTYPE_U16, 6, 2, rows);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    expect(&t, wanted, sizeof(wanted));
}
END_TEST

START_TEST(a_matrix_is_transposed)
{
    static const uint16_t a[6] = {1, 2, 3, 4, 5, 6}, wanted[6] = {1, 4, 2, 5, 3, 6};
    struct plan_tensor t = {.dtype = TENON_DTYPE_U16,
                            .n_dims = 2,
                            .dims = {3, 2},
                            .n_sources = 1,
                            .steps = {{.kind = TENON_STEP_TRANSPOSE}},
                            .n_steps = 1};

    tiny_add(&tiny, "a", TENON_DTYPE_U16, 2, 3, a);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    expect(&t, wanted, sizeof(wanted));
}
END_TEST

/* Larger than one tile, with a cast: 700 x 900 numbers below 2048, which F16 holds. */
START_TEST(a_large_matrix_is_transposed_and_cast)
{
    enum { ROWS = 700, COLS = 300 };
    static float a[ROWS * COLS];
    static uint8_t wanted[ROWS * COLS];
    struct plan_tensor t = {.dtype = TENON_DTYPE_U8,
                            .n_dims = 2,
                            .dims = {COLS, ROWS},
                            .n_sources = 1,
                            .steps = {{.kind = TENON_STEP_TRANSPOSE}},
                            .n_steps = 1};

    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLS; c++) {
            unsigned value = (unsigned)(r * 7 + c * 13) % 251;

            a[r * COLS + c] = (float)value;
            wanted[c * ROWS + r] = (uint8_t)value;
        }
    tiny_add(&tiny, "a", TENON_DTYPE_F32, ROWS, COLS, a);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    expect(&t, wanted, sizeof(wanted));
}
END_TEST

/* Permuted, then transposed: the columns change places. */
START_TEST(steps_follow_each_other)
{
    static const uint8_t a[8] = {1, 5, 2, 6, 3, 7, 4, 8}; /* rows 1..4 with 5..8 beside them */
    static const uint8_t wanted[8] = {1, 3, 2, 4, 5, 7, 6, 8};
    struct plan_tensor t = {
        .dtype = TENON_DTYPE_U8,
        .n_dims = 2,
        .dims = {2, 4},
        .n_sources = 1,
        .steps = {{.kind = TENON_STEP_PERMUTE, .heads = 1, .rotary = 4, .to_interleaved = true},
                  {.kind = TENON_STEP_TRANSPOSE}},
        .n_steps = 2};

    tiny_add(&tiny, "a", TENON_DTYPE_U8, 4, 2, a);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    expect(&t, wanted, sizeof(wanted));
}
END_TEST

START_TEST(a_constant_is_added_and_a_mean_taken)
{
    static const float a[2] = {1, -3}, b[2] = {2, 5};
    static const float wanted[2] = {2.5f, 2};
    struct plan_tensor t = {.dtype = TENON_DTYPE_F32,
                            .n_dims = 1,
                            .dims = {2},
                            .combine = TENON_COMBINE_MEAN,
                            .n_sources = 2,
                            .steps = {{.kind = TENON_STEP_ADD, .constant = 1}},
                            .n_steps = 1};

    tiny_add(&tiny, "a", TENON_DTYPE_F32, 0, 2, a);
    tiny_add(&tiny, "b", TENON_DTYPE_F32, 0, 2, b);
    tiny_end(&tiny, "");
    t.sources[0] = plan_source(tiny.model, "a");
    t.sources[1] = plan_source(tiny.model, "b");
    expect(&t, wanted, sizeof(wanted));
}
END_TEST

/* 1 + 2^-11 is half-way between two F16 numbers, and 2^-40 more is above it: rounded once the
 * result is 1 + 2^-10 (0x3c01), through float32 it would be the even 1 (0x3c00). */
START_TEST(float64_is_rounded_once)
{
    static const double a[3] = {0x1.002p0 + 0x1p-40, -(0x1.002p0 + 0x1p-40), 0x1.002p0};
    static const uint16_t wanted[3] = {0x3c01, 0xbc01, 0x3c00};
    static const uint16_t bf16[3] = {0x3f80, 0xbf80, 0x3f80};
    struct plan_tensor t = {.dtype = TENON_DTYPE_F16, .n_dims = 1, .dims = {3}, .n_sources = 1};

    tiny_add(&tiny, "a", TENON_DTYPE_F64, 0, 3, a);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    expect(&t, wanted, sizeof(wanted));
    t.dtype = TENON_DTYPE_BF16;
    expect(&t, bf16, sizeof(bf16));
}
END_TEST

/* 2^53 + 1 needs 54 bits, and is no double. */
START_TEST(integers_stay_exact)
{
    static const int64_t a[2] = {INT64_C(9007199254740993), -5};
    static const int64_t small[3] = {-128, 127, 0};
    static const int8_t wanted[3] = {-128, 127, 0};
    struct plan_tensor t = {.dtype = TENON_DTYPE_I64, .n_dims = 1, .dims = {2}, .n_sources = 1};

    tiny_add(&tiny, "a", TENON_DTYPE_I64, 0, 2, a);
    tiny_add(&tiny, "small", TENON_DTYPE_I64, 0, 3, small);
    tiny_end(&tiny, "");
    t.sources[0] = plan_source(tiny.model, "a");
    expect(&t, a, sizeof(a));
    unlink(out_path);
    t.dtype = TENON_DTYPE_U64;
    expect_failure(&t, TENON_ERR_CANNOT_REPRESENT, "U64 cannot hold -5, element number 1");
    t.sources[0] = plan_source(tiny.model, "small");
    t.dtype = TENON_DTYPE_I8;
    t.dims[0] = 3;
    expect(&t, wanted, sizeof(wanted));
}
END_TEST

/* Half-way between 2^24 and 2^24 + 2, and one above it at 2^60: ties to even, and sticky bits. */
START_TEST(large_integers_become_floats_rounded_once)
{
    static const int64_t a[4] = {16777217, 16777219, (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1,
                                 -((INT64_C(1) << 60) + (INT64_C(1) << 36) + 1)};
    static const float wanted[4] = {16777216, 16777220, 0x1.000002p60f, -0x1.000002p60f};
    struct plan_tensor t = {.dtype = TENON_DTYPE_F32, .n_dims = 1, .dims = {4}, .n_sources = 1};

    tiny_add(&tiny, "a", TENON_DTYPE_I64, 0, 4, a);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    expect(&t, wanted, sizeof(wanted));
}
END_TEST

START_TEST(a_fraction_is_no_integer)
{
    static const double a[2] = {3, 0.5};
    static const uint8_t b[2] = {0, 200};
    struct plan_tensor t = {.dtype = TENON_DTYPE_I8, .n_dims = 1, .dims = {2}, .n_sources = 1};

    tiny_add(&tiny, "a", TENON_DTYPE_F64, 0, 2, a);
    tiny_add(&tiny, "b", TENON_DTYPE_U8, 0, 2, b);
    tiny_end(&tiny, "");
    t.sources[0] = plan_source(tiny.model, "a");
    expect_failure(&t, TENON_ERR_CANNOT_REPRESENT, "I8 cannot hold 0.5, element number 1");
    t.sources[0] = plan_source(tiny.model, "b");
    expect_failure(&t, TENON_ERR_CANNOT_REPRESENT, "I8 cannot hold 200, element number 1");
}
END_TEST

/* 65519.996 rounds down to 65504, 65520 up to infinity. */
START_TEST(what_becomes_infinite_is_refused_and_named)
{
    static const float fits[2] = {65519.996f, -1}, large[3] = {1, -65520, 1e30f};
    static const uint16_t wanted[2] = {0x7bff, 0xbc00}, lost[3] = {0x3c00, 0xfc00, 0x7c00};
    struct plan_tensor t = {.dtype = TENON_DTYPE_F16, .n_dims = 1, .dims = {2}, .n_sources = 1};
    struct tenon_plan *plan;
    struct tenon_error err = {0};
    unsigned char *got;
    size_t n = 0;

    tiny_add(&tiny, "fits", TENON_DTYPE_F32, 0, 2, fits);
    tiny_add(&tiny, "large", TENON_DTYPE_F32, 0, 3, large);
    tiny_end(&tiny, "");
    t.sources[0] = plan_source(tiny.model, "fits");
    expect(&t, wanted, sizeof(wanted));
    unlink(out_path);
    t.sources[0] = plan_source(tiny.model, "large");
    t.dims[0] = 3;
    expect_failure(&t, TENON_ERR_CANNOT_REPRESENT,
                   "F16 has no finite value for -65520, element number 1");
    plan = plan_begin(out_path);
    plan_add(plan, &t);
    ck_ok(tenon_plan_scan(plan, NULL, "--lossy", true, &err), err);
    ck_assert_uint_eq(tenon_plan_n_losses(plan), 1);
    ck_assert_str_eq(tenon_plan_loss(plan, 0)->code, "overflow");
    ck_assert_str_eq(tenon_plan_loss(plan, 0)->subject, "out");
    ck_assert_str_eq(tenon_plan_loss(plan, 0)->text,
                     "2 of 3 values have no finite F16, first element number 1, -65520");
    ck_ok(run(plan, &err), err);
    got = plan_read_file(out_path, &n);
    ck_assert_mem_eq(got + 64, lost, sizeof(lost));
    free(got);
    tenon_plan_free(plan);
}
END_TEST

START_TEST(a_loss_without_leave_stops_the_run)
{
    static const float large[1] = {1e9f};
    struct plan_tensor t = {.dtype = TENON_DTYPE_F16, .n_dims = 1, .dims = {1}, .n_sources = 1};
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_error err = {0};

    tiny_add(&tiny, "a", TENON_DTYPE_F32, 0, 1, large);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    plan_add(plan, &t);
    ck_ok(tenon_plan_scan(plan, NULL, "--lossy", false, &err), err);
    ck_fails(run(plan, &err), TENON_ERR_CANNOT_REPRESENT, err);
    ck_assert_str_eq(err.hint, "allow it with --lossy");
    ck_assert_int_ne(access(out_path, F_OK), 0);
    tenon_plan_free(plan);
}
END_TEST

/* A Q8_0 block: scale 2 (F16 0x4000) and codes 0 ... 31. */
START_TEST(byte_order_is_swapped_and_blocks_decoded)
{
    uint8_t block[34] = {0x00, 0x40}, swapped[34] = {0x40, 0x00};
    float values[32];
    struct plan_tensor t = {
        .dtype = TENON_DTYPE_Q8_0, .n_dims = 2, .dims = {1, 32}, .n_sources = 1};
    struct tenon_plan *plan;
    struct tenon_error err = {0};
    unsigned char *got;
    size_t n = 0;

    for (uint8_t i = 0; i < 32; i++) {
        block[2 + i] = swapped[2 + i] = i;
        values[i] = 2.0f * i;
    }
    tiny_add(&tiny, "a", TENON_DTYPE_Q8_0, 1, 32, block);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    plan = plan_begin(out_path);
    plan->files[0].big_endian = true;
    plan_add(plan, &t);
    ck_ok(run(plan, &err), err);
    got = plan_read_file(out_path, &n);
    ck_assert_mem_eq(got + 64, swapped, sizeof(swapped));
    free(got);
    tenon_plan_free(plan);
    t.dtype = TENON_DTYPE_F32;
    expect(&t, values, sizeof(values));
}
END_TEST

START_TEST(bytes_from_memory_are_written)
{
    static const float values[2] = {1, 2};
    struct plan_tensor t = {.dtype = TENON_DTYPE_F32,
                            .n_dims = 1,
                            .dims = {2},
                            .sources = {{.bytes = values, .n_rows = UINT64_MAX}},
                            .n_sources = 1};

    expect(&t, values, sizeof(values));
}
END_TEST

START_TEST(sources_that_do_not_fit_are_misuse)
{
    static const uint8_t a[4] = {1, 2, 3, 4};
    struct plan_tensor t = {.dtype = TENON_DTYPE_U8, .n_dims = 1, .dims = {5}, .n_sources = 1};

    tiny_add(&tiny, "a", TENON_DTYPE_U8, 0, 4, a);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    expect_failure(&t, TENON_ERR_MISUSE, "the plan's sources do not fit");
    t.sources[0].n_rows = 5;
    expect_failure(&t, TENON_ERR_MISUSE, "the plan's rows do not fit");
}
END_TEST

/* Values that no two neighbours share, over many pieces, with 1 and 5 threads. */
START_TEST(bytes_do_not_depend_on_the_threads)
{
    enum { N = 250000 };
    static float values[N];
    struct plan_tensor t = {.dtype = TENON_DTYPE_BF16, .n_dims = 1, .dims = {N}, .n_sources = 1};
    unsigned char *got[2];
    size_t n[2] = {0, 0};

    for (size_t i = 0; i < N; i++)
        values[i] = (float)i * 1.37f - 7;
    tiny_add(&tiny, "a", TENON_DTYPE_F32, 0, N, values);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    for (unsigned k = 0; k < 2; k++) {
        struct tenon_plan *plan = plan_begin(out_path);
        struct tenon_run_options options;
        struct tenon_error err = {0};

        tenon_run_options_init(&options);
        options.threads = 1 + 4 * k;
        options.force = options.no_sync = true;
        plan_add(plan, &t);
        plan_lay_out(plan);
        ck_ok(tenon_plan_run(plan, &options, &err), err);
        got[k] = plan_read_file(out_path, &n[k]);
        tenon_plan_free(plan);
    }
    ck_assert_uint_eq(n[0], 64 + 2 * N);
    ck_assert_uint_eq(n[1], n[0]);
    ck_assert_mem_eq(got[0], got[1], n[0]);
    free(got[0]);
    free(got[1]);
}
END_TEST

static bool stop_at_once(uint64_t done, uint64_t total, void *user)
{
    (void)user;
    return done > total;
}

START_TEST(a_run_can_be_stopped)
{
    static const uint8_t a[4] = {1, 2, 3, 4};
    struct plan_tensor t = {.dtype = TENON_DTYPE_U8, .n_dims = 1, .dims = {4}, .n_sources = 1};
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_run_options options;
    struct tenon_error err = {0};

    tiny_add(&tiny, "a", TENON_DTYPE_U8, 0, 4, a);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    plan_add(plan, &t);
    plan_lay_out(plan);
    tenon_run_options_init(&options);
    options.progress = stop_at_once;
    ck_fails(tenon_plan_run(plan, &options, &err), TENON_ERR_CANCELLED, err);
    ck_assert_int_ne(access(out_path, F_OK), 0);
    ck_assert_uint_eq(plan_count_hidden(folder), 0);
    tenon_plan_free(plan);
}
END_TEST

/* A disk that keeps other bytes than it was given: between the writing and the reading back, the
 * byte at `*user` of the unfinished file changes. */
static bool damage(uint64_t done, uint64_t total, void *user)
{
    char path[160];
    unsigned char byte = 0;
    int fd;

    if (done * 2 != total)
        return true;
    snprintf(path, sizeof(path), "%s/.out.%ld.tmp", folder, (long)getpid());
    fd = open(path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pread(fd, &byte, 1, *(const off_t *)user), 1);
    byte ^= 1;
    ck_assert_int_eq(pwrite(fd, &byte, 1, *(const off_t *)user), 1);
    close(fd);
    return true;
}

START_TEST(a_byte_that_the_disk_changed_is_found_by_reading_back)
{
    static const struct {
        off_t at;
        enum tenon_dtype dtype;
        const char *subject;
    } rows[] = {
        {3, TENON_DTYPE_U8, ""},            /* in the head */
        {50, TENON_DTYPE_U8, ""},           /* between head and payload */
        {64, TENON_DTYPE_U8, "out"},        /* copied */
        {64 + 31, TENON_DTYPE_U8, "out"},   /* the last byte of it */
        {64 + 100, TENON_DTYPE_F32, "out"}, /* made */
    };
    static const uint8_t a[32] = {1, 2, 3, 4};
    struct plan_tensor t = {.dtype = rows[_i].dtype, .n_dims = 1, .dims = {32}, .n_sources = 1};
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_run_options options;
    struct tenon_error err = {0};
    off_t at = rows[_i].at;

    tiny_add(&tiny, "a", TENON_DTYPE_U8, 0, 32, a);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    plan_add(plan, &t);
    plan_lay_out(plan);
    tenon_run_options_init(&options);
    options.progress = damage;
    options.user = &at;
    options.verify = true;
    options.threads = 1;
    ck_fails(tenon_plan_run(plan, &options, &err), TENON_ERR_MISMATCH, err);
    ck_assert_uint_eq(err.offset, (uint64_t)at);
    ck_assert_str_eq(err.subject, rows[_i].subject);
    ck_assert_int_ne(access(out_path, F_OK), 0);
    ck_assert_uint_eq(plan_count_hidden(folder), 0);
    tenon_plan_free(plan);
}
END_TEST

/* Parts that follow each other in both files are joined; what is not copied whole, or from
 * elsewhere, is not. */
START_TEST(copies_that_are_joined_keep_their_order)
{
    static const uint8_t a[32] = {1}, b[32] = {2}, c[32] = {3};
    static const char *const names[] = {"a", "b", "c", "b", "a"};
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_error err = {0};
    unsigned char *got;
    size_t n = 0;

    tiny_add(&tiny, "a", TENON_DTYPE_U8, 0, 32, a);
    tiny_add(&tiny, "b", TENON_DTYPE_U8, 0, 32, b);
    tiny_add(&tiny, "c", TENON_DTYPE_U8, 0, 32, c);
    tiny_end(&tiny, "");
    for (size_t i = 0; i < 5; i++) {
        struct plan_tensor t = {.dtype = TENON_DTYPE_U8, .n_dims = 1, .dims = {32}, .n_sources = 1};

        t.sources[0] = plan_source(tiny.model, names[i]);
        plan_add(plan, &t);
    }
    ck_ok(run(plan, &err), err);
    got = plan_read_file(out_path, &n);
    ck_assert_uint_eq(n, 64 + 5 * 32);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(got[64 + i * 32], names[i][0] - 'a' + 1);
        ck_assert_uint_eq(got[64 + i * 32 + 1], 0);
    }
    free(got);
    tenon_plan_free(plan);
}
END_TEST

/* What follows in the target, and by its offset would follow in the source, of another file. */
START_TEST(copies_from_two_files_are_not_joined)
{
    static const uint8_t a[32] = {1}, b[32] = {2}, c[32] = {3}, d[32] = {4};
    struct plan_tensor t = {.dtype = TENON_DTYPE_U8, .n_dims = 1, .dims = {32}, .n_sources = 1};
    struct tenon_plan *plan = plan_begin(out_path);
    struct tiny_model other;
    struct tenon_error err = {0};
    unsigned char *got;
    size_t n = 0;

    tiny_add(&tiny, "a", TENON_DTYPE_U8, 0, 32, a);
    tiny_add(&tiny, "b", TENON_DTYPE_U8, 0, 32, b);
    tiny_begin(&other);
    tiny_add(&other, "c", TENON_DTYPE_U8, 0, 32, c);
    tiny_add(&other, "d", TENON_DTYPE_U8, 0, 32, d);
    t.sources[0] = plan_source(tiny_end(&tiny, ""), "a");
    plan_add(plan, &t);
    t.sources[0] = plan_source(tiny_end(&other, ""), "d");
    plan_add(plan, &t);
    ck_ok(run(plan, &err), err);
    got = plan_read_file(out_path, &n);
    ck_assert_uint_eq(n, 64 + 2 * 32);
    ck_assert_uint_eq(got[64], 1);
    ck_assert_uint_eq(got[64 + 32], 4);
    free(got);
    tenon_plan_free(plan);
    tiny_free(&other);
}
END_TEST

START_TEST(a_plan_without_layout_is_misuse)
{
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_error err = {0};

    ck_fails(tenon_plan_run(plan, NULL, &err), TENON_ERR_MISUSE, err);
    tenon_plan_free(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_run");
    TCase *tcase = tcase_create("plan_run");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_tensor_is_copied);
    tcase_add_test(tcase, rows_are_sliced_and_stacked);
    tcase_add_test(tcase, half_split_rows_become_neighbours_and_back);
    tcase_add_test(tcase, rows_that_do_not_rotate_stay);
    tcase_add_test(tcase, a_matrix_is_transposed);
    tcase_add_test(tcase, a_large_matrix_is_transposed_and_cast);
    tcase_add_test(tcase, steps_follow_each_other);
    tcase_add_test(tcase, a_constant_is_added_and_a_mean_taken);
    tcase_add_test(tcase, float64_is_rounded_once);
    tcase_add_test(tcase, integers_stay_exact);
    tcase_add_test(tcase, large_integers_become_floats_rounded_once);
    tcase_add_test(tcase, a_fraction_is_no_integer);
    tcase_add_test(tcase, what_becomes_infinite_is_refused_and_named);
    tcase_add_test(tcase, a_loss_without_leave_stops_the_run);
    tcase_add_test(tcase, byte_order_is_swapped_and_blocks_decoded);
    tcase_add_test(tcase, bytes_from_memory_are_written);
    tcase_add_test(tcase, sources_that_do_not_fit_are_misuse);
    tcase_add_test(tcase, bytes_do_not_depend_on_the_threads);
    tcase_add_test(tcase, a_run_can_be_stopped);
    tcase_add_loop_test(tcase, a_byte_that_the_disk_changed_is_found_by_reading_back, 0, 5);
    tcase_add_test(tcase, copies_that_are_joined_keep_their_order);
    tcase_add_test(tcase, copies_from_two_files_are_not_joined);
    tcase_add_test(tcase, a_plan_without_layout_is_misuse);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
