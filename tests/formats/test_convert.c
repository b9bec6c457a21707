/* Conversions carried out: there and back, and that numbers made of codes and scales are those that
 * the model means. */
#include "tenon/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "cooked.h"
#include "folder.h"
#include "tenon/split.h"

/* Names of the files of a test, and the models opened from them. */
enum { MOST_MODELS = 4 };

static char folder[512];
static struct gen_files files;
static struct gen_model made;
static struct tenon_model *models[MOST_MODELS];
static size_t n_models;
static struct tenon_convert_options options;
static struct tenon_run_options run;
static struct tenon_error err;

static void forget_models(void)
{
    while (n_models > 0)
        tenon_model_free(models[--n_models]);
    gen_files_release(&files);
    gen_model_release(&made);
    made = (struct gen_model){0};
    err = (struct tenon_error){0};
}

static void set_up(void)
{
    folder_make(folder);
    tenon_convert_options_init(&options);
    tenon_run_options_init(&run);
    run.no_sync = run.force = true;
}

static void tear_down(void)
{
    forget_models();
    folder_remove(folder);
}

static const char *path_of(const char *name)
{
    static char path[4][1024];
    static int next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s%s", folder, name);
    return p;
}

static const struct tenon_model *open_file(const char *name)
{
    ck_assert_uint_lt(n_models, MOST_MODELS);
    ck_ok(tenon_model_open(path_of(name), NULL, &models[n_models], &err), err);
    return models[n_models++];
}

static const struct tenon_model *open_made(const struct gen_bytes *bytes)
{
    ck_assert_uint_lt(n_models, MOST_MODELS);
    ck_ok(tenon_model_open_memory(bytes->data, bytes->n, NULL, &models[n_models], &err), err);
    return models[n_models++];
}

static enum tenon_status carry_out(struct tenon_plan *plan)
{
    enum tenon_status st = tenon_plan_layout(plan, &err);

    if (st == TENON_OK)
        st = tenon_plan_run(plan, &run, &err);
    tenon_plan_free(plan);
    return st;
}

static enum tenon_status convert(const struct tenon_model *model, const char *name)
{
    struct tenon_plan *plan = NULL;
    enum tenon_status st = tenon_plan_convert(model, path_of(name), &options, &plan, &err);

    return st == TENON_OK ? carry_out(plan) : st;
}

static unsigned char *read_whole(const char *name, size_t *out_n)
{
    FILE *f = fopen(path_of(name), "rb");
    unsigned char *bytes = NULL;
    long n;

    ck_assert_msg(f != NULL, "no file %s", name);
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    n = ftell(f);
    rewind(f);
    bytes = malloc((size_t)n + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)n, f), (size_t)n);
    fclose(f);
    *out_n = (size_t)n;
    return bytes;
}

static void check_same_bytes(const char *a, const char *b)
{
    size_t n_a, n_b;
    unsigned char *x = read_whole(a, &n_a), *y = read_whole(b, &n_b);

    ck_assert_uint_eq(n_a, n_b);
    ck_assert_int_eq(memcmp(x, y, n_a), 0);
    free(x);
    free(y);
}

/* Every tensor of `a` is in `b`, of the same bytes (or numbers, when `a` has them the other way
 * round); of the metadata `lost` keys are not. */
