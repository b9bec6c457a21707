/* Files of many small tensors: written together, and each as if it were alone. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_error.h"
#include "plan_files.h"

enum { MANY = 9000, MOST_VALUES = 5 };

static char folder[64];
static char out_path[128];
static struct tiny_model tiny;

static void set_up(void)
{
    strcpy(folder, "plan_small_test_XXXXXX");
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

static size_t count_values(unsigned i)
{
    return 1 + i % MOST_VALUES;
}

/* Whole numbers below 128: a BF16 holds them in the upper half of their float32. */
static float value_of(unsigned i, size_t k)
{
    return (float)((i * 7 + k * 3) % 128);
}

/* Tensor `i` of the input: F32, values as above. */
static void fill_input(void)
{
    for (unsigned i = 0; i < MANY; i++) {
        float values[MOST_VALUES];
        char name[32];

        for (size_t k = 0; k < count_values(i); k++)
            values[k] = value_of(i, k);
        snprintf(name, sizeof(name), "t%u", i);
        tiny_add(&tiny, name, TENON_DTYPE_F32, 0, count_values(i), values);
    }
    tiny_end(&tiny, "");
}

/* Of three tensors one is copied, one becomes BF16, and one is two: its own values, and those of
 * the tensor before it. */
static void add_tensor(struct tenon_plan *plan, unsigned i)
{
    char name[32], before[32];
    struct tenon_plan_source sources[2];
    uint64_t dim = count_values(i) + (i % 3 == 2 ? count_values(i - 1) : 0);
    struct tenon_plan_tensor tensor = {.dtype = i % 3 == 1 ? TENON_DTYPE_BF16 : TENON_DTYPE_F32,
                                       .n_dims = 1,
                                       .dims = &dim,
                                       .sources = sources,
                                       .n_sources = i % 3 == 2 ? 2 : 1};
    struct tenon_error err = {0};

    snprintf(name, sizeof(name), "t%u", i);
    snprintf(before, sizeof(before), "t%u", i > 0 ? i - 1 : 0);
    tensor.name = (struct tenon_str){name, strlen(name)};
    sources[0] = plan_source(tiny.model, name);
    sources[1] = plan_source(tiny.model, before);
    ck_ok(tenon_plan_add_tensor(plan, &tensor, &err), err);
}

static struct tenon_plan *make_plan(void)
{
    struct tenon_plan *plan = plan_begin(out_path);

    for (unsigned i = 0; i < MANY; i++)
        add_tensor(plan, i);
    plan_lay_out(plan);
    return plan;
}

/* Checks `n` float32 values of input tensor `i`; where the next ones stand. */
static const unsigned char *check_floats(const unsigned char *bytes, unsigned i)
{
    for (size_t k = 0; k < count_values(i); k++, bytes += sizeof(float)) {
        float value;

        memcpy(&value, bytes, sizeof(value));
        ck_assert_msg(value == value_of(i, k), "tensor %u, value %zu: %g", i, k, (double)value);
    }
    return bytes;
}

static const unsigned char *check_tensor(const unsigned char *bytes, unsigned i)
{
    if (i % 3 == 2)
        return check_floats(check_floats(bytes, i), i - 1);
    if (i % 3 == 0)
        return check_floats(bytes, i);
    for (size_t k = 0; k < count_values(i); k++, bytes += 2) {
        float value = value_of(i, k);
        uint32_t bits;

        memcpy(&bits, &value, sizeof(bits));
        ck_assert_msg(bytes[0] == (bits >> 16 & 0xff) && bytes[1] == bits >> 24,
                      "tensor %u, value %zu: %02x%02x", i, k, bytes[1], bytes[0]);
    }
    return bytes;
}

/* Every tensor at its offset, and zeros between them. */
static void check_output(const struct tenon_plan *plan)
{
    size_t n = 0;
    unsigned char *got = plan_read_file(out_path, &n);
    const unsigned char *at = got + PLAN_HEAD_BYTES;

    ck_assert_ptr_nonnull(got);
    ck_assert_uint_eq(n, plan->files[0].bytes);
    for (unsigned i = 0; i < MANY; i++) {
        const unsigned char *payload = got + plan->tensors[i].offset;

        for (; at < payload; at++)
            ck_assert_msg(*at == 0, "byte %td is %02x", at - got, *at);
        at = check_tensor(payload, i);
    }
    ck_assert_ptr_eq(at, got + n);
    free(got);
}

