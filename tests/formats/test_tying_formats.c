/* Verdicts on tying over files: GGUF, safetensors, and Hugging Face folders with their configs. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "folder.h"
#include "gen.h"
#include "gen_kinds.h"
#include "tenon/tying.h"

#define INDEX "model.safetensors.index.json"
#define A     "model-00001-of-00002.safetensors"
#define B     "model-00002-of-00002.safetensors"

static char dir[512];
static struct tenon_model *model;
static struct tenon_tying *tying;

static void set_up(void)
{
    folder_make(dir);
}

static void close_all(void)
{
    tenon_tying_free(tying);
    tenon_model_free(model);
    tying = NULL;
    model = NULL;
}

static void tear_down(void)
{
    close_all();
    folder_remove(dir);
}

static const char *analyse(void)
{
    struct tenon_error err = {0};
    enum tenon_status st = tenon_tying_analyse(model, NULL, &tying, &err);

    ck_assert_msg(st == TENON_OK, "%s", err.message);
    return tenon_verdict_name(tying->verdict);
}

/* The verdict on the folder, or on a file in it. */
static const char *judge_path(const char *name)
{
    struct tenon_error err = {0};
    char path[1024];
    enum tenon_status st;

    close_all();
    snprintf(path, sizeof(path), "%s%s", dir, name);
    st = tenon_model_open(path, NULL, &model, &err);
    ck_assert_msg(st == TENON_OK, "%s: %s (%s)", path, err.message, err.subject);
    return analyse();
}

static const char *judge_bytes(const struct gen_bytes *bytes)
{
    struct tenon_error err = {0};
    enum tenon_status st;

    close_all();
    st = tenon_model_open_memory(bytes->data, bytes->n, NULL, &model, &err);
    ck_assert_msg(st == TENON_OK, "%s (%s)", err.message, err.subject);
    return analyse();
}

static bool noted(const char *words)
{
    for (size_t i = 0; i < tying->n_notes; i++)
        if (strstr(tying->notes[i], words) != NULL)
            return true;
    return false;
}

/* Ways to store the head, and the verdicts on them. */
static const struct {
    enum gen_head head;
    const char *verdict;
    const char *gguf; /* llama.cpp's action */
} heads[] = {
    {GEN_HEAD_ABSENT, "absent", "ties"},
    {GEN_HEAD_IDENTICAL, "identical", "keeps_both"},
    {GEN_HEAD_EQUAL, "equal", "keeps_both"},
    {GEN_HEAD_TRANSPOSED, "equal", "refuses"},
    {GEN_HEAD_QUANTIZED, "quantized", "keeps_both"},
    {GEN_HEAD_SCALED, "scaled", "keeps_both"},
    {GEN_HEAD_PARTIAL, "partial", "keeps_both"},
    {GEN_HEAD_DIFFERENT, "different", "keeps_both"},
    {GEN_HEAD_NARROW, "incompatible", "refuses"},
};

enum { N_HEADS = sizeof(heads) / sizeof(heads[0]) };

START_TEST(every_way_to_store_a_head_is_judged_in_gguf)
{
    struct gen_model made = {0};
    struct gen_bytes bytes = {0};

    gen_kind_kv(&made, &gen_llama);
    gen_kind_tensors(&made, &gen_llama, true, "F16", heads[_i].head);
    gen_write_gguf(&bytes, &made, 3, 32);
    ck_assert_str_eq(judge_bytes(&bytes), heads[_i].verdict);
    ck_assert_str_eq(tenon_loader_action_name(tying->llama_cpp), heads[_i].gguf);
    ck_assert(tying->consistent);
    gen_bytes_release(&bytes);
    gen_model_release(&made);
}
END_TEST

START_TEST(a_byte_swapped_gguf_file_gets_the_same_verdict)
{
    struct gen_model made = {.kv.big = true};
    struct gen_bytes bytes = {0};

    gen_kind_kv(&made, &gen_llama);
    gen_kind_tensors(&made, &gen_llama, true, "F16", heads[_i].head);
    gen_write_gguf(&bytes, &made, 3, 32);
    ck_assert_str_eq(judge_bytes(&bytes), heads[_i].verdict);
    gen_bytes_release(&bytes);
    gen_model_release(&made);
}
END_TEST

