/* Edited copies of safetensors files. That a copy is right is seen by reading it and by going back;
 * expected bytes of single cases were written by hand. */
#include "edited.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "odd_header.h"
#include "spell_out.h"

/* --- properties --- */

enum { SEEDS = 6000, PARTS = 8 };

/* Headers of every style: nothing done changes nothing, and taking out what was put in restores
 * every byte. */
START_TEST(taking_out_what_was_put_in_restores_every_byte)
{
    size_t with_tensors = 0;

    for (uint64_t seed = (uint64_t)_i; seed < SEEDS; seed += PARTS) {
        struct copy a = {.model = NULL};

        odd_header_make(&a.bytes, seed);
        copy_open(&a);
        with_tensors += tenon_model_n_tensors(a.model) > 0;
        check_there_and_back(&a, seed / PARTS);
        copy_release(&a);
    }
    ck_assert_uint_gt(with_tensors, SEEDS / PARTS / 2);
}
END_TEST

/* Where all tensors lie at multiples of their elements' size, so do they with a new one. */
START_TEST(a_new_tensor_keeps_all_aligned)
{
    size_t judged = 0;

    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct edit there = {.add = {HEAD}};
        struct copy a = {.model = NULL}, b;
        bool aligned = true;

        odd_header_make(&a.bytes, seed);
        copy_open(&a);
        for (uint32_t i = 0; i < tenon_model_n_tensors(a.model); i++) {
            const struct tenon_tensor *t = tenon_model_tensor(a.model, i);
            uint64_t size = 0;

            aligned &=
                tenon_dtype_bytes((enum tenon_dtype)t->dtype, 1, &size) && t->offset % size == 0;
            if (t->bytes % 8 == 0 && t->bytes > 0)
                there.from = i;
        }
        if (aligned && tenon_model_n_tensors(a.model) > 0 &&
            tenon_model_tensor(a.model, there.from)->bytes % 8 == 0) {
            copy_edit(&a, &there, &b);
            for (size_t i = 0; i < tenon_model_n_tensors(b.model); i++) {
                const struct tenon_tensor *t = tenon_model_tensor(b.model, i);
                uint64_t size = 1;

                ck_assert(tenon_dtype_bytes((enum tenon_dtype)t->dtype, 1, &size));
                ck_assert_uint_eq(t->offset % size, 0);
            }
            copy_release(&b);
            judged++;
        }
        copy_release(&a);
    }
    ck_assert_uint_gt(judged, 100);
}
END_TEST

/* Files that others made. */
START_TEST(real_files_come_back)
{
    const char *real = getenv("TENON_REAL_DIR");
    char path[2048];
    DIR *folder;
    size_t n = 0;

    if (real == NULL)
        return;
    snprintf(path, sizeof(path), "%s/safetensors", real);
    folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct copy a = {.model = NULL};
        FILE *f;

        snprintf(path, sizeof(path), "%s/safetensors/%s", real, entry->d_name);
        f = strstr(entry->d_name, ".safetensors") != NULL ? fopen(path, "rb") : NULL;
        if (f == NULL)
            continue;
        for (int c; (c = getc(f)) != EOF;)
            gen_u8(&a.bytes, (uint64_t)c);
        fclose(f);
        if (tenon_model_open_memory(a.bytes.data, a.bytes.n, NULL, &a.model, NULL) == TENON_OK)
            check_there_and_back(&a, n++);
        copy_release(&a);
    }
    closedir(folder);
    printf("%zu real files\n", n);
    ck_assert_uint_gt(n, 0);
}
END_TEST

/* --- single cases --- */

/* The bytes after the length field. */
static void check_header(const struct copy *c, const char *wanted)
{
    size_t n = strlen(wanted);

    ck_assert_uint_ge(c->bytes.n, n + 8);
    ck_assert_msg(memcmp(c->bytes.data + 8, wanted, n) == 0, "%.*s", (int)(c->bytes.n - 8),
                  c->bytes.data + 8);
}

#define ENTRY(name, dtype, shape, offsets)                                                         \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" offsets "]}"

START_TEST(a_header_of_the_reference_stays_one)
{
    struct edit there = {.add = {"b"}, .from = 1};
    struct copy a, b;

    copy_make_aligned(
        &a,
        "{\"__metadata__\":{\"format\":\"pt\"}," ENTRY("z", "F32", "1", "0,4") "," ENTRY(
            "a", "U8", "2", "4,6") "," ENTRY("c", "U8", "1", "6,7") "}",
        7);
    ck_assert_uint_eq(tenon_model_file(a.model, 0)->header_bytes % 8, 0);
    copy_edit(&a, &there, &b);
    check_header(&b,
                 "{\"__metadata__\":{\"format\":\"pt\"}," ENTRY("z", "F32", "1", "0,4") "," ENTRY(
                     "a", "U8", "2", "4,6") "," ENTRY("b", "U8", "2",
                                                      "6,8") "," ENTRY("c", "U8", "1",
                                                                       "8,9") "}       ABCDEFEFG");
    copy_release(&a);
    copy_release(&b);
}
END_TEST

