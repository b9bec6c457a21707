/* The GGUF reader: what it says about sound files. Damaged ones are rows of corrupt_gguf.def, and
 * the sweep cuts and flips every byte of the samples. Numbers come from the recipes, whose bytes
 * the generator writes without the library. */
#include "cooked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct cooked c;

static void tear_down(void)
{
    cooked_release(&c);
    tenon_mem_fail_at(0, false);
}

START_TEST(scalars_of_every_type_are_exact)
{
    cooked_open(&c,
                "gguf:3,0,12 kv:'u8',0 u8:255 kv:'i8',1 u8:0x80 kv:'u16',2 u16:65535 "
                "kv:'i16',3 u16:0x8000 kv:'u32',4 u32:0xFFFFFFFF kv:'i32',5 u32:0x80000000 "
                "kv:'f32',6 u32:0x3dcccccd kv:'bool',7 u8:1 kv:'str',8 str:'a%00b' "
                "kv:'u64',10 u64:M-1 kv:'i64',11 u64:2^63 kv:'f64',12 u64:0x3ff0000000000001",
                NULL);
    ck_assert_uint_eq(cooked_meta(&c, "u8")->value.as.u64, 255);
    ck_assert_int_eq(cooked_meta(&c, "i8")->value.as.i64, -128);
    ck_assert_uint_eq(cooked_meta(&c, "u16")->value.as.u64, 65535);
    ck_assert_int_eq(cooked_meta(&c, "i16")->value.as.i64, -32768);
    ck_assert_uint_eq(cooked_meta(&c, "u32")->value.as.u64, 4294967295U);
    ck_assert_int_eq(cooked_meta(&c, "i32")->value.as.i64, INT32_MIN);
    ck_assert(cooked_meta(&c, "f32")->value.as.f64 == (double)0.1F);
    ck_assert(cooked_meta(&c, "bool")->value.as.boolean);
    ck_assert_uint_eq(cooked_meta(&c, "str")->value.as.str.len, 3);
    ck_assert_mem_eq(cooked_meta(&c, "str")->value.as.str.data, "a\0b", 3);
    ck_assert_uint_eq(cooked_meta(&c, "u64")->value.as.u64, UINT64_MAX);
    ck_assert_int_eq(cooked_meta(&c, "i64")->value.as.i64, INT64_MIN);
    ck_assert(cooked_meta(&c, "f64")->value.as.f64 == 1.0 + 0x1p-52);
    ck_assert_uint_eq(tenon_model_n_meta(c.model), 12);
    ck_assert_uint_eq(cooked_meta(&c, "u8")->offset, 24);
    ck_assert_uint_eq(cooked_meta(&c, "i8")->offset, 39);
}
END_TEST

START_TEST(array_elements_stay_where_they_are)
{
    struct tenon_meta_value value;
    struct tenon_meta_iter it;

    cooked_open(&c,
                "gguf:3,0,2 kv:'s',9 u32:8 u64:3 str:'a' str:'' str:'ccc' "
                "kv:'n',9 u32:3 u64:2 u16:0xFFFF u16:7",
                NULL);
    ck_assert_uint_eq(cooked_meta(&c, "s")->count, 3);
    ck_assert_uint_eq(cooked_meta(&c, "s")->raw_bytes, 28);
    tenon_meta_iter_init(&it, cooked_meta(&c, "s"));
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert_uint_eq(value.as.str.len, 0);
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert_mem_eq(value.as.str.data, "ccc", 3);
    ck_assert(!tenon_meta_iter_next(&it, &value, NULL));
    tenon_meta_iter_init(&it, cooked_meta(&c, "n"));
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert_int_eq(value.as.i64, -1);
    ck_assert(tenon_meta_iter_next(&it, &value, NULL));
    ck_assert_int_eq(value.as.i64, 7);
}
END_TEST

