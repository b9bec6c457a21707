/* Plans that cut and join: which tensor goes to which file, and what the files say about the set.
 */
#include "tenon/split.h"

#include <string.h>

#include "check_error.h"
#include "gen.h"
#include "mem.h"

static struct gen_files files;
static struct tenon_model *model;
static struct tenon_plan *plan;
static struct tenon_error err;

static void tear_down(void)
{
    tenon_plan_free(plan);
    tenon_model_free(model);
    gen_files_release(&files);
    plan = NULL;
    model = NULL;
    err = (struct tenon_error){0};
}

static void open_sample(const char *name)
{
    const struct gen_sample *sample = gen_sample_find(name, strlen(name));

    ck_assert_ptr_nonnull(sample);
    gen_sample_make(sample, &files);
    ck_ok(tenon_model_open_memory(files.file[0].bytes.data, files.file[0].bytes.n, NULL, &model,
                                  &err),
          err);
}

/* A GGUF model of F32 vectors with the given numbers of elements; the list ends with 0. */
static void open_vectors(const uint64_t *elements, uint32_t alignment)
{
    struct gen_model m = {0};

    gen_kv_str(&m, "general.architecture", "none");
    if (alignment != 32)
        gen_kv_u32(&m, "general.alignment", alignment);
    for (int i = 0; elements[i] != 0; i++) {
        char name[] = {(char)('a' + i), '\0'};

        gen_tensor_values(gen_tensor_add(&m, name, "F32", 1, &elements[i]), (uint64_t)i, 1);
    }
    gen_write_gguf(gen_files_add(&files, "model"), &m, 3, alignment);
    gen_model_release(&m);
    ck_ok(tenon_model_open_memory(files.file[0].bytes.data, files.file[0].bytes.n, NULL, &model,
                                  &err),
          err);
}

/* The number of the file that each tensor goes to, as digits. */
static const char *places(void)
{
    static char text[64];
    size_t n = tenon_plan_n_tensors(plan);

    for (size_t i = 0; i < n; i++)
        text[i] = (char)('0' + tenon_plan_tensor(plan, i).file);
    text[n] = '\0';
    return text;
}

static const struct tenon_meta_entry *meta(size_t file, const char *key)
{
    const struct tenon_plan_file *f = tenon_plan_file(plan, file);

    for (size_t i = 0; i < f->n_metas; i++)
        if (f->metas[i].key.len == strlen(key) &&
            memcmp(f->metas[i].key.data, key, strlen(key)) == 0)
            return &f->metas[i];
    return NULL;
}

static void split(uint64_t max_bytes, uint64_t max_tensors)
{
    struct tenon_split_options options = {max_bytes, max_tensors, false};

    tenon_plan_free(plan);
    plan = NULL;
    ck_ok(tenon_plan_split(model, "d/m", &options, &plan, &err), err);
}

/* 32 bytes each: two fit 64 to 95 bytes, three 96. */
START_TEST(a_file_is_full_when_the_next_tensor_would_exceed_the_limit)
{
    open_vectors((const uint64_t[]){8, 8, 8, 8, 8, 0}, 32);
    split(64, 0);
    ck_assert_str_eq(places(), "00112");
    split(95, 0);
    ck_assert_str_eq(places(), "00112");
    split(96, 0);
    ck_assert_str_eq(places(), "00011");
    split(1000, 0);
    ck_assert_str_eq(places(), "00000");
}
END_TEST

/* One element takes 32 bytes, or 64. */
START_TEST(padding_counts)
{
    open_vectors((const uint64_t[]){1, 1, 1, 1, 0}, 32);
    split(64, 0);
    ck_assert_str_eq(places(), "0011");
    tear_down();
    open_vectors((const uint64_t[]){1, 1, 1, 1, 0}, 64);
    split(64, 0);
    ck_assert_str_eq(places(), "0123");
}
END_TEST