static void check_same_model(const struct tenon_model *a, const struct tenon_model *b,
                             const char *name, size_t lost)
{
    struct tenon_diff_options diff_options;
    struct tenon_diff *diff = NULL;

    tenon_diff_options_init(&diff_options);
    ck_ok(tenon_diff_models(a, b, &diff_options, &diff, &err), err);
    ck_assert_msg(diff->n_only_a == 0 && diff->n_only_b == 0 && diff->n_meta_only_a == lost,
                  "%s is not the same model", name);
    ck_assert_uint_eq(diff->n_pairs, tenon_model_n_tensors(a));
    for (size_t i = 0; i < diff->n_pairs; i++)
        ck_assert(diff->pairs[i].equal_dtype && diff->pairs[i].equal_shape &&
                  (tenon_model_file(a, 0)->big_endian ? diff->pairs[i].equal_values
                                                      : diff->pairs[i].equal_bytes));
    ck_assert_uint_eq(diff->n_meta_changed, 0);
    tenon_diff_free(diff);
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* --- there and back --- */

/* Whether the sample could go there and back. Of an architecture without a name one is added. */
static bool there_and_back(const struct gen_sample *sample, const char *there, const char *back)
{
    bool to_gguf = ends_with(there, ".gguf");
    const struct tenon_model *model, *middle;
    enum tenon_status st;

    gen_sample_make(sample, &files);
    if (files.n != 1) {
        forget_models();
        return false;
    }
    model = open_made(&files.file[0].bytes);
    options.drop_metadata = true; /* one sample has an array of arrays */
    options.arch = to_gguf ? "none" : NULL;
    st = convert(model, there);
    if (st == TENON_OK) {
        bool nested = strncmp(sample->name, "meta", 4) == 0 && !to_gguf;

        middle = open_file(there);
        if (!to_gguf && tenon_model_find_meta(middle, "general.architecture") == NULL)
            options.arch = "none";
        else
            options.arch = NULL;
        ck_ok(convert(middle, back), err);
        check_same_model(model, open_file(back), sample->name, nested);
    }
    forget_models();
    return st == TENON_OK;
}

START_TEST(gguf_comes_back_from_safetensors)
{
    size_t n = 0;

    for (size_t i = 0; i < gen_n_samples; i++)
        if (ends_with(gen_samples[i].name, "_gguf"))
            n += there_and_back(&gen_samples[i], "m.safetensors", "back.gguf");
    ck_assert_uint_ge(n, 20);
}
END_TEST

START_TEST(safetensors_come_back_from_gguf)
{
    size_t n = 0;

    for (size_t i = 0; i < gen_n_samples; i++)
        if (ends_with(gen_samples[i].name, "_safetensors"))
            n += there_and_back(&gen_samples[i], "m.gguf", "back.safetensors");
    ck_assert_uint_ge(n, 10);
}
END_TEST

/* --- the same bytes, whoever does the work --- */

static void add(const char *name, const char *dtype, uint64_t rows, uint64_t cols, uint64_t seed)
{
    const uint64_t dims[] = {rows, cols};
    struct gen_tensor *t = gen_tensor_add(&made, name, dtype, 2, dims);

    if (strcmp(dtype, "F32") == 0 || strcmp(dtype, "BF16") == 0)
        gen_tensor_values(t, seed, 3);
    else
        gen_tensor_random(t, seed);
}

static const struct tenon_model *open_safetensors(void)
{
    struct gen_bytes *bytes = gen_files_add(&files, "model");

    gen_write_safetensors(bytes, &made, 0, made.n_tensors, NULL);
    return open_made(bytes);
}

START_TEST(the_number_of_threads_does_not_show)
{
    static const enum tenon_dtype types[] = {TENON_DTYPE_F16, TENON_DTYPE_Q8_0, TENON_DTYPE_Q4_K,
                                             TENON_DTYPE_MXFP4};
    const struct tenon_model *model;

    add("a", "F32", 700, 1024, 1);
    add("b", "BF16", 3, 512, 2);
    add("c", "F32", 1, 256, 3);
    model = open_safetensors();
    options.arch = "none";
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        options.dtype = types[i];
        run.threads = 1;
        ck_ok(convert(model, "one.gguf"), err);
        run.threads = 5;
        ck_ok(convert(model, "five.gguf"), err);
        check_same_bytes("one.gguf", "five.gguf");
    }
}
END_TEST

/* --- codes and scales --- */