START_TEST(shapes_are_turned_to_outermost_first)
{
    const struct tenon_tensor *t;

    cooked_open(&c,
                "gguf:3,1,1 kv:'general.alignment',4 u32:64 tensor:'t',[2,3,4],1,0 align:64 "
                "zeros:64",
                NULL);
    ck_ok(c.status, c.err);
    t = tenon_model_find(c.model, "t", 1);
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_eq(t->n_dims, 3);
    ck_assert_uint_eq(t->dims[0], 4);
    ck_assert_uint_eq(t->dims[1], 3);
    ck_assert_uint_eq(t->dims[2], 2);
    ck_assert_int_eq(t->dtype, TENON_DTYPE_F16);
    ck_assert_uint_eq(t->bytes, 48);
    ck_assert_uint_eq(t->offset, 128); /* the records end at 106 */
    ck_assert_uint_eq(t->record_offset, 57);
    ck_assert_uint_eq(tenon_model_file(c.model, 0)->header_bytes, 128);
    ck_assert_uint_eq(tenon_model_file(c.model, 0)->alignment, 64);
}
END_TEST

/* Compares everything but byte order and offsets. */
static void check_same_models(const struct tenon_model *a, const struct tenon_model *b)
{
    ck_assert_uint_eq(tenon_model_n_tensors(a), tenon_model_n_tensors(b));
    ck_assert_uint_eq(tenon_model_n_meta(a), tenon_model_n_meta(b));
    for (size_t i = 0; i < tenon_model_n_tensors(a); i++) {
        const struct tenon_tensor *x = tenon_model_tensor(a, i), *y = tenon_model_tensor(b, i);

        ck_assert_uint_eq(x->name.len, y->name.len);
        ck_assert_mem_eq(x->name.data, y->name.data, x->name.len);
        ck_assert_uint_eq(x->n_dims, y->n_dims);
        ck_assert_mem_eq(x->dims, y->dims, x->n_dims * sizeof(*x->dims));
        ck_assert_uint_eq(x->dtype, y->dtype);
        ck_assert_uint_eq(x->bytes, y->bytes);
    }
}

/* Compares two arrays, or two scalars, value by value. */
static void check_same_values(const struct tenon_meta_entry *a, const struct tenon_meta_entry *b)
{
    struct tenon_meta_value x = a->value, y = b->value;
    struct tenon_meta_entry inner_a, inner_b;
    struct tenon_meta_iter ia, ib;
    uint64_t n = 0;

    ck_assert_int_eq(a->type, b->type);
    ck_assert_int_eq(a->item, b->item);
    ck_assert_uint_eq(a->count, b->count);
    if (a->type != TENON_META_ARRAY) {
        ck_assert_int_eq(x.type, y.type);
        if (x.type == TENON_META_STRING)
            ck_assert_mem_eq(x.as.str.data, y.as.str.data, x.as.str.len);
        else if (x.type == TENON_META_BOOL)
            ck_assert_int_eq(x.as.boolean, y.as.boolean);
        else
            ck_assert_uint_eq(x.as.u64, y.as.u64);
        return;
    }
    tenon_meta_iter_init(&ia, a);
    tenon_meta_iter_init(&ib, b);
    while (tenon_meta_iter_next(&ia, &x, &inner_a)) {
        ck_assert(tenon_meta_iter_next(&ib, &y, &inner_b));
        n++;
        if (x.type == TENON_META_ARRAY)
            ck_assert_uint_eq(inner_a.count, inner_b.count);
        else if (x.type == TENON_META_STRING)
            ck_assert_mem_eq(x.as.str.data, y.as.str.data, x.as.str.len);
        else if (x.type != TENON_META_BOOL)
            ck_assert_uint_eq(x.as.u64, y.as.u64);
    }
    ck_assert_uint_eq(n, a->count);
}

static const char *const twins[][2] = {
    {"sample:tied_gguf", "sample:tied_be_gguf"},
    {"sample:tied_q8_0_gguf", "sample:tied_q8_0_be_gguf"},
    {"sample:meta_gguf", "sample:meta_be_gguf"},
    {"sample:tied_gguf", "sample:tied_v1_gguf"},
    {"sample:tied_gguf", "sample:tied_v2_gguf"},
};

