/* Hugging Face folders as they are written. Texts that are expected were written by hand; that of a
 * new index is what json.dumps(index, indent=2, sort_keys=True) + "\n" of Python 3.11 gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../src/check_error.h"
#include "../src/taken.h"
#include "folder.h"
#include "plan_build.h"

#define INDEX "model.safetensors.index.json"
#define A     "model-00001-of-00002.safetensors"
#define B     "model-00002-of-00002.safetensors"
#define MAP                                                                                        \
    "\"weight_map\": {\n    \"a\": \"" A "\",\n    \"b\": \"" A "\",\n    \"c\": \"" B "\"\n  }"

static const char old_index[] =
    "{\n  \"metadata\": {\n    \"note\": \"kept\",\n    \"total_parameters\": 3,\n"
    "    \"total_size\": 103\n  },\n  " MAP "\n}\n";

static char from[512], to[512];
static struct tenon_model *model;
static struct tenon_plan *plan;
static struct tenon_error err;

static void set_up(void)
{
    folder_make(from);
    folder_make(to);
    memset(&err, 0, sizeof(err));
}

static void tear_down(void)
{
    tenon_plan_free(plan);
    tenon_model_free(model);
    plan = NULL;
    model = NULL;
    folder_remove(from);
    folder_remove(to);
}

static void write_set(void)
{
    folder_shard(from, A, "a b", 1);
    folder_shard(from, B, "c", 3);
    folder_text(from, INDEX, old_index);
}

static void open_input(void)
{
    ck_ok(tenon_model_open(from, NULL, &model, &err), err);
}

static const char *path_in(const char *folder, const char *name)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s%s", folder, name);
    return path;
}

/* A plan that writes the files of the model again; `like`: as edited copies. */
static void begin_plan(bool like)
{
    ck_ok(tenon_plan_new(to, &plan, &err), err);
    ck_ok(tenon_plan_add_model(plan, model, &err), err);
    plan->folder = to;
    for (uint32_t i = 0; i < tenon_model_n_files(model); i++) {
        struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL,
                                       .path = path_in(to, tenon_model_file(model, i)->name),
                                       .format = "safetensors",
                                       .like = like ? model : NULL,
                                       .like_file = i};

        ck_ok(tenon_plan_add_file(plan, &file, NULL, &err), err);
    }
}

