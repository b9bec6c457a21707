/* Plans that tie and untie: which tensors, under which names, from where, and what says so. */
#include <stdio.h>
#include <string.h>

#include "model_build.h"
#include "plan_build.h"
#include "plan_text.h"
#include "tenon/tie.h"
#include "tying_helpers.h"

static struct tenon_plan *plan;
static struct tenon_error err;
static struct tenon_tie_options options;
static struct tenon_untie_options untie_options;
static const struct tenon_model *model;

#define EMBED "model.embed_tokens.weight"
#define HEAD  "lm_head.weight"

static void set_up(void)
{
    begin();
    tenon_tie_options_init(&options);
    tenon_untie_options_init(&untie_options);
    err = (struct tenon_error){0};
}

static void clean_up(void)
{
    tenon_plan_free(plan);
    plan = NULL;
    tear_down();
}

static void add_meta(const char *key, const char *value)
{
    struct tenon_meta_entry entry = {
        .key = {key, strlen(key)},
        .type = TENON_META_STRING,
        .item = TENON_META_STRING,
        .count = 1,
        .value = {.type = TENON_META_STRING, .as.str = {value, strlen(value)}},
    };

    ck_ok(tenon_model_add_meta(tiny.model, &entry, &err), err);
}

/* Finishes the model as one of files in `format`; with a config it is a folder's. */
static void finish(const char *format, const char *model_type, bool config)
{
    tenon_model_set_format(tiny.model, format);
    tenon_model_edit_file(tiny.model, 0)->format = format;
    if (config) {
        tenon_model_set_directory(tiny.model);
        ck_ok(tenon_model_add_side(tiny.model, "tiny/config.json", &err), err);
    }
    model = tiny_end(&tiny, model_type);
}

static enum tenon_status tie(void)
{
    return tenon_plan_tie(model, "out", &options, &plan, &err);
}

static enum tenon_status untie(void)
{
    return tenon_plan_untie(model, "out", &untie_options, &plan, &err);
}

/* The flags of the plan, "key=1" each. */
static const char *flags(void)
{
    static char text[256];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < plan->n_flags; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s=%d", i > 0 ? " " : "",
                              plan->flags[i].key, (int)plan->flags[i].value);
    return text;
}

static void both(enum tenon_dtype dtype, const void *in, const void *out)
{
    input(dtype, ROWS, COLS, in);
    tiny_add(&tiny, "model.norm.weight", TENON_DTYPE_F32, 0, COLS, NULL);
    output(dtype, ROWS, COLS, out);
}

/* --- tie --- */

START_TEST(an_equal_copy_is_dropped_and_the_flag_set)
{
    both(TENON_DTYPE_F32, matrix(), matrix());
    tiny_flag(&tiny, TOP, false, false);
    finish("safetensors", "llama", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan),
                     EMBED ":F32=" EMBED " model.norm.weight:F32=model.norm.weight");
    ck_assert_str_eq(flags(), "tie_word_embeddings=1");
    ck_assert_str_eq(tenon_plan_file(plan, 0)->path, "out/tiny");
    ck_assert_uint_eq(tenon_plan_n_losses(plan), 0);
    ck_assert(!tenon_plan_is_empty(plan));
}
END_TEST

