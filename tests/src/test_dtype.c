/* The table of element types. */
#include "tenon/dtype.h"

#include <string.h>

#include "check_error.h"

START_TEST(numbers_and_names_are_unique_and_found_again)
{
    for (size_t i = 0; tenon_dtype_at(i) != NULL; i++) {
        const struct tenon_dtype_info *row = tenon_dtype_at(i);

        ck_assert_ptr_eq(tenon_dtype_info(row->dtype), row);
        ck_assert_int_eq(tenon_dtype_from_name(row->name, strlen(row->name)), row->dtype);
        if (row->gguf_id >= 0)
            ck_assert_int_eq(tenon_dtype_from_gguf((uint32_t)row->gguf_id), row->dtype);
        if (row->safetensors_id[0] != '\0')
            ck_assert_int_eq(
                tenon_dtype_from_safetensors(row->safetensors_id, strlen(row->safetensors_id)),
                row->dtype);
    }
}
END_TEST

/* Bits per weight as the type table of the GGUF documentation gives them. */
START_TEST(bits_per_weight_match_the_published_table)
{
    static const struct {
        uint32_t gguf_id;
        double bits;
    } published[] = {
        {0, 32},      {1, 16},      {2, 4.5},     {3, 5},       {6, 5.5},     {7, 6},
        {8, 8.5},     {9, 9},       {10, 2.625},  {11, 3.4375}, {12, 4.5},    {13, 5.5},
        {14, 6.5625}, {15, 9.125},  {16, 2.0625}, {17, 2.3125}, {18, 3.0625}, {19, 1.5625},
        {20, 4.5},    {21, 3.4375}, {22, 2.5625}, {23, 4.25},   {24, 8},      {25, 16},
        {26, 32},     {27, 64},     {28, 64},     {29, 1.75},   {30, 16},     {34, 1.6875},
        {35, 2.0625}, {39, 4.25},   {40, 4.5},    {41, 1.125},  {42, 2.25},
    };

    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        const struct tenon_dtype_info *row =
            tenon_dtype_info(tenon_dtype_from_gguf(published[i].gguf_id));

        ck_assert_ptr_nonnull(row);
        ck_assert_double_eq(row->block_bytes * 8.0 / row->block_elements, published[i].bits);
    }
}
END_TEST

/* 0 to 42 without a gap: 35 types in use, 8 removed. */
START_TEST(every_gguf_type_number_has_a_row)
{
    int removed = 0;

    for (uint32_t id = 0; id <= 42; id++) {
        const struct tenon_dtype_info *row = tenon_dtype_info(tenon_dtype_from_gguf(id));

        ck_assert_msg(row != NULL, "type %u", id);
        removed += row->family == TENON_DTYPE_FAMILY_removed;
    }
    ck_assert_int_eq(removed, 8);
    ck_assert_int_eq(tenon_dtype_from_gguf(43), TENON_DTYPE_UNKNOWN);
    ck_assert_int_eq(tenon_dtype_from_gguf(UINT32_MAX), TENON_DTYPE_UNKNOWN);
}
END_TEST

START_TEST(safetensors_has_22_types_and_their_names_are_case_sensitive)
{
    int n = 0;

    for (size_t i = 0; tenon_dtype_at(i) != NULL; i++)
        n += tenon_dtype_at(i)->safetensors_id[0] != '\0';
    ck_assert_int_eq(n, 22);
    ck_assert_int_eq(tenon_dtype_from_safetensors("f32", 3), TENON_DTYPE_UNKNOWN);
    ck_assert_int_eq(tenon_dtype_from_safetensors("F32 ", 4), TENON_DTYPE_UNKNOWN);
    ck_assert_int_eq(tenon_dtype_from_safetensors("", 0), TENON_DTYPE_UNKNOWN);
    ck_assert_int_eq(tenon_dtype_from_name("q4_k", 4), TENON_DTYPE_Q4_K);
}
END_TEST

START_TEST(sizes_count_whole_blocks_and_never_wrap)
{
    uint64_t bytes = 0;

    ck_assert(tenon_dtype_bytes(TENON_DTYPE_Q4_K, 512, &bytes));
    ck_assert_uint_eq(bytes, 288);
    ck_assert(tenon_dtype_bytes(TENON_DTYPE_F4, 6, &bytes));
    ck_assert_uint_eq(bytes, 3);
    ck_assert(!tenon_dtype_bytes(TENON_DTYPE_F4, 3, &bytes));
    ck_assert(!tenon_dtype_bytes(TENON_DTYPE_Q4_K, 255, &bytes));
    ck_assert(!tenon_dtype_bytes(TENON_DTYPE_F32, UINT64_C(1) << 62, &bytes));
    ck_assert(!tenon_dtype_bytes(TENON_DTYPE_Q4_2, 32, &bytes));
    ck_assert(!tenon_dtype_bytes(TENON_DTYPE_UNKNOWN, 0, &bytes));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dtype");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, numbers_and_names_are_unique_and_found_again);
    tcase_add_test(tests, bits_per_weight_match_the_published_table);
    tcase_add_test(tests, every_gguf_type_number_has_a_row);
    tcase_add_test(tests, safetensors_has_22_types_and_their_names_are_case_sensitive);
    tcase_add_test(tests, sizes_count_whole_blocks_and_never_wrap);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
