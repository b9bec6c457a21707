/* GGUF files as they are laid out. Expected bytes come from the generator (testdata/gen), which
 * shares no code with the library. */
#include "planned.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "spell_out.h"

/* --- versions, byte orders, alignments --- */

/* The sample, written as a new file that differs from it in what `change` sets. */
static void rewrite_as(const char *sample, const struct tenon_plan_file *change,
                       struct gen_bytes *out)
{
    struct cooked c;
    struct tenon_plan *plan;

    cooked_open(&c, sample, NULL);
    ck_ok(c.status, c.err);
    plan = planned_copy(c.model, false);
    plan->files[0].version = change->version;
    plan->files[0].big_endian = change->big_endian;
    plan->files[0].alignment = change->alignment;
    planned_result(plan, out);
    tenon_plan_free(plan);
    cooked_release(&c);
}

START_TEST(version_1_becomes_version_3)
{
    struct tenon_plan_file change = {.version = 1};
    struct gen_files files = {0};
    struct gen_bytes bytes = {0};

    gen_recipe_make("sample:tied_gguf", &files);
    rewrite_as("sample:tied_v1_gguf", &change, &bytes);
    check_same_bytes("tied_v1_gguf", &bytes, &files.file[0].bytes);
    gen_bytes_release(&bytes);
    gen_files_release(&files);
}
END_TEST

START_TEST(version_2_is_written_where_it_is_asked_for)
{
    struct tenon_plan_file change = {.version = 2};
    struct gen_files files = {0};
    struct gen_bytes bytes = {0};

    gen_recipe_make("sample:tied_v2_gguf", &files);
    rewrite_as("sample:tied_gguf", &change, &bytes);
    check_same_bytes("tied_v2_gguf", &bytes, &files.file[0].bytes);
    gen_bytes_release(&bytes);
    gen_files_release(&files);
}
END_TEST

/* Every type of metadata, alone and in arrays; a new file is padded, the sample is not. */
START_TEST(pairs_are_written_in_the_other_byte_order)
{
    static const char *const samples[2] = {"sample:meta_gguf", "sample:meta_be_gguf"};

    for (int to_big = 0; to_big < 2; to_big++) {
        struct tenon_plan_file change = {.version = 3, .big_endian = to_big != 0};
        struct gen_files files = {0};
        struct gen_bytes bytes = {0};

        gen_recipe_make(samples[to_big], &files);
        rewrite_as(samples[1 - to_big], &change, &bytes);
        gen_align(&files.file[0].bytes, 32);
        check_same_bytes(samples[to_big], &bytes, &files.file[0].bytes);
        gen_bytes_release(&bytes);
        gen_files_release(&files);
    }
}
END_TEST

/* In version 1 lengths have 32 bits, also those inside arrays, also in nested ones. */
START_TEST(arrays_of_version_1_get_long_lengths)
{
    static const char old[] = "'GGUF' u32:1 u32:0 u32:1 u32:1 'k' u32:9 u32:9 u32:2 "
                              "u32:8 u32:2 u32:1 'a' u32:0 u32:9 u32:1 u32:4 u32:2 u32:7 u32:8";
    static const char new[] = "'GGUF' u32:3 u64:0 u64:1 u64:1 'k' u32:9 u32:9 u64:2 "
                              "u32:8 u64:2 u64:1 'a' u64:0 u32:9 u64:1 u32:4 u64:2 u32:7 u32:8 "
                              "align:32";
    struct gen_files files = {0};
    struct gen_bytes bytes = {0};

    gen_recipe_make(new, &files);
    rewrite(old, false, &bytes);
    check_same_bytes("nested", &bytes, &files.file[0].bytes);
    gen_bytes_release(&bytes);
    gen_files_release(&files);
}
END_TEST