static void add_tensors(const char *but)
{
    for (size_t i = 0; i < tenon_model_n_tensors(model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(model, i);

        if (t->name.len != strlen(but) || memcmp(t->name.data, but, t->name.len) != 0)
            ck_ok(tenon_plan_add_tensor_of(plan, model, t, t->file, &err), err);
    }
}

/* A copy of `a` under another name. */
static void add_copy(const char *name, uint32_t file)
{
    struct tenon_tensor t = *tenon_model_find(model, "a", 1);
    struct tenon_plan_source source = {
        .model = model, .tensor = tenon_model_find(model, "a", 1), .n_rows = UINT64_MAX};
    struct tenon_plan_tensor copy = {.name = {name, strlen(name)},
                                     .dtype = (enum tenon_dtype)t.dtype,
                                     .n_dims = t.n_dims,
                                     .dims = t.dims,
                                     .file = file,
                                     .sources = &source,
                                     .n_sources = 1};

    ck_ok(tenon_plan_add_tensor(plan, &copy, &err), err);
}

static const struct tenon_plan_file *find_file(const char *name)
{
    for (size_t i = 0; i < tenon_plan_n_files(plan); i++)
        if (strcmp(tenon_plan_file(plan, i)->path, path_in(to, name)) == 0)
            return tenon_plan_file(plan, i);
    return NULL;
}

static const char *text_of(const struct tenon_plan_file *file)
{
    return taken_text(plan, (size_t)(file - tenon_plan_file(plan, 0)));
}

static void check_text(const char *name, const char *wanted)
{
    const struct tenon_plan_file *file = find_file(name);

    ck_assert_msg(file != NULL, "no file %s", name);
    ck_assert_int_eq(file->kind, TENON_PLAN_TEXT);
    ck_assert_str_eq(text_of(file), wanted);
}

/* --- the index --- */

START_TEST(an_index_that_nothing_concerns_stays_as_it_is)
{
    write_set();
    open_input();
    begin_plan(true);
    add_tensors("");
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text(INDEX, old_index);
    ck_assert(find_file(INDEX)->last);
}
END_TEST

/* The sums, which count something else besides, grow and shrink by what the tensors do. */
START_TEST(a_new_tensor_gets_its_place_in_the_index)
{
    write_set();
    open_input();
    begin_plan(true);
    add_tensors("");
    add_copy("ab\u00e9", 1);
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text(INDEX,
               "{\n  \"metadata\": {\n    \"note\": \"kept\",\n    \"total_parameters\": 4,\n"
               "    \"total_size\": 104\n  },\n  \"weight_map\": {\n    \"a\": \"" A
               "\",\n    \"ab\\u00e9\": \"" B "\",\n    \"b\": \"" A "\",\n    \"c\": \"" B
               "\"\n  }\n}\n");
}
END_TEST

START_TEST(a_tensor_that_goes_leaves_the_index)
{
    write_set();
    open_input();
    begin_plan(true);
    add_tensors("b");
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text(INDEX,
               "{\n  \"metadata\": {\n    \"note\": \"kept\",\n    \"total_parameters\": 2,\n"
               "    \"total_size\": 102\n  },\n  \"weight_map\": {\n    \"a\": \"" A
               "\",\n    \"c\": \"" B "\"\n  }\n}\n");
}
END_TEST

START_TEST(keys_that_are_not_sorted_get_new_ones_at_the_end)
{
    write_set();
    folder_text(from, INDEX,
                "{\"weight_map\":{\"c\":\"" B "\",\"a\":\"" A "\",\"b\":\"" A
                "\"},\"metadata\":{\"total_size\":4.5}}");
    open_input();
    begin_plan(true);
    add_tensors("");
    add_copy("aa", 0);
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text(INDEX, "{\"weight_map\":{\"c\":\"" B "\",\"a\":\"" A "\",\"b\":\"" A "\",\"aa\":\"" A
                      "\"},\"metadata\":{\"total_size\":4.5}}");
}
END_TEST

START_TEST(new_shards_get_a_new_index)
{
    write_set();
    open_input();
    begin_plan(false);
    add_tensors("");
    add_copy("\u00e9\U0001F600", 0);
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text(INDEX,
               "{\n  \"metadata\": {\n    \"total_parameters\": 4,\n    \"total_size\": 4\n  },\n"
               "  \"weight_map\": {\n    \"a\": \"" A "\",\n    \"b\": \"" A "\",\n    \"c\": \"" B
               "\",\n    \"\\u00e9\\ud83d\\ude00\": \"" A "\"\n  }\n}\n");
}
END_TEST

/* Whatever stands beside the map and around the object. */
START_TEST(an_index_keeps_what_else_is_in_it)
{
    write_set();
    folder_text(from, INDEX, "\n {\"more\": [1, {\"a\": \"b\"}], " MAP ", \"metadata\": 5}\n \n");
    open_input();
    begin_plan(true);
    add_tensors("c");
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text(INDEX, "\n {\"more\": [1, {\"a\": \"b\"}], \"weight_map\": {\n    \"a\": \"" A
                      "\",\n    \"b\": \"" A "\"\n  }, \"metadata\": 5}\n \n");
}
END_TEST

START_TEST(an_index_without_metadata_gets_none)
{
    write_set();
    folder_text(from, INDEX, "{" MAP "}");
    open_input();
    begin_plan(true);
    add_tensors("b");
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text(INDEX, "{\"weight_map\": {\n    \"a\": \"" A "\",\n    \"c\": \"" B "\"\n  }}");
}
END_TEST

START_TEST(a_tensor_that_moves_is_named_in_its_new_file)
{
    const struct tenon_tensor *t;

    write_set();
    open_input();
    begin_plan(true);
    add_tensors("a");
    t = tenon_model_find(model, "a", 1);
    ck_ok(tenon_plan_add_tensor_of(plan, model, t, 1, &err), err);
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text(INDEX,
               "{\n  \"metadata\": {\n    \"note\": \"kept\",\n    \"total_parameters\": 3,\n"
               "    \"total_size\": 103\n  },\n  \"weight_map\": {\n    \"a\": \"" B
               "\",\n    \"b\": \"" A "\",\n    \"c\": \"" B "\"\n  }\n}\n");
}
END_TEST

/* Sums that cannot be what they say stay as they are. */
START_TEST(a_sum_that_would_leave_its_range_stays)
{
    static const struct {
        const char *sum, *but, *more;
    } rows[] = {
        {"0", "b", NULL},                  /* less than what goes */
        {"18446744073709551615", "", "d"}, /* the largest there is */
        {"-1", "b", NULL},
        {"\"3\"", "b", NULL},
        {"1", "b", "0"}, /* as much comes as goes */
    };
    char text[512];

    write_set();
    snprintf(text, sizeof(text), "{" MAP ", \"metadata\": {\"total_size\": %s}}", rows[_i].sum);
    folder_text(from, INDEX, text);
    open_input();
    begin_plan(true);
    add_tensors(rows[_i].but);
    if (rows[_i].more != NULL)
        add_copy(rows[_i].more, 0);
    ck_ok(tenon_plan_layout(plan, &err), err);
    snprintf(text, sizeof(text), "\"total_size\": %s}", rows[_i].sum);
    ck_assert_ptr_nonnull(strstr(text_of(find_file(INDEX)), text));
}
END_TEST

/* Two names for the same bytes are counted once, until one gets bytes of its own. */
START_TEST(shared_bytes_are_counted_once)
{
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                                 "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    static const struct {
        const char *but;
        bool apart;
        const char *wanted;
    } rows[] = {{"", false, "\"total_size\": 103\n"},
                {"b", false, "\"total_size\": 103\n"},
                {"", true, "\"total_size\": 104\n"}};
    char shard[8 + sizeof(header)] = {(char)(sizeof(header) - 1)};

    write_set();
    memcpy(shard + 8, header, sizeof(header)); /* the terminating NUL is the payload */
    folder_write(from, A, shard, sizeof(shard));
    open_input();
    begin_plan(true);
    add_tensors(rows[_i].but);
    for (size_t i = 0; rows[_i].apart && i < plan->n_tensors; i++)
        plan->tensors[i].apart = tenon_plan_name(plan, i).data[0] == 'b';
    ck_ok(tenon_plan_layout(plan, &err), err);
    ck_assert_msg(strstr(text_of(find_file(INDEX)), rows[_i].wanted) != NULL, "%s",
                  text_of(find_file(INDEX)));
}
END_TEST