START_TEST(every_false_flag_becomes_true)
{
    both(TENON_DTYPE_F32, matrix(), matrix());
    tiny_flag(&tiny, TOP, true, false);
    tiny_flag(&tiny, NESTED, false, true);
    finish("safetensors", "llava", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(flags(), "text_config.tie_word_embeddings=1");
}
END_TEST

START_TEST(a_flag_that_only_an_untie_made_goes_away)
{
    both(TENON_DTYPE_F32, matrix(), matrix());
    tiny_flag(&tiny, TOP, false, false);
    finish("safetensors", "gemma", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(flags(), "tie_word_embeddings=3");
}
END_TEST

START_TEST(a_silent_config_gets_a_flag_where_the_family_does_not_tie)
{
    both(TENON_DTYPE_F32, matrix(), matrix());
    finish("safetensors", "llama", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(flags(), "tie_word_embeddings=1");
    clean_up();
    set_up();
    both(TENON_DTYPE_F32, matrix(), matrix());
    finish("safetensors", "gemma", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(flags(), "");
}
END_TEST

START_TEST(the_wider_of_two_equal_copies_is_kept_under_the_name_of_the_input)
{
    static uint16_t half[ROWS * COLS];

    for (int i = 0; i < ROWS * COLS; i++) {
        uint32_t bits;

        memcpy(&bits, &matrix()[i], sizeof(bits));
        half[i] = (uint16_t)(bits >> 16); /* exact: the values have few bits */
    }
    input(TENON_DTYPE_BF16, ROWS, COLS, half);
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("safetensors", "llama", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan), EMBED ":F32=" HEAD);
    clean_up();
    set_up();
    input(TENON_DTYPE_BF16, ROWS, COLS, half);
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("safetensors", "llama", true);
    options.keep = TENON_KEEP_INPUT;
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan), EMBED ":BF16=" EMBED);
    ck_assert_uint_eq(tenon_plan_n_losses(plan), 0); /* all values stay */
}
END_TEST

START_TEST(the_less_precise_copy_is_dropped_and_that_is_said)
{
    static uint16_t rounded[ROWS * COLS];
    static float fine[ROWS * COLS];

    for (int i = 0; i < ROWS * COLS; i++) {
        uint32_t bits;

        fine[i] = matrix()[i] * 1.001f;
        memcpy(&bits, &fine[i], sizeof(bits));
        rounded[i] = (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    }
    input(TENON_DTYPE_BF16, ROWS, COLS, rounded);
    output(TENON_DTYPE_F32, ROWS, COLS, fine);
    finish("safetensors", "llama", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan), EMBED ":F32=" HEAD);
    ck_assert_uint_eq(tenon_plan_n_losses(plan), 1);
    ck_assert_str_eq(tenon_plan_loss(plan, 0)->subject, EMBED);
    ck_assert_ptr_null(tenon_plan_loss(plan, 0)->option);
    tenon_plan_free(plan);
    plan = NULL;
    options.keep = TENON_KEEP_INPUT;
    ck_ok(tie(), err);
    ck_assert_str_eq(tenon_plan_loss(plan, 0)->option, "--lossy");
    ck_assert(!tenon_plan_loss(plan, 0)->allowed);
}
END_TEST

START_TEST(different_matrices_are_refused)
{
    both(TENON_DTYPE_F32, matrix(), unrelated());
    finish("safetensors", "llama", true);
    ck_fails(tie(), TENON_ERR_CANNOT_REPRESENT, err);
    ck_assert_ptr_nonnull(strstr(err.message, "different"));
    ck_assert_ptr_nonnull(strstr(err.hint, "--lossy --keep"));
}
END_TEST

START_TEST(different_matrices_are_tied_when_the_user_says_which)
{
    static const struct {
        enum tenon_keep keep;
        const char *tensors, *lost;
    } cases[] = {
        {TENON_KEEP_INPUT, EMBED ":F32=" EMBED, HEAD},
        {TENON_KEEP_OUTPUT, EMBED ":F32=" HEAD, EMBED},
        {TENON_KEEP_MEAN, EMBED ":F32=" EMBED "+" HEAD "~", HEAD},
    };

    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, unrelated());
    finish("safetensors", "llama", true);
    options.lossy = true;
    ck_fails(tie(), TENON_ERR_MISUSE, err);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        err = (struct tenon_error){0};
        options.keep = cases[i].keep;
        ck_ok(tie(), err);
        ck_assert_str_eq(plan_tensors(plan), cases[i].tensors);
        ck_assert_str_eq(tenon_plan_loss(plan, 0)->subject, cases[i].lost);
        ck_assert(tenon_plan_loss(plan, 0)->allowed);
        tenon_plan_free(plan);
        plan = NULL;
    }
}
END_TEST

