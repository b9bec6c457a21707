#include "embed_picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "npy_in.h"
#include "report.h"
#include "tenon/pixels.h"
#include "tenon/settings.h"

static enum tenon_status fail_memory(struct tenon_error *err)
{
    return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
}

void tenon_picture_rows_release(struct tenon_picture_rows *rows)
{
    free(rows->rows);
    free(rows->of);
    *rows = (struct tenon_picture_rows){0};
}

/* --- making them --- */

static enum tenon_status make_rows(struct tenon_picture_rows *rows, const struct tenon_tower *tower,
                                   const struct tenon_tower_picture *picture,
                                   struct tenon_error *err)
{
    enum tenon_status st = tenon_tower_tokens(tower, picture, &rows->n, err);

    if (st != TENON_OK)
        return st;
    rows->width = tenon_tower_shape(tower).width;
    rows->rows = calloc((size_t)rows->n * rows->width + 1, sizeof(*rows->rows));
    return rows->rows != NULL ? tenon_tower_rows(tower, picture, rows->rows, err)
                              : fail_memory(err);
}

static enum tenon_status make_from_array(struct tenon_picture_rows *rows,
                                         const struct tenon_tower *tower, const char *path,
                                         struct tenon_error *err)
{
    struct tenon_npy npy = {0};
    struct tenon_tower_picture picture;
    uint32_t channels = tenon_tower_shape(tower).channels;
    const uint64_t *dims;
    enum tenon_status st = tenon_npy_read(path, &npy, err);

    if (st != TENON_OK)
        return st;
    dims = npy.dims + (npy.n_dims == 4 ? 1 : 0);
    if (npy.n_dims < 3 || (npy.n_dims == 4 && npy.dims[0] != 1) || dims[0] != channels) {
        st = tenon_report_fail(err, TENON_ERR_MISMATCH,
                               "an array of %zu dimensions, [%u, height, width] is needed",
                               npy.n_dims, channels);
    } else {
        picture = (struct tenon_tower_picture){npy.values, (uint32_t)dims[1], (uint32_t)dims[2]};
        st = make_rows(rows, tower, &picture, err);
    }
    if (st != TENON_OK)
        tenon_report_path(err, path);
    tenon_npy_release(&npy);
    return st;
}

static enum tenon_status make_from_image(struct tenon_picture_rows *rows,
                                         const struct tenon_model *model,
                                         const struct tenon_tower *tower, const char *path,
                                         struct tenon_error *err)
{
    struct tenon_pixel_recipe recipe;
    struct tenon_picture image = {0};
    struct tenon_pixels pixels = {0};
    enum tenon_status st = tenon_pixel_recipe_read(&recipe, model, err);

    if (st == TENON_ERR_NOT_FOUND)
        tenon_report_hint(err, "prepare the pixels yourself and use --pixels FILE.npy");
    if (st == TENON_OK)
        st = tenon_image_read(path, &image, err);
    if (st == TENON_OK)
        st = tenon_pixels_prepare(&recipe, &image, &pixels, err);
    if (st == TENON_OK && tenon_tower_shape(tower).channels != 3)
        st = tenon_report_fail(err, TENON_ERR_MISMATCH, "pictures of %u channels are needed",
                               tenon_tower_shape(tower).channels);
    if (st == TENON_OK) {
        const struct tenon_tower_picture picture = {pixels.values, pixels.height, pixels.width};

        st = make_rows(rows, tower, &picture, err);
    }
    if (st != TENON_OK)
        tenon_report_path(err, path);
    tenon_pixels_release(&pixels);
    tenon_image_release(&image);
    return st;
}

enum tenon_status tenon_picture_rows_make(struct tenon_picture_rows *rows,
                                          const struct tenon_model *model,
                                          const struct tenon_picture_source *source,
                                          struct tenon_error *err)
{
    struct tenon_tower *tower = NULL;
    enum tenon_status st;

    if (source->pixels != NULL && source->image != NULL)
        return tenon_report_fail(err, TENON_ERR_MISUSE, "--pixels and --image exclude each other");
    st = tenon_tower_new(model, source->precision, &tower, err);
    if (st == TENON_OK && source->pixels != NULL)
        st = make_from_array(rows, tower, source->pixels, err);
    else if (st == TENON_OK)
        st = make_from_image(rows, model, tower, source->image, err);
    tenon_tower_free(tower);
    return st;
}

/* --- alone --- */

enum tenon_status tenon_picture_rows_alone(struct tenon_picture_rows *rows, struct tenon_ids *ids,
                                           struct tenon_error *err)
{
    char text[48];