START_TEST(each_is_what_it_would_be_alone)
{
    struct tenon_plan *plan;
    struct tenon_run_options options;
    struct tenon_error err = {0};

    fill_input();
    plan = make_plan();
    tenon_run_options_init(&options);
    options.no_sync = options.verify = true;
    options.threads = _i == 0 ? 1 : 4;
    ck_ok(tenon_plan_run(plan, &options, &err), err);
    check_output(plan);
    tenon_plan_free(plan);
}
END_TEST

/* The first in the plan lies last in the file, and so on. */
START_TEST(places_need_not_follow_the_plan)
{
    struct tenon_plan *plan;
    struct tenon_run_options options;
    struct tenon_error err = {0};
    unsigned char *got;
    size_t n = 0;

    fill_input();
    plan = make_plan();
    for (unsigned i = 0; i < MANY; i++)
        plan->tensors[i].offset = 64 + (uint64_t)(MANY - 1 - i) * 64;
    plan->files[0].bytes = 64 + (uint64_t)MANY * 64;
    tenon_run_options_init(&options);
    options.no_sync = true;
    ck_ok(tenon_plan_run(plan, &options, &err), err);
    got = plan_read_file(out_path, &n);
    ck_assert_uint_eq(n, plan->files[0].bytes);
    for (unsigned i = 0; i < MANY; i++)
        check_tensor(got + plan->tensors[i].offset, i);
    free(got);
    tenon_plan_free(plan);
}
END_TEST

/* A disk that keeps another byte than it was given, at `*user`. */
static bool damage(uint64_t done, uint64_t total, void *user)
{
    char path[160];
    int fd;

    if (done * 2 != total)
        return true;
    snprintf(path, sizeof(path), "%s/.out.%ld.tmp", folder, (long)getpid());
    fd = open(path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, "\xaa", 1, *(const off_t *)user), 1);
    close(fd);
    return true;
}

/* One of each kind, and one between them. */
START_TEST(a_byte_that_the_disk_changed_names_its_tensor)
{
    static const unsigned damaged[] = {0, 4000, 4001, 8999};
    char name[32];
    struct tenon_plan *plan;
    struct tenon_run_options options;
    struct tenon_error err = {0};
    off_t at;

    fill_input();
    plan = make_plan();
    at = (off_t)plan->tensors[damaged[_i]].offset;
    tenon_run_options_init(&options);
    options.progress = damage;
    options.user = &at;
    options.verify = options.no_sync = true;
    options.threads = 1;
    ck_fails(tenon_plan_run(plan, &options, &err), TENON_ERR_MISMATCH, err);
    ck_assert_uint_eq(err.offset, (uint64_t)at);
    snprintf(name, sizeof(name), "t%u", damaged[_i]);
    ck_assert_str_eq(err.subject, name);
    ck_assert_int_ne(access(out_path, F_OK), 0);
    tenon_plan_free(plan);
}
END_TEST

/* 65520 is the first float32 that becomes infinite as F16; the loss of "b" is allowed, of "c" not.
 */
START_TEST(a_value_that_becomes_infinite_names_its_tensor)
{
    static const float fine[2] = {1, 2}, large[2] = {1, 65520};
    static const char *const names[] = {"a", "b", "c", "d"};
    uint64_t dim = 2;
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_run_options options;
    struct tenon_error err = {0};

    for (size_t i = 0; i < 4; i++)
        tiny_add(&tiny, names[i], TENON_DTYPE_F32, 0, 2, i % 3 == 0 ? fine : large);
    tiny_end(&tiny, "");
    for (size_t i = 0; i < 4; i++) {
        struct tenon_plan_tensor tensor = {.name = {names[i], 1},
                                           .dtype = TENON_DTYPE_F16,
                                           .n_dims = 1,
                                           .dims = &dim,
                                           .source = plan_source(tiny.model, names[i]),
                                           .n_sources = 1};

        ck_ok(tenon_plan_add_tensor(plan, &tensor, &err), err);
    }
    plan_lay_out(plan);
    ck_ok(tenon_plan_add_loss(plan, "overflow", (struct tenon_str){"b", 1}, "--lossy", true, &err,
                              "as was found"),
          err);
    tenon_run_options_init(&options);
    options.no_sync = true;
    ck_fails(tenon_plan_run(plan, &options, &err), TENON_ERR_CANNOT_REPRESENT, err);
    ck_assert_str_eq(err.subject, "c");
    ck_assert_str_eq(err.message, "F16 has no finite value for 65520, element number 1");
    tenon_plan_free(plan);
}
END_TEST

/* Bytes of the input that belong to no tensor: "a", a rest, "b" follow each other there as here. */
static struct tenon_plan *plan_with_rest(uint64_t offset)
{
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_plan_rest rest = {
        .offset = offset, .bytes = 8, .model = tiny.model, .from_offset = 8};
    struct tenon_error err = {0};

