/* preprocessor_config.json: how a folder's vision tower wants its pictures. */
#include "tenon/pixels.h"

#include <string.h>

#include "fail.h"
#include "json_tree.h"
#include "mem.h"
#include "model_build.h"
#include "source.h"

/* Where the settings stand, in order of choice. */
static const char *const names[] = {"preprocessor_config.json", "processor_config.json"};

/* Settings that change the pixels in ways that are not done here: only false and null will do. */
static const char *const unsupported[] = {"do_pad", "do_image_splitting", "do_flip_channel_order",
                                          "do_thumbnail", "do_align_long_axis"};

static enum tenon_status refuse(struct tenon_error *err, const char *key, const char *wanted)
{
    tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, TENON_NO_OFFSET, "%s", wanted);
    tenon_fail_subject(err, "key", key, strlen(key));
    tenon_fail_hint(err, "prepare the pixels yourself and pass them as an array");
    return TENON_ERR_UNSUPPORTED_FEATURE;
}

/* A flag; what is not said is `absent`. */
static bool read_flag(const struct tenon_json_node *root, const char *key, bool absent)
{
    enum tenon_json_type type = tenon_json_node_type(tenon_json_node_get(root, key));

    if (type == TENON_JSON_FALSE || type == TENON_JSON_NULL)
        return false;
    return type == TENON_JSON_TRUE || absent;
}