START_TEST(byte_order_and_version_change_nothing_else)
{
    struct cooked twin;

    cooked_open(&c, twins[_i][0], NULL);
    cooked_open(&twin, twins[_i][1], NULL);
    ck_ok(c.status, c.err);
    ck_ok(twin.status, twin.err);
    check_same_models(c.model, twin.model);
    for (size_t i = 0; i < tenon_model_n_meta(c.model); i++)
        check_same_values(tenon_model_meta(c.model, i), tenon_model_meta(twin.model, i));
    cooked_release(&twin);
}
END_TEST

START_TEST(twins_decode_to_the_same_values)
{
    static const char name[] = "token_embd.weight";
    const struct tenon_tensor *t;
    float a[64], b[64];
    struct cooked twin;

    cooked_open(&c, twins[_i][0], NULL);
    cooked_open(&twin, twins[_i][1], NULL);
    t = tenon_model_find(c.model, name, sizeof(name) - 1);
    ck_ok(tenon_tensor_decode(c.model, t, 32, 64, a, &c.err), c.err);
    t = tenon_model_find(twin.model, name, sizeof(name) - 1);
    ck_ok(tenon_tensor_decode(twin.model, t, 32, 64, b, &twin.err), twin.err);
    ck_assert_mem_eq(a, b, sizeof(a));
    cooked_release(&twin);
}
END_TEST

START_TEST(unknown_type_reaches_to_its_neighbour)
{
    const struct tenon_tensor *t;

    cooked_open(&c,
                "gguf:3,3,0 tensor:'a',[256],200,96 tensor:'b',[8],0,64 tensor:'c',[8],201,0 "
                "align:32 zeros:200",
                NULL);
    ck_ok(c.status, c.err);
    t = tenon_model_tensor(c.model, 0);
    ck_assert_int_eq(t->dtype, TENON_DTYPE_UNKNOWN);
    ck_assert_uint_eq(t->dtype_raw, 200);
    ck_assert_uint_eq(t->n_elements, 256);
    ck_assert_uint_eq(t->bytes, 104); /* to the end of the file */
    ck_assert_uint_eq(t->flags, TENON_TENSOR_SIZE_DERIVED);
    ck_assert_uint_eq(tenon_model_tensor(c.model, 2)->bytes, 64);
    ck_assert_uint_eq(tenon_model_tensor(c.model, 1)->flags, 0);
}
END_TEST

START_TEST(each_limit_is_named_where_it_is_exceeded)
{
    static const struct {
        const char *recipe;
        struct tenon_limits limits;
        uint64_t offset;
    } cases[] = {
        {"gguf:3,0,1 kv:'a',8 str:'12345678'", {.string_bytes = 7}, 37},
        {"gguf:3,0,1 kv:'a',9 u32:8 u64:1 str:'12345678'", {.string_bytes = 7}, 49},
        {"gguf:3,0,1 kv:'a',9 u32:0 u64:4 zeros:4", {.array_elements = 3}, 41},
        {"gguf:3,0,1 kv:'a',9 u32:9 u64:1 u32:0 u64:0", {.nesting = 1}, 49},
        {"gguf:3,1,0 tensor:'t',[1,1,1],0,0 align:32 zeros:32", {.dims = 2}, 33},
        {"gguf:3,2,0 {tensor:'%#',[1],0,0}*2 align:32 zeros:32", {.tensors = 1}, 8},
        {"gguf:3,0,1 kv:'a',9 u32:0 u64:200 zeros:200", {.header_bytes = 100}, 41},
    };
    struct tenon_open_options options;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tenon_limits *l = &options.limits;
        const struct tenon_limits *want = &cases[i].limits;

        tenon_open_options_init(&options);
        l->string_bytes = want->string_bytes != 0 ? want->string_bytes : l->string_bytes;
        l->array_elements = want->array_elements != 0 ? want->array_elements : l->array_elements;
        l->nesting = want->nesting != 0 ? want->nesting : l->nesting;
        l->dims = want->dims != 0 ? want->dims : l->dims;
        l->tensors = want->tensors != 0 ? want->tensors : l->tensors;
        l->header_bytes = want->header_bytes != 0 ? want->header_bytes : l->header_bytes;
        cooked_open(&c, cases[i].recipe, &options);
        ck_assert_int_eq(c.status, TENON_ERR_LIMIT);
        ck_assert_uint_eq(c.err.offset, cases[i].offset);
        cooked_release(&c);
    }
    memset(&c, 0, sizeof(c));
}
END_TEST

