/* The safetensors reader. What the reference reader accepts was measured with safetensors 0.8.0. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "mem.h"
#include "tenon/tenon.h"
#include "text.h"

#define F32x1(name, begin, end)                                                                    \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" #begin "," #end "]}"

/* A file in memory: length field, header text, `n_data` bytes of data. */
static unsigned char *make_file(const char *header, size_t header_len, size_t n_data, size_t *out_n)
{
    size_t n = 8 + header_len + n_data;
    unsigned char *bytes = calloc(n, 1);

    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(header_len >> (8 * i));
    memcpy(bytes + 8, header, header_len);
    for (size_t i = 0; i < n_data; i++)
        bytes[8 + header_len + i] = (unsigned char)i;
    *out_n = n;
    return bytes;
}

/* Opens such a file as safetensors; `*bytes` is to be freed after the model. */
static enum tenon_status open_file(const char *header, size_t header_len, size_t n_data,
                                   bool lenient, unsigned char **bytes, struct tenon_model **model,
                                   struct tenon_error *err)
{
    struct tenon_open_options options;
    size_t n;

    tenon_open_options_init(&options);
    options.format = "safetensors";
    options.lenient = lenient;
    memset(err, 0, sizeof(*err));
    *model = NULL;
    *bytes = make_file(header, header_len, n_data, &n);
    return tenon_model_open_memory(*bytes, n, &options, model, err);
}

struct header_case {
    const char *header;
    size_t n_data;
    enum tenon_status status, lenient_status;
    uint64_t offset; /* of the strict error, within the file */
    const char *subject;
};

#define OK      TENON_OK
#define CORRUPT TENON_ERR_CORRUPT
#define CLASH   TENON_ERR_NAME_CLASH
#define LIMIT   TENON_ERR_LIMIT
#define TRUNC   TENON_ERR_TRUNCATED