START_TEST(a_tensor_beyond_the_limit_gets_a_file)
{
    open_vectors((const uint64_t[]){100, 8, 8, 100, 100, 8, 0}, 32);
    split(64, 0);
    ck_assert_str_eq(places(), "011234");
    split(1, 0);
    ck_assert_str_eq(places(), "012345");
}
END_TEST

START_TEST(tensors_can_be_counted_instead)
{
    open_vectors((const uint64_t[]){100, 8, 8, 100, 100, 0}, 32);
    split(0, 2);
    ck_assert_str_eq(places(), "00112");
    split(0, 5);
    ck_assert_str_eq(places(), "00000");
    split(0, UINT64_MAX);
    ck_assert_str_eq(places(), "00000");
}
END_TEST

/* The order is that of llama.cpp's tool, which sets the count again when it is known. */
START_TEST(files_say_which_of_the_set_they_are)
{
    open_vectors((const uint64_t[]){8, 8, 8, 0}, 32);
    split(0, 2);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 2);
    ck_assert_str_eq(tenon_plan_file(plan, 0)->path, "d/m-00001-of-00002.gguf");
    ck_assert_str_eq(tenon_plan_file(plan, 1)->path, "d/m-00002-of-00002.gguf");
    for (size_t i = 0; i < 2; i++) {
        const struct tenon_plan_file *f = tenon_plan_file(plan, i);

        ck_assert_uint_eq(f->n_metas, i == 0 ? 4 : 3);
        ck_assert_ptr_eq(meta(i, "split.no"), &f->metas[f->n_metas - 3]);
        ck_assert_ptr_eq(meta(i, "split.tensors.count"), &f->metas[f->n_metas - 2]);
        ck_assert_ptr_eq(meta(i, "split.count"), &f->metas[f->n_metas - 1]);
        ck_assert_int_eq(meta(i, "split.no")->type, TENON_META_U16);
        ck_assert_int_eq(meta(i, "split.count")->type, TENON_META_U16);
        ck_assert_int_eq(meta(i, "split.tensors.count")->type, TENON_META_I32);
        ck_assert_uint_eq(meta(i, "split.no")->value.as.u64, i);
        ck_assert_uint_eq(meta(i, "split.count")->value.as.u64, 2);
        ck_assert_int_eq(meta(i, "split.tensors.count")->value.as.i64, 3);
    }
    ck_assert_ptr_nonnull(meta(0, "general.architecture"));
}
END_TEST

START_TEST(every_file_keeps_and_says_an_odd_alignment)
{
    open_vectors((const uint64_t[]){8, 8, 0}, 64);
    split(0, 1);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(tenon_plan_file(plan, i)->alignment, 64);
        ck_assert_uint_eq(meta(i, "general.alignment")->value.as.u64, 64);
    }
}
END_TEST

START_TEST(a_model_without_tensors_is_one_file)
{
    open_sample("vocab_gguf");
    split(1, 0);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 1);
    ck_assert_str_eq(tenon_plan_file(plan, 0)->path, "d/m-00001-of-00001.gguf");
}
END_TEST