START_TEST(what_is_tied_already_is_copied)
{
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    finish("safetensors", "llama", true);
    ck_ok(tie(), err);
    ck_assert(tenon_plan_is_empty(plan));
    ck_assert_str_eq(plan_tensors(plan), EMBED ":F32=" EMBED);
    ck_assert_str_eq(flags(), "");
}
END_TEST

START_TEST(verdicts_without_a_pair_are_refused)
{
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, false, false);
    finish("safetensors", "llama", true); /* missing */
    ck_fails(tie(), TENON_ERR_CANNOT_REPRESENT, err);
    clean_up();
    set_up();
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, HEAD, TENON_DTYPE_F32, ROWS, COLS / 2, NULL);
    finish("safetensors", "llama", true); /* incompatible */
    options.lossy = true;
    options.keep = TENON_KEEP_INPUT;
    ck_fails(tie(), TENON_ERR_CANNOT_REPRESENT, err);
}
END_TEST

START_TEST(a_family_that_cannot_tie_is_refused_unless_forced)
{
    tiny_add(&tiny, "transformer.wte.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("safetensors", "dbrx", true);
    ck_fails(tie(), TENON_ERR_CANNOT_REPRESENT, err);
    ck_assert_ptr_nonnull(strstr(err.hint, "--force"));
    err = (struct tenon_error){0};
    options.force = true;
    ck_ok(tie(), err);
}
END_TEST

START_TEST(scales_go_with_their_codes)
{
    static unsigned char codes[ROWS * COLS];
    float scale[1] = {2};

    memset(codes, 0x38, sizeof(codes));
    tiny_add(&tiny, EMBED, TENON_DTYPE_F32, ROWS, COLS, unrelated());
    tiny_add(&tiny, HEAD, TENON_DTYPE_F8_E4M3, ROWS, COLS, codes);
    tiny_add(&tiny, "lm_head.weight_scale", TENON_DTYPE_F32, 0, 1, scale);
    finish("safetensors", "llama", true);
    options.lossy = true;
    options.keep = TENON_KEEP_OUTPUT;
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan),
                     EMBED ":F8_E4M3=" HEAD " " EMBED "_scale:F32=lm_head.weight_scale");
    tenon_plan_free(plan);
    plan = NULL;
    options.keep = TENON_KEEP_INPUT;
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan), EMBED ":F32=" EMBED);
}
END_TEST

START_TEST(copies_of_the_input_in_an_encoder_decoder_stay_copies)
{
    tiny_add(&tiny, "model.shared.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "model.encoder.embed_tokens.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "model.decoder.embed_tokens.weight", TENON_DTYPE_F32, ROWS, COLS,
             matrix_with(1, 1));
    output(TENON_DTYPE_F32, ROWS, COLS, unrelated());
    finish("safetensors", "bart", true);
    options.lossy = true;
    options.keep = TENON_KEEP_OUTPUT;
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan),
                     "model.shared.weight:F32=" HEAD " model.encoder.embed_tokens.weight:F32=" HEAD
                     " model.decoder.embed_tokens.weight:F32=model.decoder.embed_tokens.weight");
}
END_TEST

START_TEST(a_record_of_an_alias_is_out_of_force_while_both_are_stored)
{
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    add_meta("a", "b");
    add_meta(HEAD, EMBED);
    add_meta("format", "pt");
    finish("safetensors", "", false);
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_metas(plan, 0), "a=b tenon.untied.of:" HEAD "=" EMBED " format=pt");
    clean_up();
    set_up();
    both(TENON_DTYPE_F32, matrix(), matrix());
    add_meta("tenon.untied.of:" HEAD, EMBED);
    finish("safetensors", "", false);
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_metas(plan, 0), HEAD "=" EMBED);
}
END_TEST

START_TEST(the_name_that_metadata_call_left_out_is_the_one_that_goes)
{
    both(TENON_DTYPE_F32, matrix(), matrix());
    add_meta(EMBED, HEAD);
    finish("safetensors", "", false);
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan),
                     "model.norm.weight:F32=model.norm.weight " HEAD ":F32=" HEAD);
    ck_assert_str_eq(plan_metas(plan, 0), EMBED "=" HEAD);
}
END_TEST

