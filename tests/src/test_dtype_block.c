/* Blocks worked out by hand: what the picture at the head of each codec file says. */
#include <math.h>
#include <string.h>

#include "check_error.h"
#include "dtype/block.h"
#include "dtype/codecs.h"

static void check_bits(float got, uint32_t wanted)
{
    ck_assert_uint_eq(tenon_f32_bits(got), wanted);
}

/* d = 2 */
START_TEST(q4_0_halves_of_a_byte_are_16_apart)
{
    uint8_t block[18] = {0x00, 0x40, 0xf1};
    float w[32];

    memset(block + 3, 0x88, 15);
    tenon_decode_Q4_0(w, block, 1);
    ck_assert(w[0] == (1 - 8) * 2 && w[16] == (15 - 8) * 2);
    for (int i = 1; i < 16; i++)
        ck_assert(w[i] == 0 && w[16 + i] == 0);
}
END_TEST

/* d = 0.5, m = -3; bit 17 gives weight 17 its fifth bit */
START_TEST(q5_1_fifth_bits_go_by_weight)
{
    uint8_t block[24] = {0x00, 0x38, 0x00, 0xc2, 0x01, 0x00, 0x02, 0x00, 0x02, 0x50};
    float w[32];

    tenon_decode_Q5_1(w, block, 1);
    ck_assert(w[0] == (16 + 2) * 0.5f - 3);
    ck_assert(w[17] == (16 + 5) * 0.5f - 3);
    ck_assert(w[1] == -3 && w[16] == -3);
}
END_TEST

/* Scales of groups 1 and 5: 0x25 = low nibble 5, over it bits 6-7 of S[1]; d = 1, dmin = 0.25 */
START_TEST(q4_k_upper_scales_are_split_over_two_bytes)
{
    uint8_t block[144] = {0x00, 0x3c, 0x00, 0x34};
    float w[256];

    block[4 + 1] = 0x80 | 7; /* scale 1: 7; top of scale 5: 2 */
    block[4 + 5] = 0x40 | 3; /* min 1: 3; top of min 5: 1 */
    block[4 + 9] = 0x65;     /* scale 5: 5, min 5: 6 */
    block[16] = 0x20;        /* weight 32: 2 */
    block[16 + 64] = 0x30;   /* weight 160: 3 */
    tenon_decode_Q4_K(w, block, 1);
    ck_assert(w[32] == 7 * 2 - 0.25f * 3);
    ck_assert(w[33] == -0.25f * 3);
    ck_assert(w[160] == 0x25 * 3 - 0.25f * 0x16);
    ck_assert(w[0] == 0);
}
END_TEST

/* d = 1, scale of group 9 (weights 144 to 159): -2 */
START_TEST(q6_k_joins_four_and_two_bits)
{
    uint8_t block[210] = {0};
    float w[256];

    block[192 + 9] = (uint8_t)-2;
    block[209] = 0x3c;
    block[64 + 16] = 0x0b;       /* weight 144: low bits 11 */
    block[128 + 32 + 16] = 0x02; /* and above them 2 */
    tenon_decode_Q6_K(w, block, 1);
    ck_assert(w[144] == -2 * ((11 | 2 << 4) - 32));
    ck_assert(w[145] == -2 * -32);
    ck_assert(w[0] == 0);
}
END_TEST

/* 0.21012 in base 3 is 194 / 243; as a byte, rounded up: 194 * 256 / 243 = 205 */
START_TEST(tq1_0_digits_are_base_three)
{
    uint8_t block[54] = {0};
    float w[256];

    block[0] = 205;
    block[53] = 0x3c;
    tenon_decode_TQ1_0(w, block, 1);
    ck_assert(w[0] == 1 && w[32] == 0 && w[64] == -1 && w[96] == 0 && w[128] == 1);
    ck_assert(w[1] == -1 && w[160] == -1 && w[255] == -1);
}
END_TEST