static const struct header_case cases[] = {
    {"{}", 0, OK, OK, 0, ""},
    {"{}      ", 0, OK, OK, 0, ""},
    {"  {} \t\r\n", 0, OK, OK, 0, ""},
    {"{" F32x1("a", 0, 4) "}", 4, OK, OK, 0, ""},
    {"{" F32x1("b", 4, 8) "," F32x1("a", 0, 4) "}", 8, OK, OK, 0, ""},
    {"{" F32x1("", 0, 4) "}", 4, OK, OK, 0, ""},
    {"{\"a\":{\"data_offsets\":[0,4],\"shape\":[],\"dtype\":\"F32\"}}", 4, OK, OK, 0, ""},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2,0],\"data_offsets\":[0,0]}}", 0, OK, OK, 0, ""},
    {"{\"a\":{\"dtype\":\"F5\",\"shape\":[3],\"data_offsets\":[0,7]}}", 7, OK, OK, 0, ""},
    {"{\"__metadata__\":{\"format\":\"pt\",\"x\":\"\"}}", 0, OK, OK, 0, ""},
    {"{\"__metadata__\":null}", 0, OK, OK, 0, ""},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[2,1],\"data_offsets\":[0,1]}}", 1, OK, OK, 0, ""},
    {"{\"a\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]}}", 3, OK, OK, 0, ""},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":[{}]}}", 1, OK, OK, 0,
     ""},
    /* faults for both */
    {"", 0, CORRUPT, CORRUPT, 8, ""},
    {"[]", 0, CORRUPT, CORRUPT, 8, ""},
    {"{}{}", 0, CORRUPT, CORRUPT, 10, ""},
    {"{}", 1, CORRUPT, CORRUPT, 10, ""},
    {"{" F32x1("a", 0, 4) "}", 5, CORRUPT, CORRUPT, 66, ""},
    {"{" F32x1("a", 0, 4) "}", 2, TRUNC, TRUNC, 9, "a"},
    {"{" F32x1("a", 4, 8) "}", 8, CORRUPT, CORRUPT, 9, "a"},
    {"{" F32x1("a", 4, 0) "}", 4, CORRUPT, CORRUPT, 55, "a"},
    {"{" F32x1("a", 0, 8) "}", 8, CORRUPT, CORRUPT, 55, "a"},
    {"{" F32x1("a", 0, 4) "," F32x1("b", 3, 7) "}", 7, CORRUPT, CORRUPT, 62, "b"},
    {"{" F32x1("a", 0, 4) "," F32x1("b", 5, 9) "}", 9, CORRUPT, CORRUPT, 62, "b"},
    {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, CORRUPT, CORRUPT, 9, "a"},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, CORRUPT, CORRUPT, 9, "a"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, CORRUPT, CORRUPT, 9, "a"},
    {"{\"a\":{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, CORRUPT, CORRUPT, 22, "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, CLASH,
     CLASH, 27, "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1, CORRUPT, CORRUPT, 36,
     "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1, CORRUPT, CORRUPT, 36,
     "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[[1]],\"data_offsets\":[0,1]}}", 1, CORRUPT, CORRUPT, 36,
     "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[18446744073709551616],\"data_offsets\":[0,1]}}", 1,
     CORRUPT, CORRUPT, 36, "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     CORRUPT, CORRUPT, 9, "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775808,4,0],\"data_offsets\":[0,0]}}", 0,
     CORRUPT, CORRUPT, 9, "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1, LIMIT,
     LIMIT, 52, "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1]}}", 1, CORRUPT, CORRUPT, 56, "a"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,1]}}", 1, CORRUPT, CORRUPT, 59,
     "a"},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2, CORRUPT, CORRUPT, 9,
     "a"},
    {"{\"a\":{\"dtype\":\"F6_E3M2\",\"shape\":[3],\"data_offsets\":[0,3]}}", 3, CORRUPT, CORRUPT, 9,
     "a"},
    {"{\"__metadata__\":{\"a\":1}}", 0, CORRUPT, CORRUPT, 29, "a"},
    {"{\"__metadata__\":[]}", 0, CORRUPT, CORRUPT, 24, "__metadata__"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, CLASH, CLASH, 27, ""},
    {"{\"a\":null}", 0, CORRUPT, CORRUPT, 13, "a"},
    /* accepted by the reference, so only in lenient mode */
    {"{" F32x1("a", 0, 4) "," F32x1("a", 0, 4) "}", 4, CLASH, OK, 62, "a"},
    {"{" F32x1("a", 9, 99) ",\"\\u0061\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
     4, CORRUPT, OK, 55, "a"},
    {"{\"a\":[\"F32\",[1],[0,4]]}", 4, CORRUPT, OK, 13, "a"},
    {"{" F32x1("a\\u0000b", 0, 4) "}", 4, CORRUPT, OK, 9, "a\\u{0}b"},
    {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, CLASH, OK, 33, "a"},
};

START_TEST(every_header_has_its_status_offset_and_subject)
{
    const struct header_case *c = &cases[_i];
    struct tenon_model *model;
    struct tenon_error err;
    unsigned char *bytes;
    enum tenon_status st;

    st = open_file(c->header, strlen(c->header), c->n_data, false, &bytes, &model, &err);
    ck_assert_msg(st == c->status, "%s: %s %s", c->header, tenon_status_id(st), err.message);
    if (st != TENON_OK) {
        ck_assert_msg(err.offset == c->offset, "%s: offset %llu: %s", c->header,
                      (unsigned long long)err.offset, err.message);
        ck_assert_str_eq(err.subject, c->subject);
    }
    tenon_model_free(model);
    free(bytes);
    st = open_file(c->header, strlen(c->header), c->n_data, true, &bytes, &model, &err);
    ck_assert_msg(st == c->lenient_status, "lenient %s: %s %s", c->header, tenon_status_id(st),
                  err.message);
    tenon_model_free(model);
    free(bytes);
}
END_TEST

