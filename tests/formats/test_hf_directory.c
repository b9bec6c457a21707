/* Which files of a folder are the model, and do they agree? */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "mem.h"

#define INDEX "model.safetensors.index.json"
#define A     "model-00001-of-00002.safetensors"
#define B     "model-00002-of-00002.safetensors"

static char dir[512];

static void set_up(void)
{
    folder_make(dir);
}

static void tear_down(void)
{
    folder_remove(dir);
}

/* Opens a file of the folder, or with "" the folder. */
static enum tenon_status open_at(const char *name, struct tenon_model **model,
                                 struct tenon_error *err)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s%s", dir, name);
    memset(err, 0, sizeof(*err));
    *model = NULL;
    return tenon_model_open(path, NULL, model, err);
}

static void write_set(void)
{
    folder_shard(dir, A, "a b", 1);
    folder_shard(dir, B, "c", 3);
    folder_text(dir, INDEX,
                "{\"metadata\":{\"total_size\":3,\"x\":\"a\"},\"weight_map\":{\"a\":\"" A
                "\",\"b\":\"" A "\",\"c\":\"" B "\"}}");
}

static unsigned char first_byte(const struct tenon_model *model, const char *name)
{
    const struct tenon_tensor *t = tenon_model_find(model, name, strlen(name));
    unsigned char byte = 0;

    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(tenon_tensor_read(model, t, 0, &byte, 1, NULL), TENON_OK);
    return byte;
}

START_TEST(a_set_with_its_index_opens_without_findings)
{
    struct tenon_model *model;
    struct tenon_error err;

    write_set();
    ck_assert_int_eq(open_at("", &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_files(model), 2);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 3);
    ck_assert_uint_eq(tenon_model_n_findings(model), 0);
    ck_assert_uint_eq(first_byte(model, "c"), 3);
    ck_assert(tenon_model_is_directory(model));
    ck_assert_str_eq(tenon_model_format(model), "safetensors");
    ck_assert_ptr_nonnull(tenon_model_find_meta(model, "x"));
    tenon_model_free(model);
}
END_TEST

START_TEST(any_member_opens_the_whole_set)
{
    struct tenon_model *model;
    struct tenon_error err;

    write_set();
    ck_assert_int_eq(open_at(B, &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 3);
    ck_assert(!tenon_model_is_directory(model));
    tenon_model_free(model);
}
END_TEST

START_TEST(a_set_without_index_opens_by_its_names)
{
    static const char *const pairs[][2] = {
        {A, B},
        {"model_00001-of-00002.safetensors", "model_00002-of-00002.safetensors"},
        {"model.safetensors-00001-of-00002.safetensors",
         "model.safetensors-00002-of-00002.safetensors"}};
    const char *const *names = pairs[_i];
    struct tenon_model *model;
    struct tenon_error err;

    folder_shard(dir, names[0], "a", 1);
    folder_shard(dir, names[1], "b", 2);
    ck_assert_int_eq(open_at("", &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 2);
    ck_assert(has_finding(model, "index_missing", names[0]));
    tenon_model_free(model);
    ck_assert_int_eq(open_at(names[1], &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 2);
    tenon_model_free(model);
}
END_TEST

START_TEST(missing_shards_are_all_named_with_their_tensors)
{
    struct tenon_model *model;
    struct tenon_error err;

    write_set();
    unlink(strcat(strcpy((char[1024]){0}, dir), B));
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_NOT_FOUND);
    ck_assert_str_eq(err.subject, B);
    ck_assert_ptr_nonnull(strstr(err.message, "1 of 2"));
    ck_assert_ptr_nonnull(strstr(err.message, "'c'"));
    ck_assert_ptr_nonnull(strstr(err.path, INDEX));
    unlink(strcat(strcpy((char[1024]){0}, dir), A));
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "2 of 2"));
}
END_TEST