/* Every number of `a`'s tensor, codes and scales together, is what `b` stores. NaN is NaN. */
static void check_numbers(const struct tenon_model *a, const struct tenon_model *b,
                          const char *name)
{
    const struct tenon_tensor *x = tenon_model_find(a, name, strlen(name));
    const struct tenon_tensor *y = tenon_model_find(b, name, strlen(name));
    struct tenon_logical want, found;
    float *u, *v;

    ck_assert(x != NULL && y != NULL && tenon_logical_init(&want, a, x) &&
              tenon_logical_init(&found, b, y));
    ck_assert_uint_eq(want.n_elements, found.n_elements);
    ck_assert_uint_eq(want.n_dims, found.n_dims);
    ck_assert_int_eq(memcmp(want.dims, found.dims, want.n_dims * sizeof(want.dims[0])), 0);
    u = malloc((size_t)want.n_elements * sizeof(*u));
    v = malloc((size_t)want.n_elements * sizeof(*v));
    ck_assert(u != NULL && v != NULL);
    ck_ok(tenon_logical_decode(&want, 0, (size_t)want.n_elements, u, &err), err);
    ck_ok(tenon_logical_decode(&found, 0, (size_t)want.n_elements, v, &err), err);
    for (uint64_t i = 0; i < want.n_elements; i++)
        ck_assert_msg(u[i] == v[i] || (u[i] != u[i] && v[i] != v[i]),
                      "%s: number %llu is %g, not %g", name, (unsigned long long)i, (double)v[i],
                      (double)u[i]);
    free(u);
    free(v);
}

static void add_scales(const char *name, uint64_t rows, uint64_t cols)
{
    const uint64_t dims[] = {rows, cols};

    gen_tensor_values(gen_tensor_add(&made, name, "F32", 2, dims), 9, 1);
}

/* One scale for all, one a row, and one a block of 128 x 128 with edges cut short. */
START_TEST(scaled_codes_become_their_numbers)
{
    const struct tenon_model *model;

    add("one.weight", "F8_E4M3", 40, 96, 1);
    add_scales("one.weight_scale", 1, 1);
    add("rows.weight", "F8_E5M2", 40, 96, 2);
    add_scales("rows.weight_scale", 40, 1);
    add("blocks.weight", "F8_E4M3", 300, 200, 3);
    add_scales("blocks.weight_scale_inv", 3, 2);
    model = open_safetensors();
    options.dtype = TENON_DTYPE_F32;
    ck_ok(convert(model, "f.safetensors"), err);
    ck_assert_uint_eq(tenon_model_n_tensors(open_file("f.safetensors")), 3);
    check_numbers(model, models[1], "one.weight");
    check_numbers(model, models[1], "rows.weight");
    check_numbers(model, models[1], "blocks.weight");
    options.arch = "none";
    ck_ok(convert(model, "f.gguf"), err);
    check_numbers(model, open_file("f.gguf"), "blocks.weight");
}
END_TEST

/* Scales between 2^-8 and 2^8: every number is one of MXFP4's, whichever block it is in, and of
 * F32. */
START_TEST(groups_of_four_bits_become_their_numbers)
{
    const uint64_t codes[] = {5, 7, 16}, scales[] = {5, 7};
    const struct tenon_model *model;
    struct gen_tensor *t;

    gen_tensor_random(gen_tensor_add(&made, "e_blocks", "U8", 3, codes), 1);
    t = gen_tensor_add(&made, "e_scales", "U8", 2, scales);
    gen_tensor_random(t, 2);
    for (size_t i = 0; i < t->data.n; i++)
        t->data.data[i] = (unsigned char)(119 + t->data.data[i] % 17);
    model = open_safetensors();
    options.arch = "none";
    ck_ok(convert(model, "m.gguf"), err);
    ck_assert_uint_eq(tenon_model_tensor(open_file("m.gguf"), 0)->dtype, TENON_DTYPE_MXFP4);
    check_numbers(model, models[1], "e_blocks");
    options.arch = NULL;
    options.dtype = TENON_DTYPE_F32;
    ck_ok(convert(model, "m.safetensors"), err);
    check_numbers(model, open_file("m.safetensors"), "e_blocks");
}
END_TEST

/* --- overflow --- */

START_TEST(what_overflows_is_refused_and_leaves_no_file)
{
    const uint64_t dims[] = {2, 2};
    const float values[] = {1, 70000, -70000, 2};
    const struct tenon_model *model;

    gen_tensor_floats(gen_tensor_add(&made, "a", "F32", 2, dims), values, 4);
    model = open_safetensors();
    options.dtype = TENON_DTYPE_F16;
    ck_fails(convert(model, "h.safetensors"), TENON_ERR_CANNOT_REPRESENT, err);
    ck_assert_str_eq(err.subject, "a");
    ck_assert_ptr_null(fopen(path_of("h.safetensors"), "rb"));
}
END_TEST

