/* Plans of conversions: which type each tensor gets, what is refused, and what becomes of metadata.
 */
#include "tenon/convert.h"

#include <string.h>

#include "check_error.h"
#include "gen.h"
#include "mem.h"

static struct gen_files files;
static struct gen_model made;
static struct tenon_model *model;
static struct tenon_plan *plan;
static struct tenon_convert_options options;
static struct tenon_error err;

static void set_up(void)
{
    tenon_convert_options_init(&options);
}

static void forget_plan(void)
{
    tenon_plan_free(plan);
    plan = NULL;
    err = (struct tenon_error){0};
}

static void tear_down(void)
{
    forget_plan();
    tenon_model_free(model);
    model = NULL;
    gen_files_release(&files);
    gen_model_release(&made);
    made = (struct gen_model){0};
}

static void open_first(void)
{
    ck_ok(tenon_model_open_memory(files.file[0].bytes.data, files.file[0].bytes.n, NULL, &model,
                                  &err),
          err);
}

static void open_sample(const char *name)
{
    const struct gen_sample *sample = gen_sample_find(name, strlen(name));

    ck_assert_ptr_nonnull(sample);
    gen_sample_make(sample, &files);
    open_first();
}

/* Adds a matrix, or a vector when `rows` is 0. */
static void add(const char *name, const char *dtype, uint64_t rows, uint64_t cols)
{
    uint64_t dims[] = {rows, cols};
    bool vector = rows == 0;

    gen_tensor_random(gen_tensor_add(&made, name, dtype, vector ? 1 : 2, vector ? &dims[1] : dims),
                      1);
}

static void open_safetensors(const char *metadata)
{
    gen_write_safetensors(gen_files_add(&files, "model"), &made, 0, made.n_tensors, metadata);
    open_first();
}

static void open_gguf(void)
{
    gen_write_gguf(gen_files_add(&files, "model"), &made, 3, 32);
    open_first();
}

static void convert(const char *target)
{
    forget_plan();
    ck_ok(tenon_plan_convert(model, target, &options, &plan, &err), err);
}

static void convert_fails(const char *target, enum tenon_status status, const char *subject)
{
    forget_plan();
    ck_fails(tenon_plan_convert(model, target, &options, &plan, &err), status, err);
    ck_assert_ptr_null(plan);
    ck_assert_str_eq(err.subject, subject);
}

/* Valid until the next call. */
static const struct tenon_plan_tensor *find(const char *name)
{
    static struct tenon_plan_tensor t;

    for (size_t i = 0; i < tenon_plan_n_tensors(plan); i++) {
        t = tenon_plan_tensor(plan, i);
        if (t.name.len == strlen(name) && memcmp(t.name.data, name, t.name.len) == 0)
            return &t;
    }
    return NULL;
}

static const char *dtype_of(const char *name)
{
    const struct tenon_plan_tensor *t = find(name);

    return t != NULL ? tenon_dtype_name(t->dtype) : "gone";
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

static void check_text(const char *key, const char *value)
{
    const struct tenon_meta_entry *entry = meta(key);

    ck_assert_msg(entry != NULL, "no key %s", key);
    ck_assert_int_eq(entry->type, TENON_META_STRING);
    ck_assert_uint_eq(entry->value.as.str.len, strlen(value));
    ck_assert_int_eq(memcmp(entry->value.as.str.data, value, strlen(value)), 0);
}

static void rules(const struct tenon_dtype_rule *list, size_t n)
{
    options.rules = list;
    options.n_rules = n;
}

/* --- containers --- */

START_TEST(another_container_gets_the_same_tensors)
{
    open_sample("untied_gguf");
    convert("m.safetensors");
    ck_assert_str_eq(tenon_plan_file(plan, 0)->format, "safetensors");
    ck_assert_uint_eq(tenon_plan_n_tensors(plan), tenon_model_n_tensors(model));
    for (size_t i = 0; i < tenon_plan_n_tensors(plan); i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);
        const struct tenon_tensor *from = tenon_model_tensor(model, i);

        ck_assert_ptr_eq(tenon_plan_sources(&t)->tensor, from);
        ck_assert_uint_eq(t.dtype, from->dtype);
        ck_assert_uint_eq(t.n_dims, from->n_dims);
        ck_assert_uint_eq(t.bytes, from->bytes);
        ck_assert(!tenon_plan_sources(&t)->logical && t.n_steps == 0 && t.n_sources == 1);
    }
    ck_assert_uint_eq(tenon_plan_n_losses(plan), 0);
}
END_TEST

