/* Arrays of NumPy's format: files made byte by byte. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../src/check_error.h"
#include "npy_in.h"

static char path[64];
static struct tenon_npy npy;
static struct tenon_error err;

static void set_up(void)
{
    snprintf(path, sizeof(path), "tenon-test-npy-%ld", (long)getpid());
    npy = (struct tenon_npy){0};
    err = (struct tenon_error){0};
}

static void tear_down(void)
{
    tenon_npy_release(&npy);
    unlink(path);
}

/* Version 1.0 with that dictionary, then `n` bytes of elements. */
static enum tenon_status read_array(const char *header, const void *elements, size_t n)
{
    FILE *file = fopen(path, "wb");
    size_t len = strlen(header);

    ck_assert_ptr_nonnull(file);
    fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    fputc((int)(len & 0xff), file);
    fputc((int)(len >> 8), file);
    fwrite(header, 1, len, file);
    fwrite(elements, 1, n, file);
    fclose(file);
    return tenon_npy_read(path, &npy, &err);
}

START_TEST(float32_in_c_order_is_read)
{
    static const float elements[6] = {1, -2, 0.5f, 4, 5, 6};

    ck_ok(read_array("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }     \n",
                     elements, sizeof(elements)),
          err);
    ck_assert_uint_eq(npy.n_dims, 3);
    ck_assert_uint_eq(npy.dims[1], 2);
    ck_assert_mem_eq(npy.values, elements, sizeof(elements));
}
END_TEST

/* 0x3c00, 0xc000, 0x0001, 0x7bff of IEEE 754: 1, -2, 2^-24, 65504. */
START_TEST(float16_is_widened_exactly)
{
    static const unsigned char elements[8] = {0, 0x3c, 0, 0xc0, 1, 0, 0xff, 0x7b};
    static const float wanted[4] = {1, -2, 5.9604644775390625e-8f, 65504};

    ck_ok(read_array("{'shape': (4,), 'descr': '<f2', 'fortran_order': False}\n", elements, 8),
          err);
    ck_assert_mem_eq(npy.values, wanted, sizeof(wanted));
}
END_TEST

START_TEST(float64_is_rounded_once)
{
    static const double elements[2] = {0.1, 1e300};

    ck_ok(read_array("{'descr':'<f8','fortran_order':True,'shape':(2,)}", elements, 16), err);
    ck_assert_float_eq(npy.values[0], 0.1f);
    ck_assert(npy.values[1] > 3e38f);
}
END_TEST

START_TEST(what_is_missing_is_truncation)
{
    static const float elements[2] = {1, 2};

    ck_assert_int_eq(read_array("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n",
                                elements, sizeof(elements)),
                     TENON_ERR_TRUNCATED);
    ck_assert_str_eq(err.path, path);
    ck_assert_str_eq(err.message, "8 bytes of elements, its shape needs 12");
}
END_TEST

START_TEST(other_headers_are_refused)
{
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (65536, 65536), }",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
    };

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        err = (struct tenon_error){0};
        ck_assert_int_eq(read_array(headers[i], "\0\0\0\0", 4), TENON_ERR_UNSUPPORTED_FEATURE);
    }
}
END_TEST

START_TEST(something_else_is_not_recognised)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    fputs("GGUF", file);
    fclose(file);
    ck_assert_int_eq(tenon_npy_read(path, &npy, &err), TENON_ERR_NOT_RECOGNISED);
}
END_TEST

START_TEST(a_missing_file_is_not_found)
{
    ck_assert_int_eq(tenon_npy_read(path, &npy, &err), TENON_ERR_NOT_FOUND);
    ck_assert_str_eq(err.path, path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("npy_in");
    TCase *tests = tcase_create("npy_in");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, float32_in_c_order_is_read);
    tcase_add_test(tests, float16_is_widened_exactly);
    tcase_add_test(tests, float64_is_rounded_once);
    tcase_add_test(tests, what_is_missing_is_truncation);
    tcase_add_test(tests, other_headers_are_refused);
    tcase_add_test(tests, something_else_is_not_recognised);
    tcase_add_test(tests, a_missing_file_is_not_found);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
