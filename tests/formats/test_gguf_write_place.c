/* Where payloads go: GGUF files that come back as they were, and tensors put in and taken out
 * again. Expected bytes come from the generator (testdata/gen), which shares no code with the
 * library. */
#include "folder.h"
#include "planned.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_single_gguf(const struct gen_sample *sample)
{
    const char *end = strrchr(sample->name, '_');

    return end != NULL && strcmp(end, "_gguf") == 0 && strncmp(sample->name, "split_", 6) != 0;
}

START_TEST(every_sample_comes_back_byte_for_byte)
{
    size_t n = 0;

    for (size_t i = 0; i < gen_n_samples; i++) {
        char recipe[128];

        /* Version 1 is not written. */
        if (!is_single_gguf(&gen_samples[i]) || strcmp(gen_samples[i].name, "tied_v1_gguf") == 0)
            continue;
        snprintf(recipe, sizeof(recipe), "sample:%s", gen_samples[i].name);
        check_identity(recipe, true);
        n++;
    }
    ck_assert_uint_ge(n, 28);
}
END_TEST

START_TEST(a_new_file_of_a_canonical_one_is_the_same_file)
{
    size_t n = 0;

    for (size_t i = 0; i < gen_n_samples; i++) {
        char recipe[128];
        const char *name = gen_samples[i].name;

        /* Of shared_gguf two tensors have one range; the others lack the padding that a new file
         * has even without tensors. */
        if (!is_single_gguf(&gen_samples[i]) || strcmp(name, "tied_v1_gguf") == 0 ||
            strcmp(name, "shared_gguf") == 0 || strcmp(name, "vocab_gguf") == 0 ||
            strcmp(name, "empty_gguf") == 0 || strncmp(name, "meta_", 5) == 0)
            continue;
        snprintf(recipe, sizeof(recipe), "sample:%s", name);
        check_identity(recipe, false);
        n++;
    }
    ck_assert_uint_ge(n, 23);
}
END_TEST

/* --- odd files --- */

/* Larger ones show nothing new here. */
#define MOST_ODD_BYTES ((size_t)4 << 20)

/* Accepted files of the damage lists, as they are; those of version 1 cannot come back. */
static bool is_odd_file(const struct gen_damage *damage, struct gen_files *files,
                        struct tenon_model **model)
{
    const struct gen_bytes *bytes;

    *files = (struct gen_files){0};
    *model = NULL;
    if (strcmp(damage->status, "ok") != 0)
        return false;
    gen_recipe_make(damage->recipe, files);
    bytes = &files->file[0].bytes;
    if (files->n == 1 && !files->folder && bytes->n > 8 && bytes->n < MOST_ODD_BYTES &&
        memcmp(bytes->data, "GGUF", 4) == 0 && bytes->data[4] != 1 && bytes->data[7] != 1 &&
        files->file[0].sparse == 0 &&
        tenon_model_open_memory(bytes->data, bytes->n, NULL, model, NULL) == TENON_OK)
        return true;
    gen_files_release(files);
    return false;
}

START_TEST(odd_files_that_are_accepted_come_back_too)
{
    size_t n = 0;

    for (size_t i = 0; i < gen_n_damages; i++) {
        struct gen_files files;
        struct tenon_model *model;
        struct gen_bytes bytes = {0};
        struct tenon_plan *plan;

        if (!is_odd_file(&gen_damages[i], &files, &model))
            continue;
        /* What the header's own padding holds is not kept, nor that it is missing where all
         * payloads are empty. */
        if (!has_finding(model, "padding_not_zero", NULL) &&
            files.file[0].bytes.n >= tenon_model_file(model, 0)->header_bytes) {
            plan = planned_copy(model, true);
            planned_result(plan, &bytes);
            check_same_bytes(gen_damages[i].id, &bytes, &files.file[0].bytes);
            tenon_plan_free(plan);
            n++;
        }
        gen_bytes_release(&bytes);
        tenon_model_free(model);
        gen_files_release(&files);
    }
    ck_assert_uint_ge(n, 100);
}
END_TEST