START_TEST(one_limit_is_needed)
{
    struct tenon_split_options none = {0}, both = {1, 1, false};

    open_sample("tied_gguf");
    ck_fails(tenon_plan_split(model, "m", &none, &plan, &err), TENON_ERR_MISUSE, err);
    err = (struct tenon_error){0};
    ck_fails(tenon_plan_split(model, "m", &both, &plan, &err), TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(one_file_is_copied)
{
    open_sample("tied_gguf");
    ck_ok(tenon_plan_merge(model, "m.gguf", NULL, &plan, &err), err);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 1);
    ck_assert_uint_eq(tenon_plan_n_notes(plan), 1);
}
END_TEST

/* One pair about another set, as llama.cpp's merge leaves it, makes a file a set. */
static void open_merged(void)
{
    struct gen_model m = {0};
    uint64_t dim = 8;

    gen_kv_begin(&m, "split.no", GEN_U16);
    gen_u16(&m.kv, 0);
    gen_kv_str(&m, "general.architecture", "none");
    gen_kv_begin(&m, "split.count", GEN_U16);
    gen_u16(&m.kv, 0);
    gen_kv_begin(&m, "split.tensors.count", GEN_I32);
    gen_u32(&m.kv, 1);
    gen_kv_u32(&m, "last", 1);
    gen_tensor_values(gen_tensor_add(&m, "a", "F32", 1, &dim), 1, 1);
    gen_write_gguf(gen_files_add(&files, "model"), &m, 3, 32);
    gen_model_release(&m);
    ck_ok(tenon_model_open_memory(files.file[0].bytes.data, files.file[0].bytes.n, NULL, &model,
                                  &err),
          err);
}

START_TEST(a_merge_leaves_no_key_about_a_set_and_the_order_of_the_others)
{
    open_merged();
    ck_ok(tenon_plan_merge(model, "m.gguf", NULL, &plan, &err), err);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 1);
    ck_assert_uint_eq(tenon_plan_file(plan, 0)->n_metas, 2);
    ck_assert_ptr_eq(meta(0, "general.architecture"), &tenon_plan_file(plan, 0)->metas[0]);
    ck_assert_ptr_eq(meta(0, "last"), &tenon_plan_file(plan, 0)->metas[1]);
    ck_assert_uint_eq(tenon_plan_n_tensors(plan), 1);
}
END_TEST

START_TEST(a_split_replaces_keys_about_an_earlier_one)
{
    open_merged();
    split(0, 1);
    ck_assert_uint_eq(tenon_plan_file(plan, 0)->n_metas, 5);
    ck_assert_uint_eq(meta(0, "split.count")->value.as.u64, 1);
}
END_TEST

START_TEST(a_merge_is_not_named_like_another_format)
{
    open_merged();
    ck_fails(tenon_plan_merge(model, "m.SafeTensors", NULL, &plan, &err), TENON_ERR_MISUSE, err);
    ck_assert_str_eq(err.path, "m.SafeTensors");
}
END_TEST

/* Whichever allocation fails, the plan is there or it is not, and nothing leaks. */
START_TEST(every_failing_allocation_is_reported)
{
    struct tenon_split_options options = {.max_bytes = 64};
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    open_vectors((const uint64_t[]){8, 8, 8, 8, 0}, 64);
    for (uint64_t n = 1; st != TENON_OK; n++) {
        tenon_mem_fail_at(n, false);
        st = tenon_plan_split(model, "m", &options, &plan, NULL);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
    }
    tear_down();
    open_merged();
    st = TENON_ERR_NO_MEMORY;
    for (uint64_t n = 1; st != TENON_OK; n++) {
        tenon_mem_fail_at(n, false);
        st = tenon_plan_merge(model, "m", NULL, &plan, NULL);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_split");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, a_file_is_full_when_the_next_tensor_would_exceed_the_limit);
    tcase_add_test(tests, padding_counts);
    tcase_add_test(tests, a_tensor_beyond_the_limit_gets_a_file);
    tcase_add_test(tests, tensors_can_be_counted_instead);
    tcase_add_test(tests, files_say_which_of_the_set_they_are);
    tcase_add_test(tests, every_file_keeps_and_says_an_odd_alignment);
    tcase_add_test(tests, a_model_without_tensors_is_one_file);
    tcase_add_test(tests, one_limit_is_needed);
    tcase_add_test(tests, one_file_is_copied);
    tcase_add_test(tests, a_merge_leaves_no_key_about_a_set_and_the_order_of_the_others);
    tcase_add_test(tests, a_split_replaces_keys_about_an_earlier_one);
    tcase_add_test(tests, a_merge_is_not_named_like_another_format);
    tcase_add_test(tests, every_failing_allocation_is_reported);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
