/* Encoding for callers outside the library: what cannot be done is said, with the value. */
#include "check_error.h"
#include "tenon/dtype.h"
#include "tenon/encode.h"

START_TEST(half_floats_are_encoded)
{
    static const float values[] = {1.0f, -2.0f, 65504.0f};
    /* IEEE 754 binary16: sign, 5 bits of exponent (bias 15), 10 of fraction. */
    static const unsigned char expected[] = {0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b};
    unsigned char out[sizeof(expected)];
    struct tenon_error err = {0};

    ck_ok(tenon_values_encode(TENON_DTYPE_F16, values, 3, out, &err), err);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

START_TEST(value_outside_of_an_integer_type_is_named)
{
    static const float values[] = {1.0f, 300.0f};
    unsigned char out[2];
    struct tenon_error err = {0};

    ck_fails(tenon_values_encode(TENON_DTYPE_U8, values, 2, out, &err), TENON_ERR_CANNOT_REPRESENT,
             err);
    ck_assert_str_eq(err.message, "U8 cannot hold 300, value number 1");
    ck_assert_uint_eq(err.offset, TENON_NO_OFFSET);
}
END_TEST

START_TEST(part_of_a_block_is_misuse)
{
    static const float values[33] = {0};
    unsigned char out[68];
    struct tenon_error err = {0};

    ck_fails(tenon_values_encode(TENON_DTYPE_Q8_0, values, 33, out, &err), TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(removed_type_cannot_be_written)
{
    static const float values[32] = {0};
    unsigned char out[64];
    struct tenon_error err = {0};

    ck_fails(tenon_values_encode(TENON_DTYPE_Q4_2, values, 32, out, &err),
             TENON_ERR_UNSUPPORTED_FEATURE, err);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("values_encode");
    TCase *tc = tcase_create("encode");

    suite_add_tcase(suite, tc);
    tcase_add_test(tc, half_floats_are_encoded);
    tcase_add_test(tc, value_outside_of_an_integer_type_is_named);
    tcase_add_test(tc, part_of_a_block_is_misuse);
    tcase_add_test(tc, removed_type_cannot_be_written);
    return run_suite(suite);
}