/* GGUF blocks have no place in safetensors: there the quantized way is skipped. */
START_TEST(every_way_to_store_a_head_is_judged_in_a_folder)
{
    struct gen_model made = {0};
    struct gen_bytes bytes = {0}, config = {0};
    bool differs = strcmp(heads[_i].verdict, "scaled") == 0 ||
                   strcmp(heads[_i].verdict, "partial") == 0 ||
                   strcmp(heads[_i].verdict, "different") == 0 ||
                   strcmp(heads[_i].verdict, "incompatible") == 0;
    bool misfits = strcmp(heads[_i].gguf, "refuses") == 0; /* a shape that nothing asks for */

    if (heads[_i].head == GEN_HEAD_QUANTIZED)
        return;
    gen_kind_tensors(&made, &gen_llama, false, "BF16", heads[_i].head);
    gen_kind_config(&config, &gen_llama, "\"tie_word_embeddings\":true");
    gen_write_safetensors(&bytes, &made, 0, made.n_tensors, NULL);
    folder_write(dir, "config.json", config.data, config.n);
    folder_write(dir, "model.safetensors", bytes.data, bytes.n);
    ck_assert_str_eq(judge_path(""), heads[_i].verdict);
    ck_assert_int_eq(tying->declared, TENON_YES);
    ck_assert_int_eq(tying->consistent, !differs);
    ck_assert_int_eq(noted("contradiction"), differs);
    ck_assert_str_eq(tenon_loader_action_name(tying->transformers_v4), misfits   ? "refuses"
                                                                       : differs ? "drops_output"
                                                                                 : "ties");
    ck_assert_str_eq(tenon_loader_action_name(tying->transformers_v5), misfits   ? "refuses"
                                                                       : differs ? "keeps_both"
                                                                                 : "ties");
    gen_bytes_release(&config);
    gen_bytes_release(&bytes);
    gen_model_release(&made);
}
END_TEST

START_TEST(a_bare_safetensors_file_is_judged_by_what_it_holds)
{
    struct gen_model made = {0};
    struct gen_bytes bytes = {0};

    if (heads[_i].head == GEN_HEAD_QUANTIZED)
        return;
    gen_kind_tensors(&made, &gen_llama, false, "F32", heads[_i].head);
    gen_write_safetensors(&bytes, &made, 0, made.n_tensors, NULL);
    if (heads[_i].head == GEN_HEAD_EQUAL) /* the same type then */
        ck_assert_str_eq(judge_bytes(&bytes), "identical");
    else
        ck_assert_str_eq(judge_bytes(&bytes), heads[_i].verdict);
    ck_assert_int_eq(tying->declared, TENON_SILENT);
    ck_assert_str_eq(tenon_loader_action_name(tying->transformers_v5), "unknown");
    gen_bytes_release(&bytes);
    gen_model_release(&made);
}
END_TEST

START_TEST(two_gguf_records_of_one_range_are_shared)
{
    struct gen_model made = {0};
    struct gen_bytes bytes = {0};

    gen_kind_kv(&made, &gen_llama);
    gen_kind_tensors(&made, &gen_llama, true, "F16", GEN_HEAD_SHARED);
    gen_write_gguf(&bytes, &made, 3, 32);
    ck_assert_str_eq(judge_bytes(&bytes), "shared");
    gen_bytes_release(&bytes);
    gen_model_release(&made);
}
END_TEST

/* Writes shard `no` (from 0) of two: one matrix of 16 x 8. */
static void write_gguf_shard(int no, const char *name)
{
    const uint64_t dims[] = {16, 8};
    struct gen_model made = {0};
    struct gen_bytes bytes = {0};
    char file[64];

    gen_kv_str(&made, "general.architecture", "llama");
    gen_kv_begin(&made, "split.no", GEN_U16);
    gen_u16(&made.kv, (uint64_t)no);
    gen_kv_begin(&made, "split.count", GEN_U16);
    gen_u16(&made.kv, 2);
    gen_kv_begin(&made, "split.tensors.count", GEN_I32);
    gen_u32(&made.kv, 2);
    gen_tensor_values(gen_tensor_add(&made, name, "F32", 2, dims), (uint64_t)no, 1);
    gen_write_gguf(&bytes, &made, 3, 32);
    snprintf(file, sizeof(file), "m-%05d-of-00002.gguf", no + 1);
    folder_write(dir, file, bytes.data, bytes.n);
    gen_bytes_release(&bytes);
    gen_model_release(&made);
}

