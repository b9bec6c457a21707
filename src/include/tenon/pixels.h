/* From a picture's pixels to the numbers that a vision tower takes: resizing, cropping, scaling and
 * normalising as its preprocessor_config.json says.
 *
 * Resizing gives the bytes of Pillow's resize (before version 13, which sometimes takes the passes
 * in the other order): across and then down, each with weights in fixed point of 22 bits and a
 * result rounded to 8; the filter widens with the factor by which a picture shrinks. */
#ifndef TENON_PIXELS_H
#define TENON_PIXELS_H

#include "tenon/model.h"

TENON_BEGIN_DECLS

/* Pillow's numbers. */
enum tenon_resample {
    TENON_RESAMPLE_NEAREST = 0,
    TENON_RESAMPLE_LANCZOS = 1,
    TENON_RESAMPLE_BILINEAR = 2,
    TENON_RESAMPLE_BICUBIC = 3,
    TENON_RESAMPLE_BOX = 4,
    TENON_RESAMPLE_HAMMING = 5
};

/* What is done, in this order. */
struct tenon_pixel_recipe {
    bool resize;
    uint32_t shortest_edge; /* keeps the shape; 0: to exactly height x width */
    uint32_t height, width;
    enum tenon_resample resample;
    bool crop; /* the middle; what the picture lacks is black */
    uint32_t crop_height, crop_width;
    bool rescale; /* values times factor */
    double factor;
    bool normalise; /* (value - mean) / std, each channel */
    float mean[3], std[3];
};

/* A picture: `height` rows of `width` pixels of three bytes. Borrowed. */
struct tenon_picture {
    unsigned char *rgb;
    uint32_t height, width;
};

/* Pixels as a tower takes them: [3, height, width], owned. */
struct tenon_pixels {
    float *values;
    uint32_t height, width;
};

/* Nothing is done but the change from bytes to float32. */
TENON_API void tenon_pixel_recipe_init(struct tenon_pixel_recipe *recipe);

/* The recipe of the preprocessor_config.json (or processor_config.json) beside `model`. Fails with
 * NOT_FOUND when there is none, or as reading JSON does, or with UNSUPPORTED_FEATURE naming a
 * setting that is not understood. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_pixel_recipe_read(struct tenon_pixel_recipe *recipe, const struct tenon_model *model,
                        struct tenon_error *err);

/* Applies it to a picture. `*out` is to be released. Fails with LIMIT for more than 2^28 pixels on
 * either side of the work, MISUSE for none, NO_MEMORY. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_pixels_prepare(const struct tenon_pixel_recipe *recipe, const struct tenon_picture *picture,
                     struct tenon_pixels *out, struct tenon_error *err);

/* Only the resizing: fills the pixels of `out`, whose size says what is wanted. */
TENON_API TENON_MUST_USE enum tenon_status tenon_pixels_resize(enum tenon_resample resample,
                                                               const struct tenon_picture *picture,
                                                               const struct tenon_picture *out,
                                                               struct tenon_error *err);

/* NULL and zeroed ones are fine. */
TENON_API void tenon_pixels_release(struct tenon_pixels *pixels);

TENON_END_DECLS

#endif
