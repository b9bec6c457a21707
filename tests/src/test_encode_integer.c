/* Integers take whole numbers in their range and refuse everything else, saying which. */
#include <math.h>

#include "check_error.h"
#include "dtype/block.h"
#include "dtype/codecs.h"

/* The largest and smallest float32 that a type takes, and the next ones beyond. */
static const struct {
    tenon_encode_fn encode;
    tenon_decode_fn decode;
    float low, below, high, above;
} rows[] = {
    {tenon_encode_I64, tenon_decode_I64, -0x1p63f, -0x1.000002p63f, 0x1.fffffep62f, 0x1p63f},
    {tenon_encode_I32, tenon_decode_I32, -0x1p31f, -0x1.000002p31f, 0x1.fffffep30f, 0x1p31f},
    {tenon_encode_I16, tenon_decode_I16, -32768, -32769, 32767, 32768},
    {tenon_encode_I8, tenon_decode_I8, -128, -129, 127, 128},
    {tenon_encode_U64, tenon_decode_U64, 0, -1, 0x1.fffffep63f, 0x1p64f},
    {tenon_encode_U32, tenon_decode_U32, 0, -1, 0x1.fffffep31f, 0x1p32f},
    {tenon_encode_U16, tenon_decode_U16, 0, -1, 65535, 65536},
    {tenon_encode_U8, tenon_decode_U8, 0, -1, 255, 256},
    {tenon_encode_BOOL, tenon_decode_BOOL, 0, -1, 1, 2},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static void check_taken(tenon_encode_fn encode, tenon_decode_fn decode, float value)
{
    uint8_t out[8];
    float back;

    ck_assert_msg(encode(out, &value, 1) == SIZE_MAX, "%a was refused", (double)value);
    decode(&back, out, 1);
    ck_assert(back == value);
}

static void check_refused(tenon_encode_fn encode, float value)
{
    const float values[] = {0, 1, value, 1};
    uint8_t out[32];

    ck_assert_msg(encode(out, values, 4) == 2, "%a was taken", (double)value);
}

START_TEST(the_ends_of_the_range_are_taken)
{
    check_taken(rows[_i].encode, rows[_i].decode, rows[_i].low);
    check_taken(rows[_i].encode, rows[_i].decode, rows[_i].high);
}
END_TEST

START_TEST(what_is_beyond_the_range_is_refused)
{
    check_refused(rows[_i].encode, rows[_i].below);
    check_refused(rows[_i].encode, rows[_i].above);
}
END_TEST

START_TEST(fractions_and_what_is_no_number_are_refused)
{
    check_refused(rows[_i].encode, 0.5f);
    check_refused(rows[_i].encode, 0x1p-149f);
    check_refused(rows[_i].encode, INFINITY);
    check_refused(rows[_i].encode, -INFINITY);
    check_refused(rows[_i].encode, NAN);
}
END_TEST

START_TEST(negative_zero_is_zero)
{
    const float value = -0.0f;
    uint8_t out[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    ck_assert(rows[_i].encode(out, &value, 1) == SIZE_MAX);
    ck_assert_uint_eq(out[0], 0);
}
END_TEST

START_TEST(bytes_are_little_endian_two_s_complement)
{
    static const float values[] = {-2, 258};
    static const uint8_t expected[] = {0xfe, 0xff, 0xff, 0xff, 0x02, 0x01, 0x00, 0x00};
    uint8_t out[sizeof(expected)];

    ck_assert(tenon_encode_I32(out, values, 2) == SIZE_MAX);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("encode_integer");
    TCase *tc = tcase_create("integer");

    suite_add_tcase(suite, tc);
    tcase_add_loop_test(tc, the_ends_of_the_range_are_taken, 0, N_ROWS);
    tcase_add_loop_test(tc, what_is_beyond_the_range_is_refused, 0, N_ROWS);
    tcase_add_loop_test(tc, fractions_and_what_is_no_number_are_refused, 0, N_ROWS);
    tcase_add_loop_test(tc, negative_zero_is_zero, 0, N_ROWS);
    tcase_add_test(tc, bytes_are_little_endian_two_s_complement);
    return run_suite(suite);
}