START_TEST(the_last_of_equal_names_counts_in_lenient_mode)
{
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                                 "\"__metadata__\":{\"k\":\"1\",\"\\u006b\":\"2\"},"
                                 "\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}";
    struct tenon_model *model;
    struct tenon_error err;
    unsigned char *bytes;

    ck_assert_int_eq(open_file(header, sizeof(header) - 1, 4, true, &bytes, &model, &err),
                     TENON_OK);
    ck_assert_uint_eq(tenon_model_n_tensors(model), 1);
    ck_assert_int_eq(tenon_model_tensor(model, 0)->dtype, TENON_DTYPE_U8);
    ck_assert_uint_eq(tenon_model_n_meta(model), 1);
    ck_assert(tenon_str_equal(tenon_model_find_meta(model, "k")->value.as.str, "2"));
    ck_assert_uint_eq(tenon_model_n_findings(model), 1);
    ck_assert_str_eq(tenon_model_finding(model, 0)->code, "duplicate_key");
    tenon_model_free(model);
    free(bytes);
}
END_TEST

START_TEST(descriptors_say_what_the_header_says)
{
    static const char header[] =
        "{\"__metadata__\":{\"k\\u00e9y\":\"line\\n\"},"
        "\"x\\ty\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]}}";
    const struct tenon_meta_entry *meta;
    const struct tenon_tensor *t;
    struct tenon_model *model;
    struct tenon_error err;
    unsigned char *bytes;

    ck_assert_int_eq(open_file(header, sizeof(header) - 1, 12, false, &bytes, &model, &err),
                     TENON_OK);
    t = tenon_model_find(model, "x\ty", 3);
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(t->dtype, TENON_DTYPE_BF16);
    ck_assert_uint_eq(t->n_dims, 2);
    ck_assert_uint_eq(t->dims[0], 2);
    ck_assert_uint_eq(t->dims[1], 3);
    ck_assert_uint_eq(t->offset, 8 + sizeof(header) - 1);
    ck_assert_uint_eq(t->bytes, 12);
    ck_assert_uint_eq(t->record_offset, 8 + (uint64_t)(strstr(header, "\"x") - header));
    meta = tenon_model_meta(model, 0);
    ck_assert(tenon_str_equal(meta->key, "k\xc3\xa9y"));
    ck_assert(tenon_str_equal(meta->value.as.str, "line\n"));
    ck_assert_int_eq(meta->type, TENON_META_STRING);
    ck_assert_uint_eq(tenon_model_file(model, 0)->header_bytes, 8 + sizeof(header) - 1);
    tenon_model_free(model);
    free(bytes);
}
END_TEST

/* The finding with that code, NULL when there is none. */
static const struct tenon_finding *find_finding(const struct tenon_model *model, const char *code)
{
    for (size_t i = 0; i < tenon_model_n_findings(model); i++)
        if (strcmp(tenon_model_finding(model, i)->code, code) == 0)
            return tenon_model_finding(model, i);
    return NULL;
}

START_TEST(oddities_become_findings)
{
    static const char header[] =
        " {\"odd\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5],\"note\":1},"
        "\"b\":{\"dtype\":\"F5\",\"shape\":[9],\"data_offsets\":[5,8]}}";
    const struct tenon_tensor *t;
    struct tenon_model *model;
    struct tenon_error err;
    unsigned char *bytes;

    ck_assert_int_eq(open_file(header, sizeof(header) - 1, 8, false, &bytes, &model, &err),
                     TENON_OK);
    ck_assert_ptr_nonnull(find_finding(model, "header_not_at_brace"));
    ck_assert_str_eq(find_finding(model, "misaligned")->subject, "a");
    ck_assert_str_eq(find_finding(model, "unknown_field")->subject, "a");
    ck_assert_str_eq(find_finding(model, "unknown_dtype")->subject, "b");
    ck_assert_int_eq(find_finding(model, "unknown_dtype")->severity, TENON_SEVERITY_ERROR);
    t = tenon_model_find(model, "b", 1);
    ck_assert_int_eq(t->dtype, TENON_DTYPE_UNKNOWN);
    ck_assert(tenon_str_equal(tenon_tensor_dtype_text(model, t), "F5"));
    ck_assert((t->flags & TENON_TENSOR_SIZE_DERIVED) != 0);
    tenon_model_free(model);
    free(bytes);
}
END_TEST