/* --- a tensor more, a tensor less --- */

/* The file with a tensor 'added' of `n` bytes before number `at`. */
static void insert_tensor(const struct tenon_model *model, size_t at, uint64_t n,
                          struct gen_bytes *out)
{
    static const unsigned char payload[4096] = {1, 2, 3};
    struct tenon_plan_source source = {.bytes = payload};
    struct tenon_plan_tensor added = {.name = {"added", 5},
                                      .dtype = TENON_DTYPE_I8,
                                      .n_dims = 1,
                                      .dims = &n,
                                      .sources = &source,
                                      .n_sources = 1};
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};

    ck_assert_uint_le(n, sizeof(payload));
    ck_ok(tenon_plan_new("planned", &plan, &err), err);
    planned_file(plan, model, 0, true);
    for (size_t i = 0; i <= tenon_model_n_tensors(model); i++) {
        if (i == at)
            ck_ok(tenon_plan_add_tensor(plan, &added, &err), err);
        if (i < tenon_model_n_tensors(model))
            ck_ok(tenon_plan_add_tensor_of(plan, model, tenon_model_tensor(model, i), 0, &err),
                  err);
    }
    planned_result(plan, out);
    tenon_plan_free(plan);
}

static void remove_tensor(const struct gen_bytes *in, size_t at, struct gen_bytes *out)
{
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};

    ck_ok(tenon_model_open_memory(in->data, in->n, NULL, &model, &err), err);
    ck_assert_int_eq(memcmp(tenon_model_tensor(model, at)->name.data, "added", 5), 0);
    ck_ok(tenon_plan_new("planned", &plan, &err), err);
    planned_file(plan, model, 0, true);
    for (size_t i = 0; i < tenon_model_n_tensors(model); i++)
        if (i != at)
            ck_ok(tenon_plan_add_tensor_of(plan, model, tenon_model_tensor(model, i), 0, &err),
                  err);
    planned_result(plan, out);
    tenon_plan_free(plan);
    tenon_model_free(model);
}

static void check_way_back(const char *name, const struct gen_bytes *file, size_t at, uint64_t n)
{
    struct gen_bytes more = {0}, less = {0};
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};

    ck_ok(tenon_model_open_memory(file->data, file->n, NULL, &model, &err), err);
    insert_tensor(model, at, n, &more);
    ck_assert_uint_gt(more.n, file->n);
    remove_tensor(&more, at, &less);
    check_same_bytes(name, &less, file);
    tenon_model_free(model);
    gen_bytes_release(&more);
    gen_bytes_release(&less);
}

START_TEST(a_tensor_put_in_and_taken_out_leaves_the_first_file)
{
    size_t n = 0;

    for (size_t i = 0; i < gen_n_samples; i++) {
        struct gen_files files = {0};

        if (!is_single_gguf(&gen_samples[i]) || strcmp(gen_samples[i].name, "tied_v1_gguf") == 0 ||
            strcmp(gen_samples[i].name, "unaligned_gguf") == 0)
            continue;
        gen_sample_make(&gen_samples[i], &files);
        if (strncmp(gen_samples[i].name, "meta_", 5) != 0 &&
            strcmp(gen_samples[i].name, "vocab_gguf") != 0 &&
            strcmp(gen_samples[i].name, "empty_gguf") != 0) {
            for (size_t at = 0; at < 6; at++)
                check_way_back(gen_samples[i].name, &files.file[0].bytes, at % 5, 33 + 31 * at);
            n++;
        }
        gen_files_release(&files);
    }
    ck_assert_uint_ge(n, 20);
}
END_TEST

