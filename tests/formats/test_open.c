/* Opening by path, from memory, and in a format that the caller names. */
#include "cooked.h"
#include "folder.h"

#include <stdio.h>

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
    tenon_model_free(model);
    gen_files_release(&files);
    folder_remove(place);
}

static enum tenon_status open_recipe(const char *recipe, const struct tenon_open_options *options)
{
    gen_recipe_make(recipe, &files);
    gen_files_write(&files, place, path, sizeof(path));
    return tenon_model_open(path, options, &model, &err);
}

START_TEST(content_decides_and_not_the_name)
{
    ck_ok(open_recipe("sample:tied_gguf name:model.safetensors", NULL), err);
    ck_assert_str_eq(tenon_model_format(model), "gguf");
    ck_assert_str_eq(tenon_model_file(model, 0)->format, "gguf");
    ck_assert(!tenon_model_is_directory(model));
}
END_TEST

START_TEST(errors_carry_the_path)
{
    ck_fails(open_recipe("name:m.gguf 'GGUF'", NULL), TENON_ERR_TRUNCATED, err);
    ck_assert_str_eq(err.path, path);
}
END_TEST

START_TEST(what_is_not_there_is_not_found)
{
    snprintf(path, sizeof(path), "%snothing.gguf", place);
    ck_fails(tenon_model_open(path, NULL, &model, &err), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.path, path);
}
END_TEST

START_TEST(a_null_error_is_fine)
{
    gen_recipe_make("'GGUF'", &files);
    gen_files_write(&files, place, path, sizeof(path));
    ck_assert_int_eq(tenon_model_open(path, NULL, &model, NULL), TENON_ERR_TRUNCATED);
    ck_assert_int_eq(tenon_model_open_memory("GG", 2, NULL, &model, NULL),
                     TENON_ERR_NOT_RECOGNISED);
}
END_TEST

START_TEST(a_pipe_is_refused_without_waiting)
{
    ck_fails(open_recipe("fifo:m.gguf open:m.gguf", NULL), TENON_ERR_NOT_RECOGNISED, err);
}
END_TEST

START_TEST(a_named_format_is_not_probed)
{
    struct tenon_open_options options;

    tenon_open_options_init(&options);
    options.format = "safetensors";
    ck_assert_int_ne(open_recipe("sample:tied_gguf", &options), TENON_OK);
    ck_assert_int_ne(err.status, TENON_ERR_MISUSE);
}
END_TEST

START_TEST(formats_that_cannot_be_read_are_misuse)
{
    struct tenon_open_options options;

    tenon_open_options_init(&options);
    options.format = "no such format";
    ck_fails(open_recipe("sample:tied_gguf", &options), TENON_ERR_MISUSE, err);
    memset(&err, 0, sizeof(err));
    options.format = "torch-zip";
    ck_fails(tenon_model_open(path, &options, &model, &err), TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(a_first_part_gets_the_right_hint)
{
    ck_fails(open_recipe("sample:tied_gguf cut:1000 name:m.gguf.part1of2", NULL),
             TENON_ERR_TRUNCATED, err);
    ck_assert_ptr_nonnull(strstr(err.hint, "join them"));
}
END_TEST

START_TEST(a_folder_opens_its_one_gguf_file)
{
    gen_recipe_make("sample:tied_gguf", &files);
    folder_write(place, "m.gguf", files.file[0].bytes.data, files.file[0].bytes.n);
    ck_ok(tenon_model_open(place, NULL, &model, &err), err);
    ck_assert_str_eq(tenon_model_file(model, 0)->name, "m.gguf");
    ck_assert(tenon_model_is_directory(model));
    ck_assert_int_eq(tenon_model_hparams(model)->layers, 2);
}
END_TEST

START_TEST(nothing_in_memory_is_an_empty_file)
{
    ck_fails(tenon_model_open_memory(NULL, 0, NULL, &model, &err), TENON_ERR_TRUNCATED, err);
    ck_assert_str_eq(err.path, "(memory)");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("open");
    TCase *tests = tcase_create("open");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, content_decides_and_not_the_name);
    tcase_add_test(tests, errors_carry_the_path);
    tcase_add_test(tests, what_is_not_there_is_not_found);
    tcase_add_test(tests, a_null_error_is_fine);
    tcase_add_test(tests, a_pipe_is_refused_without_waiting);
    tcase_add_test(tests, a_named_format_is_not_probed);
    tcase_add_test(tests, formats_that_cannot_be_read_are_misuse);
    tcase_add_test(tests, a_first_part_gets_the_right_hint);
    tcase_add_test(tests, a_folder_opens_its_one_gguf_file);
    tcase_add_test(tests, nothing_in_memory_is_an_empty_file);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
