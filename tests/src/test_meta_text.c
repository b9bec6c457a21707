/* Typed metadata as texts: the spelling of each type, and that nothing changes there and back. */
#include "meta_text.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "check_error.h"
#include "gen.h"
#include "tenon/model.h"

static struct tenon_arena arena;
static struct tenon_error err;
static struct gen_files files;
static struct tenon_model *model;

static void tear_down(void)
{
    tenon_arena_release(&arena);
    tenon_model_free(model);
    gen_files_release(&files);
    model = NULL;
    err = (struct tenon_error){0};
}

static struct tenon_meta_entry text_pair(const char *key, const char *value, size_t len)
{
    return (struct tenon_meta_entry){
        .key = {key, strlen(key)},
        .type = TENON_META_STRING,
        .item = TENON_META_STRING,
        .count = 1,
        .value = {TENON_META_STRING, {.str = {value, len}}},
    };
}

static void check_texts(const struct tenon_meta_entry *typed, const char *key, const char *value)
{
    struct tenon_meta_entry text;

    ck_ok(tenon_meta_to_text(&arena, typed, &text, &err), err);
    ck_assert_str_eq(text.key.data, key);
    ck_assert_uint_eq(text.key.len, strlen(key));
    ck_assert_str_eq(text.value.as.str.data, value);
    ck_assert_uint_eq(text.value.as.str.len, strlen(value));
}