static const char *const odd_recipes[] = {
    /* no padding at the end */
    "gguf:3,2,0 tensor:'a',[3],24,0 tensor:'b',[5],24,32 align:32 'aaa' zeros:29 'bbbbb'",
    /* padding, gaps and an end that are not zero */
    "gguf:3,2,0 tensor:'a',[3],24,0 tensor:'b',[5],24,96 align:32 'aaa' {'x'}*93 'bbbbb' "
    "{'y'}*100",
    /* payloads in another order than their records */
    "gguf:3,3,0 tensor:'a',[3],24,64 tensor:'b',[5],24,0 tensor:'c',[1],24,32 align:32 "
    "'bbbbb' zeros:27 'c' zeros:31 'aaa' zeros:29",
    /* two with one range, a third within another */
    "gguf:3,4,0 tensor:'a',[3],24,0 tensor:'b',[3],24,0 tensor:'c',[40],24,32 "
    "tensor:'d',[8],24,64 align:32 'aaa' zeros:29 {'c'}*40 zeros:24",
    /* packed tightly */
    "gguf:3,3,0 tensor:'a',[3],24,0 tensor:'b',[5],24,3 tensor:'c',[1],24,8 align:32 "
    "'aaabbbbbc'",
    /* an empty payload behind the end of the file */
    "gguf:3,2,0 tensor:'a',[3],24,0 tensor:'b',[0],24,32 align:32 'aaa'",
};
#define N_ODD (sizeof(odd_recipes) / sizeof(odd_recipes[0]))

START_TEST(the_way_back_leads_to_odd_files_too)
{
    for (size_t i = 0; i < N_ODD; i++) {
        struct gen_files files = {0};

        gen_recipe_make(odd_recipes[i], &files);
        check_identity(odd_recipes[i], true);
        /* Behind all payloads a tensor decides how the file ends: no way back to a missing padding.
         */
        for (size_t at = 0; at < (i + 1 < N_ODD ? 2 : 1); at++)
            check_way_back(odd_recipes[i], &files.file[0].bytes, at, 70);
        gen_files_release(&files);
    }
}
END_TEST

/* What stands behind the header of a file whose payloads are all empty, one of them of a type that
 * nobody knows at the very end. */
START_TEST(bytes_that_are_nobodys_stay)
{
    check_identity("gguf:3,1,0 tensor:'e',[0],99,1 align:32 'x'", true);
    check_identity("gguf:3,2,0 tensor:'a',[0],0,0 tensor:'e',[0],99,3 align:32 'xyz'", true);
}
END_TEST

/* --- what is brought along --- */

#define N_SMALL 200

/* A file of 200 tensors of one byte each, with padding that is not zero. */
static void make_small(struct gen_bytes *out)
{
    char recipe[N_SMALL * 64];
    size_t n = (size_t)snprintf(recipe, sizeof(recipe), "gguf:3,%d,0", N_SMALL);
    struct gen_files files = {0};

    for (unsigned i = 0; i < N_SMALL; i++)
        n +=
            (size_t)snprintf(recipe + n, sizeof(recipe) - n, " tensor:'%03u',[1],24,%u", i, 32 * i);
    snprintf(recipe + n, sizeof(recipe) - n, " align:32 {'1234567'}*914 zeros:2");
    gen_recipe_make(recipe, &files);
    gen_raw(out, files.file[0].bytes.data, files.file[0].bytes.n);
    gen_files_release(&files);
}

/* All tensors of `model` but number `without`, one of them perhaps with another value. */
static size_t count_rests(const struct tenon_model *model, size_t without, size_t changed,
                          struct gen_bytes *out)
{
    static const unsigned char payload[1] = {'!'};
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};
    size_t n;

    ck_ok(tenon_plan_new("planned", &plan, &err), err);
    planned_file(plan, model, 0, true);
    for (size_t i = 0; i < tenon_model_n_tensors(model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(model, i);
        struct tenon_plan_tensor made = {.name = t->name,
                                         .dtype = TENON_DTYPE_I8,
                                         .n_dims = 1,
                                         .dims = t->dims,
                                         .source = {.bytes = payload},
                                         .n_sources = 1};

        if (i == changed)
            ck_ok(tenon_plan_add_tensor(plan, &made, &err), err);
        else if (i != without)
            ck_ok(tenon_plan_add_tensor_of(plan, model, t, 0, &err), err);
    }
    planned_result(plan, out);
    n = plan->n_rests;
    tenon_plan_free(plan);
    return n;
}