/* --- GGUF --- */

START_TEST(gguf_architectures_that_want_the_output_refuse_to_tie)
{
    tiny_add(&tiny, "token_embd.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "output.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("gguf", "phi2", false);
    ck_fails(tie(), TENON_ERR_CANNOT_REPRESENT, err);
    err = (struct tenon_error){0};
    options.force = true;
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan), "token_embd.weight:F32=token_embd.weight");
}
END_TEST

START_TEST(gguf_architectures_that_always_tie_refuse_to_untie)
{
    tiny_add(&tiny, "token_embd.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("gguf", "gemma", false);
    ck_fails(untie(), TENON_ERR_CANNOT_REPRESENT, err);
    ck_assert_ptr_nonnull(strstr(err.message, "llama.cpp"));
    err = (struct tenon_error){0};
    untie_options.force = true;
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_tensors(plan), "output.weight:F32=token_embd.weight "
                                         "token_embd.weight:F32=token_embd.weight");
}
END_TEST

START_TEST(gguf_codeshell_keeps_the_output)
{
    tiny_add(&tiny, "output.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("gguf", "codeshell", false);
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_tensors(plan), "token_embd.weight:F32=output.weight "
                                         "output.weight:F32=output.weight");
    clean_up();
    set_up();
    tiny_add(&tiny, "output.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "token_embd.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("gguf", "codeshell", false);
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan), "output.weight:F32=output.weight");
}
END_TEST

START_TEST(an_unknown_gguf_architecture_is_refused_unless_forced)
{
    tiny_add(&tiny, "token_embd.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("gguf", "nobody", false);
    ck_fails(untie(), TENON_ERR_CANNOT_REPRESENT, err);
    err = (struct tenon_error){0};
    untie_options.force = true;
    ck_ok(untie(), err);
}
END_TEST

/* --- untie --- */

START_TEST(untie_adds_the_output_and_turns_the_flags)
{
    input(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "model.norm.weight", TENON_DTYPE_F32, 0, COLS, NULL);
    tiny_flag(&tiny, TOP, true, false);
    tiny_flag(&tiny, NESTED, true, true);
    finish("safetensors", "llama", true);
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_tensors(plan), EMBED
                     ":F32=" EMBED " model.norm.weight:F32=model.norm.weight " HEAD ":F32=" EMBED);
    ck_assert_str_eq(flags(), "tie_word_embeddings=0 text_config.tie_word_embeddings=0");
}
END_TEST

START_TEST(untie_makes_a_silent_config_speak)
{
    tiny_add(&tiny, "wte.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("safetensors", "gpt2", true);
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_tensors(plan), "wte.weight:F32=wte.weight " HEAD ":F32=wte.weight");
    ck_assert_str_eq(flags(), "tie_word_embeddings=0");
}
END_TEST

START_TEST(untie_of_both_only_turns_the_flag)
{
    both(TENON_DTYPE_F32, matrix(), unrelated());
    tiny_flag(&tiny, TOP, true, false);
    finish("safetensors", "llama", true);
    ck_ok(untie(), err);
    ck_assert_str_eq(flags(), "tie_word_embeddings=0");
    ck_assert(!tenon_plan_is_empty(plan));
    clean_up();
    set_up();
    both(TENON_DTYPE_F32, matrix(), unrelated());
    tiny_flag(&tiny, TOP, false, false);
    finish("safetensors", "llama", true);
    ck_ok(untie(), err);
    ck_assert(tenon_plan_is_empty(plan));
}
END_TEST