START_TEST(a_head_in_the_second_shard_unties_the_first)
{
    write_gguf_shard(0, "token_embd.weight");
    write_gguf_shard(1, "output.weight");
    ck_assert_str_eq(judge_path("m-00001-of-00002.gguf"), "different");
    ck_assert(!tying->tied);
    ck_assert_str_eq(judge_path("m-00002-of-00002.gguf"), "different");
}
END_TEST

/* --- folders: every contradiction of flag and weights --- */

/* A folder with a llama of `head` and these last members in its config. */
static void write_folder(enum gen_head head, const char *flags, const char *metadata)
{
    struct gen_model made = {0};
    struct gen_bytes bytes = {0}, config = {0};

    gen_kind_tensors(&made, &gen_llama, false, "F32", head);
    gen_kind_config(&config, &gen_llama, flags);
    gen_write_safetensors(&bytes, &made, 0, made.n_tensors, metadata);
    folder_write(dir, "config.json", config.data, config.n);
    folder_write(dir, "model.safetensors", bytes.data, bytes.n);
    gen_bytes_release(&config);
    gen_bytes_release(&bytes);
    gen_model_release(&made);
}

START_TEST(a_false_flag_without_a_head_is_missing)
{
    write_folder(GEN_HEAD_ABSENT, "\"tie_word_embeddings\":false", NULL);
    ck_assert_str_eq(judge_path(""), "missing");
    ck_assert_int_eq(tying->declared, TENON_NO);
    ck_assert(!tying->consistent);
    ck_assert(noted("contradiction"));
    ck_assert(strstr(tying->declared_by, "tie_word_embeddings") != NULL);
}
END_TEST

START_TEST(a_silent_config_without_a_head_says_what_it_assumes)
{
    write_folder(GEN_HEAD_ABSENT, "\"x\":1", NULL);
    ck_assert_str_eq(judge_path(""), "missing");
    ck_assert_int_eq(tying->declared, TENON_SILENT);
    ck_assert(noted("default of the family: not tied"));
}
END_TEST

START_TEST(a_nested_flag_is_read)
{
    write_folder(GEN_HEAD_ABSENT, "\"text_config\":{\"tie_word_embeddings\":false}", NULL);
    ck_assert_str_eq(judge_path(""), "missing");
    ck_assert_int_eq(tying->declared, TENON_NO);
    ck_assert(strstr(tying->declared_by, "text_config") != NULL);
}
END_TEST

START_TEST(flags_that_disagree_are_told)
{
    write_folder(GEN_HEAD_ABSENT,
                 "\"tie_word_embeddings\":true,\"text_config\":{\"tie_word_embeddings\":false}",
                 NULL);
    ck_assert_str_eq(judge_path(""), "absent");
    ck_assert(noted("contradicts itself"));
}
END_TEST

START_TEST(an_alias_that_the_writer_recorded_is_told)
{
    write_folder(GEN_HEAD_ABSENT, "\"x\":1",
                 "{\"format\":\"pt\",\"lm_head.weight\":\"model.embed_tokens.weight\"}");
    ck_assert_str_eq(judge_path(""), "absent");
    ck_assert(noted("left out as another name"));
}
END_TEST

START_TEST(padded_rows_are_partial)
{
    write_folder(GEN_HEAD_MORE_ROWS, "\"tie_word_embeddings\":true", NULL);
    judge_path("");
    ck_assert(!tying->tied && !tying->consistent);
    ck_assert(noted("40 rows, the output 48"));
}
END_TEST