START_TEST(another_header_gets_the_new_entry_behind_all_others)
{
    struct edit there = {.add = {"a"}};
    struct copy a, b;

    /* 8 blanks and as many more as make 64 bytes of it: the header was not padded. */
    copy_make(&a, "{\"b\": {\"dtype\": \"U8\", \"shape\": [2], \"data_offsets\": [0, 2]}}", 2);
    copy_edit(&a, &there, &b);
    check_header(&b, "{\"b\": {\"dtype\": \"U8\", \"shape\": [2], \"data_offsets\": [0, 2]},"
                     "            " ENTRY("a", "U8", "2", "2,4") "}ABAB");
    copy_release(&a);
    copy_release(&b);
}
END_TEST

START_TEST(a_renamed_tensor_keeps_its_place)
{
    struct edit rename = {.add = {"c\""}, .from = 0, .drop = "b"};
    struct copy a, b;

    copy_make(&a,
              "{ \"b\" :{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}, " ENTRY(
                  "a", "U8", "1", "1,2") "}",
              2);
    copy_edit(&a, &rename, &b);
    check_header(&b, "{ \"c\\\"\" :{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}, " ENTRY(
                         "a", "U8", "1", "1,2") "}AB");
    copy_release(&a);
    copy_release(&b);
}
END_TEST

START_TEST(a_removed_tensor_leaves_no_gap)
{
    struct edit drop = {.drop = "b"};
    struct copy a, b;

    copy_make(&a,
              "{" ENTRY("a", "U8", "1", "0,1") "," ENTRY("b", "U8", "2", "1,3") "," ENTRY(
                  "c", "U8", "1", "3,4") "}\n",
              4);
    copy_edit(&a, &drop, &b);
    check_header(&b, "{" ENTRY("a", "U8", "1", "0,1") "," ENTRY("c", "U8", "1", "1,2") "}\nAD");
    copy_release(&a);
    copy_release(&b);
}
END_TEST

START_TEST(a_page_aligned_header_stays_one)
{
    struct edit there = {.add = {"b"}}, drop = {.drop = "a"};
    char header[4089] = "{" ENTRY("a", "U8", "2", "0,2") "," ENTRY("q", "U8", "2", "2,4") "}";
    struct copy a, b;
    size_t n = strlen(header);

    memset(header + n, ' ', 4088 - n);
    copy_make(&a, header, 4);
    copy_edit(&a, &there, &b);
    ck_assert_uint_eq(tenon_model_file(b.model, 0)->header_bytes, 8192);
    copy_release(&b);
    copy_edit(&a, &drop, &b);
    ck_assert_uint_eq(tenon_model_file(b.model, 0)->header_bytes % 4096, 0);
    copy_release(&b);
    copy_release(&a);
}
END_TEST

START_TEST(pairs_keep_their_place_and_spelling)
{
    static const char text[] = "{\"__metadata__\": {\"b\":\"\\u0041\", \"a\" : \"2\"}}";
    struct edit value = {.key = "a", .new_value = "3\n"}, gone = {.key = "b"};
    struct edit more = {.add_key = "0"};
    struct copy a, b;

    copy_make(&a, text, 0);
    copy_edit(&a, &value, &b);
    check_header(&b, "{\"__metadata__\": {\"b\":\"\\u0041\", \"a\" : \"3\\n\"}}");
    copy_release(&b);
    copy_edit(&a, &gone, &b);
    check_header(&b, "{\"__metadata__\": {\"a\" : \"2\"}}");
    copy_release(&b);
    copy_edit(&a, &more, &b);
    check_header(&b, "{\"__metadata__\": {\"b\":\"\\u0041\", \"a\" : \"2\", \"0\":\"added\"}}");
    copy_release(&b);
    copy_release(&a);
}
END_TEST

START_TEST(metadata_comes_and_goes)
{
    struct edit more = {.add_key = "k"}, gone = {.key = "k"};
    struct copy a, b, c;

    copy_make_aligned(&a, "{" ENTRY("a", "U8", "2", "0,2") "}", 2);
    copy_edit(&a, &more, &b);
    check_header(&b, "{\"__metadata__\":{\"k\":\"added\"}," ENTRY("a", "U8", "2", "0,2") "}");
    copy_edit(&b, &gone, &c);
    check_same(&a, &c);
    copy_release(&c);
    copy_release(&b);
    copy_release(&a);
}
END_TEST

