/* Configs that are long, wide or odd: what is found in them stays right, and what it costs follows
 * the file. Values follow by hand. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/check_error.h"
#include "mem.h"
#include "resolved.h"

#define WIDTHS "\"hidden_size\":4096,\"num_attention_heads\":32,\"num_hidden_layers\":4"

/* Resolves what `model` says with a rope_scaling of the caller. */
static enum tenon_status resolve_given(const char *json)
{
    struct tenon_position_overrides over;
    struct tenon_settings *settings = NULL;
    struct tenon_setting root;
    enum tenon_status st;

    tenon_positions_free(positions);
    positions = NULL;
    err = (struct tenon_error){0};
    ck_ok(tenon_settings_parse(json, strlen(json), &settings, &err), err);
    root = tenon_settings_root(settings);
    tenon_position_overrides_init(&over);
    over.rope_scaling = &root;
    st = tenon_positions_resolve(model, &over, &positions, &err);
    tenon_settings_free(settings);
    return st;
}

START_TEST(a_given_scaling_is_an_object)
{
    static const char *const others[] = {"[]", "[1]", "5", "\"yarn\"", "true"};

    ck_ok(resolve("{\"model_type\":\"llama\"," WIDTHS "}"), err);
    ck_assert_int_eq(resolve_given(others[_i]), TENON_ERR_MISUSE);
    ck_assert_str_eq(err.subject, "rope_scaling");
    ck_assert_msg(strstr(err.message, "an object is due") != NULL, "%s", err.message);
}
END_TEST

START_TEST(an_empty_object_stretches_nothing)
{
    ck_ok(resolve("{\"model_type\":\"llama\"," WIDTHS
                  ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":4}}"),
          err);
    ck_ok(resolve_given("{}"), err);
    ck_assert_int_eq(positions->ropes[0].rope.scaling, TENON_ROPE_DEFAULT);
}
END_TEST

/* What a caller states about stretching leaves the rest as the model has it: expected by hand. */
#define LLAMA3                                                                                     \
    "\"rope_parameters\":{\"rope_type\":\"llama3\",\"rope_theta\":500000,\"factor\":8,"            \
    "\"low_freq_factor\":1,\"high_freq_factor\":4,\"original_max_position_embeddings\":64,"        \
    "\"partial_rotary_factor\":0.25}"
static const struct {
    const char *given;
    enum tenon_rope_scaling scaling;
    double theta, factor, original, low_freq_factor; /* NaN: none */
    uint32_t rotary_dim;
} kept[] = {
    {"{\"rope_type\":\"linear\",\"factor\":2}", TENON_ROPE_LINEAR, 5e5, 2, NAN, NAN, 32},
    {"{\"type\":\"linear\",\"factor\":2,\"rope_theta\":77,\"partial_rotary_factor\":0.5}",
     TENON_ROPE_LINEAR, 77, 2, NAN, NAN, 64},
    {"{\"rope_type\":\"yarn\",\"factor\":2}", TENON_ROPE_YARN, 5e5, 2, 64, NAN, 32},
    {"{\"rope_type\":\"yarn\",\"factor\":2,\"original_max_position_embeddings\":99}",
     TENON_ROPE_YARN, 5e5, 2, 99, NAN, 32},
    {"{\"rope_type\":\"llama3\",\"factor\":2}", TENON_ROPE_LLAMA3, 5e5, 2, 64, 1, 32},
    {"{\"factor\":2,\"low_freq_factor\":3}", TENON_ROPE_LLAMA3, 5e5, 2, 64, 3, 32},
    {"{\"rope_theta\":77}", TENON_ROPE_LLAMA3, 77, 8, 64, 1, 32},
    {"null", TENON_ROPE_DEFAULT, 5e5, NAN, NAN, NAN, 32},
    {"{}", TENON_ROPE_DEFAULT, 5e5, NAN, NAN, NAN, 32},
};

static void check_number(double is, double wanted)
{
    ck_assert_msg(is == wanted || (isnan(is) && isnan(wanted)), "%g, not %g", is, wanted);
}

START_TEST(what_a_given_scaling_leaves_out_stays)
{
    const struct tenon_rope *rope;

    ck_ok(resolve("{\"model_type\":\"llama\"," WIDTHS "," LLAMA3 "}"), err);
    ck_ok(resolve_given(kept[_i].given), err);
    rope = &positions->ropes[0].rope;
    ck_assert_int_eq(rope->scaling, kept[_i].scaling);
    check_number(rope->theta, kept[_i].theta);
    check_number(rope->factor, kept[_i].factor);
    check_number(rope->original, kept[_i].original);
    check_number(rope->low_freq_factor, kept[_i].low_freq_factor);
    ck_assert_uint_eq(rope->rotary_dim, kept[_i].rotary_dim);
}
END_TEST