START_TEST(a_misaligned_payload_is_read_right)
{
    static const char header[] = "{\"odd\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                                 "\"a\":{\"dtype\":\"U16\",\"shape\":[1],\"data_offsets\":[1,3]}}";
    struct tenon_model *model;
    struct tenon_error err;
    unsigned char *bytes;
    float value = 0;

    ck_assert_int_eq(open_file(header, sizeof(header) - 1, 3, false, &bytes, &model, &err),
                     TENON_OK);
    ck_assert_int_eq(
        tenon_tensor_decode(model, tenon_model_find(model, "a", 1), 0, 1, &value, &err), TENON_OK);
    ck_assert_float_eq(value, 0x0201);
    tenon_model_free(model);
    free(bytes);
}
END_TEST

struct length_case {
    uint64_t length;
    size_t n_bytes; /* of the file, the length field included */
    enum tenon_status status;
    uint64_t offset;
};

static const struct length_case lengths[] = {
    {0, 0, TRUNC, 0},
    {0, 1, TRUNC, 1},
    {0, 7, TRUNC, 7},
    {0, 8, CORRUPT, 8},
    {1, 8, TRUNC, 8},
    {99999999, 64, TRUNC, 64},
    {100000000, 64, TRUNC, 64},
    {100000001, 64, LIMIT, 0},
    {UINT64_C(1) << 32, 64, LIMIT, 0},
    {UINT64_C(1) << 63, 64, LIMIT, 0},
    {UINT64_MAX, 64, LIMIT, 0},
    {UINT64_MAX - 7, 64, LIMIT, 0},
    {UINT64_MAX - 4, 64, LIMIT, 0},
};

START_TEST(impossible_header_lengths_are_refused_before_memory_is_taken)
{
    const struct length_case *c = &lengths[_i];
    struct tenon_open_options options;
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    unsigned char bytes[64] = {0};

    tenon_open_options_init(&options);
    options.format = "safetensors";
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(c->length >> (8 * i));
    ck_assert_int_eq(tenon_model_open_memory(bytes, c->n_bytes, &options, &model, &err), c->status);
    ck_assert_uint_eq(err.offset, c->offset);
}
END_TEST

START_TEST(truncation_says_how_much_is_missing)
{
    static const char header[] =
        "{\"w\":{\"dtype\":\"BF16\",\"shape\":[64,64],\"data_offsets\":[0,8192]}}";
    struct tenon_model *model;
    struct tenon_error err;
    unsigned char *bytes;

    ck_assert_int_eq(open_file(header, sizeof(header) - 1, 8190, false, &bytes, &model, &err),
                     TENON_ERR_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(err.message, "2 of its 8192 bytes are missing"));
    free(bytes);
    ck_assert_int_eq(open_file(header, sizeof(header) - 1, 8193, false, &bytes, &model, &err),
                     TENON_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "1 bytes follow"));
    free(bytes);
}
END_TEST