static bool same_str(struct tenon_str a, struct tenon_str b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* A pair of texts, read and written again, is the same pair; says what it was read as. */
static struct tenon_meta_entry read_pair(const char *key, const char *value)
{
    struct tenon_meta_entry text = text_pair(key, value, strlen(value)), typed, again;

    ck_ok(tenon_meta_from_text(&arena, &text, &typed, &err), err);
    ck_ok(tenon_meta_to_text(&arena, &typed, &again, &err), err);
    ck_assert_msg(same_str(again.key, text.key) && same_str(again.value.as.str, text.value.as.str),
                  "%s=%s came back as %s=%s", key, value, again.key.data, again.value.as.str.data);
    return typed;
}

static void check_string(const char *key, const char *value, const char *typed_key)
{
    struct tenon_meta_entry typed = read_pair(key, value);

    ck_assert_msg(typed.type == TENON_META_STRING, "%s=%s is no string", key, value);
    ck_assert_uint_eq(typed.key.len, strlen(typed_key));
    ck_assert_int_eq(memcmp(typed.key.data, typed_key, typed.key.len), 0);
    ck_assert_uint_eq(typed.value.as.str.len, strlen(value));
}

static void check_u64(const char *key, const char *value, enum tenon_meta_type type, uint64_t want)
{
    struct tenon_meta_entry typed = read_pair(key, value);

    ck_assert_msg(typed.type == type, "%s=%s is a %s", key, value,
                  tenon_meta_type_name(typed.type));
    ck_assert_uint_eq(typed.key.len, 1);
    ck_assert_uint_eq(typed.value.as.u64, want);
}

static void check_float(const char *key, const char *value, double want)
{
    struct tenon_meta_entry typed = read_pair(key, value);

    ck_assert_msg(typed.type == TENON_META_F32 || typed.type == TENON_META_F64, "%s=%s", key,
                  value);
    ck_assert_msg(memcmp(&typed.value.as.f64, &want, sizeof(want)) == 0, "%s=%s is %.17g", key,
                  value, typed.value.as.f64);
}

START_TEST(numbers_are_decimal)
{
    check_u64("k:u8", "255", TENON_META_U8, 255);
    check_u64("k:u16", "65535", TENON_META_U16, 65535);
    check_u64("k:u32", "0", TENON_META_U32, 0);
    check_u64("k:u64", "18446744073709551615", TENON_META_U64, UINT64_MAX);
    ck_assert_int_eq(read_pair("k:i8", "-128").value.as.i64, -128);
    ck_assert_int_eq(read_pair("k:i16", "-32768").value.as.i64, -32768);
    ck_assert_int_eq(read_pair("k:i32", "-2147483648").value.as.i64, INT32_MIN);
    ck_assert_int_eq(read_pair("k:i64", "-9223372036854775808").value.as.i64, INT64_MIN);
    ck_assert(read_pair("k:bool", "true").value.as.boolean);
    ck_assert(!read_pair("k:bool", "false").value.as.boolean);
}
END_TEST

/* 0.1 and the largest floats in their shortest forms, as Python's repr gives them. */
START_TEST(floats_are_short_and_exact)
{
    check_float("k:f32", "0.1", 0.1f);
    check_float("k:f64", "0.1", 0.1);
    check_float("k:f64", "0.30000000000000004", 0.1 + 0.2);
    check_float("k:f32", "10000", 10000);
    check_float("k:f32", "1e-05", 1e-5f);
    check_float("k:f32", "3.4028235e+38", 0x1.fffffep127);
    check_float("k:f64", "1.7976931348623157e+308", 0x1.fffffffffffffp1023);
    check_float("k:f64", "5e-324", 0x1p-1074);
    check_float("k:f64", "-0", -0.0);
    check_float("k:f32", "Infinity", (double)INFINITY);
    check_float("k:f64", "-Infinity", (double)-INFINITY);
    ck_assert(isnan(read_pair("k:f32", "NaN").value.as.f64));
    ck_assert(isnan(read_pair("k:f64", "NaN").value.as.f64));
    ck_assert_int_eq(read_pair("k:f32", "0xffc00001").type, TENON_META_F32);
    ck_assert_int_eq(read_pair("k:f64", "0x7ff8000000000007").type, TENON_META_F64);
}
END_TEST

START_TEST(the_locale_of_the_program_does_not_matter)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        setlocale(LC_ALL, names[i]); /* where it is not there, the test says less */
        check_float("k:f64", "0.30000000000000004", 0.1 + 0.2);
        check_float("k:f32", "1.5", 1.5);
    }
    setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(other_spellings_are_strings)
{
    static const char *const pairs[][2] = {
        {"k:u8", "256"},
        {"k:u8", "-1"},
        {"k:u8", "07"},
        {"k:u8", ""},
        {"k:u8", " 7"},
        {"k:u8", "7x"},
        {"k:i8", "+1"},
        {"k:i8", "-129"},
        {"k:u64", "18446744073709551616"},
        {"k:bool", "True"},
        {"k:bool", "1"},
        {"k:f32", "0.10"},
        {"k:f32", "1e5"},
        {"k:f32", "0,1"},
        {"k:f32", "nan"},
        {"k:f32", "0x7fc00000"},
        {"k:f64", ""},
        {"k:hex", "61"},
        {"k:hex", "F0"},
        {"k:hex", "ff0"},
        {"k:array<u8>", ""},
        {"k:array<u8>", "["},
        {"k:array<u8>", "[1, 2]"},
        {"k:array<u8>", "[1,]"},
        {"k:array<u8>", "[1,2]]"},
        {"k:array<u8>", "x1]"},
        {"k:array<string>", "[\"a]"},
        {"k:array<string>", "[\"\\/\"]"},
        {"k:array<string>", "[\"\\u0041\"]"},
        {"k:array<string>", "[\"\\"},
        {"k:array<array>", "[]"},
        {"k:array<u8", "[]"},
        {"k:string", "x"},
        {":u8", "1"},
        {"k", "1"},
        {"k:", "1"},
        {":string", ""},
        {"k:U8", "1"},
        {"", "1"},
        {":", ""},
        {"k:array<hex>", "[]"},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        check_string(pairs[i][0], pairs[i][1], pairs[i][0]);
}
END_TEST

START_TEST(a_string_that_would_read_as_something_else_is_marked)
{
    struct tenon_meta_entry typed = text_pair("k:u8", "7", 1);

    check_texts(&typed, "k:u8:string", "7");
    check_string("k:u8:string", "7", "k:u8");
    check_string("k:u8:string:string", "7", "k:u8:string");
    check_string("k:u8:string", "x", "k:u8:string"); /* nothing to be confused with */
}
END_TEST

/* Nothing here may depend on the depth of the ends, in time or in stack. */
START_TEST(many_marks_take_no_longer)
{
    enum { N = 100000 };
    static char key[7 * N + 8];

    strcpy(key, "k:u8");
    for (size_t i = 0; i < N; i++)
        memcpy(key + 4 + 7 * i, ":string", 8);
    ck_assert_int_eq(read_pair(key, "7").type, TENON_META_STRING);
}
END_TEST

START_TEST(text_that_is_not_utf8_becomes_digits)
{
    struct tenon_meta_entry typed = text_pair("k", "a\xff", 2);

    check_texts(&typed, "k:hex", "61ff");
    typed = read_pair("k:hex", "61ff");
    ck_assert_uint_eq(typed.value.as.str.len, 2);
    ck_assert_int_eq(memcmp(typed.value.as.str.data, "a\xff", 2), 0);
}
END_TEST

START_TEST(arrays_are_json)
{
    struct tenon_meta_entry typed = read_pair("k:array<u16>", "[1,65535]");

    ck_assert_int_eq(typed.type, TENON_META_ARRAY);
    ck_assert_int_eq(typed.item, TENON_META_U16);
    ck_assert_uint_eq(typed.count, 2);
    ck_assert_uint_eq(typed.raw_bytes, 4);
    ck_assert_int_eq(memcmp(typed.raw, "\1\0\xff\xff", 4), 0);
    typed = read_pair("k:array<string>", "[\"\",\"a\\\"\\\\\\n\\u0001,]\",\"\xc3\xa9\"]");
    ck_assert_uint_eq(typed.count, 3);
    ck_assert_uint_eq(typed.raw_bytes, 8 + 8 + 7 + 8 + 2);
    ck_assert_int_eq(memcmp(typed.raw + 8, "\7\0\0\0\0\0\0\0a\"\\\n\1,]", 15), 0);
    ck_assert_uint_eq(read_pair("k:array<hex>", "[\"ff\",\"\"]").count, 2);
    ck_assert_uint_eq(read_pair("k:array<i32>", "[]").count, 0);
    ck_assert_uint_eq(read_pair("k:array<f32>", "[0.5,\"NaN\",\"-Infinity\"]").count, 3);
    ck_assert_uint_eq(read_pair("k:array<bool>", "[true,false]").raw_bytes, 2);
}
END_TEST

static void open_sample(const char *name)
{
    const struct gen_sample *sample = gen_sample_find(name, strlen(name));

    ck_assert_ptr_nonnull(sample);
    gen_sample_make(sample, &files);
    ck_ok(tenon_model_open_memory(files.file[0].bytes.data, files.file[0].bytes.n, NULL, &model,
                                  &err),
          err);
}

/* Element by element, whatever the byte order of either. */
static void check_same(const struct tenon_meta_entry *a, const struct tenon_meta_entry *b)
{
    struct tenon_meta_value x, y;
    struct tenon_meta_iter i, k;

    ck_assert(same_str(a->key, b->key));
    ck_assert_int_eq(a->type, b->type);
    ck_assert_int_eq(a->item, b->item);
    ck_assert_uint_eq(a->count, b->count);
    if (a->type != TENON_META_ARRAY) {
        ck_assert(a->type == TENON_META_STRING ? same_str(a->value.as.str, b->value.as.str)
                  : a->type == TENON_META_BOOL ? a->value.as.boolean == b->value.as.boolean
                                               : a->value.as.u64 == b->value.as.u64);
        return;
    }
    tenon_meta_iter_init(&i, a);
    tenon_meta_iter_init(&k, b);
    while (tenon_meta_iter_next(&i, &x, NULL)) {
        ck_assert(tenon_meta_iter_next(&k, &y, NULL));
        ck_assert(a->item == TENON_META_STRING ? same_str(x.as.str, y.as.str)
                  : a->item == TENON_META_BOOL ? x.as.boolean == y.as.boolean
                                               : x.as.u64 == y.as.u64);
    }
}

/* The sample has every type, alone and in arrays; its nested array has no form as text. */
START_TEST(every_type_of_gguf_comes_back)
{
    static const char *const samples[] = {"meta_gguf", "meta_be_gguf", "vocab_gguf",
                                          "tied_v1_gguf"};
    size_t n = 0;

    for (size_t s = 0; s < sizeof(samples) / sizeof(samples[0]); s++) {
        open_sample(samples[s]);
        for (size_t i = 0; i < tenon_model_n_meta(model); i++) {
            const struct tenon_meta_entry *entry = tenon_model_meta(model, i);
            struct tenon_meta_entry text, back;

            if (entry->type == TENON_META_ARRAY && entry->item == TENON_META_ARRAY) {
                ck_fails(tenon_meta_to_text(&arena, entry, &text, &err), TENON_ERR_CANNOT_REPRESENT,
                         err);
                err = (struct tenon_error){0};
                continue;
            }
            ck_ok(tenon_meta_to_text(&arena, entry, &text, &err), err);
            ck_ok(tenon_meta_from_text(&arena, &text, &back, &err), err);
            check_same(entry, &back);
            n++;
        }
        tear_down();
    }
    ck_assert_uint_gt(n, 50);
}
END_TEST

START_TEST(a_key_that_is_not_utf8_is_named)
{
    struct tenon_meta_entry typed = text_pair("k\xff", "v", 1), text;

    ck_fails(tenon_meta_to_text(&arena, &typed, &text, &err), TENON_ERR_CANNOT_REPRESENT, err);
    ck_assert_str_eq(err.subject, "k\\xff");
}
END_TEST

START_TEST(every_failing_allocation_is_reported)
{
    struct tenon_meta_entry text = text_pair("k:array<string>", "[\"abc\",\"def\"]", 13), typed;
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    for (uint64_t n = 1; st != TENON_OK; n++) {
        tenon_mem_fail_at(n, false);
        st = tenon_meta_from_text(&arena, &text, &typed, NULL);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
    }
    ck_assert_uint_eq(typed.count, 2);
    st = TENON_ERR_NO_MEMORY;
    for (uint64_t n = 1; st != TENON_OK; n++) {
        tenon_mem_fail_at(n, false);
        st = tenon_meta_to_text(&arena, &typed, &text, NULL);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
    }
    ck_assert_str_eq(text.value.as.str.data, "[\"abc\",\"def\"]");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("meta_text");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, numbers_are_decimal);
    tcase_add_test(tests, floats_are_short_and_exact);
    tcase_add_test(tests, the_locale_of_the_program_does_not_matter);
    tcase_add_test(tests, other_spellings_are_strings);
    tcase_add_test(tests, a_string_that_would_read_as_something_else_is_marked);
    tcase_add_test(tests, many_marks_take_no_longer);
    tcase_add_test(tests, text_that_is_not_utf8_becomes_digits);
    tcase_add_test(tests, arrays_are_json);
    tcase_add_test(tests, every_type_of_gguf_comes_back);
    tcase_add_test(tests, a_key_that_is_not_utf8_is_named);
    tcase_add_test(tests, every_failing_allocation_is_reported);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
