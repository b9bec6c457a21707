/* New safetensors files. The expected bytes come from the reference package, safetensors 0.8.0
 * (`serialize` for the same tensors, given in the order of the tests). */
#include "assemble.h"

#define ODD_NAME "z/\u00e9\"\\\n\001\177\U0001F600"

struct written {
    struct tenon_plan *plan;
    uint32_t file;
    struct gen_bytes bytes;
    struct tenon_error err;
};

static void begin(struct written *w, const struct tenon_plan_file *like)
{
    struct tenon_plan_file file = {
        .kind = TENON_PLAN_MODEL, .path = "out.safetensors", .format = "safetensors"};

    memset(w, 0, sizeof(*w));
    ck_ok(tenon_plan_new("out.safetensors", &w->plan, &w->err), w->err);
    ck_ok(tenon_plan_add_file(w->plan, like != NULL ? like : &file, &w->file, &w->err), w->err);
}

static void finish(struct written *w)
{
    tenon_plan_free(w->plan);
    gen_bytes_release(&w->bytes);
}

/* A tensor of bytes in memory: `rows` < 0 for a scalar. */
static void add(struct written *w, const char *name, enum tenon_dtype dtype, int rows,
                const char *bytes)
{
    struct tenon_plan_source source = {.bytes = bytes, .n_rows = UINT64_MAX};
    uint64_t dims = (uint64_t)rows;
    struct tenon_plan_tensor tensor = {.name = {name, strlen(name)},
                                       .dtype = dtype,
                                       .n_dims = rows < 0 ? 0 : 1,
                                       .dims = &dims,
                                       .file = w->file,
                                       .sources = &source,
                                       .n_sources = 1};

    ck_ok(tenon_plan_add_tensor(w->plan, &tensor, &w->err), w->err);
}

static void check_bytes(struct written *w, const char *wanted, size_t n)
{
    ck_ok(tenon_plan_layout(w->plan, &w->err), w->err);
    assemble(w->plan, w->file, &w->bytes);
    ck_assert_uint_eq(w->bytes.n, n);
    ck_assert_mem_eq(w->bytes.data, wanted, n);
}

static void add_every_kind(struct written *w)
{
    add(w, "b", TENON_DTYPE_F32, 1, "\1\2\3\4");
    add(w, "u", TENON_DTYPE_U8, 3, "abc");
    add(w, "i", TENON_DTYPE_I64, 1, "12345678");
    add(w, "B", TENON_DTYPE_F32, 1, "5678");
    add(w, "a", TENON_DTYPE_F32, 1, "aaaa");
    add(w, "f64", TENON_DTYPE_F64, -1, "ABCDEFGH");
    add(w, "i8", TENON_DTYPE_I8, 1, "x");
    add(w, "h", TENON_DTYPE_F16, 1, "hh");
    add(w, "bf", TENON_DTYPE_BF16, 1, "bf");
    add(w, ODD_NAME, TENON_DTYPE_BOOL, 1, "\1");
}

START_TEST(order_escapes_and_padding_are_those_of_the_reference)
{
    static const char wanted[] =
        "@\2\0\0\0\0\0\0{\"i\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"f64\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[8,16]},"
        "\"B\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[16,20]},"
        "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[20,24]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[24,28]},"
        "\"bf\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[28,30]},"
        "\"h\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[30,32]},"
        "\"i8\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[32,33]},"
        "\"u\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[33,36]},"
        "\"z/\u00e9\\\"\\\\\\n\\u0001\177\U0001F600\":{\"dtype\":\"BOOL\",\"shape\":[1],"
        "\"data_offsets\":[36,37]}}     12345678ABCDEFGH5678aaaa\1\2\3\4bfhhxabc\1";
    struct written w;

    begin(&w, NULL);
    add_every_kind(&w);
    check_bytes(&w, wanted, sizeof(wanted) - 1);
    finish(&w);
}
END_TEST

START_TEST(nothing_gives_an_empty_header)
{
    struct written w;

    begin(&w, NULL);
    check_bytes(&w, "\10\0\0\0\0\0\0\0{}      ", 16);
    finish(&w);
}
END_TEST

static struct tenon_meta_entry pair(const char *key, const char *value)
{
    return (struct tenon_meta_entry){
        .key = {key, strlen(key)},
        .type = TENON_META_STRING,
        .item = TENON_META_STRING,
        .count = 1,
        .value = {.type = TENON_META_STRING, .as.str = {value, strlen(value)}}};
}

START_TEST(metadata_comes_first)
{
    static const char wanted[] =
        "X\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"},"
        "\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}    ";
    struct tenon_meta_entry meta = pair("format", "pt");
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL,
                                   .path = "out",
                                   .format = "safetensors",
                                   .metas = &meta,
                                   .n_metas = 1};
    struct written w;

    begin(&w, &file);
    add(&w, "z", TENON_DTYPE_U8, 0, "");
    check_bytes(&w, wanted, sizeof(wanted) - 1);
    finish(&w);
}
END_TEST