START_TEST(the_copy_can_have_another_type_and_then_takes_its_scales_in)
{
    static unsigned char codes[ROWS * COLS];
    float scale[1] = {2};

    tiny_add(&tiny, EMBED, TENON_DTYPE_F8_E4M3, ROWS, COLS, codes);
    tiny_add(&tiny, EMBED "_scale", TENON_DTYPE_F32, 0, 1, scale);
    tiny_flag(&tiny, TOP, true, false);
    finish("safetensors", "llama", true);
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_tensors(plan),
                     EMBED ":F8_E4M3=" EMBED " " EMBED "_scale:F32=" EMBED "_scale " HEAD
                           ":F8_E4M3=" EMBED " " HEAD "_scale:F32=" EMBED "_scale");
    tenon_plan_free(plan);
    plan = NULL;
    untie_options.dtype = TENON_DTYPE_BF16;
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_tensors(plan), EMBED ":F8_E4M3=" EMBED " " EMBED "_scale:F32=" EMBED
                                               "_scale " HEAD ":BF16=" EMBED "*");
}
END_TEST

START_TEST(a_lone_output_gets_its_input_back_and_a_mark)
{
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    finish("safetensors", "llama", true);
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_tensors(plan), HEAD ":F32=" HEAD " " EMBED ":F32=" HEAD);
    ck_assert_str_eq(plan_metas(plan, 0), "tenon.untied=" EMBED " format=pt");
    clean_up();
    set_up();
    both(TENON_DTYPE_F32, matrix(), matrix());
    add_meta("tenon.untied", EMBED);
    add_meta("format", "pt");
    tiny_flag(&tiny, TOP, false, false);
    finish("safetensors", "llama", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan),
                     "model.norm.weight:F32=model.norm.weight " HEAD ":F32=" HEAD);
    ck_assert_str_eq(plan_metas(plan, 0), "");
}
END_TEST

START_TEST(a_family_that_transformers_always_ties_is_refused_unless_forced)
{
    tiny_add(&tiny, "shared.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    finish("safetensors", "t5", true);
    ck_fails(untie(), TENON_ERR_CANNOT_REPRESENT, err);
    err = (struct tenon_error){0};
    untie_options.force = true;
    ck_ok(untie(), err);
    ck_assert_str_eq(flags(), ""); /* there the flag is about scaling */
}
END_TEST

/* What transformers 5 ties besides: _tied_weights_keys of its classes. */

#define SHARED "model.shared.weight"
#define ENC    "model.encoder.embed_tokens.weight"
#define DEC    "model.decoder.embed_tokens.weight"

START_TEST(untie_of_an_encoder_decoder_stores_the_matrix_for_each_part)
{
    tiny_add(&tiny, SHARED, TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    finish("safetensors", "bart", true);
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_tensors(plan), SHARED ":F32=" SHARED " " HEAD ":F32=" SHARED " " ENC
                                                ":F32=" SHARED " " DEC ":F32=" SHARED);
    ck_assert_str_eq(plan_metas(plan, 0), "tenon.untied=" HEAD " " ENC " " DEC " format=pt");
}
END_TEST

START_TEST(tie_takes_the_parts_of_an_untie_away_again)
{
    tiny_add(&tiny, SHARED, TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, ENC, TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, DEC, TENON_DTYPE_F32, ROWS, COLS, matrix());
    add_meta("tenon.untied", HEAD " " ENC " " DEC);
    add_meta("format", "pt");
    tiny_flag(&tiny, TOP, false, false);
    finish("safetensors", "bart", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan), SHARED ":F32=" SHARED);
    ck_assert_str_eq(plan_metas(plan, 0), "");
}
END_TEST

START_TEST(tie_leaves_parts_that_were_there_before_or_changed_since)
{
    tiny_add(&tiny, SHARED, TENON_DTYPE_F32, ROWS, COLS, matrix());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, ENC, TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, DEC, TENON_DTYPE_F32, ROWS, COLS, matrix_with(1, 1));
    add_meta("tenon.untied", HEAD " " DEC);
    finish("safetensors", "bart", true);
    ck_ok(tie(), err);
    ck_assert_str_eq(plan_tensors(plan),
                     SHARED ":F32=" SHARED " " ENC ":F32=" ENC " " DEC ":F32=" DEC);
}
END_TEST

