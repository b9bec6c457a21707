/* Codes and the scales beside them. Codes used: E4M3 0x38 is 1, 0x40 is 2, 0xb8 is -1 (bias 7);
 * E2M1 codes 0 to 7 are 0 0.5 1 1.5 2 3 4 6 (OCP microscaling formats, version 1.0). */
#include "tenon/logical.h"

#include "memory_model.h"

static unsigned char bytes[200 * 300 + 64];
static struct tenon_model *model;
static struct tenon_error err;

static void set_up(void)
{
    memset(&err, 0, sizeof(err));
    memset(bytes, 0x38, sizeof(bytes));
    model = new_memory_model(bytes, sizeof(bytes));
}

static void tear_down(void)
{
    tenon_model_free(model);
}

static void put_floats(size_t offset, const float *values, size_t n)
{
    memcpy(bytes + offset, values, n * sizeof(*values));
}

START_TEST(block_scales_reach_exactly_their_blocks)
{
    static const float scales[] = {2, 3, 5, 7, 11, 13};
    static float out[200 * 300];
    struct tenon_logical l;

    put_floats(60000, scales, 6);
    add_tensor(model, "w.weight", TENON_DTYPE_F8_E4M3, 0, SHAPE(200, 300));
    add_tensor(model, "w.weight_scale_inv", TENON_DTYPE_F32, 60000, SHAPE(2, 3));
    ck_ok(tenon_model_finish(model, &err), err);
    ck_assert(tenon_logical_init(&l, model, get_tensor(model, "w.weight")));
    ck_assert_uint_eq(l.n_elements, 60000);
    ck_ok(tenon_logical_decode(&l, 0, 60000, out, &err), err);
    for (size_t r = 0; r < 200; r++)
        for (size_t c = 0; c < 300; c++)
            ck_assert_float_eq(out[r * 300 + c], scales[r / 128 * 3 + c / 128]);
    ck_ok(tenon_logical_decode(&l, 300 * 127 + 290, 20, out, &err), err);
    ck_assert_float_eq(out[9], 5);
    ck_assert_float_eq(out[10], 7);
}
END_TEST

START_TEST(one_scale_and_one_scale_a_row_are_understood)
{
    static const float scales[] = {2, 3, 5};
    struct tenon_logical l;
    float out[8];

    put_floats(1024, scales, 3);
    add_tensor(model, "a.weight", TENON_DTYPE_F8_E4M3, 0, SHAPE(2, 4));
    add_tensor(model, "a.weight_scale", TENON_DTYPE_F32, 1024, SHAPE(2, 1));
    add_tensor(model, "b.weight", TENON_DTYPE_F8_E4M3, 8, SHAPE(2, 4));
    add_tensor(model, "b.weight_scale", TENON_DTYPE_F32, 1032, SCALAR);
    ck_ok(tenon_model_finish(model, &err), err);
    ck_assert(tenon_logical_init(&l, model, get_tensor(model, "a.weight")));
    ck_ok(tenon_logical_decode(&l, 0, 8, out, &err), err);
    ck_assert_float_eq(out[3], 2);
    ck_assert_float_eq(out[4], 3);
    ck_assert(tenon_logical_init(&l, model, get_tensor(model, "b.weight")));
    ck_ok(tenon_logical_decode(&l, 0, 8, out, &err), err);
    ck_assert_float_eq(out[0], 5);
    ck_assert_float_eq(out[7], 5);
}
END_TEST

START_TEST(a_plain_widening_is_refused_and_names_the_scales)
{
    float out[8];

    add_tensor(model, "a.weight", TENON_DTYPE_F8_E4M3, 0, SHAPE(2, 4));
    add_tensor(model, "a.weight_scale", TENON_DTYPE_F32, 1024, SCALAR);
    ck_ok(tenon_model_finish(model, &err), err);
    ck_fails(tenon_tensor_decode(model, get_tensor(model, "a.weight"), 0, 8, out, &err),
             TENON_ERR_UNSUPPORTED_FEATURE, err);
    ck_assert_str_eq(err.message,
                     "its values are codes to be multiplied by the scales in 'a.weight_scale'");
    ck_assert_str_eq(err.subject, "a.weight");
}
END_TEST