/* A value of 10 bytes grows to 5000 and shrinks again. */
START_TEST(a_pair_grows_and_shrinks)
{
    char big[5001];
    struct edit grow = {.key = "k", .new_value = big},
                shrink = {.key = "k", .new_value = "0123456789"};
    struct copy a, b, c;

    memset(big, 'x', 5000);
    big[5000] = '\0';
    copy_make_aligned(
        &a,
        "{\"__metadata__\":{\"j\":\"1\",\"k\":\"0123456789\"}," ENTRY("a", "U8", "2", "0,2") "}",
        2);
    ck_assert_uint_eq(tenon_model_file(a.model, 0)->header_bytes % 8, 0);
    copy_edit(&a, &grow, &b);
    check_kept(&a, &b);
    ck_assert_uint_eq(tenon_model_file(b.model, 0)->header_bytes % 8, 0);
    copy_edit(&b, &shrink, &c);
    check_same(&a, &c);
    copy_release(&c);
    copy_release(&b);
    copy_release(&a);
}
END_TEST

/* Two names of one range stay so, unless one is to have bytes of its own. */
START_TEST(a_shared_range_stays_shared_or_is_parted)
{
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};
    struct edit none = {.from = 0};
    struct copy a, b = {.model = NULL};

    copy_make(&a, "{" ENTRY("a", "U8", "2", "0,2") "," ENTRY("b", "U8", "2", "0,2") "}", 2);
    copy_edit(&a, &none, &b);
    check_same(&a, &b);
    copy_release(&b);
    memset(&b, 0, sizeof(b));
    ck_ok(make_plan(&a, &none, &plan, &err), err);
    plan->tensors[1].apart = true;
    ck_ok(tenon_plan_layout(plan, &err), err);
    assemble(plan, 0, &b.bytes);
    tenon_plan_free(plan);
    copy_open(&b);
    check_header(&b, "{" ENTRY("a", "U8", "2", "0,2") "," ENTRY("b", "U8", "2", "2,4") "}ABAB");
    copy_release(&b);
    copy_release(&a);
}
END_TEST

START_TEST(a_tensor_of_another_type_is_spelled_anew)
{
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};
    struct edit none = {.from = 0};
    struct copy a, b = {.model = NULL};
    struct tenon_plan_tensor *full;

    copy_make_aligned(&a, "{" ENTRY("a", "U8", "2", "0,2") "," ENTRY("b", "U8", "2", "2,4") "}", 4);
    ck_ok(make_plan(&a, &none, &plan, &err), err);
    full = plan_spell_out(plan, 1);
    plan->tensors[1].dtype = full->dtype = TENON_DTYPE_F32;
    full->bytes = 8;
    ck_ok(tenon_plan_layout(plan, &err), err);
    ck_assert_uint_eq(tenon_plan_name(plan, 0).data[0], 'b');
    put_head(plan, 0, &b.bytes);
    check_header(&b, "{" ENTRY("b", "F32", "2", "0,8") "," ENTRY("a", "U8", "2", "8,10") "}");
    ck_assert_uint_eq(plan->files[0].bytes, plan->files[0].head_bytes + 10);
    tenon_plan_free(plan);
    gen_bytes_release(&b.bytes);
    copy_release(&a);
}
END_TEST

START_TEST(every_failed_allocation_is_survived)
{
    struct edit there = {.add = {HEAD}, .key = "k", .new_value = "v", .add_key = "new"};
    struct copy a;
    uint64_t n = 1;

    copy_make(&a,
              "{\"b\": {\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
              "\"__metadata__\":{\"k\":\"\\u0041\"}}",
              2);
    for (;; n++) {
        struct tenon_plan *plan = NULL;
        struct tenon_error err = {0};
        enum tenon_status st;

        tenon_mem_fail_at(n, true);
        st = make_plan(&a, &there, &plan, &err);
        if (st == TENON_OK)
            st = tenon_plan_layout(plan, &err);
        tenon_mem_fail_at(0, false);
        tenon_plan_free(plan);
        if (st == TENON_OK)
            break;
        ck_assert_int_eq(st, TENON_ERR_NO_MEMORY);
    }
    ck_assert_uint_gt(n, 20);
    copy_release(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("safetensors_like");
    TCase *property = tcase_create("property"), *single = tcase_create("single");

    tcase_set_timeout(property, 120);
    tcase_add_loop_test(property, taking_out_what_was_put_in_restores_every_byte, 0, PARTS);
    tcase_add_test(property, a_new_tensor_keeps_all_aligned);
    tcase_add_test(property, real_files_come_back);
    suite_add_tcase(suite, property);
    tcase_add_test(single, a_header_of_the_reference_stays_one);
    tcase_add_test(single, another_header_gets_the_new_entry_behind_all_others);
    tcase_add_test(single, a_renamed_tensor_keeps_its_place);
    tcase_add_test(single, a_removed_tensor_leaves_no_gap);
    tcase_add_test(single, a_page_aligned_header_stays_one);
    tcase_add_test(single, pairs_keep_their_place_and_spelling);
    tcase_add_test(single, metadata_comes_and_goes);
    tcase_add_test(single, a_pair_grows_and_shrinks);
    tcase_add_test(single, a_shared_range_stays_shared_or_is_parted);
    tcase_add_test(single, a_tensor_of_another_type_is_spelled_anew);
    tcase_add_test(single, every_failed_allocation_is_survived);
    suite_add_tcase(suite, single);
    return run_suite(suite);
}