START_TEST(parts_that_have_matrices_of_their_own_need_no_copies)
{
    tiny_add(&tiny, ENC, TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, DEC, TENON_DTYPE_F32, ROWS, COLS, unrelated());
    output(TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    finish("safetensors", "marian", true);
    ck_ok(untie(), err);
    ck_assert_str_eq(plan_tensors(plan), ENC ":F32=" ENC " " DEC ":F32=" DEC " " HEAD ":F32=" HEAD);
}
END_TEST

START_TEST(a_family_that_is_not_known_gets_the_copies_of_its_kin)
{
    tiny_add(&tiny, SHARED, TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    finish("safetensors", "nobody", true);
    ck_ok(untie(), err);
    ck_assert_ptr_nonnull(
        strstr(plan_tensors(plan), " " ENC ":F32=" SHARED " " DEC ":F32=" SHARED));
}
END_TEST

/* Unties a model of two biases' names, of which the first is stored. */
static void untie_head(const char *model_type, const char *bias, const char *copy)
{
    char want[256];

    tiny_add(&tiny, "embeddings.word_embeddings.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, bias, TENON_DTYPE_F32, 0, ROWS, NULL);
    tiny_flag(&tiny, TOP, true, false);
    finish("safetensors", model_type, true);
    ck_ok(untie(), err);
    snprintf(want, sizeof(want), " %s:F32=%s", copy, bias);
    ck_assert_msg(strstr(plan_tensors(plan), want) != NULL, "%s: %s", model_type,
                  plan_tensors(plan));
}

START_TEST(untie_of_a_masked_language_model_stores_the_second_bias)
{
    static const char *const cases[][3] = {
        {"bert", "cls.predictions.bias", "cls.predictions.decoder.bias"},
        {"deberta-v2", "cls.predictions.bias", "cls.predictions.decoder.bias"},
        {"roformer", "cls.predictions.bias", "cls.predictions.decoder.bias"},
        {"albert", "predictions.bias", "predictions.decoder.bias"},
        {"roberta", "lm_head.bias", "lm_head.decoder.bias"},
        {"camembert", "lm_head.bias", "lm_head.decoder.bias"},
        {"mpnet", "lm_head.bias", "lm_head.decoder.bias"},
    };

    untie_head(cases[_i][0], cases[_i][1], cases[_i][2]);
}
END_TEST

START_TEST(untie_of_both_adds_what_else_would_start_at_random)
{
    tiny_add(&tiny, "bert.embeddings.word_embeddings.weight", TENON_DTYPE_F32, ROWS, COLS,
             matrix());
    tiny_add(&tiny, "cls.predictions.decoder.weight", TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_add(&tiny, "cls.predictions.bias", TENON_DTYPE_F32, 0, ROWS, NULL);
    tiny_flag(&tiny, TOP, false, false);
    finish("safetensors", "bert", true);
    ck_ok(untie(), err);
    ck_assert(!tenon_plan_is_empty(plan));
    ck_assert_ptr_nonnull(
        strstr(plan_tensors(plan), " cls.predictions.decoder.bias:F32=cls.predictions.bias"));
    ck_assert_str_eq(plan_metas(plan, 0), "tenon.untied=cls.predictions.decoder.bias format=pt");
}
END_TEST

START_TEST(an_untie_with_copies_survives_every_failed_allocation)
{
    uint64_t n;

    tiny_add(&tiny, SHARED, TENON_DTYPE_F32, ROWS, COLS, matrix());
    tiny_flag(&tiny, TOP, true, false);
    finish("safetensors", "bart", true);
    for (n = 1; plan == NULL && n < 2000; n++) {
        err = (struct tenon_error){0};
        untie_options.threads = 1;
        tenon_mem_fail_at(n, true);
        if (untie() != TENON_OK)
            ck_assert_int_eq(err.status, TENON_ERR_NO_MEMORY);
        tenon_mem_fail_at(0, false);
    }
    ck_assert_uint_gt(n, 10);
    ck_assert_ptr_nonnull(plan);
}
END_TEST

START_TEST(the_plan_survives_every_failed_allocation)
{
    uint64_t n;

    both(TENON_DTYPE_F32, matrix(), matrix());
    add_meta("format", "pt");
    tiny_flag(&tiny, TOP, false, false);
    finish("safetensors", "llama", true);
    for (n = 1; plan == NULL && n < 2000; n++) {
        err = (struct tenon_error){0};
        options.threads = 1;
        tenon_mem_fail_at(n, true);
        if (tie() != TENON_OK)
            ck_assert_int_eq(err.status, TENON_ERR_NO_MEMORY);
        tenon_mem_fail_at(0, false);
    }
    ck_assert_uint_gt(n, 10);
    ck_assert_ptr_nonnull(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan_tie");
    TCase *tc = tcase_create("tie");

    tcase_add_checked_fixture(tc, set_up, clean_up);
    tcase_add_test(tc, an_equal_copy_is_dropped_and_the_flag_set);
    tcase_add_test(tc, every_false_flag_becomes_true);
    tcase_add_test(tc, a_flag_that_only_an_untie_made_goes_away);
    tcase_add_test(tc, a_silent_config_gets_a_flag_where_the_family_does_not_tie);
    tcase_add_test(tc, the_wider_of_two_equal_copies_is_kept_under_the_name_of_the_input);
    tcase_add_test(tc, the_less_precise_copy_is_dropped_and_that_is_said);
    tcase_add_test(tc, different_matrices_are_refused);
    tcase_add_test(tc, different_matrices_are_tied_when_the_user_says_which);
    tcase_add_test(tc, what_is_tied_already_is_copied);
    tcase_add_test(tc, verdicts_without_a_pair_are_refused);
    tcase_add_test(tc, a_family_that_cannot_tie_is_refused_unless_forced);
    tcase_add_test(tc, scales_go_with_their_codes);
    tcase_add_test(tc, copies_of_the_input_in_an_encoder_decoder_stay_copies);
    tcase_add_test(tc, a_record_of_an_alias_is_out_of_force_while_both_are_stored);
    tcase_add_test(tc, the_name_that_metadata_call_left_out_is_the_one_that_goes);
    tcase_add_test(tc, gguf_architectures_that_want_the_output_refuse_to_tie);
    tcase_add_test(tc, gguf_architectures_that_always_tie_refuse_to_untie);
    tcase_add_test(tc, gguf_codeshell_keeps_the_output);
    tcase_add_test(tc, an_unknown_gguf_architecture_is_refused_unless_forced);
    tcase_add_test(tc, untie_adds_the_output_and_turns_the_flags);
    tcase_add_test(tc, untie_makes_a_silent_config_speak);
    tcase_add_test(tc, untie_of_both_only_turns_the_flag);
    tcase_add_test(tc, the_copy_can_have_another_type_and_then_takes_its_scales_in);
    tcase_add_test(tc, a_lone_output_gets_its_input_back_and_a_mark);
    tcase_add_test(tc, a_family_that_transformers_always_ties_is_refused_unless_forced);
    tcase_add_test(tc, untie_of_an_encoder_decoder_stores_the_matrix_for_each_part);
    tcase_add_test(tc, tie_takes_the_parts_of_an_untie_away_again);
    tcase_add_test(tc, tie_leaves_parts_that_were_there_before_or_changed_since);
    tcase_add_test(tc, parts_that_have_matrices_of_their_own_need_no_copies);
    tcase_add_test(tc, a_family_that_is_not_known_gets_the_copies_of_its_kin);
    tcase_add_loop_test(tc, untie_of_a_masked_language_model_stores_the_second_bias, 0, 7);
    tcase_add_test(tc, untie_of_both_adds_what_else_would_start_at_random);
    tcase_add_test(tc, an_untie_with_copies_survives_every_failed_allocation);
    tcase_add_test(tc, the_plan_survives_every_failed_allocation);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
