/* Sets of GGUF files: names, members, and what errors say. Mismatches are rows of the damage lists.
 */
#include "cooked.h"
#include "folder.h"
#include "split_name.h"

#include <stdio.h>

START_TEST(names_are_taken_apart)
{
    struct tenon_split_name name;
    struct tenon_arena arena = {0};

    ck_assert(tenon_split_name_parse("d/m-00002-of-00010.gguf", ".gguf", &name));
    ck_assert_uint_eq(name.no, 2);
    ck_assert_uint_eq(name.count, 10);
    ck_assert_uint_eq(name.prefix_len, 4);
    ck_assert_str_eq(tenon_split_name_path(&arena, "d/m-00002-of-00010.gguf", &name, 10),
                     "d/m-00010-of-00010.gguf");
    ck_assert(tenon_split_name_parse("m_000123-of-123456.gguf", ".gguf", &name));
    ck_assert_str_eq(tenon_split_name_path(&arena, "m_000123-of-123456.gguf", &name, 7),
                     "m_000007-of-123456.gguf");
    tenon_arena_release(&arena);
}
END_TEST

START_TEST(other_names_are_no_members)
{
    static const char *const names[] = {
        "",
        "m.gguf",
        "00001-of-00002.gguf",
        "m-00001-of-00002.safetensors",
        "m-00000-of-00002.gguf",
        "m-00003-of-00002.gguf",
        "m-0001-of-0002.gguf",
        "m-00001-of-000002.gguf",
        "m-00001of-00002.gguf",
        "m-00001-of-.gguf",
        "-of-00002.gguf",
        "m00001-of-00002.gguf",
        "m-99999999999-of-99999999999.gguf",
    };
    struct tenon_split_name name;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_msg(!tenon_split_name_parse(names[i], ".gguf", &name), "%s", names[i]);
}
END_TEST

static char place[512], path[1024];
static struct gen_files files;
static struct tenon_model *model;
static struct tenon_error err;

static void set_up(void)
{
    memset(&files, 0, sizeof(files));
    memset(&err, 0, sizeof(err));
    model = NULL;
    folder_make(place);
}

static void tear_down(void)
{
    tenon_mem_fail_at(0, false);
    tenon_model_free(model);
    gen_files_release(&files);
    folder_remove(place);
}

static void cook(const char *recipe)
{
    gen_recipe_make(recipe, &files);
    gen_files_write(&files, place, path, sizeof(path));
}

START_TEST(every_member_opens_the_whole_set)
{
    char recipe[128];

    snprintf(recipe, sizeof(recipe), "sample:split_untied_gguf open:tiny-0000%d-of-00003.gguf", _i);
    cook(recipe);
    ck_ok(tenon_model_open(path, NULL, &model, &err), err);
    ck_assert_uint_eq(tenon_model_n_files(model), 3);
    ck_assert_str_eq(tenon_model_file(model, 0)->name, "tiny-00001-of-00003.gguf");
    ck_assert_str_eq(tenon_model_file(model, 2)->name, "tiny-00003-of-00003.gguf");
    ck_assert_uint_eq(tenon_model_find(model, "output.weight", 13)->file, 2);
    ck_assert_uint_eq(tenon_model_tensor(model, 0)->file, 0);
    ck_assert_str_eq(tenon_model_format(model), "gguf");
    ck_assert_str_eq(tenon_model_path(model), path);
    ck_assert_uint_eq(tenon_model_n_findings(model), 0);
}
END_TEST

START_TEST(one_missing_member_is_missing)
{
    cook("sample:split_gguf open:tiny-00002-of-00003.gguf remove:tiny-00003-of-00003.gguf");
    ck_fails(tenon_model_open(path, NULL, &model, &err), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.message,
                     "1 of the 3 files of the set is missing: tiny-00003-of-00003.gguf");
}
END_TEST

START_TEST(all_missing_members_are_listed_at_once)
{
    cook("sample:split_gguf open:tiny-00002-of-00003.gguf remove:tiny-00001-of-00003.gguf "
         "remove:tiny-00003-of-00003.gguf");
    ck_fails(tenon_model_open(path, NULL, &model, &err), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.message, "2 of the 3 files of the set are missing: "
                                  "tiny-00001-of-00003.gguf, tiny-00003-of-00003.gguf");
    ck_assert_str_eq(err.path, path);
    ck_assert_str_ne(err.hint, "");
}
END_TEST

START_TEST(a_long_list_of_missing_members_is_cut)
{
    cook("gguf:3,0,0 name:m-00001-of-09999.gguf");
    ck_fails(tenon_model_open(path, NULL, &model, &err), TENON_ERR_NOT_FOUND, err);
    ck_assert_ptr_nonnull(strstr(err.message, "9998 of the 9999 files"));
    ck_assert_ptr_nonnull(strstr(err.message, " ..."));
}
END_TEST