START_TEST(mxfp4_has_subnormal_scales_and_no_minus_zero)
{
    uint8_t block[17] = {0, 0x18};
    float w[32];

    block[2] = 0xf7;
    tenon_decode_MXFP4(w, block, 1);
    check_bits(w[0], 0);           /* code 8 */
    check_bits(w[16], 0x00200000); /* half of 2^-127 */
    ck_assert(w[1] == (float)ldexp(6, -127) && w[17] == (float)ldexp(-6, -127));
    block[0] = 255;
    tenon_decode_MXFP4(w, block, 1);
    ck_assert(w[16] == 0x1p127f && isinf(w[1]));
}
END_TEST

START_TEST(nvfp4_takes_0x7f_as_zero_and_no_notice_of_bit_7)
{
    uint8_t block[36] = {0x7f, 0x38, 0xb8, 0x01, [4 + 8] = 0x21, [4 + 16] = 0x21, [4 + 24] = 0x02};
    float w[64];

    tenon_decode_NVFP4(w, block, 1);
    ck_assert(w[0] == 0);
    ck_assert(w[16] == 0.5f && w[24] == 1); /* scale 1 */
    ck_assert(w[32] == 0.5f && w[40] == 1);
    ck_assert(w[48] == 0x1p-9f); /* the smallest scale times 1 */
}
END_TEST

/* An infinite scale times zero is no number, of either sign and whatever the processor says. */
START_TEST(no_number_has_one_form_in_blocks)
{
    uint8_t block[34] = {0x00, 0xfc, 0, 1, 0xff};
    float w[32];

    tenon_decode_Q8_0(w, block, 1);
    check_bits(w[0], 0x7fc00000);
    check_bits(w[1], 0xff800000);
    check_bits(w[2], 0x7f800000);
    block[0] = 0x01; /* signalling */
    tenon_decode_Q8_0(w, block, 1);
    for (int i = 0; i < 32; i++)
        check_bits(w[i], 0x7fc00000);
}
END_TEST

START_TEST(halves_keep_the_payload_and_become_quiet)
{
    static const uint8_t halves[6] = {0x01, 0x7c, 0x55, 0xff, 0x00, 0xfe};
    float values[3];

    tenon_decode_F16(values, halves, 3);
    check_bits(values[0], 0x7fc02000);
    check_bits(values[1], 0xffeaa000);
    check_bits(values[2], 0xffc00000);
}
END_TEST

START_TEST(bfloat_and_float_keep_every_bit)
{
    static const uint8_t bytes[4] = {0x01, 0x00, 0x81, 0x7f}; /* both signalling */
    float value;

    tenon_decode_BF16(&value, bytes + 2, 1);
    check_bits(value, 0x7f810000);
    tenon_decode_F32(&value, bytes, 1);
    check_bits(value, 0x7f810001);
}
END_TEST

START_TEST(packed_floats_begin_at_the_lowest_bit)
{
    static const uint8_t f4[1] = {0xf2}, f6[3] = {0x41, 0x00, 0x80};
    float values[4];

    tenon_decode_F4(values, f4, 1);
    ck_assert(values[0] == 1 && values[1] == -6);
    tenon_decode_F6_E2M3(values, f6, 1); /* codes 1, 1, 0, 0x20 */
    ck_assert(values[0] == 0.125f && values[1] == 0.125f && values[2] == 0);
    check_bits(values[3], 0x80000000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dtype_block");
    TCase *tc = tcase_create("blocks"), *nan = tcase_create("numbers");

    suite_add_tcase(suite, tc);
    tcase_add_test(tc, q4_0_halves_of_a_byte_are_16_apart);
    tcase_add_test(tc, q5_1_fifth_bits_go_by_weight);
    tcase_add_test(tc, q4_k_upper_scales_are_split_over_two_bytes);
    tcase_add_test(tc, q6_k_joins_four_and_two_bits);
    tcase_add_test(tc, tq1_0_digits_are_base_three);
    tcase_add_test(tc, mxfp4_has_subnormal_scales_and_no_minus_zero);
    tcase_add_test(tc, nvfp4_takes_0x7f_as_zero_and_no_notice_of_bit_7);
    suite_add_tcase(suite, nan);
    tcase_add_test(nan, no_number_has_one_form_in_blocks);
    tcase_add_test(nan, halves_keep_the_payload_and_become_quiet);
    tcase_add_test(nan, bfloat_and_float_keep_every_bit);
    tcase_add_test(nan, packed_floats_begin_at_the_lowest_bit);
    return run_suite(suite);
}