/* The same, and the numbers in the other byte order. */
START_TEST(nested_arrays_are_turned_around)
{
    static const char little[] = "'GGUF' u32:3 u64:0 u64:1 u64:1 'k' u32:9 u32:9 u64:3 "
                                 "u32:8 u64:1 u64:1 'a' u32:9 u64:2 u32:2 u64:2 u16:7 u16:8 "
                                 "u32:9 u64:0 u32:12 u64:0 align:32";
    char big[512];
    struct tenon_plan_file change = {.version = 3, .big_endian = true};
    struct gen_files files = {0};
    struct gen_bytes bytes = {0};

    snprintf(big, sizeof(big), "big %s", little);
    gen_recipe_make(big, &files);
    rewrite_as(little, &change, &bytes);
    check_same_bytes("nested", &bytes, &files.file[0].bytes);
    gen_bytes_release(&bytes);
    gen_files_release(&files);
}
END_TEST

START_TEST(an_unusual_alignment_gets_its_key)
{
    struct tenon_plan_file change = {.alignment = 128};
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    struct gen_bytes bytes = {0};

    rewrite_as("sample:tied_gguf", &change, &bytes);
    ck_ok(tenon_model_open_memory(bytes.data, bytes.n, NULL, &model, &err), err);
    ck_assert_uint_eq(tenon_model_file(model, 0)->alignment, 128);
    ck_assert_uint_eq(tenon_model_find_meta(model, "general.alignment")->type, TENON_META_U32);
    for (size_t i = 0; i < tenon_model_n_tensors(model); i++)
        ck_assert_uint_eq(tenon_model_tensor(model, i)->offset % 128, 0);
    ck_assert_uint_eq(bytes.n % 128, 0);
    tenon_model_free(model);
    gen_bytes_release(&bytes);
}
END_TEST

START_TEST(the_key_decides_about_the_alignment)
{
    struct tenon_plan_file change = {.alignment = 32};
    struct gen_files files = {0};
    struct gen_bytes bytes = {0};

    gen_recipe_make("sample:aligned_gguf", &files);
    rewrite_as("sample:aligned_gguf", &change, &bytes);
    check_same_bytes("aligned_gguf", &bytes, &files.file[0].bytes);
    gen_bytes_release(&bytes);
    gen_files_release(&files);
}
END_TEST

/* --- pairs --- */

/* What the sample is with the text of `key` changed to `len` times 'x'; an edited copy. */
static void set_text(const struct gen_bytes *in, const char *key, size_t len, struct gen_bytes *out)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    struct tenon_plan *plan;
    struct tenon_meta_entry *metas;
    char *text = calloc(len + 1, 1);

    memset(text, 'x', len);
    ck_ok(tenon_model_open_memory(in->data, in->n, NULL, &model, &err), err);
    plan = planned_copy(model, true);
    metas = tenon_arena_alloc(&plan->arena, plan->files[0].n_metas, sizeof(*metas));
    for (size_t i = 0; i < plan->files[0].n_metas; i++) {
        metas[i] = plan->files[0].metas[i];
        if (metas[i].key.len == strlen(key) && memcmp(metas[i].key.data, key, strlen(key)) == 0)
            metas[i].value.as.str = (struct tenon_str){text, len};
    }
    plan->files[0].metas = metas;
    planned_result(plan, out);
    tenon_plan_free(plan);
    tenon_model_free(model);
    free(text);
}

/* The payloads, and all that lies between and behind them. */
static void check_same_data(const struct gen_bytes *a, const struct gen_bytes *b)
{
    uint64_t start[2];
    const struct gen_bytes *files[2] = {a, b};

    for (int i = 0; i < 2; i++) {
        struct tenon_model *model = NULL;
        struct tenon_error err = {0};

        ck_ok(tenon_model_open_memory(files[i]->data, files[i]->n, NULL, &model, &err), err);
        start[i] = tenon_model_file(model, 0)->header_bytes;
        tenon_model_free(model);
    }
    ck_assert_uint_eq(a->n - start[0], b->n - start[1]);
    ck_assert_uint_gt(a->n, start[0]);
    ck_assert_int_eq(memcmp(a->data + start[0], b->data + start[1], a->n - start[0]), 0);
}

