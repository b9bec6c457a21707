/* Preparing pictures for vision towers. */
#include "tenon/pixels.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "mem.h"

#define CHANNELS    3
#define MOST_PIXELS (UINT64_C(1) << 28)

/* Fraction bits of the weights: 32 less 8 for the value and 2 for sums that leave its range. */
#define WEIGHT_BITS 22

static const double pi = 3.14159265358979323846;

/* --- filters: weight at distance x, zero beyond `support` --- */

static double weigh_box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1 : 0;
}

static double weigh_bilinear(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

static double sinc(double x)
{
    return x == 0 ? 1 : sin(x * pi) / (x * pi);
}

static double weigh_hamming(double x)
{
    x = fabs(x);
    if (x == 0)
        return 1;
    return x < 1 ? sinc(x) * ((double)0.54f + (double)0.46f * cos(x * pi)) : 0;
}

/* Keys' kernel with a = -0.5. */
static double weigh_bicubic(double x)
{
    const double a = -0.5;

    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double weigh_lanczos(double x)
{
    return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static const struct {
    double (*weigh)(double x);
    double support;
} filters[] = {
    [TENON_RESAMPLE_LANCZOS] = {weigh_lanczos, 3}, [TENON_RESAMPLE_BILINEAR] = {weigh_bilinear, 1},
    [TENON_RESAMPLE_BICUBIC] = {weigh_bicubic, 2}, [TENON_RESAMPLE_BOX] = {weigh_box, 0.5},
    [TENON_RESAMPLE_HAMMING] = {weigh_hamming, 1},
};

/* --- one pass --- */

/* Which inputs make each output along one axis, and how much. */
struct taps {
    enum tenon_resample resample;
    uint32_t in, out; /* pixels along the axis */
    double scale;     /* inputs per output */
    uint32_t *first, *n;
    int32_t *weights; /* `most` for each output */
    uint32_t most;
};

static void free_taps(struct taps *taps)
{
    tenon_mem_free(taps->first);
    tenon_mem_free(taps->n);
    tenon_mem_free(taps->weights);
}

/* The weights of output `i`, which sum to one in fixed point but for rounding. */
static void weigh_output(struct taps *taps, uint32_t i, double *raw)
{
    double stretch = taps->scale > 1 ? taps->scale : 1;
    double support = filters[taps->resample].support * stretch;
    double center = ((double)i + 0.5) * taps->scale, sum = 0;
    double low = center - support + 0.5, high = center + support + 0.5;
    uint32_t first = low > 0 ? (uint32_t)low : 0;
    uint32_t end = high < taps->in ? (uint32_t)high : taps->in;
    uint32_t n = end - first;

    for (uint32_t k = 0; k < n; k++) {
        raw[k] =
            filters[taps->resample].weigh(((double)(k + first) - center + 0.5) * (1 / stretch));
        sum += raw[k];
    }
    for (uint32_t k = 0; k < n; k++) {
        double weight = (sum != 0 ? raw[k] / sum : raw[k]) * (1 << WEIGHT_BITS);

        taps->weights[(size_t)i * taps->most + k] =
            (int32_t)(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
    taps->first[i] = first;
    taps->n[i] = n;
}

static bool make_taps(struct taps *taps, enum tenon_resample resample, uint32_t in, uint32_t out)
{
    double *raw;

    taps->resample = resample;
    taps->in = in;
    taps->out = out;
    taps->scale = (double)in / (double)out;
    taps->most =
        (uint32_t)ceil(filters[resample].support * (taps->scale > 1 ? taps->scale : 1)) * 2 + 1;
    taps->first = tenon_mem_alloc(out, sizeof(*taps->first));
    taps->n = tenon_mem_alloc(out, sizeof(*taps->n));
    taps->weights = tenon_mem_alloc((size_t)out * taps->most, sizeof(*taps->weights));
    raw = tenon_mem_alloc(taps->most, sizeof(*raw));
    if (taps->first != NULL && taps->n != NULL && taps->weights != NULL && raw != NULL)
        for (uint32_t i = 0; i < out; i++)
            weigh_output(taps, i, raw);
    tenon_mem_free(raw);
    return taps->first != NULL && taps->n != NULL && taps->weights != NULL && raw != NULL;
}

/* One output value from inputs that lie `step` bytes apart. */
static unsigned char sum_taps(const unsigned char *in, size_t step, const int32_t *weights,
                              uint32_t n)
{
    int64_t sum = INT64_C(1) << (WEIGHT_BITS - 1);

    for (uint32_t k = 0; k < n; k++)
        sum += (int64_t)in[k * step] * weights[k];
    if (sum < 0)
        return 0;
    sum >>= WEIGHT_BITS;
    return sum > 255 ? 255 : (unsigned char)sum;
}

/* Across: rows keep their number. */
static void resize_across(const struct taps *taps, const struct tenon_picture *in,
                          unsigned char *out)
{
    for (uint32_t y = 0; y < in->height; y++) {
        const unsigned char *row = in->rgb + (size_t)y * in->width * CHANNELS;

        for (uint32_t x = 0; x < taps->out; x++)
            for (size_t c = 0; c < CHANNELS; c++)
                *out++ = sum_taps(row + (size_t)taps->first[x] * CHANNELS + c, CHANNELS,
                                  taps->weights + (size_t)x * taps->most, taps->n[x]);
    }
}

static void resize_down(const struct taps *taps, const unsigned char *in,
                        const struct tenon_picture *out)
{
    size_t row = (size_t)out->width * CHANNELS;
    unsigned char *to = out->rgb;

    for (uint32_t y = 0; y < taps->out; y++)
        for (size_t x = 0; x < row; x++)
            *to++ = sum_taps(in + taps->first[y] * row + x, row,
                             taps->weights + (size_t)y * taps->most, taps->n[y]);
}

/* Each output takes the input under its centre. Places are summed up, as Pillow does: where a
 * centre falls on an edge, the rounding of the sum decides. */
static void resize_nearest(const struct tenon_picture *in, const struct tenon_picture *out)
{
    double step_y = (double)in->height / out->height, step_x = (double)in->width / out->width;
    double at_y = step_y * 0.5;
    unsigned char *to = out->rgb;

    for (uint32_t y = 0; y < out->height; y++, at_y += step_y) {
        uint32_t from_y = at_y < in->height ? (uint32_t)at_y : in->height - 1;
        double at_x = step_x * 0.5;

        for (uint32_t x = 0; x < out->width; x++, at_x += step_x) {
            uint32_t from_x = at_x < in->width ? (uint32_t)at_x : in->width - 1;

            memcpy(to, in->rgb + ((size_t)from_y * in->width + from_x) * CHANNELS, CHANNELS);
            to += CHANNELS;
        }
    }
}

static enum tenon_status check_size(uint64_t height, uint64_t width, struct tenon_error *err)
{
    uint64_t pixels;

    if (height == 0 || width == 0)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "a picture of %llu x %llu pixels",
                          (unsigned long long)height, (unsigned long long)width);
    if (!tenon_u64_mul(&pixels, height, width) || pixels > MOST_PIXELS)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                          "%llu x %llu pixels, at most %llu allowed", (unsigned long long)height,
                          (unsigned long long)width, (unsigned long long)MOST_PIXELS);
    return TENON_OK;
}

/* Both passes, through a picture that has already its final width. */
static enum tenon_status filter_picture(enum tenon_resample resample,
                                        const struct tenon_picture *in,
                                        const struct tenon_picture *out, struct tenon_error *err)
{
    struct taps across = {0}, down = {0};
    unsigned char *between = NULL;
    const unsigned char *from = in->rgb;
    enum tenon_status st = check_size(in->height, out->width, err);

    if (st != TENON_OK)
        return st;
    between = tenon_mem_alloc((size_t)in->height * out->width, CHANNELS);
    if (between == NULL || !make_taps(&across, resample, in->width, out->width) ||
        !make_taps(&down, resample, in->height, out->height)) {
        st = tenon_fail_memory(err);
    } else {
        if (in->width != out->width) {
            resize_across(&across, in, between);
            from = between;
        }
        if (in->height != out->height)
            resize_down(&down, from, out);
        else
            memcpy(out->rgb, from, (size_t)out->height * out->width * CHANNELS);
    }
    free_taps(&across);
    free_taps(&down);
    tenon_mem_free(between);
    return st;
}

enum tenon_status tenon_pixels_resize(enum tenon_resample resample,
                                      const struct tenon_picture *picture,
                                      const struct tenon_picture *out, struct tenon_error *err)
{
    enum tenon_status st = check_size(picture->height, picture->width, err);

    if (st == TENON_OK)
        st = check_size(out->height, out->width, err);
    if (st != TENON_OK)
        return st;
    if (resample == TENON_RESAMPLE_NEAREST) {
        resize_nearest(picture, out);
        return TENON_OK;
    }
    return filter_picture(resample, picture, out, err);
}

/* --- the recipe --- */

void tenon_pixel_recipe_init(struct tenon_pixel_recipe *recipe)
{
    *recipe = (struct tenon_pixel_recipe){
        .resample = TENON_RESAMPLE_BILINEAR, .factor = 1.0 / 255, .std = {1, 1, 1}};
}

/* The size after resizing: the shorter edge as wanted, the other in proportion, rounded down. */
static void choose_size(const struct tenon_pixel_recipe *recipe, uint32_t height, uint32_t width,
                        uint64_t out[2])
{
    uint64_t edge = recipe->shortest_edge;

    out[0] = recipe->resize ? recipe->height : height;
    out[1] = recipe->resize ? recipe->width : width;
    if (recipe->resize && edge != 0) {
        out[0] = height <= width ? edge : edge * height / width;
        out[1] = height <= width ? edge * width / height : edge;
    }
}

/* Value of a channel at a place of the resized picture; black outside of it. */
static double pixel_at(const unsigned char *rgb, const uint64_t size[2], int64_t y, int64_t x,
                       size_t channel)
{
    if (y < 0 || x < 0 || (uint64_t)y >= size[0] || (uint64_t)x >= size[1])
        return 0;
    return rgb[((size_t)y * size[1] + (size_t)x) * CHANNELS + channel];
}

/* Half of what is too much, rounded down also where it is too little. */
static int64_t offset_of(uint64_t have, uint32_t want)
{
    int64_t much = (int64_t)have - want;

    return much >= 0 ? much / 2 : -((-much + 1) / 2);
}

static void fill_values(const struct tenon_pixel_recipe *recipe, const unsigned char *rgb,
                        const uint64_t size[2], const struct tenon_pixels *out)
{
    int64_t top = offset_of(size[0], out->height), left = offset_of(size[1], out->width);
    float *to = out->values;

    for (size_t c = 0; c < CHANNELS; c++)
        for (uint32_t y = 0; y < out->height; y++)
            for (uint32_t x = 0; x < out->width; x++) {
                double value = pixel_at(rgb, size, top + y, left + x, c);
                float scaled = (float)(recipe->rescale ? value * recipe->factor : value);

                *to++ = recipe->normalise ? (scaled - recipe->mean[c]) / recipe->std[c] : scaled;
            }
}

/* The size of what comes out, and of the picture before it is cropped. */
static enum tenon_status choose_sizes(const struct tenon_pixel_recipe *recipe,
                                      const struct tenon_picture *picture, uint64_t size[2],
                                      struct tenon_pixels *out, struct tenon_error *err)
{
    enum tenon_status st = check_size(picture->height, picture->width, err);

    if (st != TENON_OK)
        return st;
    choose_size(recipe, picture->height, picture->width, size);
    st = check_size(size[0], size[1], err);
    if (st != TENON_OK)
        return st;
    out->height = recipe->crop ? recipe->crop_height : (uint32_t)size[0];
    out->width = recipe->crop ? recipe->crop_width : (uint32_t)size[1];
    return check_size(out->height, out->width, err);
}

enum tenon_status tenon_pixels_prepare(const struct tenon_pixel_recipe *recipe,
                                       const struct tenon_picture *picture,
                                       struct tenon_pixels *out, struct tenon_error *err)
{
    struct tenon_pixels made = {0};
    struct tenon_picture resized = {0};
    uint64_t size[2];
    enum tenon_status st = choose_sizes(recipe, picture, size, &made, err);

    if (st != TENON_OK)
        return st;
    resized = (struct tenon_picture){NULL, (uint32_t)size[0], (uint32_t)size[1]};
    resized.rgb = tenon_mem_alloc((size_t)(size[0] * size[1]), CHANNELS);
    made.values = tenon_mem_alloc((size_t)made.height * made.width, CHANNELS * sizeof(float));
    if (resized.rgb == NULL || made.values == NULL)
        st = tenon_fail_memory(err);
    if (st == TENON_OK)
        st = tenon_pixels_resize(recipe->resample, picture, &resized, err);
    if (st == TENON_OK) {
        fill_values(recipe, resized.rgb, size, &made);
        *out = made;
        made.values = NULL;
    }
    tenon_mem_free(resized.rgb);
    tenon_mem_free(made.values);
    return st;
}

void tenon_pixels_release(struct tenon_pixels *pixels)
{
    if (pixels == NULL)
        return;
    tenon_mem_free(pixels->values);
    pixels->values = NULL;
}
