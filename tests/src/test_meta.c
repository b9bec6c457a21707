/* Walking packed arrays, and values as integers. */
#include "tenon/meta.h"

#include <math.h>
#include <string.h>

#include "check_error.h"

static struct tenon_meta_entry make_array(enum tenon_meta_type item, uint64_t count,
                                          const void *raw, size_t n)
{
    struct tenon_meta_entry entry = {.type = TENON_META_ARRAY, .item = item, .count = count};

    entry.raw = raw;
    entry.raw_bytes = n;
    return entry;
}

START_TEST(numbers_and_strings_are_walked)
{
    struct tenon_meta_entry array = make_array(TENON_META_I16, 2, "\xff\xff\x02\x00", 4);
    struct tenon_meta_value value;
    struct tenon_meta_iter it;

    tenon_meta_iter_init(&it, &array);
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert_int_eq(value.as.i64, -1);
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert_int_eq(value.as.i64, 2);
    ck_assert(!tenon_meta_iter_next(&it, &value, NULL));
    array = make_array(TENON_META_STRING, 2, "\2\0\0\0\0\0\0\0ab\0\0\0\0\0\0\0\0", 18);
    tenon_meta_iter_init(&it, &array);
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert_uint_eq(value.as.str.len, 2);
    ck_assert_mem_eq(value.as.str.data, "ab", 2);
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert_uint_eq(value.as.str.len, 0);
}
END_TEST

START_TEST(big_endian_and_short_lengths_are_walked)
{
    struct tenon_meta_entry array = make_array(TENON_META_STRING, 1, "\0\0\0\1x", 5);
    struct tenon_meta_value value;
    struct tenon_meta_iter it;

    array.swapped = array.short_lengths = true;
    tenon_meta_iter_init(&it, &array);
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert_uint_eq(value.as.str.len, 1);
}
END_TEST

START_TEST(nested_arrays_come_as_arrays)
{
    /* [[7, 8], []] of u8 */
    static const char raw[] = "\0\0\0\0\2\0\0\0\0\0\0\0\x07\x08"
                              "\0\0\0\0\0\0\0\0\0\0\0\0";
    struct tenon_meta_entry array = make_array(TENON_META_ARRAY, 2, raw, sizeof(raw) - 1), inner;
    struct tenon_meta_value value;
    struct tenon_meta_iter it, inside;

    tenon_meta_iter_init(&it, &array);
    ck_assert(tenon_meta_iter_next(&it, &value, &inner));
    ck_assert_int_eq(value.type, TENON_META_ARRAY);
    ck_assert_uint_eq(inner.count, 2);
    tenon_meta_iter_init(&inside, &inner);
    ck_assert(tenon_meta_iter_next(&inside, &value, NULL));
    ck_assert_uint_eq(value.as.u64, 7);
    ck_assert(tenon_meta_iter_next(&it, &value, &inner));
    ck_assert_uint_eq(inner.count, 0);
    ck_assert(!tenon_meta_iter_next(&it, &value, &inner));
}
END_TEST

START_TEST(a_walk_never_leaves_the_bytes)
{
    struct tenon_meta_value value;
    struct tenon_meta_iter it;
    struct tenon_meta_entry array =
        make_array(TENON_META_STRING, 5, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);

    tenon_meta_iter_init(&it, &array);
    ck_assert(!tenon_meta_iter_next(&it, &value, NULL));
    array = make_array(TENON_META_U64, 5, "12345678", 8);
    tenon_meta_iter_init(&it, &array);
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert(!tenon_meta_iter_next(&it, &value, NULL));
}
END_TEST

START_TEST(only_values_that_fit_become_integers)
{
    struct tenon_meta_value value = {.type = TENON_META_U64, .as.u64 = UINT64_MAX};
    int64_t out = 5;

    ck_assert(!tenon_meta_value_int(&value, &out));
    value.as.u64 = INT64_MAX;
    ck_assert(tenon_meta_value_int(&value, &out) && out == INT64_MAX);
    value = (struct tenon_meta_value){.type = TENON_META_F32, .as.f64 = 2.5};
    ck_assert(!tenon_meta_value_int(&value, &out));
    value.as.f64 = (double)NAN;
    ck_assert(!tenon_meta_value_int(&value, &out));
    value.as.f64 = 1e300;
    ck_assert(!tenon_meta_value_int(&value, &out));
    value.as.f64 = -3;
    ck_assert(tenon_meta_value_int(&value, &out) && out == -3);
    value.type = TENON_META_STRING;
    ck_assert(!tenon_meta_value_int(&value, &out));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("meta");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, numbers_and_strings_are_walked);
    tcase_add_test(tests, big_endian_and_short_lengths_are_walked);
    tcase_add_test(tests, nested_arrays_come_as_arrays);
    tcase_add_test(tests, a_walk_never_leaves_the_bytes);
    tcase_add_test(tests, only_values_that_fit_become_integers);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