START_TEST(streams_stay_beside_a_given_scaling)
{
    ck_ok(resolve("{\"model_type\":\"qwen2_vl\"," WIDTHS
                  ",\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":1000000,"
                  "\"mrope_section\":[16,24,24]}}"),
          err);
    ck_ok(resolve_given("{\"rope_type\":\"linear\",\"factor\":2}"), err);
    ck_assert_uint_eq(positions->ropes[0].rope.n_sections, 3);
    ck_assert_uint_eq(positions->ropes[0].rope.sections[1], 24);
    ck_assert_int_eq(positions->ropes[0].rope.axes, TENON_AXES_CHUNKED);
    ck_assert_double_eq(positions->ropes[0].rope.theta, 1e6);
}
END_TEST

/* Gemma 3: what is stated for all layers is for the full ones; bases stay apart. */
START_TEST(kinds_of_layers_keep_their_bases)
{
    const struct tenon_rope *sliding, *full;

    ck_ok(resolve("{\"model_type\":\"gemma3_text\"," WIDTHS
                  ",\"layer_types\":[\"sliding_attention\",\"full_attention\","
                  "\"sliding_attention\",\"full_attention\"],\"rope_parameters\":{"
                  "\"full_attention\":{\"rope_type\":\"default\",\"rope_theta\":2000000},"
                  "\"sliding_attention\":{\"rope_type\":\"default\",\"rope_theta\":20000}}}"),
          err);
    ck_ok(resolve_given("{\"rope_type\":\"linear\",\"factor\":8}"), err);
    sliding = &positions->ropes[positions->layer_rope[0]].rope;
    full = &positions->ropes[positions->layer_rope[1]].rope;
    ck_assert_double_eq(sliding->theta, 20000);
    ck_assert_int_eq(sliding->scaling, TENON_ROPE_DEFAULT);
    ck_assert_double_eq(full->theta, 2000000);
    ck_assert_int_eq(full->scaling, TENON_ROPE_LINEAR);
    ck_assert_double_eq(full->factor, 8);
}
END_TEST

/* Two kinds of layers that differ in nothing but their lists, or but a limit of the ramp. */
#define LONG                                                                                       \
    "\"rope_type\":\"longrope\",\"factor\":2,\"original_max_position_embeddings\":64,"             \
    "\"short_factor\":[1,1],\"long_factor\":"
#define RAMP                                                                                       \
    "\"rope_type\":\"yarn\",\"factor\":2,\"original_max_position_embeddings\":64,\"beta_fast\":"
static const struct {
    const char *first, *second;
} nearly_alike[] = {{LONG "[2,8]", LONG "[4,8]"}, {RAMP "32", RAMP "34"}};

START_TEST(layers_that_nearly_agree_stay_apart)
{
    char config[1024];

    snprintf(config, sizeof(config),
             "{\"model_type\":\"llama\",\"hidden_size\":4,\"num_attention_heads\":1,"
             "\"layer_types\":[\"full_attention\",\"sliding_attention\",\"full_attention\"],"
             "\"rope_parameters\":{\"full_attention\":{%s},\"sliding_attention\":{%s}}}",
             nearly_alike[_i].first, nearly_alike[_i].second);
    ck_ok(resolve(config), err);
    ck_assert_uint_eq(positions->n_ropes, 2);
    ck_assert_uint_eq(positions->layer_rope[0], positions->layer_rope[2]);
    ck_assert_uint_ne(positions->layer_rope[0], positions->layer_rope[1]);
}
END_TEST

/* A config of `n` more members, with `text` at its end. */
static char *make_long(int n, const char *text)
{
    size_t size = (size_t)n * 16 + 256, at = 1;
    char *config = malloc(size);

    ck_assert_ptr_nonnull(config);
    config[0] = '{';
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(config + at, size - at, "\"k%d\":%d,", i, i);
    snprintf(config + at, size - at, "%s}", text);
    return config;
}

/* Without an order of their members this would take a minute, and the test has seconds. */
START_TEST(many_layers_of_a_long_config_are_quick)
{
    char *config = make_long(100000, "\"model_type\":\"llama\",\"hidden_size\":4,"
                                     "\"num_attention_heads\":1,\"num_hidden_layers\":4096,"
                                     "\"rope_theta\":77");

    ck_ok(resolve(config), err);
    free(config);
    ck_assert_uint_eq(positions->n_layers, 4096);
    ck_assert_double_eq(positions->ropes[0].rope.theta, 77);
}
END_TEST

START_TEST(members_are_found_however_many_there_are)
{
    struct tenon_setting found;
    char *config = make_long(_i, "\"model_type\":\"llama\",\"last\":5," WIDTHS);
    char key[16];

    ck_ok(resolve(config), err);
    free(config);
    for (int i = 0; i < _i; i++) {
        double value = -1;

        snprintf(key, sizeof(key), "k%d", i);
        ck_assert(tenon_model_setting(model, key, &found) && tenon_setting_number(&found, &value));
        ck_assert_double_eq(value, i);
    }
    ck_assert(tenon_model_setting(model, "last", &found));
    ck_assert(!tenon_model_setting(model, "k-1", &found));
    ck_assert(!tenon_model_setting(model, "k", &found));
    ck_assert(!tenon_model_setting(model, "zzzzzzzzzzzzzzzz", &found));
}
END_TEST

