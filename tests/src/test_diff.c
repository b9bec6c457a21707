/* Comparing models: what corresponds to what, and how it differs. The samples hold the same values
 * under the names of both conventions, converted by the generator's own code. */
#include "tenon/diff.h"

#include <math.h>
#include <string.h>

#include "check_error.h"
#include "gen.h"
#include "mem.h"
#include "tenon/model.h"

static struct gen_files files[2];
static struct tenon_model *models[2];
static struct tenon_diff *diff;
static struct tenon_error err;

static void tear_down(void)
{
    tenon_diff_free(diff);
    diff = NULL;
    for (int i = 0; i < 2; i++) {
        tenon_model_free(models[i]);
        models[i] = NULL;
        gen_files_release(&files[i]);
        files[i] = (struct gen_files){0};
    }
    err = (struct tenon_error){0};
}

static void open_bytes(int i, const struct gen_bytes *bytes)
{
    ck_ok(tenon_model_open_memory(bytes->data, bytes->n, NULL, &models[i], &err), err);
}

static void open_sample(int i, const char *name)
{
    const struct gen_sample *sample = gen_sample_find(name, strlen(name));

    ck_assert_ptr_nonnull(sample);
    gen_sample_make(sample, &files[i]);
    open_bytes(i, &files[i].file[0].bytes);
}

static void compare(double tolerance, unsigned threads)
{
    struct tenon_diff_options options;

    tenon_diff_options_init(&options);
    options.tolerance = tolerance;
    options.threads = threads;
    ck_ok(tenon_diff_models(models[0], models[1], &options, &diff, &err), err);
}

static void compare_samples(const char *a, const char *b, double tolerance)
{
    open_sample(0, a);
    open_sample(1, b);
    compare(tolerance, 1);
}

static const struct tenon_diff_pair *find_pair(const char *name)
{
    const struct tenon_tensor *t = tenon_model_find(models[0], name, strlen(name));

    for (size_t i = 0; i < diff->n_pairs; i++)
        if (tenon_model_tensor(models[0], diff->pairs[i].a) == t)
            return &diff->pairs[i];
    ck_abort_msg("no pair for %s", name);
    return NULL;
}

START_TEST(a_model_is_the_same_as_itself)
{
    compare_samples("untied_gguf", "untied_gguf", 0);
    ck_assert(diff->same);
    ck_assert_uint_eq(diff->n_pairs, tenon_model_n_tensors(models[0]));
    for (size_t i = 0; i < diff->n_pairs; i++) {
        ck_assert(diff->pairs[i].equal_bytes && diff->pairs[i].compared);
        ck_assert_uint_eq(diff->pairs[i].rows_differing, 0);
        ck_assert(diff->pairs[i].cosine == 1 && diff->pairs[i].rel_l2 == 0);
    }
}
END_TEST

/* Conversions, each undone: rotary permutation, Conv1D, and names alone. */
START_TEST(a_gguf_equals_the_safetensors_it_was_made_from)
{
    static const char *const families[][2] = {
        {"untied_gguf", "untied_safetensors"},
        {"gpt2_gguf", "gpt2_safetensors"},
        {"bert_gguf", "bert_safetensors"},
        {"t5_gguf", "t5_safetensors"},
    };

    compare_samples(families[_i][_i % 2], families[_i][1 - _i % 2], 0); /* both directions */
    ck_assert_uint_eq(diff->n_only_a + diff->n_only_b, 0);
    ck_assert(diff->same && !diff->meta_compared);
}
END_TEST

START_TEST(the_conversion_is_named)
{
    compare_samples("untied_gguf", "untied_safetensors", 0);
    ck_assert_int_eq(find_pair("blk.0.attn_q.weight")->change, TENON_DIFF_PERMUTED);
    ck_assert_int_eq(find_pair("blk.1.attn_k.weight")->change, TENON_DIFF_PERMUTED);
    ck_assert_int_eq(find_pair("blk.0.attn_v.weight")->change, TENON_DIFF_AS_IS);
    tear_down();
    compare_samples("gpt2_gguf", "gpt2_safetensors", 0);
    ck_assert_int_eq(find_pair("blk.0.attn_output.weight")->change, TENON_DIFF_TRANSPOSED);
    ck_assert_str_eq(tenon_diff_change_name(TENON_DIFF_TRANSPOSED), "transposed");
}
END_TEST

/* The last four of 40 rows differ, says testdata/README.md. */
START_TEST(differing_rows_are_counted)
{
    const struct tenon_diff_pair *p;

    compare_samples("identical_gguf", "partial_gguf", 0);
    p = find_pair("output.weight");
    ck_assert(!diff->same && !p->equal_values && p->compared);
    ck_assert_uint_eq(p->rows, 40);
    ck_assert_uint_eq(p->rows_differing, 4);
}
END_TEST

