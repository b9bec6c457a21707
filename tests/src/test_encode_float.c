/* Rounding of floats. Expected codes are worked out by hand from the bit layouts; "tie" marks
 * values exactly between two codes, which go to the even one. */
#include "dtype/codecs.h"

#include <math.h>
#include <string.h>

#include "check_error.h"
#include "dtype/block.h"

struct golden {
    float value;
    uint32_t code;
};

static void check_16(tenon_encode_fn encode, const struct golden *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t out[2];

        ck_assert(encode(out, &rows[i].value, 1) == SIZE_MAX);
        ck_assert_msg(tenon_le16(out) == rows[i].code, "%a gives %04x, not %04x",
                      (double)rows[i].value, (unsigned)tenon_le16(out), (unsigned)rows[i].code);
    }
}

static void check_8(tenon_encode_fn encode, const struct golden *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t out;

        ck_assert(encode(&out, &rows[i].value, 1) == SIZE_MAX);
        ck_assert_msg(out == rows[i].code, "%a gives %02x, not %02x", (double)rows[i].value,
                      (unsigned)out, (unsigned)rows[i].code);
    }
}

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

START_TEST(f16_rounds_to_nearest_even)
{
    static const struct golden rows[] = {
        {0.0f, 0x0000},          {-0.0f, 0x8000},      {1.0f, 0x3c00},
        {-2.5f, 0xc100},         {0x1.004p0f, 0x3c01}, {0x1.002p0f, 0x3c00}, /* tie */
        {0x1.006p0f, 0x3c02},                                                /* tie */
        {0x1.002002p0f, 0x3c01}, {0x1p-14f, 0x0400},   {0x1.ff8p-15f, 0x03ff},
        {0x1.ffep-15f, 0x0400},                        /* up into the normal numbers */
        {0x1p-24f, 0x0001},      {0x1p-25f, 0x0000},   /* tie */
        {0x1.8p-25f, 0x0001},    {0x1.8p-24f, 0x0002}, /* tie */
        {0x1p-149f, 0x0000},     {65504.0f, 0x7bff},   {0x1.ffdffep15f, 0x7bff},
        {65520.0f, 0x7c00}, /* tie with what would be 2^16 */
        {-1e30f, 0xfc00},        {INFINITY, 0x7c00},   {NAN, 0x7e00},
        {-NAN, 0xfe00},
    };

    check_16(tenon_encode_F16, rows, N_ROWS(rows));
}
END_TEST

START_TEST(bf16_rounds_to_nearest_even)
{
    static const struct golden rows[] = {
        {0.0f, 0x0000},          {-0.0f, 0x8000},     {1.0f, 0x3f80},
        {0x1.01p0f, 0x3f80}, /* tie */
        {0x1.03p0f, 0x3f82}, /* tie */
        {0x1.010002p0f, 0x3f81}, {0x1p-149f, 0x0000}, {0x1.fep127f, 0x7f7f},
        {0x1.ffp127f, 0x7f80}, /* tie with what would be 2^128 */
        {-INFINITY, 0xff80},     {NAN, 0x7fc0},       {-NAN, 0xffc0},
    };

    check_16(tenon_encode_BF16, rows, N_ROWS(rows));
}
END_TEST

START_TEST(bf16_keeps_a_signalling_nan_a_nan)
{
    const float value = tenon_f32_from_bits(0x7f800001);
    uint8_t out[2];

    ck_assert(tenon_encode_BF16(out, &value, 1) == SIZE_MAX);
    ck_assert_uint_eq(tenon_le16(out), 0x7fc0);
}
END_TEST

START_TEST(f8_e4m3_rounds_to_nearest_even_and_overflows_to_nan)
{
    static const struct golden rows[] = {
        {0.0f, 0x00},
        {-0.0f, 0x80},
        {1.0f, 0x38},
        {1.0625f, 0x38}, /* tie */
        {1.1875f, 0x3a}, /* tie */
        {-1.125f, 0xb9},
        {0x1p-6f, 0x08},
        {0x1.cp-7f, 0x07},
        {0x1.ep-7f, 0x08}, /* tie, up into the normal numbers */
        {0x1p-9f, 0x01},
        {0x1p-10f, 0x00}, /* tie */
        {0x1.000002p-10f, 0x01},
        {448.0f, 0x7e},
        {464.0f, 0x7e}, /* tie with what would be 480 */
        {464.00003f, 0x7f},
        {-1e9f, 0xff},
        {INFINITY, 0x7f},
        {NAN, 0x7f},
        {-NAN, 0xff},
    };

    check_8(tenon_encode_F8_E4M3, rows, N_ROWS(rows));
}
END_TEST

