/* Hyper-parameters and tokenizer facts from GGUF keys. */
#include "cooked.h"

#include <math.h>
#include <stdio.h>

#define ARCH "kv:'general.architecture',8 str:'llama' "

static struct cooked c;

static void tear_down(void)
{
    cooked_release(&c);
}

static const struct tenon_hparams *open_hparams(const char *recipe)
{
    cooked_open(&c, recipe, NULL);
    ck_ok(c.status, c.err);
    return tenon_model_hparams(c.model);
}

START_TEST(every_key_that_is_read_arrives)
{
    const struct tenon_hparams *h = open_hparams(
        "gguf:3,0,16 kv:'llama.block_count',4 u32:2 " ARCH "kv:'general.name',8 str:'tiny' "
        "kv:'llama.context_length',4 u32:4096 kv:'llama.embedding_length',4 u32:32 "
        "kv:'llama.feed_forward_length',4 u32:64 kv:'llama.attention.head_count',4 u32:4 "
        "kv:'llama.attention.head_count_kv',4 u32:2 kv:'llama.attention.key_length',4 u32:8 "
        "kv:'llama.expert_count',4 u32:16 kv:'llama.rope.dimension_count',4 u32:6 "
        "kv:'llama.rope.freq_base',6 u32:0x461c4000 kv:'llama.rope.scaling.type',8 str:'yarn' "
        "kv:'llama.rope.scaling.factor',6 u32:0x40800000 "
        "kv:'llama.rope.scaling.original_context_length',4 u32:1024 "
        "kv:'llama.vocab_size',4 u32:40");

    ck_assert_mem_eq(h->model_type.data, "llama", 5);
    ck_assert_mem_eq(h->name.data, "tiny", 4);
    ck_assert_int_eq(h->layers, 2);
    ck_assert_int_eq(h->context_length, 4096);
    ck_assert_int_eq(h->hidden_size, 32);
    ck_assert_int_eq(h->intermediate_size, 64);
    ck_assert_int_eq(h->heads, 4);
    ck_assert_int_eq(h->kv_heads, 2);
    ck_assert_int_eq(h->head_dim, 8);
    ck_assert_int_eq(h->experts, 16);
    ck_assert_int_eq(h->rotary_dim, 6);
    ck_assert(h->rope_theta == 10000.0);
    ck_assert_mem_eq(h->rope_scaling.data, "yarn", 4);
    ck_assert(h->rope_factor == 4.0);
    ck_assert_int_eq(h->rope_original_context, 1024);
    ck_assert_int_eq(h->vocab_size, 40);
    ck_assert(!h->alibi);
    ck_assert_uint_eq(tenon_model_n_findings(c.model), 0);
}
END_TEST

START_TEST(what_is_not_said_stays_unknown)
{
    const struct tenon_hparams *h = open_hparams("gguf:3,0,0");

    ck_assert_uint_eq(h->model_type.len, 0);
    ck_assert_int_eq(h->layers, TENON_UNKNOWN);
    ck_assert_int_eq(h->vocab_size, TENON_UNKNOWN);
    ck_assert(isnan(h->rope_theta));
    ck_assert_int_eq(tenon_model_tokenizer(c.model)->tokens, TENON_UNKNOWN);
}
END_TEST

START_TEST(any_integer_width_counts)
{
    static const char *const values[] = {"0 u8:7",  "1 u8:7",   "2 u16:7", "3 u16:7",
                                         "5 u32:7", "10 u64:7", "11 u64:7"};
    char recipe[256];

    snprintf(recipe, sizeof(recipe), "gguf:3,0,2 " ARCH "kv:'llama.block_count',%s", values[_i]);
    ck_assert_int_eq(open_hparams(recipe)->layers, 7);
    ck_assert_uint_eq(cooked_findings(&c, "key_width"), 1);
}
END_TEST

START_TEST(keys_of_another_architecture_do_not_count)
{
    ck_assert_int_eq(open_hparams("gguf:3,0,2 " ARCH "kv:'gemma.block_count',4 u32:7")->layers,
                     TENON_UNKNOWN);
}
END_TEST

START_TEST(the_first_layer_speaks_for_the_others)
{
    const struct tenon_hparams *h =
        open_hparams("gguf:3,0,3 " ARCH "kv:'llama.block_count',4 u32:3 "
                     "kv:'llama.attention.head_count_kv',9 u32:5 u64:3 u32:4 u32:0 u32:8");

    ck_assert_int_eq(h->kv_heads, 4);
    ck_assert_uint_eq(tenon_model_n_findings(c.model), 0);
}
END_TEST

