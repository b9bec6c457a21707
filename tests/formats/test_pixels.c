/* Preparing pictures. Values come from Pillow 12.0 and NumPy, by the steps that the image
 * processors of transformers take: resize, crop, times 1/255 in float64, then float32. */
#include <check.h>
#include <stdlib.h>

#include "../src/check_error.h"
#include "folder.h"
#include "mem.h"
#include "tenon/pixels.h"

static char place[512];
static struct tenon_model *model;
static struct tenon_error err;

static void set_up(void)
{
    folder_make(place);
    folder_shard(place, "model.safetensors", "a", 1);
    model = NULL;
    err = (struct tenon_error){0};
}

static void tear_down(void)
{
    tenon_model_free(model);
    folder_remove(place);
}

static enum tenon_status read_recipe(const char *json, struct tenon_pixel_recipe *recipe)
{
    if (json != NULL)
        folder_text(place, "preprocessor_config.json", json);
    ck_ok(tenon_model_open(place, NULL, &model, &err), err);
    return tenon_pixel_recipe_read(recipe, model, &err);
}

static const char clip[] =
    "{\"do_resize\": true, \"size\": 4, \"resample\": 3, \"do_center_crop\": true, "
    "\"crop_size\": {\"height\": 3, \"width\": 6}, \"do_normalize\": true, "
    "\"image_mean\": [0.48145466, 0.4578275, 0.40821073], "
    "\"image_std\": [0.26862954, 0.26130258, 0.27577711]}";

/* A picture of 5 x 7 pixels: channel c at (y, x) is 37 x + 11 y + 5 c, modulo 256. */
static void draw(unsigned char rgb[5 * 7 * 3])
{
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 7; x++)
            for (int c = 0; c < 3; c++)
                rgb[(y * 7 + x) * 3 + c] = (unsigned char)(37 * x + 11 * y + 5 * c);
}

START_TEST(a_picture_is_resized_cropped_and_normalised)
{
    static const float first[18] = {
        -1.7922625541687012f, -1.6316797733306885f,  -0.9163569211959839f, -0.1426403522491455f,
        0.6310762763023376f,  1.346399188041687f,    -1.7922625541687012f, -1.4419002532958984f,
        -0.7265773415565491f, 0.047139182686805725f, 0.8208557963371277f,  1.536178708076477f,
        -1.7922625541687012f, -1.2375223636627197f,  -0.5221993923187256f, 0.25151723623275757f,
        1.0252337455749512f,  1.8281471729278564f};
    static const float last[6] = {-1.480219841003418f, -0.7976565957069397f, -0.10087335109710693f,
                                  0.6527901887893677f, 1.491774082183838f,   0.5248096585273743f};
    struct tenon_pixel_recipe recipe;
    struct tenon_pixels pixels = {0};
    unsigned char rgb[5 * 7 * 3];
    const struct tenon_picture picture = {rgb, 5, 7};

    draw(rgb);
    ck_ok(read_recipe(clip, &recipe), err);
    ck_ok(tenon_pixels_prepare(&recipe, &picture, &pixels, &err), err);
    ck_assert_uint_eq(pixels.height, 3);
    ck_assert_uint_eq(pixels.width, 6);
    ck_assert_mem_eq(pixels.values, first, sizeof(first));
    ck_assert_mem_eq(pixels.values + 48, last, sizeof(last));
    tenon_pixels_release(&pixels);
}
END_TEST

START_TEST(one_number_is_both_sides_where_nothing_is_cropped)
{
    struct tenon_pixel_recipe recipe;

    ck_ok(read_recipe("{\"size\": 224, \"resample\": 2, \"image_mean\": 0.5, "
                      "\"image_std\": [0.5, 0.25, 0.5]}",
                      &recipe),
          err);
    ck_assert_uint_eq(recipe.shortest_edge, 0);
    ck_assert_uint_eq(recipe.height, 224);
    ck_assert_uint_eq(recipe.width, 224);
    ck_assert(recipe.resize && !recipe.crop && recipe.rescale && recipe.normalise);
    ck_assert_float_eq(recipe.mean[2], 0.5f);
    ck_assert_float_eq(recipe.std[1], 0.25f);
}
END_TEST