/* A name sorts before those that begin with it, as in Python, whatever files they are in. */
START_TEST(a_new_index_is_sorted)
{
    write_set();
    open_input();
    begin_plan(false);
    add_copy("b.x", 1);
    add_copy("aa", 1);
    add_tensors("");
    add_copy("A", 0);
    add_copy("cc", 0);
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text(INDEX,
               "{\n  \"metadata\": {\n    \"total_parameters\": 7,\n    \"total_size\": 7\n  },\n"
               "  \"weight_map\": {\n    \"A\": \"" A "\",\n    \"a\": \"" A "\",\n    \"aa\": \"" B
               "\",\n    \"b\": \"" A "\",\n    \"b.x\": \"" B "\",\n    \"c\": \"" B
               "\",\n    \"cc\": \"" A "\"\n  }\n}\n");
}
END_TEST

/* --- configs --- */

static void make_single(const char *config)
{
    folder_shard(from, "model.safetensors", "a b", 1);
    folder_text(from, "config.json", config);
    open_input();
    begin_plan(true);
    add_tensors("");
}

static void add_flag(const char *key, enum tenon_flag_value value)
{
    struct tenon_plan_flag flag = {"config.json", key, value, "\"x\""};

    ck_ok(tenon_plan_add_flag(plan, &flag, &err), err);
}