START_TEST(a_text_that_grows_and_shrinks_changes_nothing_else)
{
    static const char *const samples[] = {"sample:tied_gguf", "sample:aligned_gguf",
                                          "sample:tied_q8_0_be_gguf"};

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        struct gen_files files = {0};
        struct gen_bytes ten = {0}, many = {0}, back = {0};
        const struct gen_bytes *old;

        gen_recipe_make(samples[i], &files);
        old = &files.file[0].bytes;
        set_text(old, "general.architecture", 10, &ten);
        set_text(&ten, "general.architecture", 5000, &many);
        set_text(&many, "general.architecture", 10, &back);
        check_same_bytes(samples[i], &back, &ten);
        check_same_data(&many, old);
        gen_bytes_release(&ten);
        gen_bytes_release(&many);
        gen_bytes_release(&back);
        gen_files_release(&files);
    }
}
END_TEST

/* A signalling NaN and a boolean of 2 are not what their values say. */
START_TEST(numbers_keep_their_bytes)
{
    check_identity("gguf:3,0,3 kv:'a',6 hex:0100807f kv:'b',7 u8:2 kv:'c',12 hex:010000000000f07f",
                   true);
}
END_TEST

START_TEST(a_changed_number_is_written_with_its_old_bytes_still_there)
{
    struct cooked c;
    struct tenon_error err = {0};
    struct tenon_plan *plan;
    struct tenon_meta_entry entry;
    struct gen_bytes bytes = {0};

    cooked_open(&c, "gguf:3,0,1 kv:'a',4 u32:7", NULL);
    entry = *cooked_meta(&c, "a");
    ck_assert_ptr_nonnull(entry.raw);
    entry.value.as.u64 = 9;
    plan = planned_copy(c.model, true);
    plan->files[0].metas = &entry;
    ck_ok(planned_layout(plan, &err), err);
    planned_bytes(plan, 0, &bytes);
    ck_assert_uint_eq(bytes.data[bytes.n - 4], 9);
    gen_bytes_release(&bytes);
    tenon_plan_free(plan);
    cooked_release(&c);
}
END_TEST

START_TEST(sets_say_how_many_tensors_they_have)
{
    static const char set[] = "kv:'split.no',2 u16:0 kv:'split.count',2 u16:%d "
                              "kv:'split.tensors.count',5 u32:9";
    static const int counts[] = {0, 1, 2}, expected[] = {9, 9, 1};

    for (size_t i = 0; i < 3; i++) {
        char pairs[256], recipe[512];
        struct cooked c;
        struct tenon_error err = {0};
        struct tenon_plan *plan;
        struct tenon_open_options options;
        const struct tenon_plan_file *file;

        tenon_open_options_init(&options);
        options.lenient = true;
        snprintf(pairs, sizeof(pairs), set, counts[i]);
        snprintf(recipe, sizeof(recipe), "gguf:3,1,3 %s tensor:'t',[1],0,0 align:32 zeros:32",
                 pairs);
        cooked_open(&c, recipe, &options);
        ck_ok(c.status, c.err);
        plan = planned_copy(c.model, true);
        ck_ok(planned_layout(plan, &err), err);
        file = tenon_plan_file(plan, 0);
        ck_assert_uint_eq(file->n_metas, 3);
        ck_assert_int_eq(file->metas[2].value.as.i64, expected[i]);
        tenon_plan_free(plan);
        cooked_release(&c);
    }
}
END_TEST

/* --- what cannot be written --- */

struct refusal {
    enum tenon_status status;
    const char *subject, *text;
};

/* Lays out the sample after `change` was done to the plan. */
static void check_refusal(const char *sample, void (*change)(struct tenon_plan *plan),
                          struct refusal expected)
{
    struct cooked c;
    struct tenon_error err = {0};
    struct tenon_plan *plan;

