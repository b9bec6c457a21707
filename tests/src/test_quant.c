/* The table of codecs and the byte order of blocks. */
#include "quant.h"

#include <string.h>

#include "blocks.h"
#include "check_error.h"
#include "cpu.h"

enum { N_BLOCKS = 5, MAX_BYTES = N_BLOCKS * 292 };

START_TEST(every_type_with_a_size_has_a_decoder)
{
    struct tenon_quant_ops ops;
    const struct tenon_dtype_info *info;

    tenon_quant_init_reference(&ops);
    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++)
        ck_assert_msg((ops.decode[info->dtype] != NULL) == (info->block_bytes != 0), "%s",
                      info->name);
}
END_TEST

START_TEST(no_flags_give_plain_c)
{
    struct tenon_quant_ops plain, ops;

    tenon_quant_init_reference(&plain);
    tenon_quant_init(&ops, 0);
    ck_assert_mem_eq(&ops, &plain, sizeof(ops));
}
END_TEST

START_TEST(float64_is_exact_where_float32_is_not)
{
    static const struct {
        enum tenon_dtype dtype;
        uint8_t bytes[8];
        double value;
    } rows[] = {
        {TENON_DTYPE_I32, {0xff, 0xff, 0xff, 0x7f}, 2147483647.0},
        {TENON_DTYPE_I32, {0x01, 0x00, 0x00, 0x80}, -2147483647.0},
        {TENON_DTYPE_U32, {0xff, 0xff, 0xff, 0xff}, 4294967295.0},
        {TENON_DTYPE_I64, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe0, 0xff}, -0x1.fp52 - 1},
        {TENON_DTYPE_U64, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 0x00}, 9007199254740991.0},
        {TENON_DTYPE_F64, {0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f}, 0.1},
    };
    struct tenon_quant_ops ops;

    tenon_quant_init(&ops, tenon_cpu_detect());
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double got = 0;

        ops.decode_f64[rows[i].dtype](&got, rows[i].bytes, 1);
        ck_assert_msg(got == rows[i].value, "row %zu: %a", i, got);
    }
}
END_TEST

START_TEST(float32_is_rounded_to_nearest_even)
{
    /* 2^24 + 1 lies between 2^24 and 2^24 + 2, 2^24 + 3 between that and 2^24 + 4. */
    static const uint8_t bytes[8] = {0x01, 0x00, 0x00, 0x01, 0x03, 0x00, 0x00, 0x01};
    struct tenon_quant_ops ops;
    float got[2];

    tenon_quant_init(&ops, tenon_cpu_detect());
    ops.decode[TENON_DTYPE_U32](got, bytes, 2);
    ck_assert(got[0] == 16777216.0f && got[1] == 16777220.0f);
    ops.decode[TENON_DTYPE_I32](got, bytes, 2);
    ck_assert(got[0] == 16777216.0f && got[1] == 16777220.0f);
}
END_TEST

START_TEST(any_byte_but_zero_is_true)
{
    static const uint8_t bytes[4] = {0, 1, 2, 255};
    struct tenon_quant_ops ops;
    float got[4];

    tenon_quant_init(&ops, tenon_cpu_detect());
    ops.decode[TENON_DTYPE_BOOL](got, bytes, 4);
    ck_assert(got[0] == 0 && got[1] == 1 && got[2] == 1 && got[3] == 1);
}
END_TEST

START_TEST(swapping_twice_changes_nothing)
{
    struct blocks_rng rng = {7};
    const struct tenon_dtype_info *info;

    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++) {
        uint8_t blocks[MAX_BYTES], before[MAX_BYTES];
        size_t n_bytes = N_BLOCKS * info->block_bytes;

        if (info->block_bytes == 0)
            continue;
        blocks_fill(&rng, info->dtype, blocks, N_BLOCKS);
        memcpy(before, blocks, n_bytes);
        if (tenon_quant_swap(info->dtype, blocks, N_BLOCKS))
            ck_assert(tenon_quant_swap(info->dtype, blocks, N_BLOCKS));
        ck_assert_mem_eq(blocks, before, n_bytes);
    }
}
END_TEST

START_TEST(types_without_a_big_endian_form_are_refused)
{
    uint8_t block[66] = {1};
    uint8_t before[66] = {1};

    ck_assert(!tenon_quant_swap(TENON_DTYPE_IQ2_XXS, block, 1));
    ck_assert(!tenon_quant_swap(TENON_DTYPE_Q4_2, block, 1));
    ck_assert(!tenon_quant_swap(TENON_DTYPE_UNKNOWN, block, 1));
    ck_assert_mem_eq(block, before, sizeof(block));
}
END_TEST

/* Bytes 0, 1, 2 ... after swapping, as far as they move. Offsets as in ggml's struct
 * definitions; the two of Q4_K are those of gguf-py's endian converter. */
START_TEST(only_fields_of_several_bytes_move)
{
    static const struct {
        enum tenon_dtype dtype;
        uint8_t at, width, n; /* n runs of `width` bytes are reversed from byte `at` on */
    } rows[] = {
        {TENON_DTYPE_F64, 0, 8, 1},    {TENON_DTYPE_C64, 0, 4, 2},
        {TENON_DTYPE_Q4_K, 0, 2, 2},   {TENON_DTYPE_Q6_K, 208, 2, 1},
        {TENON_DTYPE_Q8_0, 0, 2, 1},   {TENON_DTYPE_TQ2_0, 64, 2, 1},
        {TENON_DTYPE_MXFP4, 0, 1, 0},  {TENON_DTYPE_NVFP4, 0, 1, 0},
        {TENON_DTYPE_I8, 0, 1, 0},     {TENON_DTYPE_IQ2_XS, 0, 2, 33},
        {TENON_DTYPE_IQ1_M, 48, 2, 4}, {TENON_DTYPE_Q3_K, 108, 2, 1},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n_bytes = tenon_dtype_info(rows[i].dtype)->block_bytes;
        uint8_t block[292], wanted[292];

        for (size_t k = 0; k < n_bytes; k++)
            block[k] = wanted[k] = (uint8_t)k;
        for (size_t run = 0; run < rows[i].n; run++)
            for (size_t k = 0; k < rows[i].width; k++)
                wanted[rows[i].at + run * rows[i].width + k] =
                    (uint8_t)(rows[i].at + run * rows[i].width + rows[i].width - 1 - k);
        ck_assert(tenon_quant_swap(rows[i].dtype, block, 1));
        ck_assert_mem_eq(block, wanted, n_bytes);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quant");
    TCase *table = tcase_create("table"), *swap = tcase_create("swap");

    suite_add_tcase(suite, table);
    tcase_add_test(table, every_type_with_a_size_has_a_decoder);
    tcase_add_test(table, no_flags_give_plain_c);
    tcase_add_test(table, float64_is_exact_where_float32_is_not);
    tcase_add_test(table, float32_is_rounded_to_nearest_even);
    tcase_add_test(table, any_byte_but_zero_is_true);
    suite_add_tcase(suite, swap);
    tcase_add_test(swap, swapping_twice_changes_nothing);
    tcase_add_test(swap, types_without_a_big_endian_form_are_refused);
    tcase_add_test(swap, only_fields_of_several_bytes_move);
    return run_suite(suite);
}