/* 3e38: the F16 scale of a block, or a sum on the way to it, is infinite. 65519 rounds to the
 * largest F16, which even a scale may be that is the value itself. Float32 cannot exceed MXFP4's
 * scales. */
START_TEST(what_is_too_large_for_blocks_is_refused)
{
    static const enum tenon_dtype types[] = {
        TENON_DTYPE_Q4_0,  TENON_DTYPE_Q4_1,  TENON_DTYPE_Q5_0,   TENON_DTYPE_Q5_1,
        TENON_DTYPE_Q8_0,  TENON_DTYPE_Q2_K,  TENON_DTYPE_Q3_K,   TENON_DTYPE_Q4_K,
        TENON_DTYPE_Q5_K,  TENON_DTYPE_Q6_K,  TENON_DTYPE_IQ4_NL, TENON_DTYPE_IQ4_XS,
        TENON_DTYPE_TQ1_0, TENON_DTYPE_TQ2_0, TENON_DTYPE_MXFP4,
    };
    const uint64_t dims[] = {2, 256};
    float values[512] = {0};
    const struct tenon_model *model;

    values[300] = 3e38f;
    gen_tensor_floats(gen_tensor_add(&made, "large", "F32", 2, dims), values, 512);
    values[300] = 65519;
    gen_tensor_floats(gen_tensor_add(&made, "small", "F32", 2, dims), values, 512);
    model = open_safetensors();
    options.arch = "none";
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const struct tenon_dtype_rule rules[] = {{"large", TENON_DTYPE_F32}, {"small", types[i]}};
        bool refused = types[i] != TENON_DTYPE_MXFP4;

        options.rules = rules;
        options.n_rules = 2;
        options.dtype = TENON_DTYPE_UNKNOWN;
        ck_ok(convert(model, "h.gguf"), err);
        options.n_rules = 0;
        options.dtype = types[i];
        if (!refused) {
            ck_ok(convert(model, "h.gguf"), err);
            continue;
        }
        ck_fails(convert(model, "h.gguf"), TENON_ERR_CANNOT_REPRESENT, err);
        ck_assert_str_eq(err.subject, "large");
        ck_assert_ptr_nonnull(strstr(err.message, "has no finite value for 3.00000001e+38"));
        ck_assert_ptr_nonnull(strstr(err.message, "element number 300"));
        err = (struct tenon_error){0};
    }
    options.n_rules = 0;
}
END_TEST

/* --- a set of a thousand files --- */

enum { MANY = 1000 };

/* A set needs few descriptors, however many files it has. */
START_TEST(a_thousand_files_are_cut_and_joined)
{
    const struct rlimit few = {64, 64};
    struct tenon_split_options one = {.max_tensors = 1};
    struct tenon_plan *plan = NULL;
    char name[64];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "blk.%d.weight", i);
        add(name, "F32", 1, 8, (uint64_t)i);
    }
    gen_kv_str(&made, "general.architecture", "none");
    gen_write_gguf(gen_files_add(&files, "model"), &made, 3, 32);
    folder_write(folder, "whole.gguf", files.file[0].bytes.data, files.file[0].bytes.n);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ck_ok(tenon_plan_split(open_file("whole.gguf"), path_of("part"), &one, &plan, &err), err);
    ck_ok(carry_out(plan), err);
    ck_ok(tenon_plan_merge(open_file("part-00500-of-01000.gguf"), path_of("back.gguf"), NULL, &plan,
                           &err),
          err);
    ck_ok(carry_out(plan), err);
    check_same_bytes("whole.gguf", "back.gguf");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convert");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, gguf_comes_back_from_safetensors);
    tcase_add_test(tests, safetensors_come_back_from_gguf);
    tcase_add_test(tests, the_number_of_threads_does_not_show);
    tcase_add_test(tests, scaled_codes_become_their_numbers);
    tcase_add_test(tests, groups_of_four_bits_become_their_numbers);
    tcase_add_test(tests, what_overflows_is_refused_and_leaves_no_file);
    tcase_add_test(tests, what_is_too_large_for_blocks_is_refused);
    tcase_add_test(tests, a_thousand_files_are_cut_and_joined);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