START_TEST(more_members_than_allowed_are_refused_by_name)
{
    struct tenon_open_options options;

    tenon_open_options_init(&options);
    options.limits.shards = 2;
    cook("sample:split_gguf open:tiny-00001-of-00003.gguf");
    ck_fails(tenon_model_open(path, &options, &model, &err), TENON_ERR_LIMIT, err);
}
END_TEST

START_TEST(a_fault_in_a_member_names_its_file)
{
    cook("sample:split_gguf open:tiny-00001-of-00003.gguf file:tiny-00002-of-00003.gguf cut:40");
    ck_fails(tenon_model_open(path, NULL, &model, &err), TENON_ERR_TRUNCATED, err);
    ck_assert_ptr_nonnull(strstr(err.path, "tiny-00002-of-00003.gguf"));
}
END_TEST

START_TEST(a_look_alike_among_the_members_is_named)
{
    cook("sample:split_gguf open:tiny-00001-of-00003.gguf remove:tiny-00002-of-00003.gguf "
         "file:tiny-00002-of-00003.gguf 'version https://git-lfs.github.com/spec/v1%0a'");
    ck_fails(tenon_model_open(path, NULL, &model, &err), TENON_ERR_NOT_RECOGNISED, err);
    ck_assert_ptr_nonnull(strstr(err.path, "tiny-00002-of-00003.gguf"));
    ck_assert_ptr_nonnull(strstr(err.message, "LFS"));
}
END_TEST

START_TEST(a_member_under_another_name_is_read_alone_when_lenient)
{
    struct tenon_open_options options;

    tenon_open_options_init(&options);
    cook("sample:split_gguf open:tiny-00001-of-00003.gguf");
    folder_write(place, "alone.gguf", files.file[0].bytes.data, files.file[0].bytes.n);
    snprintf(path, sizeof(path), "%salone.gguf", place);
    ck_fails(tenon_model_open(path, &options, &model, &err), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.subject, "split.count");
    ck_assert_ptr_nonnull(strstr(err.hint, "NAME-00001-of-00003.gguf"));
    memset(&err, 0, sizeof(err));
    options.lenient = true;
    ck_ok(tenon_model_open(path, &options, &model, &err), err);
    ck_assert(has_finding(model, "set_incomplete", "split.count"));
}
END_TEST

START_TEST(metadata_of_the_first_member_speaks_for_the_set)
{
    cook("sample:split_gguf open:tiny-00003-of-00003.gguf");
    ck_ok(tenon_model_open(path, NULL, &model, &err), err);
    ck_assert_uint_eq(tenon_model_find_meta(model, "split.no")->value.as.u64, 0);
    ck_assert_int_eq(tenon_model_hparams(model)->layers, 2);
}
END_TEST

START_TEST(each_allocation_may_fail)
{
    cook("sample:split_gguf open:tiny-00002-of-00003.gguf");
    for (uint64_t n = 1; model == NULL; n++) {
        enum tenon_status st;

        memset(&err, 0, sizeof(err));
        tenon_mem_fail_at(n, false);
        st = tenon_model_open(path, NULL, &model, &err);
        tenon_mem_fail_at(0, false);
        if (st != TENON_OK)
            ck_fails(st, TENON_ERR_NO_MEMORY, err);
        ck_assert_int_eq(st == TENON_OK, model != NULL);
        ck_assert_int_eq(st, err.status);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gguf_split");
    TCase *names = tcase_create("names"), *sets = tcase_create("sets");

    tcase_add_test(names, names_are_taken_apart);
    tcase_add_test(names, other_names_are_no_members);
    suite_add_tcase(suite, names);
    tcase_add_checked_fixture(sets, set_up, tear_down);
    tcase_add_loop_test(sets, every_member_opens_the_whole_set, 1, 4);
    tcase_add_test(sets, one_missing_member_is_missing);
    tcase_add_test(sets, all_missing_members_are_listed_at_once);
    tcase_add_test(sets, a_long_list_of_missing_members_is_cut);
    tcase_add_test(sets, more_members_than_allowed_are_refused_by_name);
    tcase_add_test(sets, a_fault_in_a_member_names_its_file);
    tcase_add_test(sets, a_look_alike_among_the_members_is_named);
    tcase_add_test(sets, a_member_under_another_name_is_read_alone_when_lenient);
    tcase_add_test(sets, metadata_of_the_first_member_speaks_for_the_set);
    tcase_add_test(sets, each_allocation_may_fail);
    suite_add_tcase(suite, sets);
    return run_suite(suite);
}
