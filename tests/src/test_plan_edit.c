/* Plans that edit: which pairs and names change, and which do not. */
#include <string.h>

#include "check_error.h"
#include "gen.h"
#include "mem.h"
#include "plan_text.h"
#include "tenon/edit.h"

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

static void open_bytes(void)
{
    ck_ok(tenon_model_open_memory(files.file[0].bytes.data, files.file[0].bytes.n, NULL, &model,
                                  &err),
          err);
}

/* A GGUF file with a text, a number, an array of u8 and one of text, and three tensors. */
static void open_gguf(void)
{
    struct gen_model m = {0};
    uint64_t dims[1] = {4};

    gen_kv_str(&m, "general.architecture", "none");
    gen_kv_u32(&m, "none.number", 7);
    gen_kv_array(&m, "none.bytes", GEN_U8, 3);
    gen_raw(&m.kv, "\1\2\3", 3);
    gen_kv_array(&m, "none.words", GEN_STRING, 1);
    gen_str(&m.kv, "a");
    gen_tensor_values(gen_tensor_add(&m, "a.x", "F32", 1, dims), 1, 1);
    gen_tensor_values(gen_tensor_add(&m, "a.y", "F32", 1, dims), 2, 1);
    gen_tensor_values(gen_tensor_add(&m, "b", "F32", 1, dims), 3, 1);
    gen_write_gguf(gen_files_add(&files, "model"), &m, 3, 32);
    gen_model_release(&m);
    open_bytes();
}

static void open_safetensors(void)
{
    struct gen_model m = {0};
    uint64_t dims[1] = {4};

    gen_tensor_values(gen_tensor_add(&m, "a", "F32", 1, dims), 1, 1);
    gen_write_safetensors(gen_files_add(&files, "model"), &m, 0, 1, "{\"format\":\"pt\"}");
    gen_model_release(&m);
    open_bytes();
}

static struct tenon_str text(const char *s)
{
    return (struct tenon_str){s, strlen(s)};
}

static enum tenon_status edit(enum tenon_edit_kind kind, const char *name, const char *type,
                              const char *value)
{
    struct tenon_edit one = {kind, text(name), text(value), text(type)};
    struct tenon_edit_options options = {&one, 1};

    tenon_plan_free(plan);
    plan = NULL;
    err = (struct tenon_error){0};
    return tenon_plan_edit(model, "out", &options, &plan, &err);
}

static enum tenon_status set(const char *name, const char *type, const char *value)
{
    return edit(TENON_EDIT_SET, name, type, value);
}

static const struct tenon_meta_entry *meta(const char *key)
{
    const struct tenon_plan_file *f = tenon_plan_file(plan, 0);

    for (size_t i = 0; i < f->n_metas; i++)
        if (f->metas[i].key.len == strlen(key) &&
            memcmp(f->metas[i].key.data, key, strlen(key)) == 0)
            return &f->metas[i];
    return NULL;
}

START_TEST(a_value_keeps_its_place_and_type_and_all_else_stays)
{
    open_gguf();
    ck_ok(set("none.number", "", "0x10"), err);
    ck_assert_str_eq(plan_metas(plan, 0), "general.architecture=none none.number=16 "
                                          "none.bytes=u8[3] none.words=string[1]");
    ck_assert_int_eq(meta("none.number")->type, TENON_META_U32);
    ck_assert_mem_eq(meta("none.bytes")->raw, "\1\2\3", 3);
    ck_assert_str_eq(plan_tensors(plan), "a.x:F32=a.x a.y:F32=a.y b:F32=b");
    ck_assert(!tenon_plan_is_empty(plan));
    ck_ok(set("none.number", "", "7"), err);
    ck_assert(tenon_plan_is_empty(plan));
}
END_TEST