START_TEST(a_missing_shard_of_a_set_without_index_is_reported)
{
    struct tenon_model *model;
    struct tenon_error err;

    folder_shard(dir, A, "a", 1);
    ck_assert_int_eq(open_at(A, &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 1);
    ck_assert_uint_eq(tenon_model_n_findings(model), 1);
    ck_assert_str_eq(tenon_model_finding(model, 0)->code, "shards_missing");
    ck_assert_str_eq(tenon_model_finding(model, 0)->subject, B);
    tenon_model_free(model);
}
END_TEST

START_TEST(an_asked_format_opens_one_shard_alone)
{
    struct tenon_open_options options;
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    char path[1024];

    folder_shard(dir, A, "a", 1);
    tenon_open_options_init(&options);
    options.format = "safetensors";
    snprintf(path, sizeof(path), "%s" A, dir);
    ck_assert_int_eq(tenon_model_open(path, &options, &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 1);
    tenon_model_free(model);
}
END_TEST

START_TEST(every_bad_shard_is_named_at_once)
{
    struct tenon_model *model;
    struct tenon_error err;

    write_set();
    folder_text(dir, A,
                "version https://git-lfs.github.com/spec/v1\noid sha256:"
                "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
                "size 4976698672\n");
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_NOT_RECOGNISED);
    ck_assert_ptr_nonnull(strstr(err.path, A));
    ck_assert_ptr_nonnull(strstr(err.message, "4976698672"));
    folder_text(dir, B, "\x10");
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_NOT_RECOGNISED);
    ck_assert_ptr_nonnull(strstr(err.message, "2 of 2"));
    ck_assert_ptr_nonnull(strstr(err.message, A));
    ck_assert_ptr_nonnull(strstr(err.message, B));
}
END_TEST

START_TEST(the_index_decides_where_a_tensor_is_read)
{
    struct tenon_model *model;
    struct tenon_error err;

    folder_shard(dir, A, "w a", 1);
    folder_shard(dir, B, "w extra", 7);
    folder_text(dir, INDEX,
                "{\"weight_map\":{\"a\":\"" A "\",\"w\":\"" B "\",\"mtp.fc\":\"" A "\"}}");
    ck_assert_int_eq(open_at("", &model, &err), TENON_OK);
    ck_assert_uint_eq(first_byte(model, "w"), 7);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 2);
    ck_assert(has_finding(model, "tensor_in_two_shards", "w"));
    ck_assert(has_finding(model, "tensor_not_in_index", "extra"));
    ck_assert(has_finding(model, "index_names_absent_tensor", "mtp.fc"));
    tenon_model_free(model);
}
END_TEST

START_TEST(a_wrong_total_size_is_a_finding)
{
    static const char *const totals[] = {"4", "\"3\"", "3.0", "-3", "null", "18446744073709551616"};
    struct tenon_model *model;
    struct tenon_error err;
    char text[512];

    write_set();
    snprintf(text, sizeof(text),
             "{\"metadata\":{\"total_size\":%s},\"weight_map\":{\"a\":\"" A "\",\"b\":\"" A
             "\",\"c\":\"" B "\"}}",
             totals[_i]);
    folder_text(dir, INDEX, text);
    ck_assert_int_eq(open_at("", &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_findings(model), 1);
    ck_assert(has_finding(model, "total_size_wrong", NULL));
    tenon_model_free(model);
}
END_TEST

START_TEST(strays_are_a_warning)
{
    struct tenon_model *model;
    struct tenon_error err;

    write_set();
    folder_shard(dir, "model.safetensors", "z", 9);
    ck_assert_int_eq(open_at("", &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 3);
    ck_assert(has_finding(model, "stray_file", "model.safetensors"));
    tenon_model_free(model);
}
END_TEST

START_TEST(equally_good_models_are_listed)
{
    struct tenon_model *model;
    struct tenon_error err;

    folder_shard(dir, "one.safetensors", "a", 1);
    folder_shard(dir, "two.safetensors", "a", 1);
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_AMBIGUOUS);
    ck_assert_ptr_nonnull(strstr(err.message, "one.safetensors"));
    ck_assert_ptr_nonnull(strstr(err.message, "two.safetensors"));
}
END_TEST

START_TEST(two_sets_of_shards_are_ambiguous)
{
    struct tenon_model *model;
    struct tenon_error err;

    folder_shard(dir, A, "a", 1);
    folder_shard(dir, B, "b", 1);
    folder_shard(dir, "model-00001-of-00001.safetensors", "a", 1);
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_AMBIGUOUS);
}
END_TEST