/* Equal under the hash 33 h + c: "Ez" and "FY" can be exchanged for each other anywhere. */
static void write_colliding_key(char key[33], unsigned n)
{
    for (unsigned bit = 0; bit < 16; bit++)
        memcpy(key + 2 * bit, (n >> bit & 1) != 0 ? "Ez" : "FY", 2);
    key[32] = '\0';
}

START_TEST(keys_that_collide_under_a_common_hash_are_no_slower)
{
    enum { N = 1 << 16 };
    struct gen_bytes b = {0};
    struct tenon_error err = {0};
    char key[33];

    gen_text(&b, "GGUF");
    gen_u32(&b, 3);
    gen_u64(&b, 0);
    gen_u64(&b, N);
    for (unsigned i = 0; i < N; i++) {
        write_colliding_key(key, i);
        gen_str(&b, key);
        gen_u32(&b, TENON_META_U8);
        gen_u8(&b, i);
    }
    /* Quadratic would be 2^32 comparisons: the test's time-out is the claim. */
    ck_ok(tenon_model_open_memory(b.data, b.n, NULL, &c.model, &err), err);
    write_colliding_key(key, 12345);
    ck_assert_uint_eq(cooked_meta(&c, key)->value.as.u64, 12345 & 0xff);
    tenon_model_free(c.model);
    c.model = NULL;
    gen_bytes_release(&b);
}
END_TEST

static const char *const allocating[] = {
    "sample:meta_gguf",
    "sample:untied_gguf",
    "sample:vocab_gguf",
    /* A finding of each kind, and a size that is derived. */
    ("gguf:3,3,3 kv:'',0 u8:1 kv:'b',7 u8:2 kv:'general.architecture',4 u32:1 "
     "tensor:'a',[256],200,64 tensor:'b',[8],0,0 tensor:'c',[8],0,0 align:32 zeros:64 zeros:99"),
};

START_TEST(each_allocation_may_fail)
{
    for (uint64_t n = 1;; n++) {
        struct gen_files files = {0};
        struct tenon_model *model = NULL;
        struct tenon_error err = {0};
        enum tenon_status st;

        gen_recipe_make(allocating[_i], &files);
        tenon_mem_fail_at(n, false);
        st = tenon_model_open_memory(files.file[0].bytes.data, files.file[0].bytes.n, NULL, &model,
                                     &err);
        tenon_mem_fail_at(0, false);
        gen_files_release(&files);
        if (st == TENON_OK) {
            ck_assert_uint_gt(n, 5);
            tenon_model_free(model);
            break;
        }
        ck_assert_int_eq(st, TENON_ERR_NO_MEMORY);
        ck_assert_int_eq(err.status, TENON_ERR_NO_MEMORY);
        ck_assert_ptr_null(model);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gguf");
    TCase *tests = tcase_create("reader");

    tcase_set_timeout(tests, 20);
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, scalars_of_every_type_are_exact);
    tcase_add_test(tests, array_elements_stay_where_they_are);
    tcase_add_test(tests, shapes_are_turned_to_outermost_first);
    tcase_add_loop_test(tests, byte_order_and_version_change_nothing_else, 0,
                        sizeof(twins) / sizeof(twins[0]));
    tcase_add_loop_test(tests, twins_decode_to_the_same_values, 0, 2);
    tcase_add_test(tests, unknown_type_reaches_to_its_neighbour);
    tcase_add_test(tests, each_limit_is_named_where_it_is_exceeded);
    tcase_add_test(tests, keys_that_collide_under_a_common_hash_are_no_slower);
    tcase_add_loop_test(tests, each_allocation_may_fail, 0,
                        sizeof(allocating) / sizeof(allocating[0]));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