/* Half of a matrix is at half its length from it, in the same direction. */
START_TEST(metrics_of_a_scaled_copy)
{
    const struct tenon_diff_pair *p;

    compare_samples("identical_safetensors", "scaled_safetensors", 0);
    p = find_pair("lm_head.weight");
    ck_assert_double_eq_tol(p->rel_l2, 0.5, 1e-12);
    ck_assert_double_eq_tol(p->cosine, 1, 1e-12);
    ck_assert_uint_gt(p->rows_differing, 0);
}
END_TEST

/* Q8_0 of values up to 127/128 with a scale of 1/128: half a step of rounding is 1/256. */
START_TEST(the_tolerance_decides)
{
    compare_samples("tied_gguf", "tied_q8_0_gguf", 1.0 / 256);
    ck_assert(diff->same);
    tear_down();
    compare_samples("tied_gguf", "tied_q8_0_gguf", 1.0 / 512);
    ck_assert(!diff->same);
}
END_TEST

START_TEST(other_shapes_are_not_compared)
{
    const struct tenon_diff_pair *p;

    compare_samples("identical_gguf", "more_rows_gguf", 0);
    p = find_pair("output.weight");
    ck_assert(!p->compared && !p->equal_shape && !p->equal_values);
    ck_assert(!diff->same);
}
END_TEST

START_TEST(what_only_one_has_is_listed)
{
    compare_samples("tied_gguf", "untied_gguf", 0);
    ck_assert(!diff->same);
    ck_assert_uint_eq(diff->n_only_a, 0);
    ck_assert_uint_eq(diff->n_only_b, 1);
    ck_assert_ptr_eq(tenon_model_tensor(models[1], diff->only_b[0]),
                     tenon_model_find(models[1], "output.weight", 13));
}
END_TEST

START_TEST(metadata_of_the_other_byte_order_is_equal)
{
    compare_samples("meta_gguf", "meta_be_gguf", 0);
    ck_assert(diff->meta_compared && diff->same);
    ck_assert_uint_eq(diff->n_meta_changed, 0);
}
END_TEST

/* --- models of our own --- */

static struct gen_bytes own[2];

static void make_meta(int i, const char *name, uint32_t number, bool extra)
{
    struct gen_model m = {0};

    gen_kv_str(&m, "general.architecture", "llama");
    gen_kv_str(&m, "general.name", name);
    gen_kv_u32(&m, "x.number", number);
    gen_kv_array(&m, "x.list", GEN_U32, 2);
    gen_u32(&m.kv, number);
    gen_u32(&m.kv, 7);
    if (extra)
        gen_kv_bool(&m, "x.extra", true);
    gen_write_gguf(&own[i], &m, 3, 32);
    gen_model_release(&m);
    open_bytes(i, &own[i]);
}

static void release_own(void)
{
    tear_down();
    for (int i = 0; i < 2; i++) {
        gen_bytes_release(&own[i]);
        own[i] = (struct gen_bytes){0};
    }
}

static bool changed_key(const char *key)
{
    for (size_t i = 0; i < diff->n_meta_changed; i++) {
        struct tenon_str k = tenon_model_meta(models[0], diff->meta_changed[2 * i])->key;

        if (k.len == strlen(key) && memcmp(k.data, key, k.len) == 0)
            return true;
    }
    return false;
}

START_TEST(changed_and_missing_keys_are_listed)
{
    make_meta(0, "one", 1, false);
    make_meta(1, "one", 2, true);
    compare(0, 1);
    ck_assert(!diff->same);
    ck_assert_uint_eq(diff->n_meta_only_a, 0);
    ck_assert_uint_eq(diff->n_meta_only_b, 1);
    ck_assert_uint_eq(diff->n_meta_changed, 2);
    ck_assert(changed_key("x.number") && changed_key("x.list") && !changed_key("general.name"));
}
END_TEST

/* Two experts, alone under the names of one convention and stacked under those of the other. */
static void make_experts(uint64_t seed_of_last)
{
    static const uint64_t one[] = {4, 8}, both[] = {2, 4, 8};
    struct gen_model apart = {0}, stacked = {0};
    float values[64];

    for (uint64_t i = 0; i < 64; i++)
        values[i] = gen_value(i < 32 ? 5 : seed_of_last, i % 32);
    gen_tensor_values(
        gen_tensor_add(&apart, "model.layers.0.mlp.experts.0.up_proj.weight", "F32", 2, one), 5, 1);
    gen_tensor_values(
        gen_tensor_add(&apart, "model.layers.0.mlp.experts.1.up_proj.weight", "F32", 2, one), 6, 1);
    gen_kv_str(&stacked, "general.architecture", "qwen3moe");
    gen_tensor_floats(gen_tensor_add(&stacked, "blk.0.ffn_up_exps.weight", "F32", 3, both), values,
                      64);
    gen_write_safetensors(&own[0], &apart, 0, 2, NULL);
    gen_write_gguf(&own[1], &stacked, 3, 32);
    gen_model_release(&apart);
    gen_model_release(&stacked);
    open_bytes(0, &own[0]);
    open_bytes(1, &own[1]);
    compare(0, 1);
}