    ck_ok(tenon_plan_add_tensor_of(plan, tiny.model, plan_source(tiny.model, "a").tensor, 0, &err),
          err);
    ck_ok(tenon_plan_add_tensor_of(plan, tiny.model, plan_source(tiny.model, "b").tensor, 0, &err),
          err);
    plan_lay_out(plan);
    ck_ok(tenon_plan_add_rest(plan, &rest, &err), err);
    return plan;
}

START_TEST(what_lies_between_goes_along)
{
    static const uint8_t a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[4] = {21, 22, 23, 24};
    struct tenon_plan *plan;
    struct tenon_run_options options;
    struct tenon_error err = {0};
    unsigned char *got;
    size_t n = 0;

    tiny_add(&tiny, "a", TENON_DTYPE_U8, 0, 8, a);
    tiny_add(&tiny, "b", TENON_DTYPE_U8, 0, 4, b);
    tiny_end(&tiny, "");
    tenon_run_options_init(&options);
    options.no_sync = options.force = true;
    plan = plan_with_rest(64 + 8);
    ck_ok(tenon_plan_run(plan, &options, &err), err);
    got = plan_read_file(out_path, &n);
    ck_assert_uint_eq(n, 96 + 4);
    ck_assert_mem_eq(got + 64, a, 8);
    ck_assert_mem_eq(got + 72, tiny.data + 8, 8);
    for (size_t i = 80; i < 96; i++)
        ck_assert_uint_eq(got[i], 0);
    ck_assert_mem_eq(got + 96, b, 4);
    free(got);
    tenon_plan_free(plan);
    plan = plan_with_rest(64 + 4); /* over half of "a" */
    ck_fails(tenon_plan_run(plan, &options, &err), TENON_ERR_MISUSE, err);
    tenon_plan_free(plan);
}
END_TEST

/* 40 sources of 64 KiB make one tensor that is more than a piece. */
START_TEST(a_large_stack_is_copied_source_by_source)
{
    enum { ROWS = 40, ROW = 65536 };
    static unsigned char rows[4][ROW];
    static struct tenon_plan_source sources[ROWS];
    uint64_t dims[2] = {ROWS, ROW};
    struct tenon_plan_tensor tensor = {.name = {"out", 3},
                                       .dtype = TENON_DTYPE_U8,
                                       .n_dims = 2,
                                       .dims = dims,
                                       .sources = sources,
                                       .n_sources = ROWS};
    struct tenon_plan *plan = plan_begin(out_path);
    struct tenon_run_options options;
    struct tenon_error err = {0};
    unsigned char *got;
    size_t n = 0;

    for (size_t r = 0; r < 4; r++) {
        char name[2] = {(char)('a' + r), 0};

        for (size_t i = 0; i < ROW; i++)
            rows[r][i] = (unsigned char)(r * 31 + i * 7 + i / 256);
        tiny_add(&tiny, name, TENON_DTYPE_U8, 1, ROW, rows[r]);
    }
    tiny_end(&tiny, "");
    for (size_t i = 0; i < ROWS; i++) {
        char name[2] = {(char)('a' + i % 3), 0};

        sources[i] = i % 4 == 3 ? (struct tenon_plan_source){.bytes = rows[3], .n_rows = 1}
                                : plan_source(tiny.model, name);
    }
    ck_ok(tenon_plan_add_tensor(plan, &tensor, &err), err);
    plan_lay_out(plan);
    tenon_run_options_init(&options);
    options.no_sync = options.verify = true;
    ck_ok(tenon_plan_run(plan, &options, &err), err);
    got = plan_read_file(out_path, &n);
    ck_assert_uint_eq(n, 64 + ROWS * ROW);
    for (size_t i = 0; i < ROWS; i++)
        ck_assert_mem_eq(got + 64 + i * ROW, rows[i % 4 == 3 ? 3 : i % 3], ROW);
    free(got);
    tenon_plan_free(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_run_small");
    TCase *tcase = tcase_create("plan_run_small");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, each_is_what_it_would_be_alone, 0, 2);
    tcase_add_test(tcase, places_need_not_follow_the_plan);
    tcase_add_loop_test(tcase, a_byte_that_the_disk_changed_names_its_tensor, 0, 4);
    tcase_add_test(tcase, a_value_that_becomes_infinite_names_its_tensor);
    tcase_add_test(tcase, what_lies_between_goes_along);
    tcase_add_test(tcase, a_large_stack_is_copied_source_by_source);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