    ids->rows = rows->n;
    snprintf(text, sizeof(text), "0-%llu", (unsigned long long)rows->n - 1);
    return tenon_ids_add(ids, text, 0, err);
}

enum tenon_status tenon_picture_rows_get(void *user, uint64_t first, size_t n, float *out,
                                         struct tenon_error *err)
{
    const struct tenon_picture_rows *rows = user;

    (void)err;
    for (size_t i = 0; i < n * rows->width; i++)
        out[i] = (float)rows->rows[first * rows->width + i];
    return TENON_OK;
}

/* --- among text --- */

enum tenon_status tenon_picture_rows_token(struct tenon_picture_rows *rows,
                                           const struct tenon_model *model, uint64_t given,
                                           struct tenon_error *err)
{
    static const char *const keys[] = {"image_token_id", "image_token_index"};
    struct tenon_setting setting;
    int64_t token;

    rows->token = given;
    for (size_t i = 0; given == 0 && i < sizeof(keys) / sizeof(keys[0]); i++)
        if (tenon_model_setting(model, keys[i], &setting) && tenon_setting_int(&setting, &token) &&
            token > 0) {
            rows->token = (uint64_t)token;
            return TENON_OK;
        }
    if (given > 0)
        return TENON_OK;
    tenon_report_fail(err, TENON_ERR_NOT_FOUND, "its config names no id that stands for pictures");
    tenon_report_path(err, tenon_model_path(model));
    tenon_report_hint(err, "use --image-token ID");
    return TENON_ERR_NOT_FOUND;
}

/* How many ids from `i` on stand for the picture, within a sequence that ends at `end`. */
static size_t count_run(const struct tenon_picture_rows *rows, const struct tenon_ids *ids,
                        size_t i, size_t end)
{
    size_t n = 0;

    while (i + n < end && ids->ids[i + n] == rows->token)
        n++;
    return n;
}

/* Copies one sequence, with the picture in its place. */
static enum tenon_status place_sequence(struct tenon_picture_rows *rows,
                                        const struct tenon_ids *ids, size_t begin, size_t end,
                                        uint64_t *out, size_t *used)
{
    for (size_t i = begin; i < end;) {
        size_t run = count_run(rows, ids, i, end);

        if (run > 1 && run != rows->n)
            return TENON_ERR_MISMATCH;
        for (uint64_t k = 0; k < (run > 0 ? rows->n : 1); k++) {
            out[*used] = ids->ids[i];
            rows->of[(*used)++] = run > 0 ? (size_t)k : SIZE_MAX;
        }
        i += run > 0 ? run : 1;
    }
    return TENON_OK;
}

enum tenon_status tenon_picture_rows_place(struct tenon_picture_rows *rows, struct tenon_ids *ids,
                                           struct tenon_error *err)
{
    size_t begin = 0, end, used = 0, count = 0, room;
    uint64_t *out;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; i < ids->n; i++)
        count += ids->ids[i] == rows->token;
    if (count == 0)
        return tenon_report_fail(err, TENON_ERR_NOT_FOUND,
                                 "id %llu, which stands for pictures, is not among the ids",
                                 (unsigned long long)rows->token);
    if (rows->n > SIZE_MAX / 16 / count)
        return fail_memory(err);
    room = ids->n + count * (size_t)rows->n;
    out = malloc(room * sizeof(*out));
    rows->of = malloc(room * sizeof(*rows->of));
    if (out == NULL || rows->of == NULL)
        st = fail_memory(err);
    for (size_t s = 0; st == TENON_OK && s < ids->n_sequences; s++, begin = end) {
        end = ids->ends[s];
        st = place_sequence(rows, ids, begin, end, out, &used);
        if (st != TENON_OK)
            st = tenon_report_fail(err, st,
                                   "a run of ids that stand for pictures is not as long as the "
                                   "picture, which has %llu tokens",
                                   (unsigned long long)rows->n);
        ids->ends[s] = used;
    }
    if (st != TENON_OK) {
        free(out);
        return st;
    }
    free(ids->ids);
    ids->ids = out;
    ids->n = used;
    ids->capacity = room;
    return TENON_OK;
}

void tenon_picture_rows_put(const struct tenon_picture_rows *rows, uint64_t first, size_t n,
                            float *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t row = rows->of[first + i];

        for (size_t c = 0; row != SIZE_MAX && c < rows->width; c++)
            out[i * rows->width + c] = (float)rows->rows[row * rows->width + c];
    }
}