START_TEST(a_head_in_another_shard_of_a_folder_is_found)
{
    struct gen_model made = {0};
    struct gen_bytes first = {0}, second = {0}, config = {0};
    size_t n;
    char index[4096] = "{\"metadata\":{},\"weight_map\":{";

    gen_kind_tensors(&made, &gen_llama, false, "F32", GEN_HEAD_DIFFERENT);
    n = made.n_tensors;
    ck_assert_str_eq(made.tensors[n - 1].name, "lm_head.weight");
    gen_write_safetensors(&first, &made, 0, n - 1, NULL);
    gen_write_safetensors(&second, &made, n - 1, n, NULL);
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(index);

        snprintf(index + used, sizeof(index) - used, "%s\"%s\":\"%s\"", i != 0 ? "," : "",
                 made.tensors[i].name, i + 1 < n ? A : B);
    }
    strcat(index, "}}");
    gen_kind_config(&config, &gen_llama, "\"tie_word_embeddings\":false");
    folder_write(dir, "config.json", config.data, config.n);
    folder_write(dir, A, first.data, first.n);
    folder_write(dir, B, second.data, second.n);
    folder_text(dir, INDEX, index);
    ck_assert_str_eq(judge_path(""), "different");
    ck_assert(tying->consistent);
    gen_bytes_release(&config);
    gen_bytes_release(&second);
    gen_bytes_release(&first);
    gen_model_release(&made);
}
END_TEST

START_TEST(placeholders_of_an_ungathered_checkpoint_are_called_that)
{
    const uint64_t none[] = {0}, some[] = {8};
    struct gen_model made = {0};
    struct gen_bytes bytes = {0};

    gen_tensor_add(&made, "model.embed_tokens.weight", "F32", 1, none);
    gen_tensor_add(&made, "lm_head.weight", "F32", 1, none);
    gen_tensor_values(gen_tensor_add(&made, "model.norm.weight", "F32", 1, some), 1, 1);
    gen_write_safetensors(&bytes, &made, 0, made.n_tensors, NULL);
    ck_assert_str_eq(judge_bytes(&bytes), "incompatible");
    ck_assert(noted("placeholder"));
    gen_bytes_release(&bytes);
    gen_model_release(&made);
}
END_TEST

/* Bias and transform of the head, no matrix: the decoder is the embedding. */
START_TEST(families_of_other_kinds_are_judged_from_their_folders)
{
    static const struct {
        const struct gen_kind *kind;
        const char *verdict;
    } kinds[] = {{&gen_gemma, "absent"}, {&gen_gpt2, "absent"}, {&gen_t5, "absent"}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct gen_model made = {0};
        struct gen_bytes bytes = {0}, config = {0};

        gen_kind_tensors(&made, kinds[i].kind, false, "F32", GEN_HEAD_ABSENT);
        gen_kind_config(&config, kinds[i].kind, "\"x\":1");
        gen_write_safetensors(&bytes, &made, 0, made.n_tensors, NULL);
        folder_write(dir, "config.json", config.data, config.n);
        folder_write(dir, "model.safetensors", bytes.data, bytes.n);
        ck_assert_str_eq(judge_path(""), kinds[i].verdict);
        ck_assert(tying->input != NULL && tying->consistent);
        gen_bytes_release(&config);
        gen_bytes_release(&bytes);
        gen_model_release(&made);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tying_formats");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, every_way_to_store_a_head_is_judged_in_gguf, 0, N_HEADS);
    tcase_add_loop_test(tests, a_byte_swapped_gguf_file_gets_the_same_verdict, 0, N_HEADS);
    tcase_add_loop_test(tests, every_way_to_store_a_head_is_judged_in_a_folder, 0, N_HEADS);
    tcase_add_loop_test(tests, a_bare_safetensors_file_is_judged_by_what_it_holds, 0, N_HEADS);
    tcase_add_test(tests, two_gguf_records_of_one_range_are_shared);
    tcase_add_test(tests, a_head_in_the_second_shard_unties_the_first);
    tcase_add_test(tests, a_false_flag_without_a_head_is_missing);
    tcase_add_test(tests, a_silent_config_without_a_head_says_what_it_assumes);
    tcase_add_test(tests, a_nested_flag_is_read);
    tcase_add_test(tests, flags_that_disagree_are_told);
    tcase_add_test(tests, an_alias_that_the_writer_recorded_is_told);
    tcase_add_test(tests, padded_rows_are_partial);
    tcase_add_test(tests, a_head_in_another_shard_of_a_folder_is_found);
    tcase_add_test(tests, placeholders_of_an_ungathered_checkpoint_are_called_that);
    tcase_add_test(tests, families_of_other_kinds_are_judged_from_their_folders);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