START_TEST(a_new_key_of_gguf_needs_a_type_and_comes_last)
{
    open_gguf();
    ck_fails(set("none.new", "", "1"), TENON_ERR_MISUSE, err);
    ck_assert_str_eq(err.subject, "none.new");
    ck_assert_ptr_nonnull(strstr(err.hint, "TYPE"));
    ck_ok(set("none.new", "i16", "-5"), err);
    ck_assert_str_eq(plan_metas(plan, 0), "general.architecture=none none.number=7 "
                                          "none.bytes=u8[3] none.words=string[1] none.new=-5");
    ck_fails(set("none.new", "i17", "-5"), TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(a_given_type_replaces_the_old_one)
{
    open_gguf();
    ck_ok(set("none.number", "f32", "2.5"), err);
    ck_assert_int_eq(meta("none.number")->type, TENON_META_F32);
    ck_assert_double_eq(meta("none.number")->value.as.f64, 2.5);
}
END_TEST

/* Values at the ends of their types (two's complement, IEEE 754), and just beyond. */
START_TEST(values_must_fit_their_type)
{
    static const struct {
        const char *type, *value;
        bool fits;
    } cases[] = {
        {"u8", "255", true},
        {"u8", "256", false},
        {"i8", "-128", true},
        {"i8", "-129", false},
        {"u16", "0xffff", true},
        {"u16", "-1", false},
        {"i32", "2147483647", true},
        {"i32", "2147483648", false},
        {"u64", "18446744073709551615", true},
        {"u64", "18446744073709551616", false},
        {"i64", "-9223372036854775808", true},
        {"i64", "-9223372036854775809", false},
        {"u32", "1.0", false},
        {"u32", "", false},
        {"u32", "1 2", false},
        {"f32", "1e-5", true},
        {"f32", "1e39", false},
        {"f64", "1e39", true},
        {"f64", "nan", true},
        {"f64", "-inf", true},
        {"f64", "1e", false},
        {"f64", "0x1p3", false},
        {"bool", "true", true},
        {"bool", "0", true},
        {"bool", "maybe", false},
        {"string", "", true},
    };

    open_gguf();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum tenon_status st = set("none.new", cases[i].type, cases[i].value);

        ck_assert_msg(st == (cases[i].fits ? TENON_OK : TENON_ERR_MISUSE), "%s %s: %s",
                      cases[i].type, cases[i].value, err.message);
    }
}
END_TEST

START_TEST(arrays_are_lists_with_or_without_brackets)
{
    open_gguf();
    ck_ok(set("none.bytes", "", "[9, 8,255]"), err);
    ck_assert_int_eq(meta("none.bytes")->item, TENON_META_U8);
    ck_assert_uint_eq(meta("none.bytes")->count, 3);
    ck_assert_mem_eq(meta("none.bytes")->raw, "\x09\x08\xff", 3);
    ck_ok(set("none.bytes", "", "[]"), err);
    ck_assert_uint_eq(meta("none.bytes")->count, 0);
    ck_fails(set("none.bytes", "", "1,256"), TENON_ERR_MISUSE, err);
    ck_fails(set("none.bytes", "", "1,,2"), TENON_ERR_MISUSE, err);
    ck_ok(set("none.words", "", "one, two"), err);
    ck_assert_uint_eq(meta("none.words")->raw_bytes, 8 + 3 + 8 + 3);
    /* JSON: U+00E9 and U+1F600 in UTF-8 */
    ck_ok(set("none.words", "", "[\"a,\\u00e9\", \"\\ud83d\\ude00\\n\"]"), err);
    ck_assert_uint_eq(meta("none.words")->count, 2);
    ck_assert_mem_eq(meta("none.words")->raw,
                     "\4\0\0\0\0\0\0\0a,\xc3\xa9\5\0\0\0\0\0\0\0\xf0\x9f\x98\x80\n", 25);
    ck_fails(set("none.words", "", "[\"a]"), TENON_ERR_MISUSE, err);
    ck_fails(set("none.words", "", "[\"\\ud83d\"]"), TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(keys_about_the_set_are_left_to_others)
{
    open_gguf();
    ck_fails(set("split.count", "u16", "3"), TENON_ERR_MISUSE, err);
    ck_fails(edit(TENON_EDIT_UNSET, "split.no", "", ""), TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(an_alignment_rules_the_layout)
{
    open_gguf();
    ck_ok(set("general.alignment", "u32", "64"), err);
    ck_assert_uint_eq(tenon_plan_file(plan, 0)->alignment, 64);
    ck_fails(set("general.alignment", "u32", "48"), TENON_ERR_MISUSE, err);
    ck_fails(set("general.alignment", "u64", "64"), TENON_ERR_MISUSE, err);
}
END_TEST

START_TEST(what_is_not_there_is_an_error)
{
    open_gguf();
    ck_fails(edit(TENON_EDIT_UNSET, "none.other", "", ""), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.subject, "none.other");
    ck_fails(edit(TENON_EDIT_RENAME, "c", "", "d"), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.subject, "c");
    ck_fails(edit(TENON_EDIT_DROP, "c*", "", ""), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.subject, "c*");
}
END_TEST

START_TEST(keys_and_tensors_go_away)
{
    open_gguf();
    ck_ok(edit(TENON_EDIT_UNSET, "none.bytes", "", ""), err);
    ck_assert_str_eq(plan_metas(plan, 0),
                     "general.architecture=none none.number=7 none.words=string[1]");
    ck_ok(edit(TENON_EDIT_DROP, "a.*", "", ""), err);
    ck_assert_str_eq(plan_tensors(plan), "b:F32=b");
}
END_TEST

START_TEST(a_tensor_gets_another_name_unless_it_is_taken)
{
    open_gguf();
    ck_ok(edit(TENON_EDIT_RENAME, "a.y", "", "c"), err);
    ck_assert_str_eq(plan_tensors(plan), "a.x:F32=a.x c:F32=a.y b:F32=b");
    ck_fails(edit(TENON_EDIT_RENAME, "a.y", "", "b"), TENON_ERR_NAME_CLASH, err);
    ck_assert_str_eq(err.subject, "b");
}
END_TEST

START_TEST(edits_follow_each_other)
{
    struct tenon_edit edits[] = {
        {TENON_EDIT_DROP, text("b"), text(""), text("")},
        {TENON_EDIT_RENAME, text("a.x"), text("b"), text("")},
        {TENON_EDIT_RENAME, text("b"), text("c"), text("")},
        {TENON_EDIT_SET, text("none.new"), text("1"), text("u8")},
        {TENON_EDIT_SET, text("none.new"), text("2"), text("")},
    };
    struct tenon_edit_options options = {edits, sizeof(edits) / sizeof(edits[0])};

    open_gguf();
    ck_ok(tenon_plan_edit(model, "out", &options, &plan, &err), err);
    ck_assert_str_eq(plan_tensors(plan), "c:F32=a.x a.y:F32=a.y");
    ck_assert_int_eq(meta("none.new")->type, TENON_META_U8);
    ck_assert_uint_eq(meta("none.new")->value.as.u64, 2);
}
END_TEST

/* Two names change places, and a pattern fits what is called so now. */
START_TEST(a_name_that_was_given_up_can_be_given_again)
{
    struct tenon_edit edits[] = {
        {TENON_EDIT_RENAME, text("a.x"), text("t"), text("")},
        {TENON_EDIT_RENAME, text("b"), text("a.x"), text("")},
        {TENON_EDIT_RENAME, text("t"), text("b"), text("")},
        {TENON_EDIT_RENAME, text("a.y"), text("t"), text("")},
        {TENON_EDIT_DROP, text("a.*"), text(""), text("")},
        {TENON_EDIT_RENAME, text("t"), text("a.x"), text("")},
    };
    struct tenon_edit_options options = {edits, sizeof(edits) / sizeof(edits[0])};

    open_gguf();
    ck_ok(tenon_plan_edit(model, "out", &options, &plan, &err), err);
    ck_assert_str_eq(plan_tensors(plan), "b:F32=a.x a.x:F32=a.y");
    options.n_edits = 1;
    edits[0] = (struct tenon_edit){TENON_EDIT_RENAME, text("t"), text("u"), text("")};
    tenon_plan_free(plan);
    plan = NULL;
    ck_fails(tenon_plan_edit(model, "out", &options, &plan, &err), TENON_ERR_NOT_FOUND, err);
    ck_assert_str_eq(err.subject, "t");
}
END_TEST

START_TEST(a_key_that_went_away_and_comes_back_comes_last)
{
    struct tenon_edit edits[] = {
        {TENON_EDIT_UNSET, text("none.number"), text(""), text("")},
        {TENON_EDIT_SET, text("none.new"), text("1"), text("u8")},
        {TENON_EDIT_SET, text("none.number"), text("8"), text("u8")},
        {TENON_EDIT_UNSET, text("none.new"), text(""), text("")},
        {TENON_EDIT_SET, text("none.number"), text("9"), text("")},
    };
    struct tenon_edit_options options = {edits, sizeof(edits) / sizeof(edits[0])};
    const struct tenon_plan_file *file;

    open_gguf();
    ck_ok(tenon_plan_edit(model, "out", &options, &plan, &err), err);
    file = tenon_plan_file(plan, 0);
    ck_assert_uint_eq(file->n_metas, 4);
    ck_assert_str_eq(file->metas[3].key.data, "none.number");
    ck_assert_int_eq(file->metas[3].type, TENON_META_U8);
    ck_assert_uint_eq(file->metas[3].value.as.u64, 9);
    ck_assert_str_eq(file->metas[1].key.data, "none.bytes");
}
END_TEST

START_TEST(safetensors_metadata_is_text_and_types_are_part_of_the_key)
{
    open_safetensors();
    ck_ok(set("author", "", "me, you"), err);
    ck_assert_str_eq(plan_metas(plan, 0), "format=pt author=me, you");
    ck_ok(set("rate", "f32", "1e-4"), err);
    ck_assert_str_eq(plan_metas(plan, 0), "format=pt rate:f32=0.0001");
    ck_ok(set("format", "string", "mlx"), err);
    ck_assert_str_eq(plan_metas(plan, 0), "format=mlx");
}
END_TEST

START_TEST(the_plan_survives_every_failed_allocation)
{
    uint64_t n;

    open_gguf();
    for (n = 1; plan == NULL && n < 2000; n++) {
        err = (struct tenon_error){0};
        tenon_mem_fail_at(n, true);
        if (set("none.words", "", "[\"b\", \"c\"]") != TENON_OK)
            ck_assert_int_eq(err.status, TENON_ERR_NO_MEMORY);
        tenon_mem_fail_at(0, false);
    }
    ck_assert_uint_gt(n, 5);
    ck_assert_ptr_nonnull(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_edit");
    TCase *tc = tcase_create("edit");

    tcase_add_checked_fixture(tc, NULL, tear_down);
    tcase_add_test(tc, a_value_keeps_its_place_and_type_and_all_else_stays);
    tcase_add_test(tc, a_new_key_of_gguf_needs_a_type_and_comes_last);
    tcase_add_test(tc, a_given_type_replaces_the_old_one);
    tcase_add_test(tc, values_must_fit_their_type);
    tcase_add_test(tc, arrays_are_lists_with_or_without_brackets);
    tcase_add_test(tc, keys_about_the_set_are_left_to_others);
    tcase_add_test(tc, an_alignment_rules_the_layout);
    tcase_add_test(tc, what_is_not_there_is_an_error);
    tcase_add_test(tc, keys_and_tensors_go_away);
    tcase_add_test(tc, a_tensor_gets_another_name_unless_it_is_taken);
    tcase_add_test(tc, edits_follow_each_other);
    tcase_add_test(tc, a_name_that_was_given_up_can_be_given_again);
    tcase_add_test(tc, a_key_that_went_away_and_comes_back_comes_last);
    tcase_add_test(tc, safetensors_metadata_is_text_and_types_are_part_of_the_key);
    tcase_add_test(tc, the_plan_survives_every_failed_allocation);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