START_TEST(the_name_of_the_output_says_the_container)
{
    open_sample("tied_gguf");
    convert("dir.gguf/m.SAFETENSORS");
    ck_assert_str_eq(tenon_plan_file(plan, 0)->format, "safetensors");
    convert("m.gguf");
    ck_assert_str_eq(tenon_plan_file(plan, 0)->format, "gguf");
    convert_fails("m", TENON_ERR_MISUSE, "");
    convert_fails("m.safetensors/", TENON_ERR_MISUSE, "");
    options.format = "safetensors";
    convert("m.gguf");
    ck_assert_str_eq(tenon_plan_file(plan, 0)->format, "safetensors");
    convert("-");
}
END_TEST

START_TEST(the_same_container_keeps_version_order_and_alignment)
{
    open_sample("tied_be_gguf");
    convert("m.gguf");
    ck_assert(tenon_plan_file(plan, 0)->big_endian);
    convert("m.safetensors");
    ck_assert(!tenon_plan_file(plan, 0)->big_endian);
    tear_down();
    open_sample("aligned_gguf");
    convert("m.gguf");
    ck_assert_uint_eq(tenon_plan_file(plan, 0)->alignment, 64);
    convert("m.safetensors");
    ck_assert_uint_eq(tenon_plan_file(plan, 0)->alignment, 0);
}
END_TEST

/* --- types --- */

START_TEST(a_type_is_for_matrices_of_floats)
{
    add("a.weight", "F32", 2, 32);
    add("a.bias", "F32", 0, 32);
    add("wide.bias", "F32", 2, 32);
    add("my_norm.weight", "F32", 2, 32);
    add("ids", "I64", 2, 32);
    add("mask", "BOOL", 2, 32);
    add("half", "F16", 2, 32);
    add("brain", "BF16", 2, 32);
    open_safetensors(NULL);
    options.dtype = TENON_DTYPE_BF16;
    convert("m.safetensors");
    ck_assert_str_eq(dtype_of("a.weight"), "BF16");
    ck_assert_str_eq(dtype_of("a.bias"), "F32");
    ck_assert_str_eq(dtype_of("wide.bias"), "F32");
    ck_assert_str_eq(dtype_of("my_norm.weight"), "F32");
    ck_assert_str_eq(dtype_of("ids"), "I64");
    ck_assert_str_eq(dtype_of("mask"), "BOOL");
    ck_assert_str_eq(dtype_of("half"), "BF16");
    ck_assert_str_eq(dtype_of("brain"), "BF16");
    ck_assert_uint_eq(find("a.weight")->bytes, 128);
}
END_TEST

/* By their roles, since their names say neither "norm" nor "bias" in this dialect. */
START_TEST(roles_tell_norms)
{
    open_sample("tied_gguf");
    options.dtype = TENON_DTYPE_F16;
    convert("m.gguf");
    ck_assert_str_eq(dtype_of("token_embd.weight"), "F16");
    ck_assert_str_eq(dtype_of("blk.0.attn_norm.weight"), "F32");
}
END_TEST

START_TEST(the_last_rule_that_fits_decides)
{
    static const struct tenon_dtype_rule list[] = {
        {"*", TENON_DTYPE_F32}, {"a.*", TENON_DTYPE_F16}, {"*.ids", TENON_DTYPE_F32}};

    add("a.weight", "F32", 2, 32);
    add("a.bias", "BF16", 0, 32);
    add("a.ids", "I64", 0, 32);
    add("b.weight", "BF16", 2, 32);
    open_safetensors(NULL);
    options.dtype = TENON_DTYPE_BF16;
    rules(list, 3);
    convert("m.safetensors");
    ck_assert_str_eq(dtype_of("a.weight"), "F16");
    ck_assert_str_eq(dtype_of("a.bias"), "F16");
    ck_assert_str_eq(dtype_of("a.ids"), "F32");
    ck_assert_str_eq(dtype_of("b.weight"), "F32");
}
END_TEST

START_TEST(a_rule_that_fits_nothing_is_an_error)
{
    static const struct tenon_dtype_rule list[] = {{"*", TENON_DTYPE_F32}, {"c*", TENON_DTYPE_F16}};

    add("a", "F32", 2, 32);
    open_safetensors(NULL);
    rules(list, 2);
    convert_fails("m.safetensors", TENON_ERR_MISUSE, "c*");
}
END_TEST