/* A number of pixels into `out`; false when it is none. */
static bool read_edge(const struct tenon_json_node *node, uint32_t *out)
{
    int64_t value;

    if (!tenon_json_node_int(node, &value) || value < 1 || value > UINT16_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* {"height": h, "width": w}, or one number for both. */
static bool read_sides(const struct tenon_json_node *node, uint32_t *height, uint32_t *width)
{
    if (read_edge(node, height)) {
        *width = *height;
        return true;
    }
    return read_edge(tenon_json_node_get(node, "height"), height) &&
           read_edge(tenon_json_node_get(node, "width"), width);
}

static enum tenon_status read_size(struct tenon_pixel_recipe *recipe,
                                   const struct tenon_json_node *root, struct tenon_error *err)
{
    const struct tenon_json_node *size = tenon_json_node_get(root, "size");
    int64_t resample = recipe->resample;

    if (tenon_json_node_get(root, "resample") != NULL &&
        (!tenon_json_node_int(tenon_json_node_get(root, "resample"), &resample) || resample < 0 ||
         resample > TENON_RESAMPLE_HAMMING))
        return refuse(err, "resample", "a whole number from 0 to 5 is needed");
    recipe->resample = (enum tenon_resample)resample;
    /* One number is the shorter edge for processors that crop afterwards, else both. */
    if (recipe->crop && read_edge(size, &recipe->shortest_edge))
        return TENON_OK;
    if (tenon_json_node_get(size, "longest_edge") == NULL &&
        read_edge(tenon_json_node_get(size, "shortest_edge"), &recipe->shortest_edge))
        return TENON_OK;
    if (read_sides(size, &recipe->height, &recipe->width))
        return TENON_OK;
    return refuse(err, "size", "a number, a shortest_edge, or height and width are needed");
}

static enum tenon_status read_channels(const struct tenon_json_node *root, const char *key,
                                       float out[3], struct tenon_error *err)
{
    const struct tenon_json_node *list = tenon_json_node_get(root, key);
    const struct tenon_json_node *item = tenon_json_node_first(list);
    size_t n = 0;
    double value = 0;

    for (; item != NULL && n < 3; item = tenon_json_node_next(item), n++) {
        if (!tenon_json_node_float(item, &value))
            break;
        out[n] = (float)value;
    }
    if (tenon_json_node_float(list, &value)) {
        out[0] = out[1] = out[2] = (float)value;
        return TENON_OK;
    }
    return n == 3 && item == NULL ? TENON_OK : refuse(err, key, "three numbers are needed");
}

static enum tenon_status apply_settings(struct tenon_pixel_recipe *recipe,
                                        const struct tenon_json_node *root, struct tenon_error *err)
{
    const struct tenon_json_node *crop = tenon_json_node_get(root, "crop_size");
    const struct tenon_json_node *factor = tenon_json_node_get(root, "rescale_factor");
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++)
        if (read_flag(root, unsupported[i], false))
            return refuse(err, unsupported[i], "is not supported");
    if (tenon_json_node_get(root, "min_pixels") != NULL)
        return refuse(err, "min_pixels", "sizes that follow the picture are not supported");
    recipe->resize = read_flag(root, "do_resize", true);
    recipe->crop = read_flag(root, "do_center_crop", crop != NULL);
    recipe->rescale = read_flag(root, "do_rescale", true);
    recipe->normalise = read_flag(root, "do_normalize", true);
    if (recipe->resize)
        st = read_size(recipe, root, err);
    if (st == TENON_OK && recipe->crop &&
        !read_sides(crop, &recipe->crop_height, &recipe->crop_width))
        st = refuse(err, "crop_size", "a number, or height and width are needed");
    if (st == TENON_OK && factor != NULL && !tenon_json_node_float(factor, &recipe->factor))
        st = refuse(err, "rescale_factor", "a number is needed");
    if (st == TENON_OK && recipe->normalise)
        st = read_channels(root, "image_mean", recipe->mean, err);
    if (st == TENON_OK && recipe->normalise)
        st = read_channels(root, "image_std", recipe->std, err);
    for (size_t c = 0; c < 3; c++)
        if (st == TENON_OK && recipe->normalise && !(recipe->std[c] > 0))
            st = refuse(err, "image_std", "numbers above 0 are needed");
    return st;
}

static enum tenon_status apply_text(struct tenon_pixel_recipe *recipe,
                                    const struct tenon_model *model, const char *text, size_t len,
                                    struct tenon_error *err)
{
    struct tenon_json_node *root = NULL;
    const struct tenon_json_node *settings;
    enum tenon_status st =
        tenon_json_tree_parse(text, len, tenon_model_options(model)->limits.json_depth, &root, err);

    if (st == TENON_OK) {
        settings = tenon_json_node_get(root, "image_processor");
        st = apply_settings(recipe, settings != NULL ? settings : root, err);
    }
    tenon_json_node_free(root);
    return st;
}

/* The folder of the model's files with a slash at its end, or "", then `name`; to be freed. */
static char *join_beside(const struct tenon_model *model, const char *name)
{
    const struct tenon_file *file = tenon_model_file(model, 0);
    size_t folder = strlen(file->path) - strlen(file->name), len = strlen(name);
    char *path = tenon_mem_alloc(folder + len + 1, 1);

    if (path != NULL) {
        memcpy(path, file->path, folder);
        memcpy(path + folder, name, len);
    }
    return path;
}

static enum tenon_status read_beside(struct tenon_pixel_recipe *recipe,
                                     const struct tenon_model *model, const char *name,
                                     struct tenon_error *err)
{
    char *path = join_beside(model, name), *text = NULL;
    struct tenon_source *source = NULL;
    size_t len = 0;
    enum tenon_status st =
        path != NULL ? tenon_source_open_file(path, &source, err) : tenon_fail_memory(err);

    if (st == TENON_OK)
        st = tenon_source_slurp(source, TENON_JSON_TREE_BYTES, &text, &len, err);
    if (st == TENON_OK)
        st = apply_text(recipe, model, text, len, err);
    if (st != TENON_OK && path != NULL)
        tenon_fail_path(err, path);
    tenon_source_free(source);
    tenon_mem_free(text);
    tenon_mem_free(path);
    return st;
}

enum tenon_status tenon_pixel_recipe_read(struct tenon_pixel_recipe *recipe,
                                          const struct tenon_model *model, struct tenon_error *err)
{
    tenon_pixel_recipe_init(recipe);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tenon_error fault = {0};
        enum tenon_status st = tenon_model_n_files(model) > 0
                                   ? read_beside(recipe, model, names[i], &fault)
                                   : TENON_ERR_NOT_FOUND;

        if (st == TENON_OK)
            return TENON_OK;
        if (st != TENON_ERR_NOT_FOUND) {
            if (err != NULL)
                *err = fault;
            return st;
        }
    }
    tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET,
               "no %s says how pictures are to be prepared", names[0]);
    tenon_fail_path(err, tenon_model_path(model));
    return TENON_ERR_NOT_FOUND;
}