START_TEST(a_folder_without_weights_says_what_it_has)
{
    struct tenon_model *model;
    struct tenon_error err;

    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_NOT_FOUND);
    folder_text(dir, "config.json", "{}");
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "config.json"));
    folder_text(dir, "pytorch_model.bin", "");
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_UNSUPPORTED_FEATURE);
    ck_assert_ptr_nonnull(strstr(err.message, "pytorch_model.bin"));
}
END_TEST

/* Values of a weight map that are refused, as JSON. */
static const char *const bad_files[] = {"\"../m.safetensors\"",
                                        "\"/etc/passwd\"",
                                        "\"a/../../b.safetensors\"",
                                        "\"C:m.safetensors\"",
                                        "\"\\\\\\\\srv\\\\m.safetensors\"",
                                        "\"x\\u0000y.safetensors\"",
                                        "\"\"",
                                        "\".\"",
                                        "\"..\"",
                                        "7",
                                        "null",
                                        "{}",
                                        "[]",
                                        "\"model.bin\""};

START_TEST(an_index_cannot_reach_out_of_its_folder)
{
    struct tenon_model *model;
    struct tenon_error err;
    char text[512];

    snprintf(text, sizeof(text), "{\"weight_map\":{\"a\":%s}}", bad_files[_i]);
    folder_text(dir, INDEX, text);
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_CORRUPT);
    ck_assert_str_eq(err.subject, "a");
    ck_assert_uint_eq(err.offset, strlen("{\"weight_map\":{\"a\":"));
    ck_assert_ptr_nonnull(strstr(err.path, INDEX));
}
END_TEST

struct bad_index {
    const char *text;
    enum tenon_status status;
    uint64_t offset;
};

static const struct bad_index bad_indexes[] = {
    {"", TENON_ERR_TRUNCATED, 0},
    {"<!doctype html><html></html>", TENON_ERR_NOT_RECOGNISED, 0},
    {"{}", TENON_ERR_CORRUPT, 0},
    {"{\"weight_map\":{}}", TENON_ERR_CORRUPT, 0},
    {"{\"weight_map\":[]}", TENON_ERR_CORRUPT, 14},
    {"{\"weight_map\":{\"a\":\"" A "\",\"a\":\"" B "\"}}", TENON_ERR_NAME_CLASH, 54},
    {"{\"weight_map\":{\"a\":\"" A "\"},\"weight_map\":{}}", TENON_ERR_NAME_CLASH, 55},
    {"{\"weight_map\":{\"a\":\"" A "\"}", TENON_ERR_TRUNCATED, 54},
    {"{\"weight_map\":{\"a\":\"" A "\"}}x", TENON_ERR_CORRUPT, 55},
};

START_TEST(a_damaged_index_names_the_place)
{
    struct tenon_model *model;
    struct tenon_error err;

    folder_text(dir, INDEX, bad_indexes[_i].text);
    ck_assert_int_eq(open_at("", &model, &err), bad_indexes[_i].status);
    ck_assert_msg(err.offset == bad_indexes[_i].offset, "%s: offset %d", bad_indexes[_i].text,
                  (int)err.offset);
    ck_assert_ptr_nonnull(strstr(err.path, INDEX));
}
END_TEST