START_TEST(rows_must_be_whole_blocks)
{
    add("a", "F32", 2, 64);
    add("b", "F32", 2, 40);
    add("c", "F32", 2, 20);
    open_safetensors(NULL);
    options.arch = "none";
    options.dtype = TENON_DTYPE_Q8_0;
    convert_fails("m.gguf", TENON_ERR_CANNOT_REPRESENT, "b");
    ck_assert_ptr_nonnull(strstr(err.message, "rows of 40"));
    ck_assert_ptr_nonnull(strstr(err.message, "1 more tensor"));
    ck_assert_ptr_nonnull(strstr(err.hint, "--dtype-for"));
    rules((const struct tenon_dtype_rule[]){{"[bc]", TENON_DTYPE_F16}}, 1);
    convert("m.gguf");
    ck_assert_str_eq(dtype_of("a"), "Q8_0");
    ck_assert_uint_eq(find("a")->bytes, 2 * 2 * 34);
    ck_assert_str_eq(dtype_of("c"), "F16");
}
END_TEST

START_TEST(types_that_the_container_lacks_are_refused)
{
    add("a", "F8_E4M3", 2, 32);
    add("b", "U8", 2, 32);
    open_safetensors(NULL);
    options.arch = "none";
    convert_fails("m.gguf", TENON_ERR_CANNOT_REPRESENT, "a");
    ck_assert_ptr_nonnull(strstr(err.message, "F8_E4M3"));
    ck_assert_ptr_nonnull(strstr(err.hint, "BF16"));
    options.dtype = TENON_DTYPE_F16;
    convert_fails("m.gguf", TENON_ERR_CANNOT_REPRESENT, "b");
    rules((const struct tenon_dtype_rule[]){{"b", TENON_DTYPE_I32}}, 1);
    convert("m.gguf");
    ck_assert_str_eq(dtype_of("a"), "F16");
    ck_assert_str_eq(dtype_of("b"), "I32");
    options.dtype = TENON_DTYPE_F8_E4M3;
    convert_fails("m.gguf", TENON_ERR_CANNOT_REPRESENT, "");
}
END_TEST

START_TEST(blocks_leave_gguf_as_numbers_only)
{
    open_sample("tied_q8_0_gguf");
    convert_fails("m.safetensors", TENON_ERR_CANNOT_REPRESENT, "token_embd.weight");
    options.dtype = TENON_DTYPE_F32;
    convert("m.safetensors");
    ck_assert_str_eq(dtype_of("token_embd.weight"), "F32");
    options.dtype = TENON_DTYPE_Q8_0;
    convert_fails("m.safetensors", TENON_ERR_CANNOT_REPRESENT, "");
}
END_TEST

START_TEST(types_without_encoder_are_only_copied)
{
    open_sample("dtypes_gguf");
    convert("m.gguf");
    ck_assert_uint_eq(tenon_plan_n_tensors(plan), tenon_model_n_tensors(model));
    options.dtype = TENON_DTYPE_IQ2_XXS;
    convert_fails("m.gguf", TENON_ERR_CANNOT_REPRESENT, "");
    ck_assert_ptr_nonnull(strstr(err.hint, "Q4_K"));
}
END_TEST

START_TEST(complex_numbers_stay_complex)
{
    add("a", "C64", 2, 32);
    open_safetensors(NULL);
    rules((const struct tenon_dtype_rule[]){{"a", TENON_DTYPE_F32}}, 1);
    convert_fails("m.safetensors", TENON_ERR_CANNOT_REPRESENT, "a");
}
END_TEST

/* --- codes and scales --- */

static void open_scaled(void)
{
    add("a.weight", "F8_E4M3", 4, 32);
    add("a.weight_scale_inv", "F32", 1, 1);
    add("b.weight", "F8_E4M3", 4, 32);
    add("b.weight_scale_inv", "F32", 4, 1);
    open_safetensors(NULL);
}

START_TEST(codes_stay_with_their_scales)
{
    open_scaled();
    convert("m.safetensors");
    ck_assert_uint_eq(tenon_plan_n_tensors(plan), 4);
    ck_assert(!tenon_plan_sources(find("a.weight"))->logical);
    ck_assert_str_eq(dtype_of("a.weight_scale_inv"), "F32");
    options.dtype = TENON_DTYPE_F8_E4M3; /* what they are */
    convert("m.safetensors");
    ck_assert_uint_eq(tenon_plan_n_tensors(plan), 4);
    ck_assert_str_eq(dtype_of("a.weight_scale_inv"), "F32");
}
END_TEST