START_TEST(a_grid_of_the_wrong_size_is_a_finding_and_has_no_values)
{
    struct tenon_logical l;

    add_tensor(model, "a.weight", TENON_DTYPE_F8_E4M3, 0, SHAPE(200, 256));
    add_tensor(model, "a.weight_scale_inv", TENON_DTYPE_F32, 59904, SHAPE(2, 3));
    ck_ok(tenon_model_finish(model, &err), err);
    ck_assert(!tenon_logical_init(&l, model, get_tensor(model, "a.weight")));
    ck_assert_uint_eq(tenon_model_n_findings(model), 1);
    ck_assert_str_eq(tenon_model_finding(model, 0)->code, "scales_do_not_fit");
    ck_assert_str_eq(tenon_model_finding(model, 0)->subject, "a.weight");
}
END_TEST

START_TEST(float8_without_scales_means_what_it_holds)
{
    struct tenon_logical l;
    float out[4];

    add_tensor(model, "a.weight", TENON_DTYPE_F8_E4M3, 0, SHAPE(2, 2));
    ck_ok(tenon_model_finish(model, &err), err);
    ck_assert(tenon_logical_init(&l, model, get_tensor(model, "a.weight")));
    ck_ok(tenon_logical_decode(&l, 0, 4, out, &err), err);
    ck_assert_float_eq(out[3], 1);
}
END_TEST

START_TEST(mxfp4_blocks_and_scales_are_one_matrix)
{
    static const float magnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    struct tenon_logical l;
    float out[64];

    for (int i = 0; i < 16; i++) /* codes 0 1 2 3 ... 15 0 1 ..., low half first */
        bytes[i] = bytes[16 + i] = (unsigned char)((2 * i) % 16 | ((2 * i + 1) % 16) << 4);
    bytes[32] = 128; /* 2^1 */
    bytes[33] = 126; /* 2^-1 */
    add_tensor(model, "x_blocks", TENON_DTYPE_U8, 0, SHAPE(1, 2, 1, 16));
    add_tensor(model, "x_scales", TENON_DTYPE_U8, 32, SHAPE(1, 2, 1));
    ck_ok(tenon_model_finish(model, &err), err);
    ck_assert(tenon_logical_init(&l, model, get_tensor(model, "x_blocks")));
    ck_assert_uint_eq(l.n_dims, 3);
    ck_assert_uint_eq(l.dims[2], 32);
    ck_assert_uint_eq(l.n_elements, 64);
    ck_ok(tenon_logical_decode(&l, 0, 64, out, &err), err);
    for (int i = 0; i < 64; i++) {
        float sign = i % 16 < 8 ? 1.0f : -1.0f;

        ck_assert_float_eq(out[i], sign * magnitudes[i % 8] * (i < 32 ? 2.0f : 0.5f));
    }
    ck_ok(tenon_logical_decode(&l, 31, 3, out, &err), err);
    ck_assert_float_eq(out[0], -12);
    ck_assert_float_eq(out[2], 0.25f);
    ck_fails(tenon_logical_decode(&l, 60, 5, out, &err), TENON_ERR_MISUSE, err);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("logical");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, block_scales_reach_exactly_their_blocks);
    tcase_add_test(tests, one_scale_and_one_scale_a_row_are_understood);
    tcase_add_test(tests, a_plain_widening_is_refused_and_names_the_scales);
    tcase_add_test(tests, a_grid_of_the_wrong_size_is_a_finding_and_has_no_values);
    tcase_add_test(tests, float8_without_scales_means_what_it_holds);
    tcase_add_test(tests, mxfp4_blocks_and_scales_are_one_matrix);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