/* The reference has several keys in random order; ours is by their bytes. */
START_TEST(metadata_is_sorted_by_key)
{
    struct tenon_meta_entry metas[] = {pair("b", "1"), pair("a\"", "2"), pair("B", "3"),
                                       pair("a", "4")};
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL,
                                   .path = "out",
                                   .format = "safetensors",
                                   .metas = metas,
                                   .n_metas = 4};
    static const char wanted[] = "8\0\0\0\0\0\0\0{\"__metadata__\":{\"B\":\"3\",\"a\":\"4\","
                                 "\"a\\\"\":\"2\",\"b\":\"1\"}}    ";
    struct written w;

    begin(&w, &file);
    check_bytes(&w, wanted, sizeof(wanted) - 1);
    finish(&w);
}
END_TEST

START_TEST(an_alignment_grows_the_padding)
{
    struct tenon_plan_file file = {
        .kind = TENON_PLAN_MODEL, .path = "out", .format = "safetensors", .alignment = 4096};
    struct written w;

    begin(&w, &file);
    add(&w, "a", TENON_DTYPE_U8, 1, "x");
    ck_ok(tenon_plan_layout(w.plan, &w.err), w.err);
    ck_assert_uint_eq(tenon_plan_tensor(w.plan, 0).offset, 4096);
    ck_assert_uint_eq(tenon_plan_file(w.plan, 0)->bytes, 4097);
    finish(&w);
}
END_TEST

/* Two files whose tensors were added by turns: each gets its own. */
START_TEST(tensors_of_two_files_may_come_by_turns)
{
    struct tenon_plan_file second = {
        .kind = TENON_PLAN_MODEL, .path = "second", .format = "safetensors"};
    struct written w;

    begin(&w, NULL);
    ck_ok(tenon_plan_add_file(w.plan, &second, NULL, &w.err), w.err);
    for (uint32_t i = 0; i < 6; i++) {
        const char names[] = "abcdef";
        struct tenon_plan_source source = {.bytes = names + i, .n_rows = UINT64_MAX};
        uint64_t dims = 1;
        struct tenon_plan_tensor tensor = {.name = {names + i, 1},
                                           .dtype = TENON_DTYPE_U8,
                                           .n_dims = 1,
                                           .dims = &dims,
                                           .file = i % 2 == 0 ? 1 : 0,
                                           .sources = &source,
                                           .n_sources = 1};

        ck_ok(tenon_plan_add_tensor(w.plan, &tensor, &w.err), w.err);
    }
    ck_ok(tenon_plan_layout(w.plan, &w.err), w.err);
    for (uint32_t i = 0; i < 6; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(w.plan, i);

        ck_assert_uint_eq(t.file, i < 3 ? 0 : 1);
        ck_assert_int_eq(t.name.data[0], "bdface"[i]);
        ck_assert_uint_eq(t.offset, tenon_plan_file(w.plan, t.file)->head_bytes + i % 3);
    }
    finish(&w);
}
END_TEST

static void check_refused(struct written *w, enum tenon_status status, const char *subject,
                          const char *message)
{
    ck_fails(tenon_plan_layout(w->plan, &w->err), status, w->err);
    ck_assert_str_eq(w->err.subject, subject);
    ck_assert_msg(strstr(w->err.message, message) != NULL, "%s", w->err.message);
    ck_assert_ptr_null(tenon_plan_file(w->plan, w->file)->head);
    finish(w);
}

START_TEST(what_safetensors_cannot_hold_is_refused)
{
    struct written w;

    begin(&w, NULL);
    add(&w, "__metadata__", TENON_DTYPE_U8, 1, "x");
    check_refused(&w, TENON_ERR_CANNOT_REPRESENT, "__metadata__", "reserved");

    begin(&w, NULL);
    add(&w, "a\xff", TENON_DTYPE_U8, 1, "x");
    check_refused(&w, TENON_ERR_CANNOT_REPRESENT, "a\\xff", "UTF-8");

    begin(&w, NULL);
    add(&w, "twice", TENON_DTYPE_U8, 1, "x");
    add(&w, "twice", TENON_DTYPE_F32, 1, "xxxx");
    check_refused(&w, TENON_ERR_NAME_CLASH, "twice", "two tensors");
}
END_TEST

START_TEST(a_block_type_is_refused_with_what_to_do)
{
    struct written w;

    begin(&w, NULL);
    add(&w, "q", TENON_DTYPE_Q4_0, 32, "");
    ck_fails(tenon_plan_layout(w.plan, &w.err), TENON_ERR_CANNOT_REPRESENT, w.err);
    ck_assert_str_eq(w.err.subject, "q");
    ck_assert_ptr_nonnull(strstr(w.err.message, "Q4_0"));
    ck_assert_ptr_nonnull(strstr(w.err.hint, "--dtype"));
    ck_assert_str_eq(w.err.path, "out.safetensors");
    finish(&w);
}
END_TEST

