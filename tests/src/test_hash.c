/* Hashes and statistics over payloads: known digests, and independence from order and threads. */
#include "tenon/hash.h"

#include <math.h>

#include "memory_model.h"
#include "tenon/stats.h"

static unsigned char bytes[400000];
static struct tenon_error err;

static void set_up(void)
{
    memset(&err, 0, sizeof(err));
    for (size_t i = 0; i < sizeof(bytes) / 4; i++) {
        float value = (float)((int)(i * 7919 % 2001) - 1000) / 64;

        memcpy(bytes + 4 * i, &value, 4);
    }
}

static struct tenon_model *make(bool other_order)
{
    struct tenon_model *model = new_memory_model(bytes, sizeof(bytes));

    if (other_order)
        add_tensor(model, "b", TENON_DTYPE_F32, 40000, SHAPE(300, 300));
    add_tensor(model, "a", TENON_DTYPE_F32, 0, SHAPE(100, 100));
    if (!other_order)
        add_tensor(model, "b", TENON_DTYPE_F32, 40000, SHAPE(300, 300));
    add_tensor(model, "empty", TENON_DTYPE_F32, 0, SHAPE(0));
    ck_ok(tenon_model_finish(model, &err), err);
    return model;
}

/* The digest of nothing: XXH3's published sanity value. */
START_TEST(an_empty_tensor_has_the_published_digest_of_nothing)
{
    struct tenon_model *model = make(false);
    struct tenon_hash out[3];

    ck_ok(tenon_hash_tensors(model, NULL, 0, NULL, out, &err), err);
    ck_assert(out[2].high == UINT64_C(0x99aa06d3014798d8));
    ck_assert(out[2].low == UINT64_C(0x6001c324468d497f));
    tenon_model_free(model);
}
END_TEST

START_TEST(the_model_hash_ignores_order_and_threads)
{
    struct tenon_hash one[3], two[3], model_one, model_two;
    struct tenon_hash_options options;
    struct tenon_model *a = make(false), *b = make(true);

    tenon_hash_options_init(&options);
    options.threads = 1;
    ck_ok(tenon_hash_tensors(a, NULL, 0, &options, one, &err), err);
    options.threads = 4;
    ck_ok(tenon_hash_tensors(b, NULL, 0, &options, two, &err), err);
    ck_assert_mem_eq(&one[0], &two[1], sizeof(one[0]));
    ck_assert_mem_eq(&one[1], &two[0], sizeof(one[0]));
    ck_ok(tenon_hash_model(a, one, false, &model_one, &err), err);
    ck_ok(tenon_hash_model(b, two, false, &model_two, &err), err);
    ck_assert_mem_eq(&model_one, &model_two, sizeof(model_one));
    tenon_model_free(a);
    tenon_model_free(b);
}
END_TEST

static bool stop_at_once(uint64_t done, uint64_t total, void *user)
{
    ck_assert_uint_le(done, total);
    ++*(int *)user;
    return false;
}

START_TEST(progress_can_stop_the_work)
{
    struct tenon_model *model = make(false);
    struct tenon_hash_options options;
    struct tenon_hash out[3];
    int calls = 0;

    tenon_hash_options_init(&options);
    options.threads = 1;
    options.progress = stop_at_once;
    options.user = &calls;
    ck_fails(tenon_hash_tensors(model, NULL, 0, &options, out, &err), TENON_ERR_CANCELLED, err);
    ck_assert_int_eq(calls, 1);
    tenon_model_free(model);
}
END_TEST

START_TEST(statistics_are_right_and_do_not_depend_on_threads)
{
    struct tenon_model *model = make(false);
    struct tenon_hash_options options;
    struct tenon_stats one[3], four[3];
    double sum = 0;
    uint64_t zeros = 0;

    for (size_t i = 0; i < 10000; i++) {
        float value;

        memcpy(&value, bytes + 4 * i, 4);
        sum += (double)value; /* multiples of 1/64: exact */
        zeros += value == 0;
    }
    tenon_hash_options_init(&options);
    options.threads = 1;
    ck_ok(tenon_stats_tensors(model, NULL, 0, &options, one, &err), err);
    options.threads = 4;
    ck_ok(tenon_stats_tensors(model, NULL, 0, &options, four, &err), err);
    ck_assert_mem_eq(&one[1], &four[1], sizeof(one[1]));
    ck_assert_double_eq(one[0].min, -1000.0 / 64);
    ck_assert_double_eq(one[0].max, 1000.0 / 64);
    ck_assert(fabs(one[0].mean - sum / 10000) < 1e-13);
    ck_assert_uint_eq(one[0].zero, zeros);
    ck_assert_uint_eq(one[0].count, 10000);
    ck_assert(one[2].valid && isnan(one[2].mean) && one[2].count == 0);
    tenon_model_free(model);
}
END_TEST

START_TEST(each_allocation_may_fail)
{
    struct tenon_model *model = make(false);
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    for (uint64_t n = 1; st != TENON_OK; n++) {
        struct tenon_hash hashes[3], whole;
        struct tenon_stats stats[3];

        memset(&err, 0, sizeof(err));
        tenon_mem_fail_at(n, false);
        st = tenon_hash_tensors(model, NULL, 0, NULL, hashes, &err);
        if (st == TENON_OK)
            st = tenon_hash_model(model, hashes, false, &whole, &err);
        if (st == TENON_OK)
            st = tenon_stats_tensors(model, NULL, 0, NULL, stats, &err);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
        ck_assert_uint_lt(n, 100);
    }
    tenon_model_free(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hash");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, an_empty_tensor_has_the_published_digest_of_nothing);
    tcase_add_test(tests, the_model_hash_ignores_order_and_threads);
    tcase_add_test(tests, progress_can_stop_the_work);
    tcase_add_test(tests, statistics_are_right_and_do_not_depend_on_threads);
    tcase_add_test(tests, each_allocation_may_fail);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