START_TEST(codes_that_become_numbers_lose_their_scales)
{
    open_scaled();
    options.dtype = TENON_DTYPE_BF16;
    convert("m.safetensors");
    ck_assert_uint_eq(tenon_plan_n_tensors(plan), 2);
    ck_assert_str_eq(dtype_of("a.weight"), "BF16");
    ck_assert(tenon_plan_sources(find("a.weight"))->logical);
    options.dtype = TENON_DTYPE_UNKNOWN;
    rules((const struct tenon_dtype_rule[]){{"a.weight", TENON_DTYPE_F16}}, 1);
    convert("m.safetensors");
    ck_assert_str_eq(dtype_of("a.weight"), "F16");
    ck_assert_str_eq(dtype_of("a.weight_scale_inv"), "gone");
    ck_assert_str_eq(dtype_of("b.weight"), "F8_E4M3");
    ck_assert_str_eq(dtype_of("b.weight_scale_inv"), "F32");
}
END_TEST

/* Bare codes are not the numbers, so scales that do not fit leave none. */
START_TEST(codes_whose_scales_do_not_fit_are_not_numbers)
{
    add("a.weight", "F8_E4M3", 4, 32);
    add("a.weight_scale_inv", "F32", 3, 7);
    open_safetensors(NULL);
    convert("m.safetensors");
    options.dtype = TENON_DTYPE_BF16;
    convert_fails("m.safetensors", TENON_ERR_CANNOT_REPRESENT, "a.weight");
}
END_TEST

static void open_mxfp4(void)
{
    const uint64_t codes[] = {2, 3, 16}, scales[] = {2, 3};

    gen_tensor_random(gen_tensor_add(&made, "e_blocks", "U8", 3, codes), 1);
    gen_tensor_random(gen_tensor_add(&made, "e_scales", "U8", 2, scales), 2);
    open_safetensors(NULL);
}

START_TEST(groups_of_four_bits_have_a_type_in_gguf)
{
    open_mxfp4();
    options.arch = "none";
    convert("m.gguf");
    ck_assert_uint_eq(tenon_plan_n_tensors(plan), 1);
    ck_assert_str_eq(dtype_of("e_blocks"), "MXFP4");
    ck_assert_uint_eq(find("e_blocks")->n_dims, 2);
    ck_assert_uint_eq(find("e_blocks")->dims[0], 2);
    ck_assert_uint_eq(find("e_blocks")->dims[1], 96);
    ck_assert_uint_eq(find("e_blocks")->bytes, 2 * 3 * 17);
    convert("m.safetensors");
    ck_assert_uint_eq(tenon_plan_n_tensors(plan), 2);
    ck_assert_str_eq(dtype_of("e_blocks"), "U8");
    options.dtype = TENON_DTYPE_BF16;
    convert("m.safetensors");
    ck_assert_str_eq(dtype_of("e_blocks"), "BF16");
    ck_assert_uint_eq(find("e_blocks")->bytes, 2 * 96 * 2);
}
END_TEST

/* --- metadata --- */

START_TEST(types_of_metadata_go_into_the_keys)
{
    gen_kv_str(&made, "general.architecture", "none");
    gen_kv_u32(&made, "n", 7);
    gen_kv_array(&made, "a", GEN_U8, 2);
    gen_u8(&made.kv, 1);
    gen_u8(&made.kv, 2);
    add("t", "F32", 2, 32);
    open_gguf();
    convert("m.safetensors");
    ck_assert_uint_eq(tenon_plan_file(plan, 0)->n_metas, 3);
    check_text("general.architecture", "none");
    check_text("n:u32", "7");
    check_text("a:array<u8>", "[1,2]");
}
END_TEST

START_TEST(texts_get_their_types_back)
{
    add("t", "F32", 2, 32);
    open_safetensors("{\"format\":\"pt\",\"n:u32\":\"7\",\"general.architecture\":\"none\"}");
    convert("m.gguf");
    ck_assert_uint_eq(tenon_plan_file(plan, 0)->n_metas, 3);
    ck_assert_ptr_eq(meta("general.architecture"), &tenon_plan_file(plan, 0)->metas[0]);
    check_text("format", "pt");
    ck_assert_int_eq(meta("n")->type, TENON_META_U32);
    ck_assert_uint_eq(meta("n")->value.as.u64, 7);
}
END_TEST