START_TEST(neighbouring_gaps_and_what_is_between_them_are_brought_along_as_one)
{
    struct gen_bytes file = {0}, same = {0}, less = {0}, other = {0};
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    uint64_t data;

    make_small(&file);
    ck_ok(tenon_model_open_memory(file.data, file.n, NULL, &model, &err), err);
    data = tenon_model_tensor(model, 0)->offset;
    ck_assert_uint_eq(count_rests(model, N_SMALL, N_SMALL, &same), 1);
    check_same_bytes("all", &same, &file);
    /* Before the gap and behind it the distances are others. */
    ck_assert_uint_eq(count_rests(model, 50, N_SMALL, &less), 2);
    ck_assert_uint_eq(less.n, file.n - 64); /* its record, 3 + 37 bytes, and its payload */
    ck_assert_mem_eq(less.data + less.n - 149 * 32, file.data + file.n - 149 * 32, 149 * 32);
    /* A payload that is new is nobody's neighbour, nor is its padding. */
    ck_assert_uint_eq(count_rests(model, N_SMALL, 50, &other), 2);
    ck_assert_uint_eq(other.n, file.n);
    ck_assert_int_eq(other.data[data + 50 * 32], '!');
    ck_assert_int_eq(other.data[data + 50 * 32 + 1], 0);
    ck_assert_mem_eq(other.data + data + 51 * 32, file.data + data + 51 * 32, 149 * 32);
    tenon_model_free(model);
    gen_bytes_release(&file);
    gen_bytes_release(&same);
    gen_bytes_release(&less);
    gen_bytes_release(&other);
}
END_TEST

/* --- several files out of one --- */

/* Payloads in another order than their records, with what lies between them. */
static const char mixed[] =
    "gguf:3,4,0 tensor:'a',[3],24,64 tensor:'b',[5],24,0 tensor:'c',[1],24,32 tensor:'d',[2],24,98 "
    "align:32 'bbbbb' {'x'}*27 'c' {'y'}*31 'aaa' {'z'}*31 'dd' {'w'}*28";

/* Two of its tensors go into one file, behind a new one, and two into another; `half` is 0 or 1, or
 * 2: both, one after the other. */
static struct tenon_plan *plan_halves(const struct tenon_model *model, int half)
{
    static const unsigned char payload[7] = {1, 2, 3};
    static const char names[2][2] = {{'d', 'b'}, {'a', 'c'}};
    uint64_t n = sizeof(payload);
    struct tenon_plan_tensor added = {.name = {"new", 3},
                                      .dtype = TENON_DTYPE_I8,
                                      .n_dims = 1,
                                      .dims = &n,
                                      .source = {.bytes = payload},
                                      .n_sources = 1};
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};

    ck_ok(tenon_plan_new("planned", &plan, &err), err);
    for (int h = 0; h < 2; h++) {
        if (half != 2 && half != h)
            continue;
        added.file = planned_file(plan, model, 0, true);
        plan->files[added.file].path = h == 0 ? "first" : "second";
        if (h == 0)
            ck_ok(tenon_plan_add_tensor(plan, &added, &err), err);
        for (int k = 0; k < 2; k++)
            ck_ok(tenon_plan_add_tensor_of(plan, model, tenon_model_find(model, &names[h][k], 1),
                                           added.file, &err),
                  err);
    }
    return plan;
}