    cooked_open(&c, sample, NULL);
    ck_ok(c.status, c.err);
    plan = planned_copy(c.model, false);
    change(plan);
    ck_assert_int_eq(planned_layout(plan, &err), expected.status);
    ck_assert_str_eq(err.subject, expected.subject);
    ck_assert_msg(strstr(err.message, expected.text) != NULL, "%s", err.message);
    ck_assert_uint_eq(plan->laid_out, false);
    tenon_plan_free(plan);
    cooked_release(&c);
}

static struct tenon_meta_entry pair_of(enum tenon_meta_type type, uint64_t value)
{
    return (struct tenon_meta_entry){.key = {"k", 1},
                                     .type = type,
                                     .item = type,
                                     .count = 1,
                                     .value = {.type = type, .as.u64 = value}};
}

/* Takes the place of all pairs. */
static void set_pair(struct tenon_plan *plan, struct tenon_meta_entry entry)
{
    struct tenon_meta_entry *metas = tenon_arena_alloc(&plan->arena, 1, sizeof(*metas));

    *metas = entry;
    plan->files[0].metas = metas;
    plan->files[0].n_metas = 1;
}

static void set_256_as_u8(struct tenon_plan *plan)
{
    set_pair(plan, pair_of(TENON_META_U8, 256));
}

static void set_128_as_i8(struct tenon_plan *plan)
{
    set_pair(plan, pair_of(TENON_META_I8, 128));
}

static void set_1e39_as_f32(struct tenon_plan *plan)
{
    struct tenon_meta_entry entry = pair_of(TENON_META_F32, 0);

    entry.value.as.f64 = 1e39;
    set_pair(plan, entry);
}

START_TEST(numbers_that_do_not_fit_are_refused)
{
    struct refusal expected = {TENON_ERR_CANNOT_REPRESENT, "k", "u8"};

    check_refusal("sample:tied_gguf", set_256_as_u8, expected);
    expected.text = "i8";
    check_refusal("sample:tied_gguf", set_128_as_i8, expected);
    expected.text = "f32";
    check_refusal("sample:tied_gguf", set_1e39_as_f32, expected);
}
END_TEST

static void set_short_array(struct tenon_plan *plan)
{
    static const unsigned char raw[7] = {0};
    struct tenon_meta_entry entry = pair_of(TENON_META_ARRAY, 0);

    entry.item = TENON_META_U32;
    entry.count = 2;
    entry.raw = raw;
    entry.raw_bytes = sizeof(raw);
    set_pair(plan, entry);
}

static void set_torn_strings(struct tenon_plan *plan)
{
    static const unsigned char raw[] = {1, 0, 0, 0, 0, 0, 0, 0, 'a', 2, 0, 0, 0, 0, 0, 0, 0, 'b'};
    struct tenon_meta_entry entry = pair_of(TENON_META_ARRAY, 0);

    entry.item = TENON_META_STRING;
    entry.count = 2;
    entry.raw = raw;
    entry.raw_bytes = sizeof(raw);
    set_pair(plan, entry);
}

START_TEST(arrays_whose_bytes_are_not_their_elements_are_refused)
{
    struct refusal expected = {TENON_ERR_MISUSE, "k", "not its elements"};

    check_refusal("sample:tied_gguf", set_short_array, expected);
    check_refusal("sample:tied_gguf", set_torn_strings, expected);
}
END_TEST

static void double_a_key(struct tenon_plan *plan)
{
    struct tenon_meta_entry *metas = tenon_arena_alloc(&plan->arena, 2, sizeof(*metas));

    metas[0] = metas[1] = plan->files[0].metas[0];
    plan->files[0].metas = metas;
    plan->files[0].n_metas = 2;
}

START_TEST(a_key_cannot_stand_twice)
{
    check_refusal("sample:tied_gguf", double_a_key,
                  (struct refusal){TENON_ERR_NAME_CLASH, "general.architecture", "two pairs"});
}
END_TEST

static void set_alignment_48(struct tenon_plan *plan)
{
    struct tenon_meta_entry entry = pair_of(TENON_META_U32, 48);

    entry.key = (struct tenon_str){"general.alignment", 17};
    set_pair(plan, entry);
}