START_TEST(what_has_no_form_as_text_is_a_loss)
{
    open_sample("meta_gguf");
    convert("m.safetensors");
    ck_assert_uint_eq(tenon_plan_n_losses(plan), 1);
    ck_assert_str_eq(tenon_plan_loss(plan, 0)->code, "metadata");
    ck_assert_str_eq(tenon_plan_loss(plan, 0)->option, "--drop-metadata");
    ck_assert(!tenon_plan_loss(plan, 0)->allowed);
    options.drop_metadata = true;
    convert("m.safetensors");
    ck_assert(tenon_plan_loss(plan, 0)->allowed);
}
END_TEST

START_TEST(the_architecture_is_told_or_asked_for)
{
    open_sample("t5_safetensors");
    convert("m.gguf"); /* by the names of its tensors */
    check_text("general.architecture", "t5");
    tear_down();
    add("t", "F32", 2, 32);
    open_safetensors(NULL);
    convert_fails("m.gguf", TENON_ERR_NOT_FOUND, "general.architecture");
    ck_assert_ptr_nonnull(strstr(err.hint, "--arch"));
    options.arch = "mine";
    convert("m.gguf");
    check_text("general.architecture", "mine");
}
END_TEST

START_TEST(an_architecture_that_is_known_is_not_changed)
{
    open_sample("tied_gguf");
    options.arch = "llama";
    convert("m.gguf");
    options.arch = "gemma";
    convert_fails("m.gguf", TENON_ERR_MISUSE, "general.architecture");
}
END_TEST

START_TEST(the_type_of_the_file_follows)
{
    gen_kv_str(&made, "general.architecture", "none");
    gen_kv_u32(&made, "general.file_type", 0);
    add("t", "F32", 2, 32);
    open_gguf();
    convert("m.gguf");
    ck_assert_uint_eq(meta("general.file_type")->value.as.u64, 0);
    options.dtype = TENON_DTYPE_Q8_0;
    convert("m.gguf");
    ck_assert_uint_eq(meta("general.file_type")->value.as.u64, 7);
}
END_TEST

START_TEST(every_failing_allocation_is_reported)
{
    static const struct tenon_dtype_rule list[] = {{"t*", TENON_DTYPE_F16}};
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    open_sample("meta_gguf");
    options.drop_metadata = true;
    for (uint64_t n = 1; st != TENON_OK; n++) {
        tenon_mem_fail_at(n, false);
        st = tenon_plan_convert(model, "m.safetensors", &options, &plan, NULL);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
    }
    tear_down();
    add("t.weight", "F8_E4M3", 4, 32);
    add("t.weight_scale_inv", "F32", 1, 1);
    open_safetensors("{\"a:array<string>\":\"[\\\"b\\\"]\"}");
    options.arch = "none";
    rules(list, 1);
    st = TENON_ERR_NO_MEMORY;
    for (uint64_t n = 1; st != TENON_OK; n++) {
        tenon_mem_fail_at(n, false);
        st = tenon_plan_convert(model, "m.gguf", &options, &plan, NULL);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_convert");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, another_container_gets_the_same_tensors);
    tcase_add_test(tests, the_name_of_the_output_says_the_container);
    tcase_add_test(tests, the_same_container_keeps_version_order_and_alignment);
    tcase_add_test(tests, a_type_is_for_matrices_of_floats);
    tcase_add_test(tests, roles_tell_norms);
    tcase_add_test(tests, the_last_rule_that_fits_decides);
    tcase_add_test(tests, a_rule_that_fits_nothing_is_an_error);
    tcase_add_test(tests, rows_must_be_whole_blocks);
    tcase_add_test(tests, types_that_the_container_lacks_are_refused);
    tcase_add_test(tests, blocks_leave_gguf_as_numbers_only);
    tcase_add_test(tests, types_without_encoder_are_only_copied);
    tcase_add_test(tests, complex_numbers_stay_complex);
    tcase_add_test(tests, codes_stay_with_their_scales);
    tcase_add_test(tests, codes_that_become_numbers_lose_their_scales);
    tcase_add_test(tests, codes_whose_scales_do_not_fit_are_not_numbers);
    tcase_add_test(tests, groups_of_four_bits_have_a_type_in_gguf);
    tcase_add_test(tests, types_of_metadata_go_into_the_keys);
    tcase_add_test(tests, texts_get_their_types_back);
    tcase_add_test(tests, what_has_no_form_as_text_is_a_loss);
    tcase_add_test(tests, the_architecture_is_told_or_asked_for);
    tcase_add_test(tests, an_architecture_that_is_known_is_not_changed);
    tcase_add_test(tests, the_type_of_the_file_follows);
    tcase_add_test(tests, every_failing_allocation_is_reported);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