START_TEST(experts_are_compared_with_slices_of_the_stack)
{
    make_experts(6);
    ck_assert(diff->same);
    ck_assert_uint_eq(diff->n_pairs, 2);
    ck_assert_uint_eq(diff->n_only_a + diff->n_only_b, 0);
    release_own();
    make_experts(7);
    ck_assert(!diff->same);
    ck_assert(diff->pairs[0].equal_values && !diff->pairs[1].equal_values);
}
END_TEST

/* NaN equals NaN, so that a broken model is still the same as itself; nothing else does. */
START_TEST(nan_equals_only_nan)
{
    static const uint64_t dims[] = {2, 2};
    const float rows[2][4] = {{NAN, 1, 2, 3}, {NAN, 1, NAN, 3}};

    for (int i = 0; i < 2; i++) {
        struct gen_model m = {0};

        gen_tensor_floats(gen_tensor_add(&m, "x", i == 0 ? "F32" : "F64", 2, dims), rows[i], 4);
        gen_write_safetensors(&own[i], &m, 0, 1, NULL);
        gen_model_release(&m);
        open_bytes(i, &own[i]);
    }
    compare(1000, 1);
    ck_assert(!diff->same);
    ck_assert_uint_eq(diff->pairs[0].rows_differing, 1);
}
END_TEST

START_TEST(threads_do_not_change_the_answer)
{
    struct tenon_diff *first;

    compare_samples("tied_gguf", "tied_q8_0_gguf", 0);
    first = diff;
    compare(0, 4);
    ck_assert_uint_eq(first->n_pairs, diff->n_pairs);
    for (size_t i = 0; i < diff->n_pairs; i++) {
        ck_assert(first->pairs[i].rel_l2 == diff->pairs[i].rel_l2);
        ck_assert(first->pairs[i].max_abs == diff->pairs[i].max_abs);
        ck_assert(first->pairs[i].cosine == diff->pairs[i].cosine);
    }
    tenon_diff_free(first);
}
END_TEST

static bool stop(uint64_t done, uint64_t total, void *user)
{
    (void)done;
    (void)total;
    (void)user;
    return false;
}

START_TEST(progress_can_stop_it)
{
    struct tenon_diff_options options;

    open_sample(0, "tied_gguf");
    open_sample(1, "tied_gguf");
    tenon_diff_options_init(&options);
    options.progress = stop;
    ck_fails(tenon_diff_models(models[0], models[1], &options, &diff, &err), TENON_ERR_CANCELLED,
             err);
    ck_assert_ptr_null(diff);
}
END_TEST

START_TEST(every_failed_allocation_is_reported)
{
    struct tenon_diff_options options;
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    open_sample(0, "untied_gguf");
    open_sample(1, "tied_gguf");
    tenon_diff_options_init(&options);
    options.threads = 1;
    for (uint64_t n = 1; st != TENON_OK; n++) {
        err = (struct tenon_error){0};
        tenon_mem_fail_at(n, false);
        st = tenon_diff_models(models[0], models[1], &options, &diff, &err);
        ck_assert(st == TENON_OK || (st == TENON_ERR_NO_MEMORY && diff == NULL));
        ck_assert_uint_lt(n, 1000);
    }
    tenon_mem_fail_at(0, false);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diff");
    TCase *samples = tcase_create("samples");
    TCase *made = tcase_create("made");

    tcase_add_checked_fixture(samples, NULL, tear_down);
    tcase_add_test(samples, a_model_is_the_same_as_itself);
    tcase_add_loop_test(samples, a_gguf_equals_the_safetensors_it_was_made_from, 0, 4);
    tcase_add_test(samples, the_conversion_is_named);
    tcase_add_test(samples, differing_rows_are_counted);
    tcase_add_test(samples, metrics_of_a_scaled_copy);
    tcase_add_test(samples, the_tolerance_decides);
    tcase_add_test(samples, other_shapes_are_not_compared);
    tcase_add_test(samples, what_only_one_has_is_listed);
    tcase_add_test(samples, metadata_of_the_other_byte_order_is_equal);
    tcase_add_test(samples, threads_do_not_change_the_answer);
    tcase_add_test(samples, progress_can_stop_it);
    tcase_add_test(samples, every_failed_allocation_is_reported);
    suite_add_tcase(suite, samples);
    tcase_add_checked_fixture(made, NULL, release_own);
    tcase_add_test(made, changed_and_missing_keys_are_listed);
    tcase_add_test(made, experts_are_compared_with_slices_of_the_stack);
    tcase_add_test(made, nan_equals_only_nan);
    suite_add_tcase(suite, made);
    return run_suite(suite);
}