static void plan_alignment_48(struct tenon_plan *plan)
{
    plan->files[0].alignment = 48;
}

START_TEST(an_alignment_must_be_a_power_of_two)
{
    struct refusal expected = {TENON_ERR_CANNOT_REPRESENT, "general.alignment", "power of two"};

    check_refusal("sample:tied_gguf", set_alignment_48, expected);
    check_refusal("sample:tied_gguf", plan_alignment_48, expected);
}
END_TEST

static void plan_version_4(struct tenon_plan *plan)
{
    plan->files[0].version = 4;
}

START_TEST(versions_to_come_are_refused)
{
    check_refusal("sample:tied_gguf", plan_version_4,
                  (struct refusal){TENON_ERR_CANNOT_REPRESENT, "", "version 4"});
}
END_TEST

static void cast_to_u8(struct tenon_plan *plan)
{
    plan->tensors[0].dtype = plan_spell_out(plan, 0)->dtype = TENON_DTYPE_U8;
}

static void cast_to_unknown(struct tenon_plan *plan)
{
    plan->tensors[0].dtype = plan_spell_out(plan, 0)->dtype = TENON_DTYPE_UNKNOWN;
}

static void cast_to_q4_k(struct tenon_plan *plan)
{
    plan->tensors[0].dtype = plan_spell_out(plan, 0)->dtype = TENON_DTYPE_Q4_K;
}

static void give_five_dims(struct tenon_plan *plan)
{
    static const uint64_t dims[] = {1, 1, 1, 40, 32};
    static const unsigned char payload[40 * 32 * 4];
    struct tenon_plan_tensor *full = plan_spell_out(plan, 0);

    full->source = (struct tenon_plan_source){.bytes = payload};
    full->dims = dims;
    full->n_dims = 5;
}

START_TEST(tensors_that_the_format_cannot_hold_are_refused)
{
    struct refusal expected = {TENON_ERR_CANNOT_REPRESENT, "token_embd.weight", "no type U8"};

    check_refusal("sample:tied_gguf", cast_to_u8, expected);
    expected.text = "only copied";
    check_refusal("sample:tied_gguf", cast_to_unknown, expected);
    expected.text = "rows of 32 are not whole blocks of Q4_K, which have 256";
    check_refusal("sample:tied_gguf", cast_to_q4_k, expected);
    expected.text = "5 dimensions";
    check_refusal("sample:tied_gguf", give_five_dims, expected);
}
END_TEST

static void repeat(struct tenon_plan *plan)
{
    plan->tensors[plan->n_tensors - 1] = plan->tensors[0];
}

static void repeat_at_once(struct tenon_plan *plan)
{
    plan->tensors[1] = plan->tensors[0];
}

static void repeat_in_full(struct tenon_plan *plan)
{
    repeat(plan);
    plan_spell_out(plan, 0);
}

/* A name of its own is a length and a text. */
static void rename_last(struct tenon_plan *plan)
{
    struct tenon_str name = tenon_plan_name(plan, 0);
    uint32_t len = (uint32_t)name.len;
    unsigned char *stored = tenon_arena_alloc(&plan->arena, sizeof(len) + len, 1);

    ck_assert_ptr_nonnull(stored);
    memcpy(stored, &len, sizeof(len));
    memcpy(stored + sizeof(len), name.data, len);
    plan->tensors[plan->n_tensors - 1].name = stored;
}

/* And the tensor that had the name goes. */
static void rename_last_two(struct tenon_plan *plan)
{
    rename_last(plan);
    plan->tensors[plan->n_tensors - 2].name = plan->tensors[plan->n_tensors - 1].name;
    plan->n_tensors--;
    memmove(plan->tensors, plan->tensors + 1, plan->n_tensors * sizeof(*plan->tensors));
}

START_TEST(a_name_stands_for_one_tensor_however_it_comes_twice)
{
    static void (*const changes[])(struct tenon_plan *) = {
        repeat, repeat_at_once, repeat_in_full, rename_last, rename_last_two,
    };

    check_refusal("sample:tied_gguf", changes[_i],
                  (struct refusal){TENON_ERR_NAME_CLASH, "token_embd.weight", "two tensors"});
}
END_TEST

