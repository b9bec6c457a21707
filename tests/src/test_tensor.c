/* Ranges of tensors: any start, any length, either byte order, nothing outside read. */
#include "memory_model.h"

static unsigned char bytes[2048];
static struct tenon_model *model;
static struct tenon_error err;

static void set_up(void)
{
    memset(&err, 0, sizeof(err));
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    model = new_memory_model(bytes, sizeof(bytes));
}

static void tear_down(void)
{
    tenon_model_free(model);
}

START_TEST(raw_bytes_come_as_they_are_and_only_from_inside)
{
    unsigned char buf[8];

    add_tensor(model, "a", TENON_DTYPE_F32, 100, SHAPE(4));
    ck_ok(tenon_model_finish(model, &err), err);
    ck_ok(tenon_tensor_read(model, get_tensor(model, "a"), 8, buf, 8, &err), err);
    ck_assert_mem_eq(buf, bytes + 108, 8);
    ck_fails(tenon_tensor_read(model, get_tensor(model, "a"), 9, buf, 8, &err), TENON_ERR_MISUSE,
             err);
    ck_assert_str_eq(err.subject, "a");
}
END_TEST

/* Every range of two Q4_0 blocks equals the same range of the whole. The whole follows the
 * definition: w = (q - 8) * d, low halves first. */
START_TEST(every_range_of_blocks_equals_the_part_of_the_whole)
{
    float whole[64], part[64];

    bytes[0] = 0x00, bytes[1] = 0x3c;   /* d = 1 */
    bytes[18] = 0x00, bytes[19] = 0x40; /* d = 2 */
    add_tensor(model, "q", TENON_DTYPE_Q4_0, 0, SHAPE(64));
    ck_ok(tenon_model_finish(model, &err), err);
    for (int i = 0; i < 64; i++) {
        const unsigned char *block = bytes + 18 * (i / 32);
        int k = i % 32, q = k < 16 ? block[2 + k] & 15 : block[2 + k - 16] >> 4;

        whole[i] = (float)(q - 8) * (i < 32 ? 1.0f : 2.0f);
    }
    for (uint64_t first = 0; first <= 64; first++)
        for (size_t n = 0; first + n <= 64; n++) {
            ck_ok(tenon_tensor_decode(model, get_tensor(model, "q"), first, n, part, &err), err);
            ck_assert_mem_eq(part, whole + first, n * sizeof(float));
        }
    ck_fails(tenon_tensor_decode(model, get_tensor(model, "q"), 60, 5, part, &err),
             TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(wide_types_keep_their_precision_in_float64)
{
    static const double value = 1.0 + 0x1p-50;
    static const int64_t integer = (INT64_C(1) << 53) - 1;
    double out[2];

    memcpy(bytes, &value, 8);
    memcpy(bytes + 8, &integer, 8);
    add_tensor(model, "d", TENON_DTYPE_F64, 0, SHAPE(1));
    add_tensor(model, "i", TENON_DTYPE_I64, 8, SHAPE(1));
    add_tensor(model, "b", TENON_DTYPE_BF16, 16, SHAPE(2));
    bytes[16] = 0x80, bytes[17] = 0x3f, bytes[18] = 0x40, bytes[19] = 0x40; /* 1, 3 */
    ck_ok(tenon_model_finish(model, &err), err);
    ck_ok(tenon_tensor_decode_f64(model, get_tensor(model, "d"), 0, 1, out, &err), err);
    ck_assert_double_eq(out[0], value);
    ck_ok(tenon_tensor_decode_f64(model, get_tensor(model, "i"), 0, 1, out, &err), err);
    ck_assert_double_eq(out[0], 9007199254740991.0);
    ck_ok(tenon_tensor_decode_f64(model, get_tensor(model, "b"), 0, 2, out, &err), err);
    ck_assert_double_eq(out[0], 1);
    ck_assert_double_eq(out[1], 3);
}
END_TEST

START_TEST(big_endian_payloads_give_the_same_values)
{
    struct tenon_tensor t = describe("be", TENON_DTYPE_F32, 0, SHAPE(2));
    float out[2];

    memcpy(bytes, "\x3f\x80\x00\x00\xc0\x40\x00\x00", 8); /* 1, -3 */
    t.flags |= TENON_TENSOR_BIG_ENDIAN;
    ck_ok(tenon_model_add_tensor(model, &t, &err), err);
    ck_ok(tenon_model_finish(model, &err), err);
    ck_ok(tenon_tensor_decode(model, get_tensor(model, "be"), 0, 2, out, &err), err);
    ck_assert_float_eq(out[0], 1);
    ck_assert_float_eq(out[1], -3);
}
END_TEST

START_TEST(types_without_a_size_are_refused_by_name)
{
    float out[1];

    add_tensor(model, "old", TENON_DTYPE_Q4_2, 0, SHAPE(32));
    add_tensor(model, "odd", TENON_DTYPE_UNKNOWN, 0, SHAPE(32));
    ck_ok(tenon_model_finish(model, &err), err);
    ck_fails(tenon_tensor_decode(model, get_tensor(model, "old"), 0, 1, out, &err),
             TENON_ERR_UNSUPPORTED_FEATURE, err);
    ck_assert_str_eq(err.message, "the element type Q4_2 cannot be decoded");
    memset(&err, 0, sizeof(err));
    ck_fails(tenon_tensor_decode(model, get_tensor(model, "odd"), 0, 1, out, &err),
             TENON_ERR_UNSUPPORTED_FEATURE, err);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tensor");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, raw_bytes_come_as_they_are_and_only_from_inside);
    tcase_add_test(tests, every_range_of_blocks_equals_the_part_of_the_whole);
    tcase_add_test(tests, wide_types_keep_their_precision_in_float64);
    tcase_add_test(tests, big_endian_payloads_give_the_same_values);
    tcase_add_test(tests, types_without_a_size_are_refused_by_name);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
