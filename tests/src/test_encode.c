/* Encoders of quantized blocks: blocks worked out by hand, what may not be encoded, errors of a
 * round trip, and that encoders for wider instruction sets give the bytes of the plain ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_error.h"
#include "cpu.h"
#include "dtype/block.h"
#include "quant.h"
#include "value_sets.h"

enum { MAX_BLOCK = 256, MAX_BLOCK_BYTES = 2048 };

static struct tenon_quant_ops plain, best;

/* Floats first, then the quantized types. */
static const enum tenon_dtype types[] = {
#define ENCODE(id) TENON_DTYPE_##id,
#include "dtype/encoders.def"
#undef ENCODE
};

enum { N_TYPES = sizeof(types) / sizeof(types[0]), N_FLOATS = 6 };

/* Encodes one block with both encoders. */
static void encode_block(enum tenon_dtype dtype, uint8_t *out, const float *in)
{
    size_t bytes = tenon_dtype_info(dtype)->block_bytes;
    uint8_t other[MAX_BLOCK_BYTES];

    ck_assert(plain.encode[dtype](out, in, 1) == SIZE_MAX);
    ck_assert(best.encode[dtype](other, in, 1) == SIZE_MAX);
    ck_assert_mem_eq(out, other, bytes);
}

/* d = 127 / 127 = 1, half 0x3c00; codes are the values, ties away from zero. */
START_TEST(q8_0_rounds_ties_away_from_zero)
{
    float in[32] = {127, -127, 0.5f, -0.5f, 2.5f, -2.5f, 0.49999997f, 3.4999998f, 100};
    static const uint8_t expected[34] = {0x00, 0x3c, 127, 0x81, 1, 0xff, 3, 0xfd, 0, 3, 100};
    uint8_t out[34];

    encode_block(TENON_DTYPE_Q8_0, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* The first of the largest magnitudes gets code 0: d = -8 / -8 = 1. Code of x is x + 8, halves
 * go up, and +8 would be 16: 15. */
START_TEST(q4_0_gives_its_first_extreme_the_code_0)
{
    float in[32] = {1, -8, 8, -7.5f, -7.6f, 7};
    static const uint8_t expected[18] = {0x00, 0x3c, 0x89, 0x80, 0x8f, 0x81, 0x80, 0x8f, 0x88,
                                         0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88};
    uint8_t out[18];

    encode_block(TENON_DTYPE_Q4_0, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* d = 8 / -8 = -1, half 0xbc00: code of x is 8 - x. */
START_TEST(q4_0_scale_is_negative_when_the_extreme_is_positive)
{
    float in[32] = {[16] = 8, [17] = -8, [31] = 3};
    static const uint8_t expected[18] = {0x00, 0xbc, 0x08, 0xf8, 0x88, 0x88, 0x88, 0x88, 0x88,
                                         0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x58};
    uint8_t out[18];

    encode_block(TENON_DTYPE_Q4_0, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* d = (14 - -1) / 15 = 1, m = -1 (0xbc00): code of x is x + 1. */
START_TEST(q4_1_spans_minimum_to_maximum)
{
    float in[32];
    uint8_t out[20], expected[20] = {0x00, 0x3c, 0x00, 0xbc};

    for (int i = 0; i < 32; i++)
        in[i] = (float)(i % 16 - 1);
    for (int i = 0; i < 16; i++)
        expected[4 + i] = (uint8_t)(i | i << 4);
    encode_block(TENON_DTYPE_Q4_1, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* d = -16 / -16 = 1: the code of element i is i, so the upper half has the fifth bit. */
START_TEST(q5_0_keeps_fifth_bits_in_a_word)
{
    float in[32];
    uint8_t out[22], expected[22] = {0x00, 0x3c, 0x00, 0x00, 0xff, 0xff};

    for (int i = 0; i < 32; i++)
        in[i] = (float)(i - 16);
    for (int i = 0; i < 16; i++)
        expected[6 + i] = (uint8_t)(i | i << 4);
    encode_block(TENON_DTYPE_Q5_0, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* d = 62 / 31 = 2 (0x4000), m = 0: element i is 2 (31 - i), its code 31 - i. */
START_TEST(q5_1_keeps_fifth_bits_in_a_word)
{
    float in[32];
    uint8_t out[24], expected[24] = {0x00, 0x40, 0x00, 0x00, 0xff, 0xff, 0x00, 0x00};

    for (int i = 0; i < 32; i++)
        in[i] = (float)(2 * (31 - i));
    for (int i = 0; i < 16; i++)
        expected[8 + i] = (uint8_t)((15 - i) | (15 - i) << 4);
    encode_block(TENON_DTYPE_Q5_1, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

START_TEST(the_sign_of_a_zero_minimum_is_that_of_the_first)
{
    float in[32] = {1, 0.0f, -0.0f};
    uint8_t out[20];

    for (int i = 3; i < 32; i++)
        in[i] = 15;
    encode_block(TENON_DTYPE_Q4_1, out, in);
    ck_assert_uint_eq(tenon_le16(out + 2), 0x0000);
    in[1] = -0.0f;
    encode_block(TENON_DTYPE_Q4_1, out, in);
    ck_assert_uint_eq(tenon_le16(out + 2), 0x8000);
}
END_TEST

/* All groups hold 0 ... 15, which scale 1 and minimum 0 give exactly. The largest scale becomes
 * 63, in units of 1/63: as a half 2^-6 * (1 + 16/1024), 0x2410. */
START_TEST(q4_k_finds_an_exact_fit)
{
    float in[256];
    uint8_t out[144], expected[144] = {0x10, 0x24, 0x00, 0x00};

    for (int i = 0; i < 256; i++)
        in[i] = (float)(i % 16);
    for (int g = 0; g < 4; g++) {
        expected[4 + g] = 0xff; /* 63, and the upper two bits of group g + 4 */
        expected[12 + g] = 0x0f;
    }
    for (int i = 0; i < 128; i++)
        expected[16 + i] = (uint8_t)(i % 16 | i % 16 << 4);
    encode_block(TENON_DTYPE_Q4_K, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* As for Q4_K, with 0 ... 31. */
START_TEST(q5_k_finds_an_exact_fit)
{
    float in[256];
    uint8_t out[176], expected[176] = {0x10, 0x24, 0x00, 0x00};

    for (int i = 0; i < 256; i++)
        in[i] = (float)(i % 32);
    for (int g = 0; g < 4; g++) {
        expected[4 + g] = 0xff;
        expected[12 + g] = 0x0f;
    }
    for (int i = 0; i < 32; i++)
        expected[16 + i] = i < 16 ? 0x00 : 0xff;
    for (int i = 0; i < 128; i++)
        expected[48 + i] = (uint8_t)(i % 16 | i % 16 << 4);
    encode_block(TENON_DTYPE_Q5_K, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* All groups hold 0 ... 3: scale 1, which becomes 15 in units of 1/15 (half 0x2c44). Elements 32
 * apart share a byte, so all four codes of one are the same. */
START_TEST(q2_k_finds_an_exact_fit)
{
    float in[256];
    uint8_t out[84], expected[84];

    for (int i = 0; i < 256; i++)
        in[i] = (float)(i % 4);
    memset(expected, 0x0f, 16);
    for (int i = 0; i < 64; i++)
        expected[16 + i] = (uint8_t)(i % 4 * 0x55);
    memcpy(expected + 80, "\x44\x2c\x00\x00", 4);
    encode_block(TENON_DTYPE_Q2_K, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* Each group starts with -32, so scale 1 is exact and gets the code -128 (0x80) in units of
 * -1/128 (half 0xa000). Element i of a group is i - 32, its code i. */
START_TEST(q6_k_finds_an_exact_fit)
{
    float in[256];
    uint8_t out[210], expected[210] = {0};

    for (int i = 0; i < 256; i++)
        in[i] = (float)(i % 16 - 32);
    for (int i = 0; i < 128; i++)
        expected[i] = (uint8_t)(i % 16 | i % 16 << 4);
    memset(expected + 192, 0x80, 16);
    memcpy(expected + 208, "\x00\xa0", 2);
    encode_block(TENON_DTYPE_Q6_K, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* Each group holds -4 ... 3, so scale 1 is exact and gets -32 (stored 0) in units of -1/32 (half
 * 0xa800). The code of x is x + 4: its third bit is set for the positive. */
START_TEST(q3_k_finds_an_exact_fit)
{
    float in[256];
    uint8_t out[110], expected[110] = {0};

    for (int i = 0; i < 256; i++)
        in[i] = (float)(i % 8 - 4);
    for (int i = 0; i < 32; i++)
        expected[i] = i % 8 < 4 ? 0x00 : 0xff;
    for (int i = 0; i < 64; i++)
        expected[32 + i] = (uint8_t)(i % 4 * 0x55);
    memcpy(expected + 108, "\x00\xa8", 2);
    encode_block(TENON_DTYPE_Q3_K, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* The table values themselves: d = 1, code of element i is i. */
START_TEST(iq4_nl_finds_an_exact_fit)
{
    static const float values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};
    float in[32];
    uint8_t out[18], expected[18] = {0x00, 0x3c};

    for (int i = 0; i < 32; i++)
        in[i] = values[i % 16];
    for (int i = 0; i < 16; i++)
        expected[2 + i] = (uint8_t)(i | i << 4);
    encode_block(TENON_DTYPE_IQ4_NL, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* The same in eight groups: scale 1 gets -32 (stored 0) in units of -1/32 (half 0xa800). */
START_TEST(iq4_xs_finds_an_exact_fit)
{
    static const float values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};
    float in[256];
    uint8_t out[136], expected[136] = {0x00, 0xa8};

    for (int i = 0; i < 256; i++)
        in[i] = values[i % 16];
    for (int i = 0; i < 128; i++)
        expected[8 + i] = (uint8_t)(i % 16 | i % 16 << 4);
    encode_block(TENON_DTYPE_IQ4_XS, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* d = 2 (0x4000); from half of d on a value counts: digits 0, 1, 2 for -d, 0, d. With all other
 * digits 1, five make 121, of 243: 121 * 256 / 243 rounded up is 128; the last bytes have four
 * digits and a zero, 120: 127. First byte: digits 2 1 1 1 1 are 202: 213. Second: 0 1 1 1 1 are
 * 40: 43. */
START_TEST(tq1_0_packs_base_3_digits)
{
    float in[256] = {2, -1};
    uint8_t out[54], expected[54];

    memset(expected, 128, 48);
    memset(expected + 48, 127, 4);
    expected[0] = 213;
    expected[1] = 43;
    memcpy(expected + 52, "\x00\x40", 2);
    encode_block(TENON_DTYPE_TQ1_0, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* Two bits each, 1 for zero: 0x55, but 2 for element 0 and 0 for element 33. */
START_TEST(tq2_0_packs_pairs_of_bits)
{
    float in[256] = {2, [33] = -1};
    uint8_t out[66], expected[66];

    memset(expected, 0x55, 64);
    expected[0] = 0x56;
    expected[1] = 0x51;
    memcpy(expected + 64, "\x00\x40", 2);
    encode_block(TENON_DTYPE_TQ2_0, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

/* Largest magnitude 6 = 1.5 * 2^2, so a unit is 2^-1: exponent byte 127. Values 0 ... 6 in units
 * of the table {0 .5 1 1.5 2 3 4 6}; 2.5 and 5 are ties and go to the smaller magnitude. */
START_TEST(mxfp4_takes_the_nearest_value)
{
    float in[32] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -6, -0.2f, 2.5f, -5, 2.6f, -5.1f, 0.25f, 0.26f};
    static const uint8_t expected[17] = {127, 0, 1, 2, 3, 4, 5, 6, 7, 15, 0, 4, 14, 5, 15, 0, 1};
    uint8_t out[17];

    encode_block(TENON_DTYPE_MXFP4, out, in);
    ck_assert_mem_eq(out, expected, sizeof(expected));
}
END_TEST

START_TEST(zeros_decode_to_zeros)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(types[_i]);
    float in[MAX_BLOCK] = {0}, back[MAX_BLOCK];
    uint8_t out[MAX_BLOCK_BYTES];

    encode_block(types[_i], out, in);
    plain.decode[types[_i]](back, out, 1);
    for (uint32_t i = 0; i < info->block_elements; i++)
        ck_assert(back[i] == 0);
}
END_TEST

enum { BLOCKS = 19 }; /* no multiple of any number of lanes */

/* What is before the block with the first bad value is written, the rest is left alone. */
static void check_refused(tenon_encode_fn encode, const struct tenon_dtype_info *info,
                          const float *good, size_t at, float bad)
{
    static float values[BLOCKS * MAX_BLOCK];
    static uint8_t expected[BLOCKS * MAX_BLOCK_BYTES], out[BLOCKS * MAX_BLOCK_BYTES];
    size_t n = at / info->block_elements;

    memcpy(values, good, sizeof(values));
    memset(expected, 0xa5, sizeof(expected));
    memset(out, 0xa5, sizeof(out));
    ck_assert(encode(expected, values, n) == SIZE_MAX);
    values[at] = bad;
    values[BLOCKS * info->block_elements - 1] = NAN;
    ck_assert_uint_eq(encode(out, values, BLOCKS), at);
    ck_assert_mem_eq(out, expected, sizeof(out));
}

START_TEST(the_first_value_that_is_not_finite_is_named)
{
    static const size_t blocks[] = {0, 1, 3, 7, 8, 17, 18};
    const struct tenon_dtype_info *info = tenon_dtype_info(types[_i]);
    static float values[BLOCKS * MAX_BLOCK];
    struct blocks_rng rng = {7};

    value_set_at(0)->fill(&rng, values, BLOCKS * MAX_BLOCK);
    for (size_t k = 0; k < sizeof(blocks) / sizeof(blocks[0]); k++) {
        size_t at = blocks[k] * info->block_elements + k;

        check_refused(plain.encode[types[_i]], info, values, at, NAN);
        check_refused(plain.encode[types[_i]], info, values, at, -NAN);
        check_refused(best.encode[types[_i]], info, values, at, INFINITY);
        check_refused(best.encode[types[_i]], info, values, at, -INFINITY);
        check_refused(best.encode[types[_i]], info, values, at, NAN);
    }
}
END_TEST

START_TEST(best_encoder_gives_the_bytes_of_the_plain_one)
{
    enum { N = 4 * BLOCKS };
    const struct tenon_dtype_info *info = tenon_dtype_info(types[_i]);
    static float values[N * MAX_BLOCK];
    static uint8_t a[N * MAX_BLOCK_BYTES], b[N * MAX_BLOCK_BYTES];
    struct blocks_rng rng = {11};
    const struct value_set *set;

    for (size_t k = 0; (set = value_set_at(k)) != NULL; k++) {
        set->fill(&rng, values, N * MAX_BLOCK);
        for (size_t n = 0; n <= N; n = n < BLOCKS ? n + 1 : n + BLOCKS) {
            memset(a, 0, sizeof(a));
            memset(b, 0, sizeof(b));
            ck_assert(plain.encode[types[_i]](a, values, n) == SIZE_MAX);
            ck_assert(best.encode[types[_i]](b, values, n) == SIZE_MAX);
            ck_assert_msg(memcmp(a, b, sizeof(a)) == 0, "%s: %s, %zu blocks differ", info->name,
                          set->name, n);
        }
    }
}
END_TEST

/* Root mean square error of a round trip of normal values, in units of their deviation. A
 * uniform quantizer with step s has s / sqrt(12): Q8_0 with 254 steps over about 2 * 2.1 (the
 * mean extreme of 32 values) has 0.0048. The others are bounded by their bits the same way; the
 * upper bound is 1.3 times that for 2^bits levels, the ternary types by that of all zeros. */
START_TEST(round_trips_stay_close)
{
    static const struct {
        enum tenon_dtype dtype;
        double steps, bound;
    } rows[] = {
        {TENON_DTYPE_Q8_0, 254, 0},  {TENON_DTYPE_Q6_K, 63, 0},   {TENON_DTYPE_Q5_K, 31, 0},
        {TENON_DTYPE_Q5_1, 31, 0},   {TENON_DTYPE_Q5_0, 31, 0},   {TENON_DTYPE_Q4_K, 15, 0},
        {TENON_DTYPE_Q4_1, 15, 0},   {TENON_DTYPE_Q4_0, 15, 0},   {TENON_DTYPE_IQ4_NL, 15, 0},
        {TENON_DTYPE_IQ4_XS, 15, 0}, {TENON_DTYPE_MXFP4, 10, 0},  {TENON_DTYPE_Q3_K, 7, 0},
        {TENON_DTYPE_Q2_K, 3, 0},    {TENON_DTYPE_TQ1_0, 0, 1.0}, {TENON_DTYPE_TQ2_0, 0, 1.0},
    };
    enum { N = 64 };
    static float values[N * MAX_BLOCK], back[N * MAX_BLOCK];
    static uint8_t out[N * MAX_BLOCK_BYTES];
    struct blocks_rng rng = {13};

    ck_assert_uint_eq(sizeof(rows) / sizeof(rows[0]), N_TYPES - N_FLOATS);
    value_set_at(0)->fill(&rng, values, N * MAX_BLOCK);
    for (size_t k = 0; k < N_TYPES - N_FLOATS; k++) {
        const struct tenon_dtype_info *info = tenon_dtype_info(rows[k].dtype);
        double error = 0, norm = 0;
        double bound = rows[k].steps > 0 ? 1.3 * 4.2 / rows[k].steps / sqrt(12) : rows[k].bound;

        ck_assert(best.encode[info->dtype](out, values, N) == SIZE_MAX);
        plain.decode[info->dtype](back, out, N);
        for (size_t i = 0; i < N * info->block_elements; i++) {
            error += ((double)back[i] - values[i]) * ((double)back[i] - values[i]);
            norm += (double)values[i] * values[i];
        }
        ck_assert_msg(sqrt(error / norm) < bound, "%s: %g, bound %g", info->name,
                      sqrt(error / norm), bound);
        ck_assert_msg(sqrt(error / norm) > bound / 10, "%s: %g is too good", info->name,
                      sqrt(error / norm));
    }
}
END_TEST

static TCase *goldens(void)
{
    TCase *tc = tcase_create("goldens");

    tcase_add_test(tc, q8_0_rounds_ties_away_from_zero);
    tcase_add_test(tc, q4_0_gives_its_first_extreme_the_code_0);
    tcase_add_test(tc, q4_0_scale_is_negative_when_the_extreme_is_positive);
    tcase_add_test(tc, q4_1_spans_minimum_to_maximum);
    tcase_add_test(tc, q5_0_keeps_fifth_bits_in_a_word);
    tcase_add_test(tc, q5_1_keeps_fifth_bits_in_a_word);
    tcase_add_test(tc, the_sign_of_a_zero_minimum_is_that_of_the_first);
    tcase_add_test(tc, q4_k_finds_an_exact_fit);
    tcase_add_test(tc, q5_k_finds_an_exact_fit);
    tcase_add_test(tc, q2_k_finds_an_exact_fit);
    tcase_add_test(tc, q6_k_finds_an_exact_fit);
    tcase_add_test(tc, q3_k_finds_an_exact_fit);
    tcase_add_test(tc, iq4_nl_finds_an_exact_fit);
    tcase_add_test(tc, iq4_xs_finds_an_exact_fit);
    tcase_add_test(tc, tq1_0_packs_base_3_digits);
    tcase_add_test(tc, tq2_0_packs_pairs_of_bits);
    tcase_add_test(tc, mxfp4_takes_the_nearest_value);
    return tc;
}

static TCase *properties(void)
{
    TCase *tc = tcase_create("properties");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, zeros_decode_to_zeros, N_FLOATS, N_TYPES);
    tcase_add_loop_test(tc, the_first_value_that_is_not_finite_is_named, N_FLOATS, N_TYPES);
    tcase_add_loop_test(tc, best_encoder_gives_the_bytes_of_the_plain_one, 0, N_TYPES);
    tcase_add_test(tc, round_trips_stay_close);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("encode");

    tenon_quant_init_reference(&plain);
    tenon_quant_init(&best, tenon_cpu_detect());
    suite_add_tcase(suite, goldens());
    suite_add_tcase(suite, properties());
    return run_suite(suite);
}