START_TEST(a_shard_must_be_a_regular_file_but_links_are_followed)
{
    struct tenon_model *model;
    struct tenon_error err;
    char from[1024], to[1024];

    write_set();
    snprintf(from, sizeof(from), "%s" B, dir);
    snprintf(to, sizeof(to), "%sblob", dir);
    ck_assert_int_eq(rename(from, to), 0);
    ck_assert_int_eq(symlink("blob", from), 0);
    ck_assert_int_eq(open_at("", &model, &err), TENON_OK);
    tenon_model_free(model);
    ck_assert_int_eq(open_at(B, &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 3);
    tenon_model_free(model);
    unlink(from);
    ck_assert_int_eq(mkfifo(from, 0600), 0);
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_NOT_RECOGNISED);
    unlink(from);
    ck_assert_int_eq(symlink("nowhere", from), 0);
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_NOT_FOUND);
    unlink(from);
    ck_assert_int_eq(symlink(B, from), 0);
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_IO);
}
END_TEST

START_TEST(a_stale_index_beside_a_named_shard_is_not_followed)
{
    struct tenon_model *model;
    struct tenon_error err;

    folder_shard(dir, A, "a", 1);
    folder_shard(dir, B, "b", 2);
    folder_text(dir, INDEX, "{\"weight_map\":{\"a\":\"model-00001-of-00009.safetensors\"}}");
    ck_assert_int_eq(open_at(A, &model, &err), TENON_OK);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 2);
    ck_assert(has_finding(model, "index_stale", NULL));
    tenon_model_free(model);
    ck_assert_int_eq(open_at("", &model, &err), TENON_ERR_NOT_FOUND);
}
END_TEST

START_TEST(every_failing_allocation_is_survived)
{
    enum tenon_status st = TENON_ERR_NO_MEMORY;
    uint64_t n = 0;

    write_set();
    folder_shard(dir, "stray.safetensors", "z", 1);
    folder_text(dir, "config.json",
                "{\"model_type\":\"llama\",\"tie_word_embeddings\":true,"
                "\"hidden_size\":\"x\"}");
    folder_text(dir, "tokenizer.json",
                "{\"added_tokens\":[{\"id\":9}],\"model\":{\"type\":\"BPE\","
                "\"vocab\":{\"a\":0},\"merges\":[]}}");
    while (st != TENON_OK) {
        struct tenon_model *model;
        struct tenon_error err;

        ck_assert_uint_lt(n, 1000);
        tenon_mem_fail_at(++n, false);
        st = open_at("", &model, &err);
        tenon_mem_fail_at(0, false);
        if (st != TENON_OK)
            ck_assert_msg(st == TENON_ERR_NO_MEMORY, "%d: %s", (int)n, err.message);
        tenon_model_free(model);
    }
    ck_assert_uint_gt(n, 20);
}
END_TEST

#define COUNT(array) (sizeof(array) / sizeof(array[0]))

int main(void)
{
    Suite *suite = suite_create("hf_directory");
    TCase *tc = tcase_create("hf_directory");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_set_with_its_index_opens_without_findings);
    tcase_add_test(tc, any_member_opens_the_whole_set);
    tcase_add_loop_test(tc, a_set_without_index_opens_by_its_names, 0, 3);
    tcase_add_test(tc, missing_shards_are_all_named_with_their_tensors);
    tcase_add_test(tc, a_missing_shard_of_a_set_without_index_is_reported);
    tcase_add_test(tc, an_asked_format_opens_one_shard_alone);
    tcase_add_test(tc, every_bad_shard_is_named_at_once);
    tcase_add_test(tc, the_index_decides_where_a_tensor_is_read);
    tcase_add_loop_test(tc, a_wrong_total_size_is_a_finding, 0, 6);
    tcase_add_test(tc, strays_are_a_warning);
    tcase_add_test(tc, equally_good_models_are_listed);
    tcase_add_test(tc, two_sets_of_shards_are_ambiguous);
    tcase_add_test(tc, a_folder_without_weights_says_what_it_has);
    tcase_add_loop_test(tc, an_index_cannot_reach_out_of_its_folder, 0, COUNT(bad_files));
    tcase_add_loop_test(tc, a_damaged_index_names_the_place, 0, COUNT(bad_indexes));
    tcase_add_test(tc, a_shard_must_be_a_regular_file_but_links_are_followed);
    tcase_add_test(tc, a_stale_index_beside_a_named_shard_is_not_followed);
    tcase_add_test(tc, every_failing_allocation_is_survived);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
