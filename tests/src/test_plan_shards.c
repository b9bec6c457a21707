/* Sets of files. The expected numbers of the first group are what huggingface_hub 2.4 gives
 * (split_state_dict_into_shards_factory over payloads of these sizes in this order). */
#include "plan_shards.h"

#include <string.h>

#include "check_error.h"
#include "taken.h"

static struct tenon_error err;
static struct tenon_plan *plan;

static void tear_down(void)
{
    tenon_plan_free(plan);
    plan = NULL;
    err = (struct tenon_error){0};
}

/* The number of each payload's file, as digits. */
static const char *assign(const char *sizes, uint64_t max_bytes, uint64_t max_tensors)
{
    static char text[32];
    struct tenon_shards shards = {.limit = {max_bytes, max_tensors}};
    uint32_t file[32], n_files = 0;
    size_t n = strlen(sizes);

    for (size_t i = 0; i < n; i++)
        ck_ok(tenon_shards_take(&shards, (uint64_t)(sizes[i] - '0'), &file[i], &err), err);
    ck_ok(tenon_shards_end(&shards, &n_files, &err), err);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_lt(shards.number[file[i]], n_files);
        text[i] = (char)('0' + shards.number[file[i]]);
    }
    text[n] = '\0';
    tenon_shards_release(&shards);
    return text;
}

START_TEST(a_file_is_closed_before_it_exceeds_the_limit)
{
    ck_assert_str_eq(assign("22222", 4, 0), "00112");
    ck_assert_str_eq(assign("22222", 5, 0), "00112");
    ck_assert_str_eq(assign("22222", 6, 0), "00011");
    ck_assert_str_eq(assign("1313", 4, 0), "0011");
    ck_assert_str_eq(assign("22222", 0, 0), "00000");
    ck_assert_str_eq(assign("0000", 4, 0), "0000");
}
END_TEST

START_TEST(a_large_payload_goes_before_the_file_that_is_being_filled)
{
    ck_assert_str_eq(assign("1911", 4, 0), "1011");
    ck_assert_str_eq(assign("9119", 4, 0), "0221");
    ck_assert_str_eq(assign("99", 4, 0), "01");
    ck_assert_str_eq(assign("2922", 4, 0), "1012");
}
END_TEST

START_TEST(payloads_can_be_counted)
{
    ck_assert_str_eq(assign("92919", 0, 2), "00112");
    ck_assert_str_eq(assign("92919", 0, 1), "01234");
}
END_TEST

START_TEST(nothing_is_one_file)
{
    struct tenon_shards shards = {.limit = {4, 0}};
    uint32_t n_files = 0;

    ck_ok(tenon_shards_end(&shards, &n_files, &err), err);
    ck_assert_uint_eq(n_files, 1);
    tenon_shards_release(&shards);
}
END_TEST

START_TEST(names_have_five_digits_or_more)
{
    struct tenon_str prefix = {"d/m and more", 3};

    ck_ok(tenon_plan_new("d/m", &plan, &err), err);
    ck_assert_str_eq(tenon_shard_path(plan, prefix, 0, 2, ".gguf"), "d/m-00001-of-00002.gguf");
    ck_assert_str_eq(tenon_shard_path(plan, prefix, 99999, 123456, ".x"), "d/m-100000-of-123456.x");
}
END_TEST

static void add_tensors(int n)
{
    static const unsigned char zeros[4];
    uint64_t dim = 4;

    ck_ok(tenon_plan_new("d/m", &plan, &err), err);
    for (int i = 0; i < n; i++) {
        char name[] = {(char)('a' + i), '\0'};
        struct tenon_plan_source source = {.n_rows = UINT64_MAX, .bytes = zeros};
        struct tenon_plan_tensor tensor = {.name = {name, 1},
                                           .dtype = TENON_DTYPE_U8,
                                           .n_dims = 1,
                                           .dims = &dim,
                                           .sources = &source,
                                           .n_sources = 1};

        ck_ok(tenon_plan_add_tensor(plan, &tensor, &err), err);
    }
}

static void add_shards(uint64_t max_bytes)
{
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL, .format = "safetensors"};

    ck_ok(tenon_plan_add_shards(plan, &file, (struct tenon_str){"d/m", 3},
                                (struct tenon_shard_limit){max_bytes, 0}, &err),
          err);
}

START_TEST(one_file_has_neither_number_nor_index)
{
    add_tensors(3);
    add_shards(12);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 1);
    ck_assert_str_eq(tenon_plan_file(plan, 0)->path, "d/m.safetensors");
    ck_ok(tenon_plan_layout(plan, &err), err);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 1);
}
END_TEST

/* The text is what Python's json.dumps(index, indent=2, sort_keys=True) + "\n" gives. */
START_TEST(a_set_has_an_index_that_comes_last)
{
    static const char want[] = "{\n"
                               "  \"metadata\": {\n"
                               "    \"total_parameters\": 12,\n"
                               "    \"total_size\": 12\n"
                               "  },\n"
                               "  \"weight_map\": {\n"
                               "    \"a\": \"m-00001-of-00002.safetensors\",\n"
                               "    \"b\": \"m-00001-of-00002.safetensors\",\n"
                               "    \"c\": \"m-00002-of-00002.safetensors\"\n"
                               "  }\n"
                               "}\n";
    const struct tenon_plan_file *index;

    add_tensors(3);
    add_shards(8);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 2);
    ck_assert_str_eq(tenon_plan_file(plan, 1)->path, "d/m-00002-of-00002.safetensors");
    ck_ok(tenon_plan_layout(plan, &err), err);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 3);
    index = tenon_plan_file(plan, 2);
    ck_assert(index->kind == TENON_PLAN_TEXT && index->last);
    ck_assert_str_eq(index->path, "d/m.safetensors.index.json");
    ck_assert_uint_eq(index->head_bytes, sizeof(want) - 1);
    ck_assert_str_eq(taken_text(plan, 2), want);
}
END_TEST

START_TEST(every_failing_allocation_is_reported)
{
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL, .format = "safetensors"};
    struct tenon_str prefix = {"d/m", 3};
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    for (uint64_t n = 1; st != TENON_OK; n++) {
        tear_down();
        add_tensors(3);
        tenon_mem_fail_at(n, false);
        st = tenon_plan_add_shards(plan, &file, prefix, (struct tenon_shard_limit){8, 0}, &err);
        if (st == TENON_OK)
            st = tenon_plan_layout(plan, &err);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_shards");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, a_file_is_closed_before_it_exceeds_the_limit);
    tcase_add_test(tests, a_large_payload_goes_before_the_file_that_is_being_filled);
    tcase_add_test(tests, payloads_can_be_counted);
    tcase_add_test(tests, nothing_is_one_file);
    tcase_add_test(tests, names_have_five_digits_or_more);
    tcase_add_test(tests, one_file_has_neither_number_nor_index);
    tcase_add_test(tests, a_set_has_an_index_that_comes_last);
    tcase_add_test(tests, every_failing_allocation_is_reported);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