START_TEST(what_is_found_out_for_one_file_changes_nothing_in_the_next)
{
    struct cooked c;
    struct tenon_plan *both, *one;
    struct tenon_error err = {0};

    cooked_open(&c, mixed, NULL);
    ck_ok(c.status, c.err);
    check_identity(mixed, true);
    both = plan_halves(c.model, 2);
    ck_ok(planned_layout(both, &err), err);
    ck_assert_ptr_null(both->found);
    for (uint32_t half = 0; half < 2; half++) {
        struct gen_bytes alone = {0}, beside = {0};

        one = plan_halves(c.model, (int)half);
        planned_result(one, &alone);
        planned_bytes(both, half, &beside);
        check_same_bytes("half", &beside, &alone);
        tenon_plan_free(one);
        gen_bytes_release(&alone);
        gen_bytes_release(&beside);
    }
    tenon_plan_free(both);
    cooked_release(&c);
}
END_TEST

START_TEST(a_layout_without_memory_can_be_tried_again)
{
    struct cooked c;
    enum tenon_status st = TENON_ERR_NO_MEMORY;
    struct gen_bytes expected = {0};
    struct tenon_plan *plan;
    uint64_t n;

    cooked_open(&c, mixed, NULL);
    ck_ok(c.status, c.err);
    plan = plan_halves(c.model, 2);
    planned_result(plan, &expected);
    tenon_plan_free(plan);
    for (n = 1; st != TENON_OK; n++) {
        struct gen_bytes bytes = {0};
        struct tenon_error err = {0};

        plan = plan_halves(c.model, 2);
        tenon_mem_fail_at(n, false);
        st = planned_layout(plan, &err);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
        planned_result(plan, &bytes);
        check_same_bytes("again", &bytes, &expected);
        tenon_plan_free(plan);
        gen_bytes_release(&bytes);
    }
    ck_assert_uint_gt(n, 12); /* lists, keys, bits, heads, orders */
    gen_bytes_release(&expected);
    cooked_release(&c);
}
END_TEST

static void read_file(const char *path, struct gen_bytes *out)
{
    FILE *f = fopen(path, "rb");
    unsigned char part[4096];
    size_t n;

    ck_assert_ptr_nonnull(f);
    while ((n = fread(part, 1, sizeof(part), f)) > 0)
        gen_raw(out, part, n);
    fclose(f);
}

/* The runner's part in it: what has no name is copied, what is shared is written once. */
START_TEST(odd_files_are_run_as_they_are_laid_out)
{
    for (size_t i = 0; i < N_ODD; i++) {
        char folder[512], path[600];
        struct cooked c;
        struct tenon_plan *plan = NULL;
        struct tenon_run_options options;
        struct tenon_error err = {0};
        struct gen_bytes bytes = {0};

        folder_make(folder);
        snprintf(path, sizeof(path), "%sout.gguf", folder);
        cooked_open(&c, odd_recipes[i], NULL);
        ck_ok(c.status, c.err);
        plan = planned_copy(c.model, true);
        plan->files[0].path = path;
        ck_ok(planned_layout(plan, &err), err);
        tenon_run_options_init(&options);
        options.verify = options.no_sync = true;
        ck_ok(tenon_plan_run(plan, &options, &err), err);
        read_file(path, &bytes);
        check_same_bytes(odd_recipes[i], &bytes, &c.files.file[0].bytes);
        gen_bytes_release(&bytes);
        tenon_plan_free(plan);
        cooked_release(&c);
        folder_remove(folder);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gguf_write_place");
    TCase *tests = tcase_create("gguf_write_place");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_sample_comes_back_byte_for_byte);
    tcase_add_test(tests, a_new_file_of_a_canonical_one_is_the_same_file);
    tcase_add_test(tests, odd_files_that_are_accepted_come_back_too);
    tcase_add_test(tests, a_tensor_put_in_and_taken_out_leaves_the_first_file);
    tcase_add_test(tests, the_way_back_leads_to_odd_files_too);
    tcase_add_test(tests, bytes_that_are_nobodys_stay);
    tcase_add_test(tests, neighbouring_gaps_and_what_is_between_them_are_brought_along_as_one);
    tcase_add_test(tests, what_is_found_out_for_one_file_changes_nothing_in_the_next);
    tcase_add_test(tests, a_layout_without_memory_can_be_tried_again);
    tcase_add_test(tests, odd_files_are_run_as_they_are_laid_out);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