START_TEST(a_shared_range_is_read_and_reported_as_an_alias)
{
    static const char header[] = "{" F32x1("a", 0, 4) "," F32x1("b", 0, 4) "}";
    struct tenon_model *model;
    struct tenon_error err;
    unsigned char *bytes;

    ck_assert_int_eq(open_file(header, sizeof(header) - 1, 4, false, &bytes, &model, &err),
                     TENON_OK);
    ck_assert_ptr_eq(tenon_tensor_shares(model, tenon_model_tensor(model, 1)),
                     tenon_model_tensor(model, 0));
    ck_assert_str_eq(tenon_model_finding(model, 1)->code, "alias_refused");
    ck_assert_int_eq(tenon_model_finding(model, 1)->severity, TENON_SEVERITY_ERROR);
    tenon_model_free(model);
    free(bytes);
}
END_TEST

START_TEST(no_prefix_and_no_changed_byte_does_harm)
{
    static const char header[] =
        "{\"__metadata__\":{\"k\":\"v\"},\"x\":{\"dtype\":\"F32\",\"shape\":[2],"
        "\"data_offsets\":[0,8]},\"y\\n\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[8,9]}}";
    struct tenon_open_options options;
    size_t n;
    unsigned char *bytes = make_file(header, sizeof(header) - 1, 9, &n);

    tenon_open_options_init(&options);
    options.format = "safetensors";
    for (size_t i = 0; i < n; i++) {
        struct tenon_model *model = NULL;
        struct tenon_error err = {0};
        unsigned char *part = malloc(i != 0 ? i : 1);

        ck_assert_ptr_nonnull(part);
        memcpy(part, bytes, i);
        ck_assert_int_ne(tenon_model_open_memory(part, i, &options, &model, &err), TENON_OK);
        ck_assert(err.offset <= i);
        free(part);
        for (unsigned bit = 0; bit < 8; bit++) {
            memset(&err, 0, sizeof(err));
            bytes[i] ^= (unsigned char)(1u << bit);
            if (tenon_model_open_memory(bytes, n, &options, &model, &err) == TENON_OK)
                tenon_model_free(model);
            else
                ck_assert(err.offset <= n);
            model = NULL;
            bytes[i] ^= (unsigned char)(1u << bit);
        }
    }
    free(bytes);
}
END_TEST

START_TEST(every_failing_allocation_is_survived)
{
    static const char header[] =
        " {\"__metadata__\":{\"a\":\"b\"},\"a\":[\"F32\",[1],[4,8]],\"a\":[\"F32\",[1],[4,8]],"
        "\"b\":{\"dtype\":\"F5\",\"shape\":[1,2],\"data_offsets\":[0,4],\"x\":1}}";
    enum tenon_status st = TENON_ERR_NO_MEMORY;
    uint64_t n = 0;

    while (st != TENON_OK) {
        struct tenon_model *model;
        struct tenon_error err;
        unsigned char *bytes;

        ck_assert_uint_lt(n, 1000);
        tenon_mem_fail_at(++n, false);
        st = open_file(header, sizeof(header) - 1, 8, true, &bytes, &model, &err);
        tenon_mem_fail_at(0, false);
        if (st != TENON_OK)
            ck_assert_int_eq(st, TENON_ERR_NO_MEMORY);
        tenon_model_free(model);
        free(bytes);
    }
    ck_assert_uint_gt(n, 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("safetensors");
    TCase *tc = tcase_create("safetensors");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tc, every_header_has_its_status_offset_and_subject, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(tc, the_last_of_equal_names_counts_in_lenient_mode);
    tcase_add_test(tc, descriptors_say_what_the_header_says);
    tcase_add_test(tc, oddities_become_findings);
    tcase_add_test(tc, a_misaligned_payload_is_read_right);
    tcase_add_loop_test(tc, impossible_header_lengths_are_refused_before_memory_is_taken, 0,
                        sizeof(lengths) / sizeof(lengths[0]));
    tcase_add_test(tc, truncation_says_how_much_is_missing);
    tcase_add_test(tc, a_shared_range_is_read_and_reported_as_an_alias);
    tcase_add_test(tc, no_prefix_and_no_changed_byte_does_harm);
    tcase_add_test(tc, every_failing_allocation_is_survived);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