START_TEST(layers_beyond_reason_are_refused)
{
    ck_assert_int_eq(resolve("{\"model_type\":\"llama\",\"hidden_size\":4,"
                             "\"num_attention_heads\":1,\"num_hidden_layers\":4097}"),
                     TENON_ERR_LIMIT);
    ck_assert_msg(strstr(err.message, "at most 4096") != NULL, "%s", err.message);
}
END_TEST

/* Every layer another rotation, and wide lists that all of them share: what is kept follows the
 * file, not the layers. */
START_TEST(lists_are_kept_once)
{
    enum { PAIRS = 4096 };
    size_t size = 2 * PAIRS * 2 + 4096 * 8 + 1024, at;
    char *config = malloc(size);

    ck_assert_ptr_nonnull(config);
    at = (size_t)snprintf(config, size,
                          "{\"model_type\":\"llama\",\"hidden_size\":%d,\"num_attention_heads\":1,"
                          "\"num_hidden_layers\":4096,\"rope_scaling\":{\"type\":\"longrope\","
                          "\"factor\":2,\"original_max_position_embeddings\":64",
                          2 * PAIRS);
    for (int list = 0; list < 2; list++) {
        at += (size_t)snprintf(config + at, size - at, ",\"%s_factor\":[1",
                               list == 0 ? "short" : "long");
        for (int i = 1; i < PAIRS; i++)
            at += (size_t)snprintf(config + at, size - at, ",1");
        at += (size_t)snprintf(config + at, size - at, "]");
    }
    at += (size_t)snprintf(config + at, size - at, "},\"rope_theta\":[1000");
    for (int i = 1; i < 4096; i++)
        at += (size_t)snprintf(config + at, size - at, ",%d", 1000 + i);
    snprintf(config + at, size - at, "]}");
    ck_ok(resolve(config), err);
    free(config);
    ck_assert_uint_eq(positions->n_ropes, 4096);
    ck_assert_ptr_eq(positions->ropes[0].rope.long_factors, positions->ropes[9].rope.long_factors);
}
END_TEST

START_TEST(every_allocation_of_parsed_settings_may_fail)
{
    static const char json[] =
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10,"
        "\"k\":11,\"l\":12,\"m\":13,\"n\":14,\"o\":15,\"p\":16,\"q\":{\"r\":[1,\"two\",null]}}";
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    for (uint64_t n = 1; st != TENON_OK; n++) {
        struct tenon_settings *settings = NULL;

        tenon_mem_fail_at(n, true);
        st = tenon_settings_parse(json, strlen(json), &settings, &err);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK ? n > 1 : st == TENON_ERR_NO_MEMORY && settings == NULL);
        ck_assert_uint_lt(n, 1000);
        tenon_settings_free(settings);
    }
}
END_TEST

START_TEST(every_allocation_for_lists_may_fail)
{
    static const char config[] =
        "{\"model_type\":\"phi3\",\"hidden_size\":4,\"num_attention_heads\":1,"
        "\"num_hidden_layers\":3,\"rope_scaling\":{\"type\":\"longrope\",\"factor\":2,"
        "\"original_max_position_embeddings\":64,\"short_factor\":[1,1],\"long_factor\":[2,8]},"
        "\"rope_theta\":[5,6,7]}";
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    ck_ok(resolve(config), err);
    ck_assert_uint_eq(positions->n_ropes, 3);
    for (uint64_t n = 1; st != TENON_OK; n++) {
        struct tenon_positions *none = NULL;

        tenon_mem_fail_at(n, true);
        st = tenon_positions_resolve(model, NULL, &none, NULL);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK ? n > 1 : st == TENON_ERR_NO_MEMORY && none == NULL);
        ck_assert_uint_lt(n, 1000);
        tenon_positions_free(none);
    }
}
END_TEST

#define N(rows) ((int)(sizeof(rows) / sizeof((rows)[0])))

int main(void)
{
    Suite *suite = suite_create("position_limits");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_loop_test(all, a_given_scaling_is_an_object, 0, 5);
    tcase_add_test(all, an_empty_object_stretches_nothing);
    tcase_add_loop_test(all, what_a_given_scaling_leaves_out_stays, 0, N(kept));
    tcase_add_test(all, streams_stay_beside_a_given_scaling);
    tcase_add_test(all, kinds_of_layers_keep_their_bases);
    tcase_add_loop_test(all, layers_that_nearly_agree_stay_apart, 0, N(nearly_alike));
    tcase_add_test(all, many_layers_of_a_long_config_are_quick);
    tcase_add_loop_test(all, members_are_found_however_many_there_are, 12, 40);
    tcase_add_test(all, layers_beyond_reason_are_refused);
    tcase_add_test(all, lists_are_kept_once);
    tcase_add_test(all, every_allocation_for_lists_may_fail);
    tcase_add_test(all, every_allocation_of_parsed_settings_may_fail);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