static const struct {
    const char *config, *key;
    enum tenon_flag_value value;
    const char *wanted;
} flag_rows[] = {
    {"{\n  \"tie\": true\n}\n", "tie", TENON_FLAG_FALSE, "{\n  \"tie\": false\n}\n"},
    {"{\n  \"a\": 1\n}\n", "tie", TENON_FLAG_FALSE, "{ \"tie\": false,\n  \"a\": 1\n}\n"},
    {"{ \"tie\": false,\n  \"a\": 1\n}\n", "tie", TENON_FLAG_DEFAULT, "{\n  \"a\": 1\n}\n"},
    {"{\n  \"tie\": false\n}\n", "tie", TENON_FLAG_DEFAULT, "{\n  \"tie\": true\n}\n"},
    {"{\n  \"a\": 1\n}\n", "tie", TENON_FLAG_DEFAULT, "{\n  \"a\": 1\n}\n"},
    {"{\n  \"a\": 1\n}\n", "a", TENON_FLAG_TEXT, "{\n  \"a\": \"x\"\n}\n"},
    {"{\n  \"a\": 1\n}\n", "b.a", TENON_FLAG_TEXT, "{\n  \"a\": 1\n}\n"},
    {"{\"a\": 1, \"tie\": false}", "tie", TENON_FLAG_REMOVE, "{\"a\": 1}"},
    {"{\"a\": 1}", "tie", TENON_FLAG_REMOVE, "{\"a\": 1}"},
    {"{\"text_config\": {\"tie\" : false}}", "text_config.tie", TENON_FLAG_TRUE,
     "{\"text_config\": {\"tie\" : true}}"},
};

START_TEST(a_flag_is_set_and_nothing_else_changes)
{
    make_single(flag_rows[_i].config);
    add_flag(flag_rows[_i].key, flag_rows[_i].value);
    ck_ok(tenon_plan_layout(plan, &err), err);
    check_text("config.json", flag_rows[_i].wanted);
}
END_TEST

START_TEST(a_flag_of_an_object_that_is_not_there_is_an_error)
{
    make_single("{\"a\": 1}");
    add_flag("text_config.tie", TENON_FLAG_TRUE);
    ck_fails(tenon_plan_layout(plan, &err), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.subject, "text_config.tie");
    ck_assert_ptr_nonnull(strstr(err.path, "config.json"));
}
END_TEST

/* --- what goes along --- */

START_TEST(other_files_go_along_and_other_weights_do_not)
{
    folder_text(from, "README.md", "read me");
    folder_text(from, ".gitattributes", "");
    folder_text(from, "pytorch_model.bin", "weights");
    folder_text(from, ".model.safetensors.12.tmp", "left over");
    ck_assert_int_eq(mkdir(path_in(from, "1_Pooling"), 0777), 0);
    folder_text(from, "1_Pooling/config.json", "{}");
    make_single("{\"a\": 1}");
    ck_ok(tenon_plan_layout(plan, &err), err);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 5);
    ck_assert_uint_eq(find_file("README.md")->bytes, 7);
    ck_assert_int_eq(find_file("README.md")->kind, TENON_PLAN_COPY);
    ck_assert_ptr_nonnull(find_file("config.json"));
    ck_assert_ptr_nonnull(find_file(".gitattributes"));
    ck_assert_ptr_nonnull(find_file("1_Pooling/config.json"));
    ck_assert_uint_eq(tenon_plan_n_notes(plan), 1);
    ck_assert_ptr_nonnull(strstr(tenon_plan_note(plan, 0), "pytorch_model.bin"));
    unlink(path_in(from, "1_Pooling/config.json"));
    rmdir(path_in(from, "1_Pooling"));
}
END_TEST