START_TEST(an_old_linear_scale_is_a_scaling)
{
    const struct tenon_hparams *h =
        open_hparams("gguf:3,0,2 " ARCH "kv:'llama.rope.scale_linear',6 u32:0x40000000");

    ck_assert_uint_eq(h->rope_scaling.len, 6);
    ck_assert_mem_eq(h->rope_scaling.data, "linear", 6);
    ck_assert(h->rope_factor == 2.0);
}
END_TEST

START_TEST(a_positive_bias_means_alibi)
{
    ck_assert(
        open_hparams("gguf:3,0,2 " ARCH "kv:'llama.attention.max_alibi_bias',6 u32:0x41000000")
            ->alibi);
}
END_TEST

START_TEST(tokens_give_the_vocabulary)
{
    const struct tenon_hparams *h = open_hparams(
        "gguf:3,0,4 kv:'tokenizer.ggml.model',8 str:'gpt2' kv:'tokenizer.ggml.pre',8 str:'qwen2' "
        "kv:'tokenizer.ggml.tokens',9 u32:8 u64:3 str:'a' str:'b' str:'ab' "
        "kv:'tokenizer.ggml.merges',9 u32:8 u64:1 str:'a b'");
    const struct tenon_tokenizer *t = tenon_model_tokenizer(c.model);

    ck_assert_mem_eq(t->model.data, "gpt2", 4);
    ck_assert_mem_eq(t->pre.data, "qwen2", 5);
    ck_assert_int_eq(t->tokens, 3);
    ck_assert_int_eq(t->merges, 1);
    ck_assert_int_eq(t->max_id, 2);
    ck_assert_int_eq(t->added, 0);
    ck_assert_int_eq(h->vocab_size, 3);
    ck_assert_uint_eq(tenon_model_n_findings(c.model), 0);
}
END_TEST

START_TEST(merges_are_judged_at_every_length)
{
    struct tenon_open_options options;

    /* A space at each place of texts from 1 to 24 bytes, around the 8 that are looked at once. */
    tenon_open_options_init(&options);
    options.thorough = true;
    for (unsigned n = 1; n <= 24; n++) {
        for (unsigned space = 0; space <= n; space++) {
            char recipe[256], text[32];

            memset(text, 'x', n);
            text[n] = '\0';
            if (space < n)
                text[space] = ' ';
            snprintf(recipe, sizeof(recipe),
                     "gguf:3,0,1 kv:'tokenizer.ggml.merges',9 u32:8 u64:1 str:'%s'", text);
            cooked_open(&c, recipe, &options);
            ck_assert_uint_eq(cooked_findings(&c, "merge_without_space"), space == 0 || space == n);
            cooked_release(&c);
        }
    }
    memset(&c, 0, sizeof(c));
}
END_TEST

START_TEST(rows_and_tokens_are_compared)
{
    cooked_open(&c,
                "gguf:3,1,1 kv:'tokenizer.ggml.tokens',9 u32:8 u64:3 str:'a' str:'b' str:'c' "
                "tensor:'token_embd.weight',[8,2],0,0 align:32 zeros:64",
                NULL);
    ck_assert_uint_eq(cooked_findings(&c, "tokens_beyond_rows"), 1);
    cooked_release(&c);
    cooked_open(&c,
                "gguf:3,1,1 kv:'tokenizer.ggml.tokens',9 u32:8 u64:3 str:'a' str:'b' str:'c' "
                "tensor:'token_embd.weight',[8,4],0,0 align:32 zeros:128",
                NULL);
    ck_assert_uint_eq(cooked_findings(&c, "rows_beyond_tokens"), 1);
}
END_TEST

START_TEST(byte_pair_vocabularies_need_their_parts)
{
    open_hparams("gguf:3,0,1 kv:'tokenizer.ggml.model',8 str:'gpt2'");
    ck_assert_uint_eq(cooked_findings(&c, "merges_missing"), 1);
    ck_assert_uint_eq(cooked_findings(&c, "pre_tokenizer_missing"), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gguf_hparams");
    TCase *tests = tcase_create("keys");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, every_key_that_is_read_arrives);
    tcase_add_test(tests, what_is_not_said_stays_unknown);
    tcase_add_loop_test(tests, any_integer_width_counts, 0, 7);
    tcase_add_test(tests, keys_of_another_architecture_do_not_count);
    tcase_add_test(tests, the_first_layer_speaks_for_the_others);
    tcase_add_test(tests, an_old_linear_scale_is_a_scaling);
    tcase_add_test(tests, a_positive_bias_means_alibi);
    tcase_add_test(tests, tokens_give_the_vocabulary);
    tcase_add_test(tests, merges_are_judged_at_every_length);
    tcase_add_test(tests, rows_and_tokens_are_compared);
    tcase_add_test(tests, byte_pair_vocabularies_need_their_parts);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