START_TEST(a_folder_without_settings_says_so)
{
    struct tenon_pixel_recipe recipe;

    ck_assert_int_eq(read_recipe(NULL, &recipe), TENON_ERR_NOT_FOUND);
    ck_assert_str_eq(err.path, place);
}
END_TEST

/* Settings that would change the result, and values that make no sense, are named. */
START_TEST(settings_that_are_not_understood_are_refused)
{
    static const struct {
        const char *json, *subject;
    } cases[] = {
        {"{\"do_pad\": true, \"do_resize\": false, \"do_normalize\": false}", "do_pad"},
        {"{\"min_pixels\": 3136, \"size\": 224}", "min_pixels"},
        {"{\"size\": {\"shortest_edge\": 800, \"longest_edge\": 1333}}", "size"},
        {"{\"size\": -4}", "size"},
        {"{\"size\": 4, \"resample\": 9}", "resample"},
        {"{\"size\": 4, \"image_mean\": [1, 2], \"image_std\": [1, 1, 1]}", "image_mean"},
        {"{\"size\": 4, \"image_mean\": [1, 2, 3], \"image_std\": [1, 0, 1]}", "image_std"},
        {"{\"size\": 4, \"do_center_crop\": true}", "crop_size"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tenon_pixel_recipe recipe;

        ck_assert_int_eq(read_recipe(cases[i].json, &recipe), TENON_ERR_UNSUPPORTED_FEATURE);
        ck_assert_str_eq(err.subject, cases[i].subject);
        tenon_model_free(model);
        model = NULL;
        err = (struct tenon_error){0};
    }
}
END_TEST

START_TEST(sizes_beyond_reason_are_refused)
{
    struct tenon_pixel_recipe recipe;
    struct tenon_pixels pixels = {0};
    unsigned char rgb[3] = {0};
    const struct tenon_picture picture = {rgb, 1, 1}, nothing = {rgb, 0, 1};

    tenon_pixel_recipe_init(&recipe);
    recipe.resize = true;
    recipe.height = 65535;
    recipe.width = 65535;
    ck_assert_int_eq(tenon_pixels_prepare(&recipe, &picture, &pixels, &err), TENON_ERR_LIMIT);
    err = (struct tenon_error){0};
    ck_assert_int_eq(tenon_pixels_prepare(&recipe, &nothing, &pixels, &err), TENON_ERR_MISUSE);
    ck_assert_ptr_null(pixels.values);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    enum tenon_status st = TENON_ERR_NO_MEMORY;
    struct tenon_pixel_recipe recipe;
    unsigned char rgb[5 * 7 * 3];
    const struct tenon_picture picture = {rgb, 5, 7};

    draw(rgb);
    ck_ok(read_recipe(clip, &recipe), err);
    for (uint64_t n = 1; st != TENON_OK; n++) {
        struct tenon_pixels pixels = {0};

        tenon_mem_fail_at(n, true);
        st = tenon_pixel_recipe_read(&recipe, model, &err);
        if (st == TENON_OK)
            st = tenon_pixels_prepare(&recipe, &picture, &pixels, &err);
        tenon_mem_fail_at(0, false);
        ck_assert_msg(st == TENON_OK ? n > 1 : st == TENON_ERR_NO_MEMORY, "%s", err.message);
        ck_assert_uint_lt(n, 1000);
        tenon_pixels_release(&pixels);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pixels");
    TCase *tests = tcase_create("pixels");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_picture_is_resized_cropped_and_normalised);
    tcase_add_test(tests, one_number_is_both_sides_where_nothing_is_cropped);
    tcase_add_test(tests, a_folder_without_settings_says_so);
    tcase_add_test(tests, settings_that_are_not_understood_are_refused);
    tcase_add_test(tests, sizes_beyond_reason_are_refused);
    tcase_add_test(tests, every_allocation_may_fail);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