START_TEST(metadata_that_is_no_text_is_refused)
{
    struct tenon_meta_entry meta = {.key = {"n", 1}, .type = TENON_META_U32};
    struct tenon_meta_entry twice[] = {pair("k", "1"), pair("k", "2")};
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL,
                                   .path = "out",
                                   .format = "safetensors",
                                   .metas = &meta,
                                   .n_metas = 1};
    struct written w;

    begin(&w, &file);
    check_refused(&w, TENON_ERR_CANNOT_REPRESENT, "n", "u32");
    file.metas = twice;
    file.n_metas = 2;
    begin(&w, &file);
    check_refused(&w, TENON_ERR_CANNOT_REPRESENT, "k", "twice");
}
END_TEST

/* 100,000,000 bytes are read by the reference, one more is not. */
START_TEST(a_header_has_a_longest_length)
{
    enum { MOST = 100000000, AROUND = sizeof("{\"__metadata__\":{\"k\":\"\"}}") - 1 };
    char *value = tenon_mem_alloc(MOST, 1);
    struct tenon_meta_entry meta = pair("k", "");
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL,
                                   .path = "out",
                                   .format = "safetensors",
                                   .metas = &meta,
                                   .n_metas = 1};
    struct written w;

    ck_assert_ptr_nonnull(value);
    memset(value, 'v', MOST);
    meta.value.as.str = (struct tenon_str){value, MOST - AROUND};
    begin(&w, &file);
    ck_ok(tenon_plan_layout(w.plan, &w.err), w.err);
    ck_assert_uint_eq(tenon_plan_file(w.plan, 0)->head_bytes, MOST + 8);
    finish(&w);
    meta.value.as.str.len++;
    begin(&w, &file);
    check_refused(&w, TENON_ERR_CANNOT_REPRESENT, "", "100000001 bytes");
    tenon_mem_free(value);
}
END_TEST

START_TEST(two_files_of_one_path_are_refused)
{
    struct written w;

    begin(&w, NULL);
    ck_ok(tenon_plan_add_text(w.plan, "out.safetensors", "{}", 2, false, &w.err), w.err);
    ck_fails(tenon_plan_layout(w.plan, &w.err), TENON_ERR_NAME_CLASH, w.err);
    ck_assert_str_eq(w.err.path, "out.safetensors");
    finish(&w);
}
END_TEST

START_TEST(a_format_that_is_not_written_is_refused)
{
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL, .path = "out", .format = "torch_zip"};
    struct written w;

    begin(&w, &file);
    check_refused(&w, TENON_ERR_CANNOT_REPRESENT, "", "torch_zip");
}
END_TEST

/* Each allocation of the layout fails in turn; the next try succeeds all the same. */
START_TEST(layout_survives_every_failed_allocation)
{
    for (uint64_t n = 1; n < 100; n++) {
        struct written w;
        enum tenon_status st;

        begin(&w, NULL);
        add_every_kind(&w);
        tenon_mem_fail_at(n, true);
        st = tenon_plan_layout(w.plan, &w.err);
        tenon_mem_fail_at(0, false);
        if (st == TENON_OK) {
            ck_assert_uint_gt(n, 3);
            finish(&w);
            return;
        }
        ck_assert_int_eq(st, TENON_ERR_NO_MEMORY);
        memset(&w.err, 0, sizeof(w.err));
        ck_ok(tenon_plan_layout(w.plan, &w.err), w.err);
        ck_assert_uint_eq(tenon_plan_file(w.plan, 0)->bytes, 621);
        finish(&w);
    }
    ck_abort_msg("it never succeeds");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("safetensors_write");
    TCase *bytes = tcase_create("bytes"), *refused = tcase_create("refused");

    tcase_add_test(bytes, order_escapes_and_padding_are_those_of_the_reference);
    tcase_add_test(bytes, nothing_gives_an_empty_header);
    tcase_add_test(bytes, metadata_comes_first);
    tcase_add_test(bytes, metadata_is_sorted_by_key);
    tcase_add_test(bytes, an_alignment_grows_the_padding);
    tcase_add_test(bytes, tensors_of_two_files_may_come_by_turns);
    tcase_add_test(bytes, layout_survives_every_failed_allocation);
    suite_add_tcase(suite, bytes);
    tcase_add_test(refused, what_safetensors_cannot_hold_is_refused);
    tcase_add_test(refused, a_block_type_is_refused_with_what_to_do);
    tcase_add_test(refused, metadata_that_is_no_text_is_refused);
    tcase_add_test(refused, a_header_has_a_longest_length);
    tcase_add_test(refused, two_files_of_one_path_are_refused);
    tcase_add_test(refused, a_format_that_is_not_written_is_refused);
    suite_add_tcase(suite, refused);
    return run_suite(suite);
}