START_TEST(f8_e5m2_rounds_to_nearest_even_and_overflows_to_infinity)
{
    static const struct golden rows[] = {
        {0.0f, 0x00},     {1.0f, 0x3c},       {1.125f, 0x3c},                     /* tie */
        {1.375f, 0x3e},                                                           /* tie */
        {-1.25f, 0xbd},   {0x1p-14f, 0x04},   {0x1p-16f, 0x01}, {0x1p-17f, 0x00}, /* tie */
        {57344.0f, 0x7b}, {61439.996f, 0x7b}, {61440.0f, 0x7c}, /* tie with what would be 65536 */
        {-1e9f, 0xfc},    {-INFINITY, 0xfc},  {NAN, 0x7e},      {-NAN, 0xfe},
    };

    check_8(tenon_encode_F8_E5M2, rows, N_ROWS(rows));
}
END_TEST

START_TEST(f32_and_f64_keep_every_number)
{
    static const float values[] = {0.0f, -0.0f, 1.5f, -0x1.fffffep127f, 0x1p-149f, INFINITY};
    uint8_t narrow[sizeof(values)], wide[2 * sizeof(values)];
    float narrow_back[N_ROWS(values)], wide_back[N_ROWS(values)];

    ck_assert(tenon_encode_F32(narrow, values, N_ROWS(values)) == SIZE_MAX);
    ck_assert(tenon_encode_F64(wide, values, N_ROWS(values)) == SIZE_MAX);
    tenon_decode_F32(narrow_back, narrow, N_ROWS(values));
    tenon_decode_F64(wide_back, wide, N_ROWS(values));
    ck_assert_mem_eq(narrow_back, values, sizeof(values));
    ck_assert_mem_eq(wide_back, values, sizeof(values));
}
END_TEST

START_TEST(f32_keeps_the_bits_of_a_nan)
{
    const float value = tenon_f32_from_bits(0xff812345);
    uint8_t out[4];

    ck_assert(tenon_encode_F32(out, &value, 1) == SIZE_MAX);
    ck_assert_uint_eq(tenon_le32(out), 0xff812345);
}
END_TEST

/* Every code but a NaN stands for one number, so it comes back. */
static void check_all_codes(tenon_encode_fn encode, tenon_decode_fn decode, size_t bytes)
{
    for (uint32_t code = 0; code < 1u << 8 * bytes; code++) {
        uint8_t in[2] = {(uint8_t)code, (uint8_t)(code >> 8)}, out[2] = {0};
        float value;

        decode(&value, in, 1);
        if (isnan(value))
            continue;
        ck_assert(encode(out, &value, 1) == SIZE_MAX);
        ck_assert_mem_eq(out, in, bytes);
    }
}

START_TEST(all_codes_of_small_floats_come_back)
{
    check_all_codes(tenon_encode_F16, tenon_decode_F16, 2);
    check_all_codes(tenon_encode_BF16, tenon_decode_BF16, 2);
    check_all_codes(tenon_encode_F8_E4M3, tenon_decode_F8_E4M3, 1);
    check_all_codes(tenon_encode_F8_E5M2, tenon_decode_F8_E5M2, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("encode_float");
    TCase *tc = tcase_create("float");

    suite_add_tcase(suite, tc);
    tcase_add_test(tc, f16_rounds_to_nearest_even);
    tcase_add_test(tc, bf16_rounds_to_nearest_even);
    tcase_add_test(tc, bf16_keeps_a_signalling_nan_a_nan);
    tcase_add_test(tc, f8_e4m3_rounds_to_nearest_even_and_overflows_to_nan);
    tcase_add_test(tc, f8_e5m2_rounds_to_nearest_even_and_overflows_to_infinity);
    tcase_add_test(tc, f32_and_f64_keep_every_number);
    tcase_add_test(tc, f32_keeps_the_bits_of_a_nan);
    tcase_add_test(tc, all_codes_of_small_floats_come_back);
    return run_suite(suite);
}