static void turn_around(struct tenon_plan *plan)
{
    plan->files[0].big_endian = !plan->files[0].big_endian;
}

START_TEST(payloads_without_an_agreed_other_order_are_refused)
{
    struct refusal expected = {TENON_ERR_CANNOT_REPRESENT, "t", "IQ2_XXS in the other byte order"};

    check_refusal("gguf:3,1,0 tensor:'t',[256],16,0 align:32 zeros:96", turn_around, expected);
    expected.text = "a type that is not known in the other byte order";
    check_refusal("gguf:3,1,0 tensor:'t',[256],99,0 align:32 zeros:96", turn_around, expected);
}
END_TEST

/* --- what is said --- */

START_TEST(long_names_are_written_and_noted)
{
    struct cooked c;
    struct tenon_error err = {0};
    struct tenon_plan *plan;

    cooked_open(&c, "gguf:3,1,0 u64:64 {'n'}*64 u32:1 u64:1 u32:0 u64:0 align:32 zeros:32", NULL);
    ck_ok(c.status, c.err);
    plan = planned_copy(c.model, false);
    ck_ok(planned_layout(plan, &err), err);
    ck_assert_uint_eq(tenon_plan_n_notes(plan), 1);
    ck_assert(strstr(tenon_plan_note(plan, 0), "1 names of more than 63 bytes") != NULL);
    tenon_plan_free(plan);
    cooked_release(&c);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    struct cooked c;

    cooked_open(&c, "sample:aligned_gguf", NULL);
    ck_ok(c.status, c.err);
    for (int keep = 0; keep < 2; keep++) {
        enum tenon_status st = TENON_ERR_NO_MEMORY;
        uint64_t n;

        for (n = 1; st != TENON_OK; n++) {
            struct tenon_plan *plan = planned_copy(c.model, keep != 0);
            struct tenon_error err = {0};

            tenon_mem_fail_at(n, false);
            st = planned_layout(plan, &err);
            tenon_mem_fail_at(0, false);
            ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
            tenon_plan_free(plan);
        }
        ck_assert_uint_gt(n, 3);
    }
    cooked_release(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gguf_write");
    TCase *tests = tcase_create("gguf_write");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tests, version_1_becomes_version_3);
    tcase_add_test(tests, version_2_is_written_where_it_is_asked_for);
    tcase_add_test(tests, pairs_are_written_in_the_other_byte_order);
    tcase_add_test(tests, arrays_of_version_1_get_long_lengths);
    tcase_add_test(tests, nested_arrays_are_turned_around);
    tcase_add_test(tests, an_unusual_alignment_gets_its_key);
    tcase_add_test(tests, the_key_decides_about_the_alignment);
    tcase_add_test(tests, a_text_that_grows_and_shrinks_changes_nothing_else);
    tcase_add_test(tests, numbers_keep_their_bytes);
    tcase_add_test(tests, a_changed_number_is_written_with_its_old_bytes_still_there);
    tcase_add_test(tests, sets_say_how_many_tensors_they_have);
    tcase_add_test(tests, numbers_that_do_not_fit_are_refused);
    tcase_add_test(tests, arrays_whose_bytes_are_not_their_elements_are_refused);
    tcase_add_test(tests, a_key_cannot_stand_twice);
    tcase_add_test(tests, an_alignment_must_be_a_power_of_two);
    tcase_add_test(tests, versions_to_come_are_refused);
    tcase_add_test(tests, tensors_that_the_format_cannot_hold_are_refused);
    tcase_add_loop_test(tests, a_name_stands_for_one_tensor_however_it_comes_twice, 0, 5);
    tcase_add_test(tests, payloads_without_an_agreed_other_order_are_refused);
    tcase_add_test(tests, long_names_are_written_and_noted);
    tcase_add_test(tests, every_allocation_may_fail);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