/* --- what is there already --- */

START_TEST(shards_that_only_the_old_index_names_go_away)
{
    write_set();
    open_input();
    folder_text(to, INDEX,
                "{\"weight_map\": {\"a\": \"" A
                "\", \"z\": \"model-00003-of-00003.safetensors\"}}");
    begin_plan(true);
    add_tensors("");
    ck_ok(tenon_plan_layout(plan, &err), err);
    ck_assert_uint_eq(plan->n_stale, 1);
    ck_assert_str_eq(plan->stale[0], path_in(to, "model-00003-of-00003.safetensors"));
}
END_TEST

START_TEST(an_index_that_would_remain_is_refused)
{
    make_single("{\"a\": 1}");
    folder_text(to, INDEX, "{\"weight_map\": {\"a\": \"" A "\"}}");
    ck_fails(tenon_plan_layout(plan, &err), TENON_ERR_EXISTS, err);
    ck_assert_ptr_nonnull(strstr(err.path, INDEX));
    ck_assert_uint_eq(tenon_plan_n_files(plan), 1);
}
END_TEST

/* Once, and for good. */
START_TEST(every_failed_allocation_is_survived)
{
    uint64_t n = 1;

    write_set();
    folder_text(from, "config.json", "{\"a\": 1}");
    open_input();
    begin_plan(true);
    add_tensors("b");
    add_copy("d", 1);
    add_flag("tie", TENON_FLAG_FALSE);
    for (; !plan->laid_out; n++) {
        enum tenon_status st;

        memset(&err, 0, sizeof(err));
        tenon_mem_fail_at(n, _i != 0);
        st = tenon_plan_layout(plan, &err);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
    }
    ck_assert_uint_gt(n, 30);
    ck_assert_uint_eq(tenon_plan_n_files(plan), 4);
    check_text("config.json", "{ \"tie\": false,\"a\": 1}");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hf_write");
    TCase *index = tcase_create("index"), *config = tcase_create("config");
    TCase *folder = tcase_create("folder"), *all[] = {index, config, folder};

    for (size_t i = 0; i < 3; i++) {
        tcase_add_checked_fixture(all[i], set_up, tear_down);
        suite_add_tcase(suite, all[i]);
    }
    tcase_add_test(index, an_index_that_nothing_concerns_stays_as_it_is);
    tcase_add_test(index, a_new_tensor_gets_its_place_in_the_index);
    tcase_add_test(index, a_tensor_that_goes_leaves_the_index);
    tcase_add_test(index, keys_that_are_not_sorted_get_new_ones_at_the_end);
    tcase_add_test(index, new_shards_get_a_new_index);
    tcase_add_test(index, an_index_keeps_what_else_is_in_it);
    tcase_add_test(index, an_index_without_metadata_gets_none);
    tcase_add_test(index, a_tensor_that_moves_is_named_in_its_new_file);
    tcase_add_loop_test(index, a_sum_that_would_leave_its_range_stays, 0, 5);
    tcase_add_loop_test(index, shared_bytes_are_counted_once, 0, 3);
    tcase_add_test(index, a_new_index_is_sorted);
    tcase_add_loop_test(config, a_flag_is_set_and_nothing_else_changes, 0,
                        sizeof(flag_rows) / sizeof(flag_rows[0]));
    tcase_add_test(config, a_flag_of_an_object_that_is_not_there_is_an_error);
    tcase_add_test(folder, other_files_go_along_and_other_weights_do_not);
    tcase_add_test(folder, shards_that_only_the_old_index_names_go_away);
    tcase_add_test(folder, an_index_that_would_remain_is_refused);
    tcase_add_loop_test(folder, every_failed_allocation_is_survived, 0, 2);
    return run_suite(suite);
}
